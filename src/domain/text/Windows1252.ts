/** Western text of one byte a character. Every byte has a character of its own, so nothing is lost on the way back. */

/** The characters of the bytes 0x80 to 0x9F; those of all other bytes have the number of the byte. */
const special =
  "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
  "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178"

const bytes: ReadonlyMap<string, number> = new Map(
  Array.from(special, (character, index) => [character, 0x80 + index] as const)
)

/** The byte of a UTF-16 unit; undefined where there is none. */
export const byteOf = (character: string): number | undefined => {
  const unit = character.charCodeAt(0)
  return unit < 0x80 || (unit >= 0xa0 && unit <= 0xff) ? unit : bytes.get(character)
}

const NO_BREAK_SPACE = 0xa0

/** A two-byte character of UTF-8. */
const isWidePair = (first: number, second: number): boolean =>
  first >= 0xc2 && first <= 0xdf && second >= 0x80 && second <= 0xbf

/** Control characters, except those that text has: tabs, line ends, page breaks, escapes of terminals. */
const isControl = (byte: number): boolean =>
  (byte < 0x20 && !(byte >= 0x07 && byte <= 0x0d) && byte !== 0x1b) || byte === 0x7f

/** Bytes that no character of Windows-1252 has. */
const isUnassigned = (byte: number): boolean =>
  byte === 0x81 || byte === 0x8d || byte === 0x8f || byte === 0x90 || byte === 0x9d

const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a

/**
 * Whether bytes that are no UTF-8 are such a text. In Western languages a letter with an accent stands among plain ones;
 * in texts of other encodings such bytes stand in long rows, and in a damaged UTF-8 text most of them still make pairs.
 */
export const isWestern = (text: Uint8Array): boolean => {
  let letters = 0
  let high = 0
  let crowded = 0
  let paired = 0
  let row = 0
  for (let index = 0; index < text.length; index++) {
    const byte = text[index] ?? 0
    if (isControl(byte) || isUnassigned(byte)) return false
    if (byte < 0x80 || byte === NO_BREAK_SPACE) {
      row = 0
      letters += isLetter(byte) ? 1 : 0
      continue
    }
    high += 1
    row += 1
    // The third one tells that the two before it stand in the row as well.
    crowded += row === 3 ? 3 : row > 3 ? 1 : 0
    if (isWidePair(byte, text[index + 1] ?? 0)) paired += 2
  }
  return high * 2 <= letters && crowded * 4 <= high && paired * 2 <= high
}
