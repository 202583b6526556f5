/**
 * The git metadata that commands in a workspace need to write, and what of it they must not: hooks and configuration name
 * programs that git runs later, outside of any sandbox.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import type { Place } from "../../domain/sandbox/Bubblewrap.ts"
import { protectedGitNames } from "../../domain/sandbox/SensitiveNames.ts"
import { both, CONCURRENT, none, type Protection, type Protector } from "./Protection.ts"

export interface GitFolders {
  /** For folders by their real paths. */
  readonly find: (roots: ReadonlyArray<string>) => Effect.Effect<Protection>
}

/** Entries of a folder that are looked at for submodules, worktrees and repositories inside. */
const MOST = 200

/** How deep the names of submodules are looked at: `modules/libs/one` is one of them. */
const DEPTH = 5

/** Characters of a file that is read for one line of it. */
const FILE_LIMIT = 256 * 1024

const POINTER = /^gitdir: (.+)$/m
const LINE = /^(.+)$/m
const WORKTREE = /^\s*(?:\[[^\]]*\]\s*)?worktree\s*=\s*(.+)$/im
const EXTENDED = /^\s*(?:\[[^\]]*\]\s*)?worktreeconfig\s*=\s*(?:true|yes|on|1)/im

/** Files that configuration leads to, wherever in it they are named. */
const LEADS = /^\s*(?:\[[^\]]*\]\s*)?(hookspath|path)\s*=\s*"?([^"\n;#]+)/gim

const writable = (path: string): Place => ({ path, type: "folder", treatment: "writable" })

export interface GitFoldersInput {
  readonly fs: FileSystem.FileSystem
  readonly path: Path.Path
  readonly protector: Protector
  /** Where the person's own configuration is. */
  readonly person: string | undefined
}

export const makeGitFolders = ({ fs, path, person, protector }: GitFoldersInput): GitFolders => {
  const typeOf = (name: string) => Effect.map(Effect.option(fs.stat(name)), (info) => Option.getOrUndefined(info)?.type)

  const read = (name: string) =>
    Effect.map(
      Effect.orElseSucceed(fs.readFileString(name), () => ""),
      (text) => (text.length > FILE_LIMIT ? "" : text)
    )

  const lineOf = (name: string, pattern: RegExp) => Effect.map(read(name), (text) => pattern.exec(text)?.[1]?.trim())

  /** Folders in a folder, without those that a link leads to. */
  const foldersIn = Effect.fnUntraced(function* (folder: string) {
    const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
    const places = yield* Effect.forEach(
      names.slice(0, MOST).map((name) => path.join(folder, name)),
      (name) => Effect.map(protector.placeOf(name, "writable"), (found) => ({ name, found })),
      { concurrency: CONCURRENT }
    )
    return places.flatMap(({ found: [place], name }) => (place?.type === "folder" && place.path === name ? [name] : []))
  })

  /** The git folders of submodules, and of theirs. */
  const modulesIn = (folder: string, depth: number): Effect.Effect<ReadonlyArray<string>> =>
    depth === 0
      ? Effect.succeed([])
      : Effect.flatMap(foldersIn(folder), (names) =>
          Effect.map(
            Effect.forEach(names, (name) =>
              Effect.flatMap(typeOf(path.join(name, "HEAD")), (type) =>
                type === undefined
                  ? modulesIn(name, depth - 1)
                  : Effect.map(modulesIn(path.join(name, "modules"), depth - 1), (inner) => [name, ...inner])
              )
            ),
            (found) => found.flat().slice(0, MOST)
          )
        )

  /** Files and folders that a configuration leads to; those that start with `~` are the person's. */
  const leads = Effect.fnUntraced(function* (config: string, root: string) {
    const text = yield* read(config)
    return [...text.matchAll(LEADS)].flatMap(([, key = "", value = ""]) => {
      const base = key.toLowerCase() === "path" ? path.dirname(config) : root
      const name = value.trim()
      if (name.startsWith("~/")) return person === undefined ? [] : [path.join(person, name.slice(2))]
      return [path.resolve(base, name)]
    })
  })

  /** One git folder whose work tree is `root`, without what is inside of it. */
  const guarded = Effect.fnUntraced(function* (folder: string, root: string) {
    const config = path.join(folder, "config")
    const isExtended = EXTENDED.test(yield* read(config))
    const names = yield* Effect.forEach(
      protectedGitNames.map((name) => path.join(folder, name)),
      (name) => protector.protect(name, isExtended || path.basename(name) === "commondir"),
      { concurrency: CONCURRENT }
    )
    const hooks = path.join(folder, "hooks")
    // An empty one does no harm and can be mounted read-only. It stays: another agent may have mounted it, too.
    yield* Effect.ignore(fs.makeDirectory(hooks))
    const kept = yield* protector.protect(hooks, false)
    const led = yield* Effect.forEach(yield* leads(config, root), (name) => protector.protect(name, false))
    return both([...names, kept, ...led])
  })

  /** A git folder with those of its submodules and work trees. */
  const repository = Effect.fnUntraced(function* (folder: string, root: string) {
    const modules = yield* modulesIn(path.join(folder, "modules"), DEPTH)
    const submodules = yield* Effect.forEach(modules, (module) =>
      Effect.gen(function* () {
        const worktree = yield* lineOf(path.join(module, "config"), WORKTREE)
        const place = path.resolve(module, worktree ?? ".")
        const pointer = worktree === undefined ? none : yield* protector.protect(path.join(place, ".git"), false)
        return both([yield* guarded(module, place), pointer])
      })
    )
    // Hooks are never looked for in the folder of a work tree.
    const worktrees = yield* Effect.forEach(yield* foldersIn(path.join(folder, "worktrees")), (worktree) =>
      Effect.forEach(protectedGitNames, (name) => protector.protect(path.join(worktree, name), false))
    )
    return both([yield* guarded(folder, root), ...submodules, ...worktrees.flat()])
  })

  const same = Effect.fnUntraced(function* (one: string, other: string) {
    const [left, right] = yield* Effect.all([Effect.option(fs.realPath(one)), Effect.option(fs.realPath(other))])
    return Option.isSome(left) && Option.isSome(right) && left.value === right.value
  })

  /** A pointer is believed only if what it names points back: a command could have written it. */
  const pointsBack = Effect.fnUntraced(function* (folder: string, candidate: string) {
    const back = yield* lineOf(path.join(folder, "gitdir"), LINE)
    if (back !== undefined) return yield* same(path.resolve(folder, back), candidate)
    const worktree = yield* lineOf(path.join(folder, "config"), WORKTREE)
    return worktree !== undefined && (yield* same(path.resolve(folder, worktree), path.dirname(candidate)))
  })

  /** What the `.git` of a folder is and leads to. */
  const known = Effect.fnUntraced(function* (candidate: string): Effect.fn.Return<Protection> {
    const kept = yield* protector.protect(candidate, false)
    const [place] = kept.places
    // Nobody may put another folder in the place of a link, and nothing behind one is opened.
    if (place === undefined || place.path !== candidate) return kept
    const root = path.dirname(candidate)
    if (place.type === "folder") {
      return both([{ places: [writable(candidate)], watched: [] }, yield* repository(candidate, root)])
    }
    const target = yield* lineOf(candidate, POINTER)
    if (target === undefined) return kept
    const folder = path.resolve(root, target)
    if (!(yield* pointsBack(folder, candidate))) return kept
    const common = yield* lineOf(path.join(folder, "commondir"), LINE)
    const [own] = yield* protector.placeOf(folder, "writable")
    const [owner] = yield* protector.placeOf(common === undefined ? folder : path.resolve(folder, common), "writable")
    if (own === undefined || owner?.type !== "folder") return kept
    if (own.path !== owner.path && path.dirname(own.path) !== path.join(owner.path, "worktrees")) return kept
    const parts = yield* Effect.forEach(["objects", "HEAD", "config"], (name) => typeOf(path.join(owner.path, name)))
    if (parts.includes(undefined)) return kept
    return both([kept, { places: [owner], watched: [] }, yield* repository(owner.path, root)])
  })

  /** The `.git` of a folder or of one above it. */
  const above = Effect.fnUntraced(function* (folder: string) {
    for (let at = folder; ; at = path.dirname(at)) {
      const candidate = path.join(at, ".git")
      if ((yield* typeOf(candidate)) !== undefined) return yield* known(candidate)
      if (path.dirname(at) === at) return none
    }
  })

  /** The repositories that are folders of this one. */
  const inside = Effect.fnUntraced(function* (root: string) {
    const names = (yield* Effect.orElseSucceed(fs.readDirectory(root), () => [])).filter((name) => name !== ".git")
    const found = yield* Effect.filter(
      names.slice(0, MOST).map((name) => path.join(root, name, ".git")),
      (candidate) => Effect.map(typeOf(candidate), (type) => type !== undefined),
      { concurrency: CONCURRENT }
    )
    return both(yield* Effect.forEach(found, known))
  })

  const ofRoot = Effect.fnUntraced(function* (root: string) {
    const personal = person === undefined ? [] : [".gitconfig", ".config/git/config"]
    const led = yield* Effect.forEach(personal, (name) => leads(path.join(person ?? "/", name), root))
    const elsewhere = yield* Effect.forEach(led.flat(), (name) => protector.protect(name, false))
    return both([yield* above(root), yield* inside(root), ...elsewhere])
  })

  return { find: (roots) => Effect.map(Effect.forEach(roots, ofRoot), both) }
}
