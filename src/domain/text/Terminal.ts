/**
 * Terminal output as plain text: control sequences vanish, a carriage return starts its line anew, bytes that are not
 * text become U+FFFD (F78). Both steps work on pieces and give the same text for any cut of the input.
 */

const ESC = "\u001b"

/** Longest body of an operating system command (a title, a link) that is recognised. */
const STRING_LIMIT = 4096

const sequence = new RegExp(
  [
    `${ESC}\\[[0-?]{0,256}[ -/]{0,16}[@-~]`,
    `${ESC}[\\]PX^_][^\\u0007${ESC}\\n]{0,${STRING_LIMIT}}(?:\\u0007|${ESC}\\\\)?`,
    `${ESC}[ -/]{0,16}[0-~]`,
    "\\u009b[0-?]{0,256}[ -/]{0,16}[@-~]"
  ].join("|"),
  "g"
)

/** The start of a sequence whose rest may come with the next piece. */
const unfinished = new RegExp(
  [
    `(?:${ESC}(?:\\[[0-?]{0,256}[ -/]{0,16}`,
    `[\\]PX^_][^\\u0007${ESC}\\n]{0,${STRING_LIMIT}}${ESC}?`,
    "[ -/]{0,16})",
    "\\u009b[0-?]{0,256}[ -/]{0,16})$"
  ].join("|")
)

/** Control characters beside tab and the line ends. */
const control = /(?![\t\n\r])\p{Cc}/u
const controls = new RegExp(control, "gu")

/** Bell, backspace, escape and delete mean nothing on paper; any other control character is a sign of binary data. */
const replaceControl = (character: string): string =>
  ["\u0007", "\b", ESC, "\u007f"].includes(character) ? "" : "\ufffd"

/** Removes control sequences. `carry` is what the last piece left unfinished; line ends and `\r` stay. */
export const strip = (carry: string, piece: string): readonly [text: string, carry: string] => {
  const whole = carry + piece
  if (!control.test(whole)) return [whole, ""]
  const rest = unfinished.exec(whole)?.[0] ?? ""
  const text = whole
    .slice(0, whole.length - rest.length)
    .replace(sequence, "")
    .replace(controls, replaceControl)
  return [text, rest]
}

/** A line that is longer than this can no longer be taken back by `\r`: it is settled in pieces of this length. */
const LINE_LIMIT = 16_384

/** What of one line is final, and what a `\r` could still replace. */
const overwrite = (line: string): readonly [settled: string, open: string] => {
  let settled = ""
  let open = ""
  for (const segment of line.split("\r")) {
    if (segment === "") continue
    const whole = segment.length - (segment.length % LINE_LIMIT)
    settled += segment.slice(0, whole)
    open = segment.slice(whole)
  }
  return [settled, open]
}

/** What the open line shows now. */
export const shown = (open: string): string => overwrite(open).join("")

/** Applies `\r`. `open` is the line that had not ended yet; what is returned as settled will not change any more. */
export const settle = (open: string, piece: string): readonly [settled: string, open: string] => {
  const whole = open + piece
  const cut = whole.lastIndexOf("\n") + 1
  const lines = whole.slice(0, cut)
  const ended = lines.includes("\r") ? lines.split("\n").map(shown).join("\n") : lines
  const last = whole.slice(cut)
  const [settled, rest] = overwrite(last)
  return [ended + settled, last.endsWith("\r") ? `${rest}\r` : rest]
}

/** The whole of a text as a terminal would show it. */
export const plain = (text: string): string => {
  const [settled, open] = settle("", strip("", text)[0])
  return settled + shown(open)
}
