/** The project's own sources, read as a parser sees them. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseSync, Visitor } from "rolldown/utils"

export const root = join(import.meta.dirname, "..", "..")

export interface Source {
  /** Relative to the project, such as `src/domain/Ids.ts`. */
  readonly path: string
  readonly lines: number
  readonly comments: ReadonlyArray<string>
  /** What it imports or re-exports, types included, as written. */
  readonly imports: ReadonlyArray<string>
  /** Its strings and numbers, those of imports included and those of comments not; negative numbers in both signs. */
  readonly literals: ReadonlyArray<string | number>
}

const read = (path: string): Source => {
  const text = readFileSync(join(root, path), "utf8")
  const { comments, errors, program } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const imports: Array<string> = []
  const literals: Array<string | number> = []
  const importing = (node: { readonly source: { readonly type: string; readonly value?: unknown } | null }): void => {
    if (node.source?.type === "Literal") imports.push(String(node.source.value))
  }
  new Visitor({
    ImportDeclaration: importing,
    ExportNamedDeclaration: importing,
    ExportAllDeclaration: importing,
    ImportExpression: importing,
    TSImportType: importing,
    Literal: ({ value }) => {
      if (typeof value === "string" || typeof value === "number") literals.push(value)
    },
    TemplateElement: ({ value }) => {
      literals.push(value.raw)
    },
    UnaryExpression: ({ argument, operator }) => {
      if (operator === "-" && argument.type === "Literal") literals.push(-Number(argument.value))
    }
  }).visit(program)
  return {
    path,
    lines: text.split("\n").length - 1,
    comments: comments.map(({ value }) => value),
    imports,
    literals
  }
}

/** Every source that a pattern matches, below the project's folder. */
export const sources = (pattern: string): ReadonlyArray<Source> => globSync(pattern, { cwd: root }).toSorted().map(read)
