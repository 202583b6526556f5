/** Names of files in the heads of a unified diff. */

const escapes: Readonly<Record<string, number>> = {
  a: 0x07,
  b: 0x08,
  t: 0x09,
  n: 0x0a,
  v: 0x0b,
  f: 0x0c,
  r: 0x0d,
  '"': 0x22,
  "\\": 0x5c
}

/** Git writes a name with unusual characters in quotes, bytes of UTF-8 as octal numbers. */
export const unquote = (name: string): string => {
  if (!/^".*"$/.test(name)) return name
  const bytes: Array<number> = []
  for (const [piece] of name.slice(1, -1).matchAll(/\\[0-7]{3}|\\.|[^\\]+/gs)) {
    if (!piece.startsWith("\\")) bytes.push(...new TextEncoder().encode(piece))
    else if (piece.length === 4) bytes.push(Number.parseInt(piece.slice(1), 8) % 256)
    else bytes.push(escapes[piece.charAt(1)] ?? piece.charCodeAt(1))
  }
  return new TextDecoder().decode(Uint8Array.from(bytes))
}

/** What follows `--- ` or `+++ `: a name, and perhaps a tab and a time. Null is no file. */
export const headName = (rest: string): string | null => {
  const quoted = /^"(?:[^"\\]|\\.)*"/.exec(rest)?.[0]
  const name = quoted === undefined ? (rest.split("\t")[0] ?? "").trimEnd() : unquote(quoted)
  return name === "/dev/null" ? null : name
}

/** The letters that git puts before the names of the two sides: `a/` and `b/`, or what tells where a side comes from. */
const side = /^[abciow12]\//

/** Without the letters, where the two sides have different ones, or one side is no file. */
export const withoutSides = (
  from: string | null,
  to: string | null
): readonly [from: string | null, to: string | null] => {
  const given = [from, to].filter((name) => name !== null)
  const letters = given.map((name) => side.exec(name)?.[0])
  const isGit = letters.every((letter) => letter !== undefined) && new Set(letters).size === letters.length
  return isGit ? [from?.slice(2) ?? null, to?.slice(2) ?? null] : [from, to]
}

/** The names of `diff --git`, which only counts where no other line says them: there both are the same. */
export const gitHeadNames = (rest: string): readonly [from: string, to: string] | undefined => {
  const quoted = /^("(?:[^"\\]|\\.)*"|[^"\s]\S*) ("(?:[^"\\]|\\.)*"|[^"\s]\S*)$/.exec(rest)
  if (quoted?.[1] !== undefined && quoted[2] !== undefined) return [unquote(quoted[1]), unquote(quoted[2])]
  const middle = (rest.length - 1) / 2
  const [one, other] = [rest.slice(0, middle), rest.slice(middle + 1)]
  return one.slice(2) === other.slice(2) ? [one, other] : undefined
}
