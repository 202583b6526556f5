/** Globs as people write them for files: `*.ts` in any folder, `src/**` from the root, `!*.md` for all others. */
import * as Glob from "effect/Glob"

const anyDepth = (glob: string): string => (glob.includes("/") ? glob.replace(/^\//, "") : `**/${glob}`)

/** A test for paths relative to the root. Hidden names count like any other. */
export const fileGlob = (glob: string): ((relative: string) => boolean) => {
  if (glob.startsWith("!")) {
    const excluded = fileGlob(glob.slice(1))
    return (relative) => !excluded(relative)
  }
  const compiled = Glob.make(anyDepth(glob), { dot: true })
  return (relative) => Glob.match(compiled, relative)
}

/** A simple pattern that the names of all matching files fit, where there is one: `*.ts` for any path that ends so. */
export const nameGlob = (glob: string): string | undefined => {
  const name = glob.slice(glob.lastIndexOf("/") + 1)
  return /^[\w.*-]+$/.test(name) && /[^*]/.test(name) && !glob.startsWith("!") ? name : undefined
}
