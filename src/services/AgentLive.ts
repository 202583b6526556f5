/** The agent of this process: every intent of a connection, in terms of sessions. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { lower } from "../domain/permission/ExecutionMode.ts"
import { InvalidInput, SessionNotFound } from "../domain/Failure.ts"
import { choiceOf } from "../domain/CustomAgent.ts"
import type { SessionId } from "../domain/Ids.ts"
import type { Content } from "../domain/Content.ts"
import { between, type NumberedEntry, type Position } from "../domain/session/Position.ts"
import * as Replay from "../domain/session/Replay.ts"
import { Agent, type AgentConnection, type ConnectOptions, type Place, type SessionWishes } from "./Agent.ts"
import { Auth } from "./Auth.ts"
import type { NewAgent } from "./CustomAgents.ts"
import type { Editor } from "./Editor.ts"
import { Harnesses } from "./Harnesses.ts"
import { Models } from "./Models.ts"
import { makeSettingsInIfAny } from "./project/ProjectSettings.ts"
import { Projects } from "./Projects.ts"
import { SessionStore } from "./SessionStore.ts"
import { Sessions } from "./Sessions.ts"
import * as Activity from "./session/Activity.ts"
import type { View } from "./session/Journal.ts"
import type { LiveSession } from "./session/LiveSession.ts"
import { MODE_OPTION } from "../domain/session/Config.ts"
import { defaultGone, rulesLost, serversKept } from "./session/Warnings.ts"
import * as Wishes from "./session/Wishes.ts"
import { Settings } from "./Settings.ts"

/** A session as this connection sees it. The scope is the view's. */
interface Viewed {
  readonly session: LiveSession
  readonly view: View
  readonly scope: Scope.Closeable
}

const noChoice = (choices: object) => Object.keys(choices).length === 0

/** `Agent` over the other services. Building it does nothing but join them. */
export const layer = Layer.effect(
  Agent,
  Effect.gen(function* () {
    const signIn = yield* Auth
    const models = yield* Models
    const harnesses = yield* Harnesses
    const store = yield* SessionStore
    const sessions = yield* Sessions
    const settings = yield* Settings
    const settingsIn = makeSettingsInIfAny(settings, yield* Projects, yield* FileSystem.FileSystem, yield* Path.Path)
    const wish = yield* Wishes.make
    const process = yield* Effect.scope
    const activity = Activity.make()

    const connect = Effect.fn("Agent.connect")(function* (
      editor: Editor,
      { ceiling, lingers = false, wishes: usual = {} }: ConnectOptions
    ) {
      const auth = yield* signIn.connect
      const scope = yield* Scope.fork(yield* Effect.scope, "parallel")
      const viewed = new Map<SessionId, Viewed>()

      const find = (id: SessionId): Effect.Effect<Viewed, SessionNotFound> => {
        const found = viewed.get(id)
        return found !== undefined && sessions.isLive(found.session)
          ? Effect.succeed(found)
          : Effect.fail(new SessionNotFound({ sessionId: id }))
      }

      const leave = (found: Viewed | undefined) =>
        found === undefined ? Effect.void : Scope.close(found.scope, Exit.void)

      /** Opens a session and joins it. What `opening` held is let go if any of it fails or is interrupted. */
      const enter = <E>(opening: (view: View) => Effect.Effect<LiveSession, E, Scope.Scope>) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const own = yield* Scope.fork(scope)
            const view: View = { editor, ceiling }
            const session = yield* restore(Scope.provide(opening(view), own)).pipe(
              Effect.onError(() => Scope.close(own, Exit.void))
            )
            const earlier = viewed.get(session.id)
            viewed.set(session.id, { session, view, scope: own })
            yield* leave(earlier)
            return yield* session.snapshot(view)
          })
        )

      const settle = Effect.fnUntraced(function* (session: LiveSession, { additionalDirectories, mcpServers }: Place) {
        const { lostRules } = yield* settings.current
        if (lostRules.length > 0) session.warn(rulesLost(lostRules))
        // A turn that runs, and whoever else watches, go on with what the session has.
        if (session.isUsedBeside(editor)) {
          if (mcpServers.length > 0 && !session.servers.isUsing(mcpServers)) session.warn(serversKept)
          return
        }
        session.useDirectories(additionalDirectories)
        yield* session.servers.use(mcpServers, editor.capabilities.elicitation)
      })

      const newSession = Effect.fn("Agent.newSession")(function* (place: Place, wished: SessionWishes) {
        yield* auth.require
        yield* wish.place(place, ceiling)
        const value = yield* settingsIn(place.cwd)
        const harness = yield* wish.harness({ ...usual, ...wished }, value.harness)
        const highest = lower(harness.ceiling, ceiling)
        // What the transport sets goes as far as the harness does; a client that wishes for more is told.
        const mode = usual.mode === undefined ? {} : { mode: lower(usual.mode, highest) }
        const wishes = { ...usual, ...mode, ...wished }
        const chosen = yield* wish.choices(wishes, highest)
        const agent = yield* wish.agent(wishes, place.cwd, value.agentProfile)
        const known = yield* models.list
        const { alwaysApprove, defaultEffort, defaultModel, mode: usualMode = "ask" } = value
        const first = known.find(({ id }) => id === defaultModel) ?? known[0]
        const choices = {
          mode: lower(alwaysApprove ? "always-approve" : usualMode, highest),
          ...(first === undefined ? {} : { model: first.id }),
          ...(agent === undefined ? {} : { agent: choiceOf(agent, chosen.model === undefined) }),
          ...(defaultEffort === undefined ? {} : { effort: defaultEffort }),
          ...chosen
        }
        return yield* enter(
          Effect.fnUntraced(function* (view) {
            const session = yield* sessions.create({ cwd: place.cwd, harness, choices })
            if (defaultModel !== undefined && defaultModel !== choices.model && chosen.model === undefined) {
              session.warn(defaultGone(defaultModel, choices.model, known))
            }
            yield* settle(session, place)
            yield* session.attach(view)
            return session
          })
        )
      })

      /** Brings a session back; `attach` joins it, and may tell its history. */
      const reopen = Effect.fnUntraced(function* <E>(
        id: SessionId,
        place: Place,
        wishes: SessionWishes,
        attach: (session: LiveSession, view: View) => Effect.Effect<void, E, Scope.Scope>
      ) {
        yield* auth.require
        yield* wish.place(place, ceiling)
        return yield* enter(
          Effect.fnUntraced(function* (view) {
            const session = yield* sessions.open(id)
            yield* wish.sameFolder(session.cwd, place.cwd)
            const choices = yield* wish.choices(wishes, lower(session.harness.ceiling, ceiling))
            yield* settle(session, place)
            if (!noChoice(choices)) yield* session.configure({ _tag: "Configured", ...choices })
            yield* session.checkModel
            yield* attach(session, view)
            return session
          })
        )
      })

      /** Nothing of a session is told that was left while its commands were looked up. */
      const announceTo = (session: LiveSession) =>
        Effect.flatMap(session.commands, (commands) =>
          viewed.get(session.id)?.session === session
            ? editor.emit(session.id, { _tag: "CommandsChanged", commands })
            : Effect.void
        )

      /** What the log has between two positions, at the pace of the reader. */
      const tellHistory = (session: LiveSession) =>
        Effect.fnUntraced(function* (after: Position | undefined, upTo: Position) {
          yield* session.flush
          if (!session.isStored()) return
          const inside = (numbered: NumberedEntry) =>
            Result.fromNullishOr(between(numbered, after, upTo), () => numbered)
          yield* store.entriesFrom(session.id, after?.seq ?? 0).pipe(
            Stream.takeWhile(({ seq }) => seq <= upTo.seq),
            Stream.filterMap(inside),
            Stream.mapAccum(() => Replay.emptyBuffer, Replay.step, { onHalt: Replay.flush }),
            Stream.runForEach(({ event, position }) =>
              Effect.andThen(editor.caughtUp, editor.emit(session.id, event, position))
            )
          )
        })

      const attachAfter = (after: Position | undefined) =>
        Effect.fnUntraced(function* (session: LiveSession, view: View) {
          // Looked up before the session is held up for the view.
          const commands = yield* session.commands
          const present = editor.emit(session.id, { _tag: "CommandsChanged", commands })
          yield* session.attachAfter(view, after, tellHistory(session), present)
        })

      const forkSession = Effect.fn("Agent.forkSession")(function* (id: SessionId, place: Place) {
        yield* auth.require
        yield* wish.place(place, ceiling)
        return yield* enter(
          Effect.fnUntraced(function* (view) {
            const session = yield* sessions.fork(id, place.cwd)
            yield* settle(session, place)
            yield* session.checkModel
            yield* session.attach(view)
            return session
          })
        )
      })

      // From its first moment on nothing more can be asked of the session, and a load that comes next has its own view.
      const closeSession = Effect.fn("Agent.closeSession")(function* (id: SessionId) {
        const found = yield* find(id)
        viewed.delete(id)
        // For whoever else watches it, the session goes on, without what was asked for here (SES-18).
        yield* found.session.watchers() < 2 ? sessions.close(found.session) : found.session.cancelOf(editor)
        yield* leave(found)
      }, Effect.uninterruptible)

      const deleteSession = Effect.fn("Agent.deleteSession")(function* (id: SessionId) {
        const found = viewed.get(id)
        viewed.delete(id)
        yield* sessions.remove(id)
        yield* leave(found)
      }, Effect.uninterruptible)

      const setOption = Effect.fn("Agent.setOption")(function* (id: SessionId, option: string, value: string) {
        const { session, view } = yield* find(id)
        yield* session.setOption(view, option, value)
        return (yield* session.snapshot(view)).options
      })

      /** A prompt that a lost connection leaves behind, unlike one that was withdrawn. */
      const linger = <A, E>(session: LiveSession, work: Effect.Effect<A, E>) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const held = activity.during(session.id, Effect.scoped(Effect.andThen(sessions.hold(session), work)))
            const fiber = yield* Effect.forkIn(held, process, { startImmediately: true })
            return yield* restore(Fiber.join(fiber)).pipe(
              Effect.onInterrupt(() => (editor.isGone() ? Effect.void : Fiber.interrupt(fiber)))
            )
          })
        )

      const prompt = Effect.fn("Agent.prompt")(function* (id: SessionId, content: ReadonlyArray<Content>) {
        const { session, view } = yield* find(id)
        const work = session.prompt(view, content)
        return yield* lingers ? linger(session, work) : activity.during(id, work)
      })

      const listAgents = Effect.fn("Agent.listAgents")(function* (id: SessionId) {
        return yield* (yield* find(id)).session.agents.snapshot
      })

      const createAgent = Effect.fn("Agent.createAgent")(function* (id: SessionId, agent: NewAgent) {
        const { session } = yield* find(id)
        if (ceiling === "plan") {
          return yield* new InvalidInput({
            field: "name",
            message: `The ceiling of this connection is "plan", under which nothing is written; raise remote.execution_mode_ceiling where the agent runs`
          })
        }
        return yield* session.agents.create(agent)
      })

      const undo = Effect.fn("Agent.undo")(function* (id: SessionId) {
        const { session, view } = yield* find(id)
        return yield* session.undo(view)
      })

      const diff = Effect.fn("Agent.diff")(function* (id: SessionId) {
        const { session, view } = yield* find(id)
        return yield* session.diff(view)
      })

      const describe = Effect.gen(function* () {
        const known = yield* models.list
        const { harness } = yield* settings.current
        return {
          authMethods: yield* auth.methods,
          harnesses: harnesses.list,
          defaultHarness: (harnesses.find(harness ?? "") ?? harnesses.list[0]).id,
          image: known.some((model) => model.image),
          mcpHttp: true
        }
      })

      return {
        describe,
        authenticate: auth.authenticate,
        logout: auth.logout,
        newSession,
        loadSession: Effect.fn("Agent.loadSession")((id, place, wishes, after) =>
          reopen(id, place, wishes, attachAfter(after))
        ),
        resumeSession: Effect.fn("Agent.resumeSession")((id, place, wishes) =>
          reopen(id, place, wishes, (session, view) => session.attach(view))
        ),
        forkSession,
        listSessions: store.list,
        closeSession,
        deleteSession,
        prompt,
        cancel: (id) => viewed.get(id)?.session.cancel ?? Effect.void,
        setMode: (id, value) => Effect.asVoid(setOption(id, MODE_OPTION, value)),
        setOption,
        listAgents,
        createAgent,
        undo,
        diff,
        announce: (id) => Effect.ignore(Effect.flatMap(find(id), ({ session }) => announceTo(session)))
      } satisfies AgentConnection
    })

    return Agent.of({ connect, working: activity.working, idle: activity.idle })
  })
)
