/** What a model wrote, where a terminal shows it. */

/**
 * As it is, but for what could move the cursor or turn the direction of the text. Marks inside of words and of emoji stay.
 */
export const forTerminal = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (char) =>
      char === "\n" || char === "\t" ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
    )
