/**
 * A confinement as arguments of `bwrap`. What holds for a path is what the narrowest place around it says; of two words
 * about one place the more closed one holds.
 */
import { isWithin } from "../files/Paths.ts"

/** From open to closed. `temporary` is writable and of the session's own. */
const treatments = ["temporary", "writable", "readable", "hidden"] as const

/** What a command may do with a place and with everything below it. */
export interface Place {
  /** Absolute and real: no part of it is a link. */
  readonly path: string
  readonly type: "folder" | "file"
  readonly treatment: (typeof treatments)[number]
}

/** What a command may touch. Every place exists; what is in none is not there. */
export interface BubblewrapPolicy {
  readonly places: ReadonlyArray<Place>
  /** The folder that the places of treatment `temporary` show. */
  readonly temporary: string
  /** Links that lead from a folder that is hidden or not visible to one that is. */
  readonly links: ReadonlyArray<{ readonly name: string; readonly target: string }>
  /** Files and folders of `/proc` that root could write, whatever its capabilities are. */
  readonly kernel: ReadonlyArray<string>
  /** Root keeps what it needs to work on files of others, and loses what would undo the confinement. */
  readonly asRoot: boolean
  readonly network: boolean
  readonly cwd: string
}

const rootCapabilities = ["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL"]

const depth = (path: string): number => (path === "/" ? 0 : path.split("/").length)

const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf("/"), 1))

const more = (one: Place, other: Place): Place =>
  treatments.indexOf(one.treatment) < treatments.indexOf(other.treatment) ? other : one

/**
 * One place for each path, outer ones first. Folders between something writable and what is closed in it are places of
 * their own: a mount point cannot be renamed, and so nothing closed can be moved out of the way with the folder it is in.
 */
export const layersOf = (places: ReadonlyArray<Place>): ReadonlyArray<Place> => {
  const known = new Map<string, Place>()
  for (const place of places) known.set(place.path, more(known.get(place.path) ?? place, place))
  const open = [...known.values()].filter(({ treatment }) => treatment === "writable")
  const isOpen = ({ treatment }: Place) => treatment === "writable" || treatment === "temporary"
  for (const place of [...known.values()].filter((one) => !isOpen(one))) {
    const outer = open.filter(({ path }) => path !== place.path && isWithin(path, place.path)).map(({ path }) => path)
    const outmost = outer.reduce((one, other) => (depth(other) < depth(one) ? other : one), place.path)
    for (let at = place.path; at !== outmost; at = parentOf(at)) {
      if (!known.has(at)) known.set(at, { path: at, type: "folder", treatment: "writable" })
    }
  }
  return [...known.values()].sort(
    (one, other) => depth(one.path) - depth(other.path) || (one.path < other.path ? -1 : 1)
  )
}

const mountOf = ({ path, treatment, type }: Place, temporary: string): ReadonlyArray<string> => {
  switch (treatment) {
    case "temporary":
      return ["--bind", temporary, path]
    case "writable":
      return ["--bind", path, path]
    case "readable":
      return ["--ro-bind", path, path]
    case "hidden":
      return type === "folder" ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path]
  }
}

/** Arguments of `bwrap` up to the program that it runs. */
export const argumentsOf = (policy: BubblewrapPolicy): ReadonlyArray<string> => {
  const { asRoot, cwd, kernel, links, network, places, temporary } = policy
  const layers = layersOf(places)
  const root = layers.filter(({ path }) => path === "/")
  const others = layers.filter(({ path }) => path !== "/")
  const empty = others.filter(({ treatment, type }) => treatment === "hidden" && type === "folder")
  return [
    "--unshare-pid",
    "--unshare-ipc",
    "--die-with-parent",
    "--new-session",
    ...(network ? [] : ["--unshare-net"]),
    ...(asRoot ? ["--cap-drop", "ALL", ...rootCapabilities.flatMap((name) => ["--cap-add", name])] : []),
    ...root.flatMap((place) => mountOf(place, temporary)),
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    ...kernel.flatMap((path) => ["--ro-bind", path, path]),
    ...others.flatMap((place) => mountOf(place, temporary)),
    ...links.flatMap(({ name, target }) => ["--symlink", target, name]),
    // What is written into an empty folder would be lost without a word. They are closed once all is mounted in them.
    ...empty.flatMap(({ path }) => ["--remount-ro", path]),
    ...(root.length === 0 ? ["--remount-ro", "/"] : []),
    "--chdir",
    cwd
  ]
}
