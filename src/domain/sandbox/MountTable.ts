/**
 * What a table of mounts (`mountinfo`) has to say about places that were mounted onto themselves. Somebody who may write
 * around a place can put a link there between the look at it and the mount; the kernel's own table then tells.
 */
import { isWithin } from "../files/Paths.ts"
import type { Place } from "./Bubblewrap.ts"

interface Mount {
  readonly device: string
  readonly root: string
  readonly point: string
  readonly type: string
}

/** These tell every folder of theirs as `/`. */
const ROOTLESS = /^nfs/

/** White space and backslashes are octal numbers in the table. */
export const escape = (path: string): string =>
  path.replace(/[ \t\n\\]/g, (letter) => `\\${letter.charCodeAt(0).toString(8).padStart(3, "0")}`)

const parse = (table: string): ReadonlyArray<Mount> =>
  table.split("\n").flatMap((line) => {
    const [own = "", rest = ""] = line.split(" - ")
    const [, , device, root, point] = own.split(" ")
    const [type = ""] = rest.split(" ")
    return device === undefined || root === undefined || point === undefined ? [] : [{ device, root, point, type }]
  })

const join = (root: string, rest: string): string => (root === "/" ? rest || "/" : root + rest)

/**
 * The end of a line for each place, as it must stand in a list of `device root point` of the confined command's mounts,
 * given the table of whoever confines it. Only places inside of something writable are told.
 */
export const expectedMounts = (table: string, layers: ReadonlyArray<Place>): ReadonlyArray<string> => {
  const mounts = parse(table)
  const open = layers.filter(({ treatment }) => treatment === "writable")
  return layers.flatMap(({ path, treatment }) => {
    if (treatment === "temporary" || !open.some((one) => isWithin(one.path, path))) return []
    const point = escape(path)
    // Of what is hidden only the place counts.
    if (treatment === "hidden") return [` ${point}`]
    const around = mounts
      .filter((one) => isWithin(one.point, point))
      .reduce<Mount | undefined>(
        (one, other) => (one !== undefined && one.point.length > other.point.length ? one : other),
        undefined
      )
    if (around === undefined) return [`? ? ${point}`]
    const rest = around.point === "/" ? (point === "/" ? "" : point) : point.slice(around.point.length)
    const root = ROOTLESS.test(around.type) ? around.root : join(around.root, rest)
    return [`${around.device} ${root} ${point}`]
  })
}
