/**
 * What is chosen for a session, and what can be: its model and effort, its mode, its agent. Whoever watches is told. Loaded
 * with the first session.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Notice } from "../../domain/Event.ts"
import type { InvalidInput } from "../../domain/Failure.ts"
import type { Harness } from "../../domain/Harness.ts"
import type { ModelInfo } from "../../domain/Model.ts"
import { type ExecutionMode, lower } from "../../domain/permission/ExecutionMode.ts"
import type { ConfigOption } from "../../domain/session/Config.ts"
import type { SessionSnapshot } from "../Agent.ts"
import type { CustomAgentsShape } from "../CustomAgents.ts"
import { isOffered } from "../models/ModelList.ts"
import type { Journal, View } from "./Journal.ts"
import * as SessionAgents from "./SessionAgents.ts"
import { choose, type Configured, effortFor, modesOf, optionsOf } from "./SessionOptions.ts"
import { modelGone } from "./Warnings.ts"

export interface Choices {
  readonly agents: SessionAgents.SessionAgents
  /** The one that is wanted, by its id or the last part of that, if there is such a model; else the chosen one. */
  readonly modelFor: (wanted?: string) => Effect.Effect<{ readonly id: string; readonly effort: string | undefined }>
  /** A model that nobody offers any more gives way to the default (F43); what to tell then. */
  readonly replaceModel: Effect.Effect<Notice | undefined>
  readonly modeFor: (view: View) => ExecutionMode
  readonly optionsFor: (view: View) => Effect.Effect<ReadonlyArray<ConfigOption>>
  /** As a client learns of them when it opens the session. */
  readonly snapshot: (view: View) => Effect.Effect<Pick<SessionSnapshot, "mode" | "modes" | "options">>
  /** Keeps choices that were checked, and tells them. */
  readonly configure: (choices: Configured) => Effect.Effect<void>
  readonly setOption: (view: View, option: string, value: string) => Effect.Effect<void, InvalidInput>
}

export interface ChoicesInput {
  readonly cwd: string
  readonly harness: Harness
  readonly journal: Journal
  readonly customAgents: CustomAgentsShape
  readonly models: Effect.Effect<ReadonlyArray<ModelInfo>>
  /** Whether a model that is not in the list can be used all the same. */
  readonly isUsable: (model: string) => Effect.Effect<boolean>
  /** Runs an effect, for as long as the scope, when that list has become another one by itself. */
  readonly observeModels: (tell: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
}

const shownOf = (known: ReadonlyArray<ModelInfo>): string =>
  JSON.stringify(known.map(({ efforts, id, name }) => [id, name, efforts]))

/** The scope is the session's. */
export const make = Effect.fnUntraced(function* ({
  customAgents,
  cwd,
  harness,
  isUsable,
  journal,
  models,
  observeModels
}: ChoicesInput): Effect.fn.Return<Choices, never, Scope.Scope> {
  const settings = () => journal.state().settings
  const agents: SessionAgents.SessionAgents = yield* SessionAgents.make({
    service: customAgents,
    cwd,
    choice: () => settings().agent ?? undefined,
    isWatched: () => journal.watchers() > 0,
    tell: (isModeNew): Effect.Effect<void> => tellOptions(isModeNew)
  })

  const modelFor = (wanted?: string) =>
    Effect.map(models, (known) => {
      const isWanted = ({ id }: ModelInfo) => wanted !== undefined && (id === wanted || id.endsWith(`/${wanted}`))
      const chosen = known.find(isWanted)?.id ?? agents.model(known)?.id ?? settings().model ?? known[0]?.id ?? ""
      return {
        id: chosen,
        effort: effortFor(
          known.find((model) => model.id === chosen),
          settings().effort
        )
      }
    })

  const ceilingFor = (view: View) => lower(harness.ceiling, view.ceiling)
  const modeFor = (view: View) => {
    const mode = lower(settings().mode ?? "ask", ceilingFor(view))
    return lower(mode, agents.limits().mode ?? mode)
  }
  /** What is chosen among the modes and agents. */
  const modeIdFor = (view: View) => agents.current()?.name ?? modeFor(view)

  const present = Effect.map(
    Effect.all([models, modelFor()]),
    ([known, { effort, id: model }]) =>
      (view: View): ReadonlyArray<ConfigOption> =>
        optionsOf({ mode: modeIdFor(view), model, effort }, known, ceilingFor(view), agents.list())
  )

  let shownModels: string | undefined

  const tellOptions = Effect.fnUntraced(function* (isModeNew: boolean) {
    const options = yield* present
    shownModels = shownOf(yield* models)
    yield* journal.tellEach((view) => [
      ...(isModeNew ? [{ _tag: "ModeChanged", mode: modeIdFor(view) } as const] : []),
      { _tag: "ConfigChanged", options: options(view) }
    ])
  })
  // The endpoint of a provider said what it offers.
  yield* observeModels(tellOptions(false))

  const configure = Effect.fnUntraced(function* (choices: Configured) {
    const before = agents.current()?.name
    yield* journal.record(choices)
    yield* tellOptions(choices.mode !== undefined || agents.current()?.name !== before)
  })

  /** Settings that were changed may offer other models than the clients were told. */
  const tellNewModels = (known: ReadonlyArray<ModelInfo>) =>
    shownModels === undefined || shownModels === shownOf(known) ? Effect.void : tellOptions(false)

  const optionsFor = (view: View) => Effect.map(present, (options) => options(view))

  return {
    agents,
    modelFor,
    replaceModel: Effect.gen(function* () {
      const gone = settings().model
      const known = yield* models
      const [first] = known
      const isThere = gone === undefined || first === undefined || isOffered(gone, known)
      if (isThere || (yield* isUsable(gone))) {
        yield* tellNewModels(known)
        return undefined
      }
      yield* configure({ _tag: "Configured", model: first.id })
      return modelGone(gone, first.id, known)
    }),
    modeFor,
    optionsFor,
    snapshot: (view) =>
      Effect.gen(function* () {
        yield* agents.refresh
        shownModels ??= shownOf(yield* models)
        return {
          options: yield* optionsFor(view),
          mode: modeIdFor(view),
          modes: modesOf(ceilingFor(view), agents.list())
        }
      }),
    configure: (choices) => configure(agents.chosen(choices)),
    setOption: Effect.fnUntraced(function* (view, option, value) {
      yield* agents.refresh
      const choices = yield* Effect.fromResult(choose(yield* optionsFor(view), option, value, agents.list()))
      yield* configure(agents.chosen(choices))
    })
  }
})
