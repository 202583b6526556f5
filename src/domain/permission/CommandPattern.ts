/**
 * Patterns of `Bash` rules. Without a wildcard a pattern is a command and its first words, with a word boundary:
 * `git` is `git` and `git status`, never `gitleaks`.
 */

/** Where a `[…]` that opens at `open` ends, and whether it takes `char`; undefined for a `[` that is only itself. */
const matchClass = (pattern: string, open: number, char: string) => {
  const negated = pattern[open + 1] === "!" || pattern[open + 1] === "^"
  const start = negated ? open + 2 : open + 1
  const end = pattern.indexOf("]", start + 1)
  if (end === -1) return undefined
  let found = false
  for (let at = start; at < end; at++) {
    const from = pattern.charAt(at)
    const isRange = pattern[at + 1] === "-" && at + 2 < end
    const to = isRange ? pattern.charAt(at + 2) : from
    if (from <= char && char <= to) found = true
    if (isRange) at += 2
  }
  return { next: end + 1, matches: found !== negated }
}

/** One step of the pattern at `at` against `char`: the place after it, or undefined if it does not match. */
const step = (pattern: string, at: number, char: string): number | undefined => {
  switch (pattern[at]) {
    case undefined:
      return undefined
    case "?":
      return at + 1
    case "[": {
      const found = matchClass(pattern, at, char)
      if (found !== undefined) return found.matches ? found.next : undefined
      break
    }
    case "\\":
      if (at + 1 < pattern.length) return pattern[at + 1] === char ? at + 2 : undefined
      break
  }
  return pattern[at] === char ? at + 1 : undefined
}

/**
 * `*` is any run of characters, also spaces and slashes; `?` is one, `[…]` one of a set, `\` takes the next literally.
 * Goes back to the last star only, so that no pattern makes a long text slow.
 */
export const matchWildcard = (pattern: string, text: string): boolean => {
  let inPattern = 0
  let inText = 0
  let star: { readonly pattern: number; text: number } | undefined
  while (inText < text.length) {
    const next = step(pattern, inPattern, text.charAt(inText))
    if (pattern[inPattern] === "*") {
      inPattern += 1
      star = { pattern: inPattern, text: inText }
    } else if (next !== undefined) {
      inPattern = next
      inText += 1
    } else if (star !== undefined) {
      star.text += 1
      inPattern = star.pattern
      inText = star.text
    } else {
      return false
    }
  }
  while (pattern[inPattern] === "*") inPattern += 1
  return inPattern === pattern.length
}

const hasWildcard = (pattern: string): boolean => /[*?[]/.test(pattern)

/** `cmd:*` and `cmd *` are the command with any words after it, or none. Case counts. */
export const matchCommand = (pattern: string, text: string): boolean => {
  const trimmed = pattern.trim()
  const open = /(?::| )\*$/.test(trimmed)
  const stem = open ? trimmed.slice(0, -2).trimEnd() : trimmed
  if (matchWildcard(stem, text)) return true
  return (open || !hasWildcard(trimmed)) && matchWildcard(`${stem} *`, text)
}
