/** Text as words to be found by. Scripts that write no spaces are taken character by character. */

const alone =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu
const word = /[\p{L}\p{M}\p{N}]+/gu

/** What goes into the index. */
export const indexed = (text: string): string => text.normalize("NFKC").replace(alone, " $& ")

/** Words of one question; more are left out. */
const MOST = 32

/** The words of a question, each once. Neighbouring characters of such a script are one word. */
export const wordsOf = (question: string): ReadonlyArray<string> =>
  [...new Set(question.normalize("NFKC").toLowerCase().match(word) ?? [])].slice(0, MOST)

/** What a word of English begins with in its other forms, so that `deployments` finds `deployed`. */
const stem = (text: string): string => text.replace(/(?<=^.{4,})(?:ments?|ings?|ed|es|s)$/, "")

/** The question as the index takes it: any word, or what begins with it. Undefined when there is no word in it. */
export const matchOf = (question: string): string | undefined => {
  const words = wordsOf(question).map((text) => `"${indexed(stem(text)).trim()}"*`)
  return words.length === 0 ? undefined : words.join(" OR ")
}
