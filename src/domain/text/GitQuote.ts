/** Paths as git writes them into its outputs and reads them from its inputs. */

const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\" }

const quoted = (character: string): string | undefined => {
  const code = character.charCodeAt(0)
  return named[character] ?? (code < 32 || code === 127 ? `\\${code.toString(8).padStart(3, "0")}` : undefined)
}

/** In double quotes where a plain name would be read as something else. Letters of other scripts stay. */
export const gitQuote = (path: string): string => {
  const characters = [...path]
  return characters.some((character) => quoted(character) !== undefined)
    ? `"${characters.map((character) => quoted(character) ?? character).join("")}"`
    : path
}
