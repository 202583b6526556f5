/**
 * What a message asks of whoever reads it, beside its length: a few megabytes of brackets become gigabytes of objects. It
 * is measured before anything is read, and texts, which are what makes honest messages long, cost nothing.
 */

/** Shorter ones can do no harm. */
const free = 64 * 1024

export interface Limits {
  /** In characters. Up to this length nothing is measured. */
  readonly free: number
  readonly values: number
  readonly depth: number
}

/** What a message of a client may have. */
export const most: Limits = { free, values: 200_000, depth: 1_000 }

const quote = '"'
const backslash = 0x5c

/** The index of the quote that ends the text which begins at `start`; -1 when none does. */
const endOfText = (json: string, start: number): number => {
  for (let end = json.indexOf(quote, start + 1); end !== -1; end = json.indexOf(quote, end + 1)) {
    let escapes = 0
    while (json.charCodeAt(end - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return end
  }
  return -1
}

/** Why a message is not read; nothing when it may be. What is no JSON is left to the parser. */
export const problemOf = (json: string, limits: Limits = most): string | undefined => {
  if (json.length <= limits.free) return undefined
  let values = 0
  let depth = 0
  for (let index = 0; index < json.length; index++) {
    switch (json[index]) {
      case quote: {
        index = endOfText(json, index)
        if (index === -1) return undefined
        break
      }
      case "[":
      case "{": {
        values++
        depth++
        if (depth > limits.depth) return `it is nested more than ${limits.depth} levels deep`
        break
      }
      case ",": {
        values++
        break
      }
      case "]":
      case "}": {
        depth--
        break
      }
      default:
    }
    if (values > limits.values) return `it has more than ${limits.values} values`
  }
  return undefined
}
