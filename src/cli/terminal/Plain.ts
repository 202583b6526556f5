/** Text of others, for a terminal: nothing in it moves the cursor or hides what it says. */

const named = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`

/** On one line. */
export const plainLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, (char) => (char === "\n" ? "⏎" : named(char)))

/** With its lines and tabs. */
export const plainText = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replace(/[\p{Cc}\p{Cf}]/gu, (char) => (char === "\n" || char === "\t" ? char : named(char)))
