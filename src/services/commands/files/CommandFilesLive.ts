/** Commands and skills of the folders in which they may lie. Loaded after the first session is open. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import { parseCommand, parseSkill } from "../../../domain/CommandFile.ts"
import { CommandFiles, type FileCommand, type FoundFiles, type Skill } from "../../CommandFiles.ts"
import { Plugins } from "../../Plugins.ts"
import { OWN_FOLDER } from "../../project/OwnFolder.ts"
import { Settings } from "../../Settings.ts"
import { type Candidate, type CommandPlace, LARGEST, makeScan } from "./Scan.ts"

/** Files whose content is remembered; of each kind, how many count; and how many problems are told. */
const MOST_REMEMBERED = 1_000
const MOST = 200
const MOST_PROBLEMS = 20
/** Folders from the root of a project down. */
const MOST_FOLDERS = 50
/** Of a skill. */
const MOST_FILES = 50

interface Read {
  readonly stamp: string
  readonly value: FileCommand | Skill
  readonly problems: ReadonlyArray<string>
}

/** Looks wait for the disk, and do so side by side: each prompt begins with them. */
const atOnce = { concurrency: 8 }

const isSkill = (value: FileCommand | Skill): value is Skill => "folder" in value

/** Where a project has its commands and skills; the last two are those of other agents. */
const FOLDERS = [OWN_FOLDER, ".claude", ".agents"]

/** The first of each name. */
const unique = <A extends { readonly name: string }>(all: ReadonlyArray<A>): ReadonlyArray<A> => {
  const names = new Set<string>()
  return all.filter(({ name }) => !names.has(name) && names.add(name)).slice(0, MOST)
}

export const layer: Layer.Layer<CommandFiles, never, FileSystem.FileSystem | Path.Path | Plugins | Settings> =
  Layer.effect(
    CommandFiles,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const { home } = yield* Settings
      const plugins = yield* Plugins
      const scan = makeScan(fs, path)
      const person = yield* Config.String("HOME").pipe(Effect.orElseSucceed(() => undefined))
      /** The person's own. */
      const ownRoots = [
        home,
        ...(person === undefined ? [] : [".claude", ".agents"].map((name) => path.join(person, name)))
      ]
      const remembered = new Map<string, Read>()

      const realOf = (folder: string) => Effect.orElseSucceed(fs.realPath(folder), () => path.resolve(folder))

      const placesIn = (root: string, within?: string): ReadonlyArray<CommandPlace> =>
        (["command", "skill"] as const).map((kind) => ({
          kind,
          folder: path.join(root, `${kind}s`),
          prefix: "",
          ...(within === undefined ? {} : { within })
        }))

      /** From where the session works up to the root of its project. */
      const foldersOf = Effect.fnUntraced(function* (cwd: string) {
        const folders: Array<string> = []
        for (let at = yield* realOf(cwd); folders.length < MOST_FOLDERS; at = path.dirname(at)) {
          folders.push(at)
          if (yield* Effect.orElseSucceed(fs.exists(path.join(at, ".git")), () => false)) return folders
          if (path.dirname(at) === at) break
        }
        return folders.slice(0, 1)
      })

      /** What lies in the home is the person's also where they work around it, and no project's. */
      const placesOf = Effect.fnUntraced(function* (cwd: string) {
        const [own, folders] = yield* Effect.all([Effect.forEach(ownRoots, realOf, atOnce), foldersOf(cwd)], atOnce)
        const within = folders.at(-1) ?? cwd
        const roots = folders.flatMap((folder) => FOLDERS.map((name) => path.join(folder, name)))
        const real = yield* Effect.forEach(roots, realOf, atOnce)
        const places: Array<CommandPlace> = [
          ...roots.filter((_, at) => !own.includes(real[at] ?? "")).flatMap((root) => placesIn(root, within)),
          ...ownRoots.flatMap((root) => placesIn(root))
        ]
        for (const { commands, name, skills } of yield* plugins.of(cwd)) {
          const prefix = `${name}:`
          places.push(
            ...commands.map((folder): CommandPlace => ({ kind: "command", folder, prefix })),
            ...skills.map((folder): CommandPlace => ({ kind: "skill", folder, prefix }))
          )
        }
        return places
      })

      const valueOf = ({ kind, name, path: file }: Candidate, text: string): Omit<Read, "stamp"> => {
        if (kind === "command") {
          const { problems, ...command } = parseCommand(text, file)
          return { value: { ...command, name }, problems }
        }
        const folder = path.dirname(file)
        const { body: _body, name: own, problems, ...skill } = parseSkill(text, file, path.basename(folder))
        const prefix = name.slice(0, name.length - path.basename(folder).length)
        return { value: { ...skill, name: prefix + own, folder, file }, problems }
      }

      const read = Effect.fnUntraced(function* (candidate: Candidate) {
        const { path: file, real, stamp } = candidate
        const last = remembered.get(file)
        if (last?.stamp === stamp) return last
        const text = yield* Effect.option(fs.readFileString(real))
        if (text._tag === "None") return { stamp, value: undefined, problems: [`${file} cannot be read`] }
        const now: Read = { stamp, ...valueOf(candidate, text.value) }
        remembered.delete(file)
        remembered.set(file, now)
        const [oldest] = remembered.keys()
        if (remembered.size > MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest)
        return now
      })

      const of = Effect.fn("CommandFiles.of")(function* (cwd: string) {
        const scanned = yield* Effect.forEach(yield* placesOf(cwd), scan, atOnce)
        const reads = yield* Effect.forEach(
          scanned.flatMap(({ found }) => found),
          read,
          atOnce
        )
        const values = reads.flatMap(({ value }) => value ?? [])
        return {
          commands: unique(values.flatMap((value) => (isSkill(value) ? [] : [value]))),
          skills: unique(values.filter(isSkill)),
          problems: [
            ...scanned.flatMap(({ problems }) => problems),
            ...reads.flatMap(({ problems }) => problems)
          ].slice(0, MOST_PROBLEMS)
        } satisfies FoundFiles
      })

      const filesIn = (folder: string) =>
        Effect.orElseSucceed(
          Effect.map(fs.readDirectory(folder), (names) =>
            names
              .filter((name) => name !== "SKILL.md" && !name.startsWith("."))
              .toSorted()
              .slice(0, MOST_FILES)
          ),
          (): ReadonlyArray<string> => []
        )

      return {
        of,
        open: Effect.fn("CommandFiles.open")(function* ({ file, folder }) {
          const text = yield* fs
            .stream(file, { bytesToRead: LARGEST })
            .pipe(Stream.decodeText(), Stream.mkString, Effect.option)
          if (text._tag === "None") return undefined
          const { body } = parseSkill(text.value, file, path.basename(folder))
          return { body, files: yield* filesIn(folder) }
        })
      }
    })
  )
