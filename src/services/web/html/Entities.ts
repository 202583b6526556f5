/** Character references of HTML as the characters that they stand for: numeric ones and the names of HTML 4. */

/** From U+00A0 on, in order. */
const latin =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para " +
  "middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute " +
  "Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml " +
  "Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml " +
  "eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml"

/** Capitals from U+0391 and small letters from U+03B1; one place of the capitals is empty. */
const greek = (letters: string, start: number): ReadonlyArray<readonly [string, number]> =>
  letters.split(" ").map((name, index) => [name, start + index])

/** Names and their code points in base 16. */
const others =
  "quot:22 amp:26 apos:27 lt:3c gt:3e OElig:152 oelig:153 Scaron:160 scaron:161 Yuml:178 fnof:192 circ:2c6 tilde:2dc " +
  "ensp:2002 emsp:2003 thinsp:2009 zwnj:200c zwj:200d ndash:2013 mdash:2014 lsquo:2018 rsquo:2019 sbquo:201a ldquo:201c " +
  "rdquo:201d bdquo:201e dagger:2020 Dagger:2021 bull:2022 hellip:2026 permil:2030 prime:2032 Prime:2033 lsaquo:2039 " +
  "rsaquo:203a oline:203e frasl:2044 euro:20ac image:2111 weierp:2118 real:211c trade:2122 alefsym:2135 larr:2190 uarr:2191 " +
  "rarr:2192 darr:2193 harr:2194 crarr:21b5 lArr:21d0 uArr:21d1 rArr:21d2 dArr:21d3 hArr:21d4 forall:2200 part:2202 exist:2203 " +
  "empty:2205 nabla:2207 isin:2208 notin:2209 ni:220b prod:220f sum:2211 minus:2212 lowast:2217 radic:221a prop:221d infin:221e " +
  "ang:2220 and:2227 or:2228 cap:2229 cup:222a int:222b there4:2234 sim:223c cong:2245 asymp:2248 ne:2260 equiv:2261 le:2264 " +
  "ge:2265 sub:2282 sup:2283 nsub:2284 sube:2286 supe:2287 oplus:2295 otimes:2297 perp:22a5 sdot:22c5 loz:25ca spades:2660 " +
  "clubs:2663 hearts:2665 diams:2666 check:2713 lbrack:5b rbrack:5d lbrace:7b rbrace:7d lpar:28 rpar:29 num:23 colon:3a " +
  "semi:3b comma:2c period:2e excl:21 quest:3f sol:2f bsol:5c lowbar:5f grave:60 vert:7c ast:2a plus:2b equals:3d percnt:25 " +
  "dollar:24 commat:40 Tab:9 NewLine:a hyphen:2010 thetasym:3d1 upsih:3d2 piv:3d6"

const named: ReadonlyMap<string, number> = new Map([
  ...greek(latin, 0xa0),
  ...greek(
    "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon Phi Chi Psi Omega",
    0x391
  ),
  ...greek(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega",
    0x3b1
  ),
  ...others.split(" ").map((entry): readonly [string, number] => {
    const [name = "", code = ""] = entry.split(":")
    return [name, Number.parseInt(code, 16)]
  })
])

/** What pages mean that write code points of Windows-1252. */
const windows = new TextDecoder("windows-1252")

const characterOf = (code: number): string => {
  if (code >= 0x80 && code < 0xa0) return windows.decode(new Uint8Array([code]))
  const isCharacter = code > 0 && code <= 0x10_ffff && !(code >= 0xd800 && code < 0xe000)
  return isCharacter ? String.fromCodePoint(code) : "\u{fffd}"
}

/** A reference without its semicolon, or with an unknown name, stays as it is written. */
export const decodeEntities = (text: string): string =>
  text.includes("&")
    ? text.replace(
        /&(?:#x([\da-f]{1,8})|#(\d{1,9})|([a-z][a-z\d]{1,12}));/gi,
        (written: string, ...[hex, decimal, name]: ReadonlyArray<string | undefined>) => {
          if (hex !== undefined) return characterOf(Number.parseInt(hex, 16))
          if (decimal !== undefined) return characterOf(Number(decimal))
          const code = named.get(name ?? "")
          return code === undefined ? written : String.fromCodePoint(code)
        }
      )
    : text
