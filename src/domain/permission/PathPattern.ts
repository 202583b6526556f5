/** Absolute paths and the patterns of rules about them. A file counts under every name that it is known by (F89). */
import * as Glob from "effect/Glob"
import { isWithin } from "../files/Paths.ts"

/** `path` as seen from `base`, without `.`, `..` and doubled slashes. */
export const resolvePath = (base: string, path: string): string => {
  const parts: Array<string> = []
  for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (part === "..") parts.pop()
    else if (part !== "" && part !== ".") parts.push(part)
  }
  return `/${parts.join("/")}`
}

/** Where paths really lead, through every symbolic link. A path that is missing leads where it says. */
export type Links = ReadonlyMap<string, string>

export const realName = (links: Links, path: string): string => links.get(path) ?? resolvePath("/", path)

/** Where patterns start: relative ones at `cwd`, those with `~/` at `home`. */
export interface PatternBase {
  readonly cwd: string
  readonly home: string | undefined
  /** The project's folder: what a relative pattern forbids or asks for is meant from there as well. */
  readonly root?: string
}

/** What patterns are read with. `links` knows at least their anchors. */
export interface PatternPlace extends PatternBase {
  readonly links: Links
}

interface Rooted {
  readonly base: string
  readonly glob: string
}

const rootedAt = (pattern: string, { cwd, home }: PatternBase): Rooted | undefined => {
  if (pattern.startsWith("/")) return { base: "/", glob: pattern }
  if (pattern === "~" || pattern.startsWith("~/")) {
    return home === undefined ? undefined : { base: home, glob: pattern.slice(1) }
  }
  return { base: cwd, glob: pattern }
}

/** For a no: all that the pattern may mean. */
const rootedEverywhere = (pattern: string, place: PatternBase): ReadonlyArray<Rooted> => {
  const folders = [...new Set([place.cwd, place.root ?? place.cwd])]
  return folders.flatMap((cwd) => rootedAt(pattern, { ...place, cwd }) ?? [])
}

const globBelow = (folder: string, glob: string): string => resolvePath("/", `${Glob.escape(folder)}/${glob}`)

/** The folders before the first wildcard, and the glob from there. */
const split = ({ base, glob }: Rooted): Rooted => {
  const parts = globBelow(base, glob).split("/")
  const at = parts.findIndex((part) => /[*?[{]/.test(part.replace(/\\./g, "")))
  const end = at === -1 ? parts.length : at
  return { base: parts.slice(0, end).join("/").replace(/\\(.)/g, "$1") || "/", glob: parts.slice(end).join("/") }
}

/** The paths whose real names decide what a pattern is about. */
export const anchorsOf = (pattern: string, place: PatternBase): ReadonlyArray<string> =>
  rootedEverywhere(pattern, place).flatMap((rooted) => [rooted.base, split(rooted).base])

const tester = (globs: ReadonlyArray<string>): ((path: string) => boolean) => {
  const compiled = [...new Set(globs)].map((glob) => Glob.make(resolvePath("/", glob), { dot: true }))
  return (path) => compiled.some((glob) => Glob.match(glob, resolvePath("/", path)))
}

const nothing = (): boolean => false

/**
 * A test for what a rule forbids or asks for: the paths that the glob is about, as it is written and with its folders
 * where they really are, and everything below them. `*` and `?` stop at a slash, `**` does not; a name that begins with
 * a dot is like any other.
 */
export const striking = (pattern: string, place: PatternPlace): ((path: string) => boolean) => {
  const globs = rootedEverywhere(pattern, place).flatMap((rooted) => {
    const { base, glob } = rooted
    const fixed = split(rooted)
    return [
      globBelow(base, glob),
      globBelow(realName(place.links, base), glob),
      globBelow(realName(place.links, fixed.base), fixed.glob)
    ]
  })
  return tester(globs.map((whole) => `${whole}/**`))
}

/**
 * A test for what a rule allows: only what the glob says. Where `cwd` and `home` really are belongs to it, but no link
 * on the way from there, since whoever may write could lead it anywhere.
 */
export const covering = (pattern: string, place: PatternPlace): ((path: string) => boolean) => {
  const rooted = rootedAt(pattern, place)
  if (rooted === undefined) return nothing
  const { base, glob } = rooted
  const below = glob.endsWith("/") ? "/**" : ""
  return tester([base, realName(place.links, base)].map((folder) => globBelow(folder, glob) + below))
}

/** Whether something that the pattern strikes could lie in the folder, or in one below it. */
export const mayLieIn = (pattern: string, folder: string, place: PatternPlace): boolean => {
  const anchors = rootedEverywhere(pattern, place).flatMap((rooted) => {
    const { base } = split(rooted)
    return [base, realName(place.links, base)]
  })
  return [resolvePath("/", folder), realName(place.links, folder)].some((name) =>
    anchors.some((anchor) => isWithin(name, anchor) || isWithin(anchor, name))
  )
}
