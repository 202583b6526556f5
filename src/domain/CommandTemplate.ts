/** The text of a command with what was typed behind its name. */

/** Words as a shell would part them: quotes hold words together, a backslash takes the next character as it is. */
export const wordsOf = (input: string): ReadonlyArray<string> => {
  const words: Array<string> = []
  let word: string | undefined
  let quote: string | undefined
  for (let at = 0; at < input.length; at++) {
    const char = input.charAt(at)
    if (quote !== "'" && char === "\\" && at + 1 < input.length) {
      at += 1
      word = (word ?? "") + input.charAt(at)
    } else if (quote !== undefined) {
      if (char === quote) quote = undefined
      else word += char
    } else if (char === '"' || (char === "'" && word === undefined)) {
      // An apostrophe within a word is one, as in "don't".
      quote = char
      word ??= ""
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else {
      word = (word ?? "") + char
    }
  }
  return word === undefined ? words : [...words, word]
}

const PLACE = /\\\$|\$ARGUMENTS\b|\$([1-9]\d?)\b/g

/**
 * `$ARGUMENTS` is all of the input, `$1` and its like a word of it, and `\$` a dollar. What is put in is not looked through
 * again. Input that the text has no place for comes behind it.
 */
export const expand = (template: string, input: string): string => {
  const words = wordsOf(input)
  let isUsed = false
  const text = template.replace(PLACE, (place, number: string | undefined) => {
    if (place === "\\$") return "$"
    isUsed = true
    return number === undefined ? input : (words[Number(number) - 1] ?? "")
  })
  return isUsed || input === "" ? text : `${text.trimEnd()}\n\nArguments: ${input}`
}
