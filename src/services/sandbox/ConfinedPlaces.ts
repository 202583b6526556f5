/** What a confinement means on this machine: which of the places that matter exist, and where they really are. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import type { Environment } from "../../domain/ChildEnvironment.ts"
import { isWithin } from "../../domain/files/Paths.ts"
import type { BubblewrapPolicy, Place } from "../../domain/sandbox/Bubblewrap.ts"
import type { SandboxProfile } from "../../domain/sandbox/Profile.ts"
import * as Sensitive from "../../domain/sandbox/SensitiveNames.ts"
import { socketPaths } from "../../domain/sandbox/UnixSockets.ts"
import type { Confinement } from "../SandboxRunner.ts"
import { readableScratch, temporaryFolder } from "../Workspace.ts"
import { searchedFolders } from "./Executable.ts"
import { makeGitFolders } from "./GitFolders.ts"
import { both, CONCURRENT, makeProtector, type Watched } from "./Protection.ts"

export interface Confining {
  readonly policy: BubblewrapPolicy
  readonly watched: ReadonlyArray<Watched>
}

export interface ConfinedPlaces {
  readonly find: (
    profile: Exclude<SandboxProfile, "off">,
    confinement: Confinement,
    cwd: string
  ) => Effect.Effect<Confining>
}

/** Where sockets lie that lead out of the sandbox. */
const socketFolders = ["/run", "/var/run"]

const temporaryFolders = ["/tmp", "/var/tmp"]

/** A sandbox has its own of these: those of the system would lead out of it, or not work in it. */
const ownFolders = ["/dev", "/proc"]

/** A folder like any other, though it lies among devices. */
const MEMORY = "/dev/shm"

/** Everything, and the switches of the kernel: never writable, whatever the workspace is. */
const isSystem = (name: string): boolean => name === "/" || isWithin("/sys", name)

/** What a closed profile still sees beside the workspace. */
const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu"]

const kernelPlaces = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "driver", "mtrr"]

/** Sockets that are hidden one by one; there are few outside of the folders for them. */
const MOST_SOCKETS = 200

const RESOLVER = "/etc/resolv.conf"

export interface ConfinedPlacesInput {
  readonly fs: FileSystem.FileSystem
  readonly path: Path.Path
  readonly environment: Environment
  /** The home folder of the agent. */
  readonly home: string
  readonly isRoot: boolean
}

export const makeConfinedPlaces = (input: ConfinedPlacesInput): ConfinedPlaces => {
  const { environment, fs, home, isRoot, path } = input
  const person = environment["HOME"]
  const protector = makeProtector(fs)
  const git = makeGitFolders({ fs, path, person, protector })

  const present = (names: ReadonlyArray<string>, treatment: Place["treatment"]) =>
    Effect.map(
      Effect.forEach(names, (name) => protector.placeOf(name, treatment), { concurrency: CONCURRENT }),
      (found) => found.flat()
    )

  const linksAmong = (names: ReadonlyArray<string>) =>
    Effect.map(
      Effect.forEach(names, (name) =>
        Effect.map(Effect.option(fs.readLink(name)), (target) =>
          Option.toArray(target).map((to) => ({ name, target: to }))
        )
      ),
      (found) => found.flat()
    )

  const inHome = (names: ReadonlyArray<string>) =>
    person === undefined ? [] : names.map((name) => path.join(person, name))

  const searched = searchedFolders(path, environment)

  /** Programs in a folder of the person's own need what lies beside them. A folder that is wider than that is left out. */
  const toolchains = Effect.gen(function* () {
    const names = searched.flatMap((folder) => [folder, path.join(folder, "..", "lib")])
    const kept = yield* present([home, ...(person === undefined ? [] : [person])], "hidden")
    const found = yield* present(names, "readable")
    return found.filter((place) => !kept.some((one) => isWithin(place.path, one.path)))
  })

  /**
   * By the system's own list, and by the names that the environment gives. Those of a workspace are its own, but for one
   * that holds the person's home: there are the sockets of keys and containers.
   */
  const sockets = Effect.fnUntraced(function* (roots: ReadonlyArray<Place>) {
    const table = yield* Effect.orElseSucceed(fs.readFileString("/proc/net/unix"), () => "")
    const inside = (name: string) => roots.some((root) => isWithin(root.path, name))
    const isProjects = (name: string) =>
      roots.some((root) => isWithin(root.path, name) && (person === undefined || !isWithin(root.path, person)))
    const named = [environment["SSH_AUTH_SOCK"], environment["DOCKER_HOST"], environment["CONTAINER_HOST"]].flatMap(
      (value) => (value === undefined ? [] : [value.replace(/^unix:\/\//, "")])
    )
    const others = socketPaths(table).filter((name) => !isProjects(name))
    const found = yield* present(
      [...named.filter((name) => path.isAbsolute(name)), ...others.slice(0, MOST_SOCKETS)],
      "hidden"
    )
    // The folders for temporary files are the session's own, but for a workspace in them.
    const isReplaced = (name: string) => temporaryFolders.some((folder) => isWithin(folder, name)) && !inside(name)
    return found.filter((place) => place.type === "file" && !isReplaced(place.path))
  })

  /** Places that look empty whatever is around them, and what in them is needed. */
  const hidden = Effect.fnUntraced(function* (scratch: string, roots: ReadonlyArray<Place>, network: boolean) {
    const runtime = environment["XDG_RUNTIME_DIR"]
    const folders = yield* present([...socketFolders, ...(runtime === undefined ? [] : [runtime])], "hidden")
    const secrets = yield* present(Sensitive.privatePlaces(home, person), "hidden")
    const closed = [...folders, ...secrets]
    const isClosed = ({ path: name }: Place) => closed.some((one) => isWithin(one.path, name))
    const resolver = network ? yield* present([RESOLVER], "readable") : []
    return [
      ...closed,
      ...(yield* sockets(roots)).filter((place) => !isClosed(place)),
      ...resolver.filter(isClosed),
      ...(yield* present(readableScratch(scratch), "readable"))
    ]
  })

  /** What commands may write, and what of it they must not. */
  const open = Effect.fnUntraced(function* (roots: ReadonlyArray<Place>) {
    const names = roots.map((root) => root.path)
    const isPerson = (root: string) => person !== undefined && isWithin(root, person)
    const kept = yield* Effect.forEach(
      names.flatMap((root) =>
        Sensitive.protectedNames.map((name) => ({
          name: path.join(root, name),
          matters: isPerson(root) && Sensitive.startFiles.includes(name)
        }))
      ),
      ({ matters, name }) => protector.protect(name, matters),
      { concurrency: CONCURRENT }
    )
    const personal = names.some(isPerson)
      ? yield* Effect.forEach(inHome([...Sensitive.startFiles, ".ssh"]), (name) => protector.protect(name, true))
      : []
    const own = yield* Effect.forEach(names, (root) => protector.protect(path.join(root, Sensitive.ownFolder), true))
    return both([{ places: roots, watched: [] }, ...kept, ...personal, ...own, yield* git.find(names)])
  })

  const find = Effect.fnUntraced(function* (
    profile: Exclude<SandboxProfile, "off">,
    { roots, scratch }: Confinement,
    cwd: string
  ): Effect.fn.Return<Confining> {
    const temporary = temporaryFolder(scratch)
    // Also what another command writes meanwhile can be read.
    for (const folder of readableScratch(scratch)) {
      yield* Effect.ignore(fs.makeDirectory(folder, { recursive: true, mode: 0o700 }))
    }
    const network = profile === "workspace"
    const canWrite = profile !== "read-only"
    const folders = (yield* present(roots, canWrite ? "writable" : "readable")).filter(
      ({ path: name, type }) =>
        type === "folder" && (isWithin(MEMORY, name) || !ownFolders.some((own) => isWithin(own, name)))
    )
    const workspace = folders.filter(({ path: name }) => !isSystem(name))
    const system = folders.filter(({ path: name }) => isSystem(name))
    const { places, watched } = canWrite ? yield* open(workspace) : { places: workspace, watched: [] }
    const isAllSeen = profile !== "strict" || system.some(({ path: name }) => name === "/")
    const seen: ReadonlyArray<Place> = isAllSeen
      ? [{ path: "/", type: "folder", treatment: "readable" }]
      : [
          ...(yield* present(systemFolders, "readable")),
          ...(yield* toolchains),
          ...system.map((place): Place => ({ ...place, treatment: "readable" }))
        ]
    const closed = yield* hidden(scratch, workspace, network)
    const visible = [...seen, ...places.filter(({ treatment }) => treatment === "writable")]
    const isSeen = (place: Place) => visible.some((one) => isWithin(one.path, place.path))
    const running = yield* Effect.orElseSucceed(fs.readDirectory("/run"), () => [])
    return {
      policy: {
        places: [
          ...seen,
          ...places.filter((place) => place.treatment !== "readable" || !canWrite || isSeen(place)),
          ...closed.filter((place) => isSeen(place) || place.treatment === "readable"),
          ...(yield* present(temporaryFolders, "temporary"))
        ],
        temporary: Option.getOrElse(yield* Effect.option(fs.realPath(temporary)), () => temporary),
        links: yield* linksAmong([
          ...(isAllSeen ? [] : systemFolders),
          ...running.map((name) => path.join("/run", name))
        ]),
        kernel: (yield* present(
          kernelPlaces.map((name) => path.join("/proc", name)),
          "readable"
        )).map((place) => place.path),
        asRoot: isRoot,
        network,
        cwd: Option.getOrElse(yield* Effect.option(fs.realPath(cwd)), () => cwd)
      },
      watched
    }
  })

  return { find }
}
