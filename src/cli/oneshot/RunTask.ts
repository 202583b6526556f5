/**
 * One task on the agent in this process, from the prompt to the end of its turn. Standard output has the answer and nothing
 * else; what goes on is told on standard error.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { agent } from "../../composition/Agent.ts"
import { noCapabilities } from "../../domain/Capability.ts"
import { text as textContent } from "../../domain/Content.ts"
import { InvalidInput, type StoreFailed } from "../../domain/Failure.ts"
import type { Answer, Question } from "../../domain/permission/Permission.ts"
import { version } from "../../domain/Version.ts"
import {
  Agent,
  type AgentConnection,
  type Place,
  type SessionSnapshot,
  type SessionWishes
} from "../../services/Agent.ts"
import type { Editor } from "../../services/Editor.ts"
import type { Flags } from "../../services/Settings.ts"
import { plainLine, plainText } from "../terminal/Plain.ts"
import { heedSecond } from "../Process.ts"
import * as FindSession from "../sessions/FindSession.ts"
import { isPossible } from "../terminal/TerminalLine.ts"
import type { UsageError } from "../UsageError.ts"
import * as Asker from "./Asker.ts"
import * as Input from "./Input.ts"
import type { StreamLine } from "./Output.ts"
import * as Report from "./Report.ts"
import * as Streams from "./Streams.ts"

export type Format = "text" | "json" | "stream-json"

export interface OneShot {
  readonly flags: Flags
  readonly task: string
  readonly format: Format
  /** An absolute path. */
  readonly cwd: Option.Option<string>
  readonly resume: Option.Option<string>
  readonly continue: boolean
}

/** The program ends with `code`, and everything was told. */
class Ended extends Schema.TaggedError<Ended>()("Ended", { code: Schema.Int }) {
  override readonly [Runtime.errorExitCode] = this.code
  override readonly [Runtime.errorReported] = false
}

/** Nobody can answer; the reason is told to the model and to whoever reads the log. */
const REFUSAL =
  "nobody is there to answer. Rules such as --allow 'Bash(npm test)', or another --permission-mode, decide without a question"

const isYes = (question: Question, answer: Answer): boolean =>
  answer._tag === "Selected" &&
  question.options.some(({ id, kind }) => id === answer.optionId && kind.startsWith("allow"))

/** The session that was asked for: an earlier one, the latest of the folder, or a new one. */
const open = Effect.fnUntraced(function* (
  connection: AgentConnection,
  { continue: goOn, cwd: given, flags, resume }: OneShot
) {
  const cwd = Option.getOrElse(given, () => process.cwd())
  const place: Place = { cwd, additionalDirectories: [], mcpServers: [] }
  const wishes: SessionWishes = {
    ...(flags.model === undefined ? {} : { model: flags.model }),
    ...(flags.alwaysApprove ? { mode: "always-approve" } : flags.mode === undefined ? {} : { mode: flags.mode })
  }
  const again = Effect.fnUntraced(function* (record: {
    readonly id: SessionSnapshot["sessionId"]
    readonly cwd: string
  }) {
    if (Option.isSome(given)) return yield* connection.resumeSession(record.id, place, wishes)
    return yield* connection.resumeSession(record.id, { ...place, cwd: record.cwd }, wishes)
  })
  if (Option.isSome(resume)) {
    const record = yield* FindSession.byPrefix(connection.listSessions, resume.value)
    return { snapshot: yield* again(record), cwd: record.cwd, resumed: true }
  }
  if (goOn) {
    const { sessions } = yield* connection.listSessions({ cwd })
    const [latest] = sessions
    if (latest === undefined) {
      return yield* new InvalidInput({ field: "continue", message: `There is no session of ${cwd} to continue yet` })
    }
    return { snapshot: yield* again(latest), cwd, resumed: true }
  }
  return { snapshot: yield* connection.newSession(place, wishes), cwd, resumed: false }
})

export const run = Effect.fnUntraced(function* (
  options: OneShot
): Effect.fn.Return<void, Ended | UsageError | Streams.OutputGone> {
  yield* heedSecond
  const { format } = options
  const report = Report.make()
  const tell = (line: StreamLine): Effect.Effect<void> =>
    format === "stream-json" ? Streams.out(`${JSON.stringify(line)}\n`) : Effect.void
  const warn = (text: string) => Streams.err(`warning: ${plainLine(text)}\n`)
  const task = yield* Input.task(options.task, warn)
  const started = yield* Clock.currentTimeMillis
  const ask = isPossible() ? Asker.make(Streams.err) : undefined
  let opened: { readonly sessionId: string; readonly model: string } | undefined

  const answer = Effect.fnUntraced(function* (question: Question): Effect.fn.Return<Answer> {
    const { id } = question.call
    const title = question.call.patch.title ?? report.titleOf(id)
    const answer: Answer = ask === undefined ? { _tag: "Unanswered", reason: REFUSAL } : yield* ask(question, title)
    const allowed = isYes(question, answer)
    if (!report.isTrust(id)) {
      yield* tell({ type: "permission", toolCallId: id, title, allowed })
      const reason = ask === undefined ? "Nobody was there to answer" : "The answer was no"
      if (!allowed) report.refuse({ toolCallId: id, title, reason })
    }
    if (!allowed && ask === undefined) {
      yield* warn(
        report.isTrust(id)
          ? `${title} Its hooks, servers and allow rules are not used: run super-pi trust, or give --trust`
          : `Not allowed, since ${REFUSAL}: ${title}`
      )
    }
    return answer
  })

  const editor: Editor = {
    capabilities: { ...noCapabilities, notices: true },
    emit: (_, event) =>
      Effect.suspend(() => {
        const line = report.hear(event)
        const said = event._tag === "ToolCallStarted" ? Streams.aside(report.takeSaid()) : undefined
        const shown = [said, Streams.progress(event, report.titleOf)].filter((text) => text !== undefined).join("")
        return Effect.andThen(
          line === undefined ? Effect.void : tell(line),
          shown === "" ? Effect.void : Streams.err(shown)
        )
      }),
    caughtUp: Effect.void,
    ask: answer,
    elicit: () => Effect.succeed({ _tag: "Declined" }),
    isGone: () => false,
    readTextFile: (_, path) => Effect.die(`nobody offers ${path}`)
  }

  const turn = Effect.fnUntraced(function* (): Effect.fn.Return<
    Report.End,
    InvalidInput | StoreFailed,
    Agent | Scope.Scope
  > {
    const connection = yield* Agent.use(({ connect }) => connect(editor, { ceiling: "always-approve" }))
    const { cwd, resumed, snapshot } = yield* open(connection, options).pipe(
      Effect.mapError(({ message }) => new InvalidInput({ field: "session", message }))
    )
    const { mode, sessionId } = snapshot
    const model = snapshot.options.find(({ id }) => id === "model")?.currentValue ?? ""
    opened = { sessionId, model }
    yield* tell({ type: "session", sessionId, cwd, model, mode, resumed, version })
    const outcome = yield* connection
      .prompt(sessionId, [textContent(task)])
      .pipe(Effect.mapError(({ message }) => new InvalidInput({ field: "prompt", message })))
    return { _tag: "Ended", outcome }
  })

  const finish = Effect.fnUntraced(function* (end: Report.End) {
    const durationMs = (yield* Clock.currentTimeMillis) - started
    const result = { ...report.result(end), ...opened, durationMs }
    const { error, exitCode, outcome, text } = result
    if (format !== "text") yield* Streams.out(`${JSON.stringify(result)}\n`)
    else if (text !== "" && outcome !== "cancelled") yield* Streams.answer(text.endsWith("\n") ? text : `${text}\n`)
    if (error !== undefined) yield* Streams.err(`error: ${plainText(error.message)}\n`)
    if (outcome === "cancelled") yield* Streams.err("Cancelled\n")
    return exitCode
  })

  const ended = turn().pipe(
    Effect.scoped,
    Effect.provide(agent(options.flags)),
    Effect.catch(({ message }) => Effect.succeed<Report.End>({ _tag: "Failed", message })),
    // What was open has been told of by now: the result is the last line in any case.
    Effect.onInterrupt(() =>
      finish({ _tag: "Cancelled", exitCode: Number(process.exitCode ?? Report.exitCodes.cancelled) })
    ),
    Effect.flatMap(finish)
  )
  const code = yield* Effect.raceFirst(ended, Streams.gone)
  if (code !== Report.exitCodes.done) return yield* new Ended({ code })
})
