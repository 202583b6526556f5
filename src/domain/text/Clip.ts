/** Texts that have to end somewhere: never inside of a character, which would be no text for whoever reads it next. */

/** Without the half of a character that a cut may have left at the end. */
export const whole = (text: string): string => {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd8_00 && last <= 0xdb_ff ? text.slice(0, -1) : text
}

/** The beginning of `text`, in at most `limit` UTF-16 units. What is short enough stays as it is. */
export const clip = (text: string, limit: number): string =>
  text.length <= limit ? text : whole(text.slice(0, Math.max(limit, 0)))
