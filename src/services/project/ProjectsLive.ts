/** Projects as their files and the person's decisions make them. Loaded with the first prompt. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { stricter } from "../../domain/sandbox/Profile.ts"
import { Projects, type ProjectValue, type TrustContent } from "../Projects.ts"
import { Settings } from "../Settings.ts"
import { makeProjectFiles, type SaidFile } from "./ProjectFiles.ts"
import { hookMark, shown, type Trustable, trustableIn } from "./Trustable.ts"
import { isAsTrusted, makeTrustDecisions, type TrustDecision, withGone } from "./TrustDecisions.ts"

interface Reading {
  readonly stamp: string
  readonly files: ReadonlyArray<SaidFile>
  readonly trustable: ReadonlyArray<Trustable>
  readonly warnings: ReadonlyArray<string>
}

type Marked = Pick<Trustable, "file" | "mark">

interface Judged extends Pick<ProjectValue, "trust" | "withheld"> {
  readonly content: TrustContent
  readonly mayRun: (hook: Marked) => boolean
}

/** Sessions in so many folders are remembered at once. */
const MOST_READINGS = 200

/** More than this, and nobody could judge it: then nothing of it can be trusted. */
const MOST_TRUSTABLE = 200

const MOST_WARNINGS = 20

const NEW = " (new since you trusted this folder)"

const contentOf = (trustable: ReadonlyArray<Trustable>): TrustContent => {
  const content: Record<string, Array<string>> = {}
  for (const { file, mark } of trustable) (content[file] ??= []).push(mark)
  return content
}

const bounded = (warnings: ReadonlyArray<string>): ReadonlyArray<string> =>
  warnings.length > MOST_WARNINGS
    ? [...warnings.slice(0, MOST_WARNINGS), `${warnings.length - MOST_WARNINGS} more warnings are left out`]
    : warnings

export const makeProjects = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const settings = yield* Settings
  const files = makeProjectFiles(fs, path, settings.home)
  const decisions = makeTrustDecisions(fs, path, settings.home)
  const readings = new Map<string, Reading>()
  /** Answers that could not be written down, by root. */
  const unwritten = new Map<string, TrustDecision>()
  const warned = new Set<string>()

  const warnOnce = Effect.fnUntraced(function* (message: string) {
    if (!warned.has(message)) yield* Effect.logWarning(message)
    warned.add(message)
  })

  const rootOf = Effect.fnUntraced(function* (folder: string) {
    const cwd = yield* Effect.orElseSucceed(fs.realPath(folder), () => folder)
    for (let at = cwd; ; at = path.dirname(at)) {
      if (yield* Effect.orElseSucceed(fs.exists(path.join(at, ".git")), () => false)) return { root: at, cwd }
      if (path.dirname(at) === at) return { root: cwd, cwd }
    }
  })

  const readingOf = Effect.fnUntraced(function* (root: string, cwd: string) {
    const found = yield* files.find(root, cwd)
    const stamp = [...found.problems, ...found.files.map((file) => `${file.path}\0${file.stamp}`)].join("\0")
    const last = readings.get(cwd)
    if (last?.stamp === stamp) return last
    const said = yield* files.read(root, found)
    const reading: Reading = {
      stamp,
      files: said,
      trustable: said.flatMap(trustableIn),
      warnings: bounded([...found.problems, ...said.flatMap(({ warnings }) => warnings)]).map(shown)
    }
    readings.delete(cwd)
    readings.set(cwd, reading)
    const [oldest] = readings.keys()
    if (readings.size > MOST_READINGS && oldest !== undefined) readings.delete(oldest)
    return reading
  })

  /** A list that cannot be read decides nothing, which is told in the log. */
  const decisionOn = (root: string) =>
    decisions.of(root).pipe(
      Effect.catch(({ message }) => Effect.as(warnOnce(message), Option.none<TrustDecision>())),
      Effect.map((decision) => unwritten.get(root) ?? Option.getOrUndefined(decision))
    )

  /** The folders whose files count, by their path in the project. */
  const foldersOf = (root: string, cwd: string): ReadonlySet<string> => {
    const parts = path.relative(root, cwd).split(path.sep)
    return new Set(["", ...parts.map((_, at) => parts.slice(0, at + 1).join("/"))])
  }

  /** How far the project is trusted, what a person has to be asked about, and which hooks run all the same. */
  const judge = Effect.fnUntraced(function* (
    root: string,
    cwd: string,
    { trustable }: Reading
  ): Effect.fn.Return<Judged> {
    const now = contentOf(trustable)
    const lines = trustable.map(({ line }) => line)
    const judged = { content: now, withheld: [], mayRun: () => false }
    if (trustable.length === 0) return { ...judged, trust: "off" }
    const { folderTrust } = yield* settings.current
    if (!folderTrust) return { ...judged, trust: "trusted" }
    if (trustable.length > MOST_TRUSTABLE) return { ...judged, trust: "declined" }
    const decision = yield* decisionOn(root)
    if (decision === undefined) return { ...judged, trust: "undecided", withheld: lines }
    if (!decision.trusted) return { ...judged, trust: "declined", withheld: lines }
    const content = withGone(decision.content, now, foldersOf(root, cwd))
    // A hook only forbids, so that one that was trusted goes on: a change must not take a guard away.
    const mayRun = ({ file, mark }: Marked) => decision.content[file]?.includes(mark) === true
    const withheld = trustable
      .filter((one) => one.kind !== "hook" || !mayRun(one))
      .map((one) => (mayRun(one) ? one.line : one.line + NEW))
    const isTrusted = withheld.length === 0 || isAsTrusted(decision.content, content)
    return isTrusted ? { ...judged, trust: "trusted" } : { trust: "undecided", content, withheld, mayRun }
  })

  const of = Effect.fn("Projects.of")(function* (folder: string) {
    const { cwd, root } = yield* rootOf(folder)
    const reading = yield* readingOf(root, cwd)
    const { content, mayRun, trust, withheld } = yield* judge(root, cwd, reading)
    const { disabledServers } = yield* settings.current
    const isTrusted = trust === "trusted"
    const { trustable, warnings } = reading
    const servers = new Map(
      reading.files.flatMap(({ mcpServers }) => mcpServers.map((server) => [server.spec.name, server] as const))
    )
    const profiles = reading.files.flatMap(({ sandboxProfile }) => sandboxProfile ?? [])
    const rules = (list: "allow" | "ask" | "deny") => reading.files.flatMap(({ permission }) => permission[list])
    return {
      root,
      trust,
      permission: { allow: isTrusted ? rules("allow") : [], ask: rules("ask"), deny: rules("deny") },
      hooks: reading.files.flatMap(({ file, hooks }) =>
        hooks.filter((hook) => isTrusted || mayRun({ file, mark: hookMark(hook) }))
      ),
      mcpServers: isTrusted ? [...servers.values()].filter(({ spec }) => !disabledServers.includes(spec.name)) : [],
      choices: isTrusted ? Object.assign({}, ...reading.files.map(({ choices }) => choices)) : {},
      ...(profiles.length === 0 ? {} : { sandboxProfile: profiles.reduce(stricter) }),
      withheld,
      ...(trust === "off" ? {} : { content }),
      warnings:
        trustable.length > MOST_TRUSTABLE && !isTrusted
          ? [
              ...warnings,
              `${shown(root)} has more than ${MOST_TRUSTABLE} hooks, MCP servers, choices and allow rules of its own, which nobody can judge: none of them is used`
            ]
          : warnings
    } satisfies ProjectValue
  })

  const decide = Effect.fn("Projects.decide")(function* (
    { content = {}, root }: Pick<ProjectValue, "root" | "content">,
    trusted: boolean
  ) {
    const decision = yield* decisions.decision(root, trusted, content)
    yield* decisions.keep(decision).pipe(
      Effect.andThen(Effect.sync(() => unwritten.delete(root))),
      Effect.catch(({ message }) =>
        Effect.andThen(
          Effect.sync(() => unwritten.set(root, decision)),
          Effect.logWarning(message)
        )
      )
    )
  })

  return {
    of,
    decide,
    /** The same as `decide`, for somebody who can be told that it failed. */
    keep: ({ content = {}, root }: Pick<ProjectValue, "root" | "content">, trusted: boolean) =>
      Effect.flatMap(decisions.decision(root, trusted, content), decisions.keep),
    list: decisions.list,
    /** The decision about the project of a folder that is forgotten, if there was one. */
    forget: (folder: string) => Effect.flatMap(rootOf(folder), ({ root }) => decisions.forget(root))
  }
})

/** Reads nothing before somebody asks. */
export const layer: Layer.Layer<Projects, never, FileSystem.FileSystem | Path.Path | Settings> = Layer.effect(
  Projects,
  Effect.map(makeProjects, ({ decide, of }) => ({ decide, of }))
)
