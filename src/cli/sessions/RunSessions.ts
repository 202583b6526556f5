/** `sessions`: what the store has, for people and for scripts. */
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Stream from "effect/Stream"
import { agent } from "../../composition/Agent.ts"
import { settings } from "../../composition/Platform.ts"
import * as Store from "../../composition/Store.ts"
import { noCapabilities } from "../../domain/Capability.ts"
import type { StoredEvent } from "../../domain/Event.ts"
import { netOf } from "../../domain/session/NetChanges.ts"
import { replay } from "../../domain/session/Replay.ts"
import type { SessionRecord } from "../../domain/session/Session.ts"
import { foldAll, empty } from "../../domain/session/SessionState.ts"
import { version } from "../../domain/Version.ts"
import { Agent } from "../../services/Agent.ts"
import type { Editor } from "../../services/Editor.ts"
import { SessionStore } from "../../services/SessionStore.ts"
import { explained, failed } from "../Explained.ts"
import { lineOf } from "../oneshot/Lines.ts"
import type { StreamLine } from "../oneshot/Output.ts"
import * as Streams from "../oneshot/Streams.ts"
import { plainLine } from "../terminal/Plain.ts"
import { table } from "../terminal/Table.ts"
import { isPossible, readLine } from "../terminal/TerminalLine.ts"
import { misused } from "../UsageError.ts"
import * as FindSession from "./FindSession.ts"
import { markdownOf } from "./Markdown.ts"

const flags = { alwaysApprove: false }
const store = Effect.provide(Layer.provideMerge(Store.layer, settings(flags)))

/** Characters of an id that are shown at least. */
const SHORTEST = 8

/** The shortest beginning that none of the others has. */
const shortIds = (records: ReadonlyArray<SessionRecord>): ((id: string) => string) => {
  const ids = records.map(({ id }) => id)
  let length = SHORTEST
  while (new Set(ids.map((id) => id.slice(0, length))).size < new Set(ids).size) length += 1
  return (id) => id.slice(0, length)
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long ago, as far as it matters. */
export const ago = (time: string, now: number): string => {
  const passed = now - Date.parse(time)
  if (passed < MINUTE) return "just now"
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min ago`
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h ago`
  return passed < 30 * DAY ? `${Math.floor(passed / DAY)} d ago` : time.slice(0, 10)
}

export const list = Effect.fnUntraced(function* (options: {
  readonly json: boolean
  readonly limit: number
  readonly cwd: Option.Option<string>
}) {
  const path = yield* Path.Path
  const { list } = yield* SessionStore
  const everything = yield* explained(Stream.runCollect(FindSession.all(list)))
  const cwd = Option.map(options.cwd, (folder) => path.resolve(folder))
  const found = everything.filter((record) => Option.isNone(cwd) || record.cwd === cwd.value)
  const shown = found.slice(0, options.limit)
  if (options.json) {
    for (const record of shown) yield* Console.log(JSON.stringify(record))
    return
  }
  if (shown.length === 0) {
    return yield* Console.error(
      everything.length === 0
        ? "There is no session yet"
        : `No session works in ${Option.getOrElse(cwd, () => "")}; without --cwd all are listed`
    )
  }
  const now = DateTime.toEpochMillis(yield* DateTime.now)
  const width = process.stdout.isTTY ? process.stdout.columns : undefined
  const short = width === undefined ? (id: string) => id : shortIds(everything)
  const lines = table(
    [
      { title: "ID", cells: shown.map(({ id }) => short(id)) },
      { title: "TITLE", cells: shown.map(({ title = "" }) => title), shrink: "end" },
      { title: "FOLDER", cells: shown.map(({ cwd }) => cwd), shrink: "start" },
      { title: "UPDATED", cells: shown.map(({ updatedAt }) => (width === undefined ? updatedAt : ago(updatedAt, now))) }
    ],
    width
  )
  for (const line of lines) yield* Console.log(line)
  if (found.length > shown.length) yield* Console.error(`${found.length - shown.length} more: give a larger --limit`)
}, store)

/** A session with all that its log says. */
const load = Effect.fnUntraced(function* (prefix: string) {
  const { entries, list } = yield* SessionStore
  const record = yield* explained(FindSession.byPrefix(list, prefix))
  const log = yield* explained(Stream.runCollect(entries(record.id)))
  return { record, log, state: foldAll(empty, log) }
})

export const show = Effect.fnUntraced(function* (options: { readonly id: string; readonly json: boolean }) {
  const { log, record, state } = yield* load(options.id)
  const { files } = netOf(state.changes.flatMap(({ changes }) => changes))
  const ended = log.findLast((entry) => entry._tag === "TurnEnded")
  const facts = {
    ...record,
    ...state.settings,
    prompts: state.turns,
    ...(state.usage === undefined ? {} : { usage: state.usage }),
    ...(ended === undefined ? {} : { lastOutcome: ended.outcome.stopReason }),
    changedFiles: files.map(({ path }) => path)
  }
  if (options.json) return yield* Console.log(JSON.stringify(facts))
  const { usage } = state
  const rows: ReadonlyArray<readonly [string, string | undefined]> = [
    ["id", record.id],
    ["title", record.title],
    ["folder", record.cwd],
    ["agent", record.harness],
    ["model", state.settings.model],
    ["mode", state.settings.mode],
    ["effort", state.settings.effort],
    ["forked from", record.parent],
    ["created", record.createdAt],
    ["updated", record.updatedAt],
    ["prompts", String(state.turns)],
    ["last outcome", facts.lastOutcome],
    ["context", usage && `${usage.used} of ${usage.size} tokens`],
    ["cost", usage?.cost === undefined ? undefined : `$${usage.cost.toFixed(4)}`],
    ["changed files", files.length === 0 ? undefined : files.map(({ path }) => path).join(", ")]
  ]
  for (const [name, value] of rows) if (value !== undefined) yield* Console.log(`${name.padEnd(14)}${plainLine(value)}`)
  yield* Console.error(`Go on with it: super-pi -p "your task" --resume ${record.id}`)
}, store)

const linesOf = (
  { cwd, id }: SessionRecord,
  settings: { readonly model?: string; readonly mode?: string },
  events: ReadonlyArray<StoredEvent>
): string => {
  const { mode = "ask", model = "" } = settings
  const first: StreamLine = { type: "session", sessionId: id, cwd, model, mode, resumed: false, version }
  return [first, ...events.map(lineOf)].map((line) => (line === undefined ? "" : `${JSON.stringify(line)}\n`)).join("")
}

const unwritten = (file: string, folder: string, reason: PlatformError["reason"]["_tag"]): string => {
  switch (reason) {
    case "AlreadyExists":
      return `${file} exists: name another file, or give --force to replace it`
    case "NotFound":
      return `${file} cannot be written: there is no folder ${folder}`
    case "PermissionDenied":
      return `${file} cannot be written: you may not write there, so name another file`
    default:
      return `${file} cannot be written (${reason}): name another file`
  }
}

export const exported = Effect.fnUntraced(function* (options: {
  readonly id: string
  readonly format: "markdown" | "json"
  readonly output: Option.Option<string>
  readonly force: boolean
}) {
  const { log, record, state } = yield* load(options.id)
  const events = replay(log)
  const text = options.format === "markdown" ? markdownOf(record, events) : linesOf(record, state.settings, events)
  if (Option.isNone(options.output)) return yield* Streams.answer(text)
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.resolve(options.output.value)
  yield* Effect.mapError(fs.writeFileString(file, text, { flag: options.force ? "w" : "wx", mode: 0o600 }), (error) =>
    failed(unwritten(file, path.dirname(file), error.reason._tag))
  )
  yield* Console.error(`Wrote ${file}`)
}, store)

/** Nobody watches while a session is deleted. */
const nobody: Editor = {
  capabilities: noCapabilities,
  emit: () => Effect.void,
  caughtUp: Effect.void,
  ask: () => Effect.succeed({ _tag: "Cancelled" }),
  elicit: () => Effect.succeed({ _tag: "Declined" }),
  isGone: () => false,
  readTextFile: (_, path) => Effect.die(`nobody offers ${path}`)
}

export const remove = Effect.fnUntraced(
  function* (options: { readonly ids: ReadonlyArray<string>; readonly json: boolean; readonly yes: boolean }) {
    if (!options.yes && !isPossible()) return yield* misused("Nobody can be asked whether to delete: give --yes")
    const connection = yield* Agent.use(({ connect }) => connect(nobody, { ceiling: "plan" }))
    const records = yield* explained(
      Effect.forEach(options.ids, (id) => FindSession.byPrefix(connection.listSessions, id))
    )
    for (const { cwd, id, title = "without a title" } of new Map(records.map((one) => [one.id, one])).values()) {
      if (!options.yes) {
        yield* Console.error(plainLine(`Delete ${id}, ${JSON.stringify(title)} in ${cwd}, for good? [y/N]`))
        if (!/^y(es)?$/i.test((yield* readLine)?.trim() ?? "")) {
          yield* Console.error("Kept")
          continue
        }
      }
      yield* explained(connection.deleteSession(id))
      yield* Console.log(options.json ? JSON.stringify({ deleted: id }) : `Deleted ${id}`)
    }
  },
  Effect.scoped,
  Effect.provide(agent(flags))
)
