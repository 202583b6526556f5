/**
 * Carries text from one way of indenting to another: a model that wrote four blanks where a file has a tab, or left the
 * first level out, gets what it meant. Only where the lines that both share say clearly how the two ways relate.
 */

export const indentOf = (line: string): string => /^[\t ]*/.exec(line)?.[0] ?? ""

/** How the indentation of one text relates to that of another. */
export interface Reindent {
  /** By indentation in the first text: that of the same lines in the second. */
  readonly known: ReadonlyMap<string, string>
}

const isUniform = (indent: string): boolean => /^(\t*| *)$/.test(indent)

/**
 * None when the lines do not have the same shape: a level of one text has several in the other, two levels are one
 * there, or a deeper one is not as deep. Such a difference can have a meaning.
 */
export const relate = (from: ReadonlyArray<string>, to: ReadonlyArray<string>): Reindent | undefined => {
  const known = new Map<string, string>()
  for (const [index, line] of from.entries()) {
    if (line.trim() === "") continue
    const own = indentOf(line)
    const other = indentOf(to[index] ?? "")
    if ((known.get(own) ?? other) !== other) return undefined
    known.set(own, other)
  }
  const levels = [...known].toSorted(([one], [other]) => one.length - other.length)
  const isDeeper = levels.every(([own, other], index) => {
    const [before, beforeOther] = levels[index - 1] ?? ["", ""]
    return index === 0 || (own.length > before.length && other.length > beforeOther.length)
  })
  return isDeeper ? { known } : undefined
}

/** What one more step of indentation becomes, by the steps between known levels. */
const stepOf = ({ known }: Reindent): readonly [own: string, other: string] | undefined => {
  const levels = [...known].toSorted(([one], [other]) => one.length - other.length)
  for (const [index, [own, other]] of levels.entries()) {
    const [before, beforeOther] = levels[index - 1] ?? ["", ""]
    // A single level tells of steps only where it is made of other characters: else it may only be shifted.
    if (index === 0 && (own === "" || other === "" || own[0] === other[0])) continue
    if (own.startsWith(before) && other.startsWith(beforeOther)) {
      const step = [own.slice(before.length), other.slice(beforeOther.length)] as const
      if (step.every(isUniform)) return step
    }
  }
  return undefined
}

/** A piece of indentation beyond a known level. */
const translate = (piece: string, step: readonly [own: string, other: string] | undefined): string => {
  if (step === undefined || piece === "" || !isUniform(piece)) return piece
  const [own, other] = step
  const length = (piece.length * other.length) / own.length
  return piece[0] === own[0] && Number.isInteger(length) ? (other[0] ?? "").repeat(length) : piece
}

const indentFor = (relation: Reindent, indent: string): string => {
  const exact = relation.known.get(indent)
  if (exact !== undefined) return exact
  const levels = [...relation.known].toSorted(([one], [other]) => other.length - one.length)
  const step = stepOf(relation)
  const below = levels.find(([own]) => indent.startsWith(own))
  if (below !== undefined) return below[1] + translate(indent.slice(below[0].length), step)
  const above = levels.findLast(([own]) => own.startsWith(indent))
  if (above === undefined) return indent
  const extra = translate(above[0].slice(indent.length), step)
  return above[1].endsWith(extra) ? above[1].slice(0, above[1].length - extra.length) : indent
}

/** Lines written in the way of the first text, in that of the second. Blank ones stay as they are. */
export const reindent = (relation: Reindent, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line) => {
    const indent = indentOf(line)
    return line.trim() === "" ? line : indentFor(relation, indent) + line.slice(indent.length)
  })
