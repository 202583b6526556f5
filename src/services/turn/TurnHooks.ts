/** The hooks of a turn: at its session's first turn and end, before a prompt is read, and before the turn ends. */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { Content } from "../../domain/Content.ts"
import type { HookOccasion } from "../../domain/Hook.ts"
import type { HooksShape } from "../Hooks.ts"
import type { TurnSession } from "../Turn.ts"

export interface TurnHooks {
  /** Why the prompt must not be read, for the person. */
  readonly begin: (session: TurnSession, prompt: ReadonlyArray<Content>) => Effect.Effect<string | undefined>
  /** Why the model must go on, for the model. `text` is what it said last. */
  readonly stop: (session: TurnSession, text: string) => Effect.Effect<string | undefined>
}

const textOf = (prompt: ReadonlyArray<Content>): string =>
  prompt.flatMap((content) => (content.type === "text" ? [content.text] : [])).join("\n")

/** Runs what the person wants to hear of an occasion in a turn, and tells what went wrong with it; why it must not be, if so. */
export const runIn = (hooks: HooksShape) =>
  Effect.fnUntraced(function* (session: TurnSession, occasion: HookOccasion) {
    const { cwd, sessionId } = session.workspace
    const { denied, problems } = yield* hooks.run({ sessionId, cwd, mode: yield* session.mode }, occasion)
    for (const title of problems) yield* session.emit({ _tag: "Notice", severity: "warning", title })
    return denied
  })

export const make = (hooks: HooksShape): TurnHooks => {
  const begun = new WeakSet<Scope.Scope>()

  const run = runIn(hooks)

  const beginSession = Effect.fnUntraced(function* (session: TurnSession) {
    const { cwd, lifetime, sessionId } = session.workspace
    if (begun.has(lifetime)) return
    begun.add(lifetime)
    const mode = yield* session.mode
    // First, so that a start that is cancelled has its end, too.
    yield* Scope.addFinalizer(lifetime, Effect.asVoid(hooks.run({ sessionId, cwd, mode }, { event: "SessionEnd" })))
    yield* run(session, { event: "SessionStart" })
  })

  return {
    begin: Effect.fnUntraced(function* (session, prompt) {
      yield* beginSession(session)
      return yield* run(session, { event: "UserPromptSubmit", prompt: textOf(prompt) })
    }),
    stop: (session, text) => run(session, { event: "Stop", text })
  }
}
