/** Variables of the environment in texts of settings: `${NAME}`, `${NAME:-default}` and `${env:NAME}`, and nothing else. */

const reference = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** A variable that was read. */
export interface Variable {
  readonly name: string
  readonly value: string
}

export interface Expansion {
  readonly text: string
  /** What was put in, without defaults. */
  readonly read: ReadonlyArray<Variable>
  /** Variables that are not set and have no default. They stay as they are written. */
  readonly missing: ReadonlyArray<string>
}

/** The names of the variables that a text reads. */
export const variablesIn = (text: string): ReadonlyArray<string> => [
  ...new Set([...text.matchAll(reference)].map(([, name = ""]) => name))
]

/** As a shell does it: a default also stands for a variable that is empty, and what was put in is not expanded again. */
export const expand = (text: string, valueOf: (name: string) => string | undefined): Expansion => {
  const read: Array<Variable> = []
  const missing: Array<string> = []
  const expanded = text.replace(reference, (whole, name: string, otherwise: string | undefined) => {
    const value = valueOf(name)
    if (otherwise !== undefined && (value === undefined || value === "")) return otherwise
    if (value === undefined) {
      missing.push(name)
      return whole
    }
    read.push({ name, value })
    return value
  })
  return { text: expanded, read, missing }
}
