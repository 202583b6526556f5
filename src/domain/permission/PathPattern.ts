/** Absolute paths, compared as written: `.` and `..` are resolved, symbolic links are not. */
import * as Glob from "effect/Glob"

/** `path` as seen from `base`, without `.`, `..` and doubled slashes. */
export const resolvePath = (base: string, path: string): string => {
  const parts: Array<string> = []
  for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (part === "..") parts.pop()
    else if (part !== "" && part !== ".") parts.push(part)
  }
  return `/${parts.join("/")}`
}

/** Where patterns start: relative ones at `cwd`, those with `~/` at `home`. */
export interface PatternBase {
  readonly cwd: string
  readonly home: string | undefined
}

const absolute = (pattern: string, { cwd, home }: PatternBase): string | undefined => {
  if (pattern.startsWith("/")) return pattern
  if (pattern === "~" || pattern.startsWith("~/")) {
    return home === undefined ? undefined : Glob.escape(home) + pattern.slice(1)
  }
  return `${Glob.escape(resolvePath("/", cwd))}/${pattern}`
}

/**
 * Whether the glob is about this path: `*` and `?` stop at a slash, `**` does not, a name that begins with a dot is like
 * any other. With `below`, also for everything inside a folder that the glob names.
 */
export const matchPath = (pattern: string, path: string, base: PatternBase, below: boolean): boolean => {
  const full = absolute(pattern, base)
  if (full === undefined) return false
  const folder = resolvePath("/", full)
  const globs = full.endsWith("/") ? [`${folder}/**`] : below ? [folder, `${folder}/**`] : [folder]
  return globs.some((glob) => Glob.match(Glob.make(glob, { dot: true }), resolvePath("/", path)))
}
