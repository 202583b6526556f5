/** The names that a module exports, its own and those that it passes on, and whether a comment says what each means. */
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parseSync } from "rolldown/utils"
import { root } from "./Sources.ts"

export interface PublicName {
  /** The file that declares it, relative to the project. */
  readonly path: string
  readonly name: string
  readonly documented: boolean
}

type Names = ReadonlySet<string> | "all"

/** A constant and a type of one name are one name: the comment of either is shown for both. */
const declared = (path: string, wanted: Names, found: Map<string, PublicName>): void => {
  const text = readFileSync(join(root, path), "utf8")
  const passOn = (source: string, names: Names): void => {
    if (source.startsWith(".")) declared(join(dirname(path), source), names, found)
  }
  for (const node of parseSync(path, text).program.body) {
    if (node.type === "ExportAllDeclaration") passOn(node.source.value, "all")
    if (node.type !== "ExportNamedDeclaration") continue
    if (node.source !== null) {
      passOn(
        node.source.value,
        new Set(node.specifiers.map(({ local }) => ("name" in local ? local.name : local.value)))
      )
      continue
    }
    const { declaration } = node
    if (declaration === null) continue
    const ids = "declarations" in declaration ? declaration.declarations.map(({ id }) => id) : [declaration.id]
    const documented = text.slice(0, node.start).trimEnd().endsWith("*/")
    for (const id of ids) {
      if (id?.type !== "Identifier" || (wanted !== "all" && !wanted.has(id.name))) continue
      const key = `${path}:${id.name}`
      found.set(key, { path, name: id.name, documented: documented || found.get(key)?.documented === true })
    }
  }
}

export const publicNames = (path: string): ReadonlyArray<PublicName> => {
  const found = new Map<string, PublicName>()
  declared(path, "all", found)
  return [...found.values()]
}
