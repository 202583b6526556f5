/** Projects as their files and the person's decisions make them. Loaded with the first prompt. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { makeOwnFile, type OwnFileFailed } from "../files/OwnFile.ts"
import { Projects, type ProjectValue } from "../Projects.ts"
import { Settings } from "../Settings.ts"
import { makeProjectFiles, type ProjectContent } from "./ProjectFiles.ts"
import { markOf, withheldBy } from "./Withheld.ts"

/** A decision about one project, for what it said at that time. */
export const TrustDecision = Schema.Struct({
  /** The real path of the project's root. */
  root: Schema.String,
  trusted: Schema.Boolean,
  mark: Schema.String,
  decidedAt: Schema.String
})
export type TrustDecision = typeof TrustDecision.Type

const TrustList = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), decisions: Schema.Array(TrustDecision) })
)
type TrustList = typeof TrustList.Type

const undecided: TrustList = { version: 1, decisions: [] }

/** More of them are dropped, the oldest first. */
const MOST = 1_000

interface Reading {
  readonly stamp: string
  readonly content: ProjectContent
  readonly mark: string
}

/** Sessions in so many folders are remembered at once. */
const MOST_READINGS = 200

export const makeProjects = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const settings = yield* Settings
  const files = makeProjectFiles(fs, path, settings.home)
  const readings = new Map<string, Reading>()
  const store = makeOwnFile({
    fs,
    paths: path,
    path: path.join(settings.home, "trust.json"),
    schema: TrustList,
    empty: undecided,
    what: "list of trusted folders"
  })

  const rootOf = Effect.fnUntraced(function* (cwd: string) {
    const real = yield* Effect.orElseSucceed(fs.realPath(cwd), () => cwd)
    for (let at = real; ; at = path.dirname(at)) {
      if (yield* Effect.orElseSucceed(fs.exists(path.join(at, ".git")), () => false)) return { root: at, cwd: real }
      if (path.dirname(at) === at) return { root: real, cwd: real }
    }
  })

  const readingOf = Effect.fnUntraced(function* (root: string, cwd: string) {
    const found = yield* files.find(root, cwd)
    const stamp = found.map((file) => `${file.path}\0${file.stamp}`).join("\0")
    const last = readings.get(cwd)
    if (last?.stamp === stamp) return last
    const content = yield* files.read(found)
    const reading: Reading = { stamp, content, mark: markOf(content) }
    readings.delete(cwd)
    readings.set(cwd, reading)
    const [oldest] = readings.keys()
    if (readings.size > MOST_READINGS && oldest !== undefined) readings.delete(oldest)
    return reading
  })

  /** One that cannot be read decides nothing, which is told in the log. */
  const decisions = Effect.catch(
    Effect.map(store.read, (list) => list.decisions),
    ({ message }) => Effect.as(Effect.logWarning(message), [])
  )

  const trustIn = Effect.fnUntraced(function* (root: string, mark: string) {
    const { folderTrust } = yield* settings.current
    if (!folderTrust) return "trusted" as const
    const decision = (yield* decisions).find((one) => one.root === root)
    if (decision === undefined || (decision.trusted && decision.mark !== mark)) return "undecided" as const
    return decision.trusted ? ("trusted" as const) : ("declined" as const)
  })

  const of = Effect.fn("Projects.of")(function* (folder: string) {
    const { cwd, root } = yield* rootOf(folder)
    const { content, mark } = yield* readingOf(root, cwd)
    const { hooks, mcpServers, permission, sandboxProfile, warnings } = content
    const added = withheldBy(content)
    const trust = added.length === 0 ? "off" : yield* trustIn(root, mark)
    const isTrusted = trust === "trusted"
    return {
      root,
      trust,
      permission: isTrusted ? permission : { ...permission, allow: [] },
      hooks: isTrusted ? hooks : [],
      mcpServers: isTrusted ? mcpServers : [],
      ...(sandboxProfile === undefined ? {} : { sandboxProfile }),
      withheld: isTrusted ? [] : added,
      warnings
    } satisfies ProjectValue
  })

  const orLog = (effect: Effect.Effect<void, OwnFileFailed>) =>
    Effect.catch(effect, ({ message }) => Effect.logWarning(message))

  const keep = Effect.fnUntraced(function* (folder: string, trusted: boolean) {
    const { cwd, root } = yield* rootOf(folder)
    const { mark } = yield* readingOf(root, cwd)
    const decidedAt = DateTime.formatIso(yield* DateTime.now)
    yield* store.change((list) => [
      undefined,
      {
        version: 1,
        decisions: [
          ...list.decisions.filter((one) => one.root !== root).slice(1 - MOST),
          { root, trusted, mark, decidedAt }
        ]
      }
    ])
    return root
  })

  return {
    of,
    decide: Effect.fn("Projects.decide")((folder: string, trusted: boolean) =>
      orLog(Effect.asVoid(keep(folder, trusted)))
    ),
    /** The same, for somebody who can be told that it failed; gives the root. */
    keep,
    list: Effect.map(store.read, (list) => list.decisions),
    /** The decision that is forgotten, if there was one. */
    forget: Effect.fnUntraced(function* (folder: string) {
      const { root } = yield* rootOf(folder)
      return yield* store.change((list) => [
        Option.fromUndefinedOr(list.decisions.find((one) => one.root === root)),
        { version: 1, decisions: list.decisions.filter((one) => one.root !== root) }
      ])
    })
  }
})

/** Reads nothing before somebody asks. */
export const layer: Layer.Layer<Projects, never, FileSystem.FileSystem | Path.Path | Settings> = Layer.effect(
  Projects,
  Effect.map(makeProjects, ({ decide, of }) => ({ decide, of }))
)
