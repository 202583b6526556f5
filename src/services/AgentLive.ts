/** The agent of this process: every intent of a connection, in terms of sessions. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { lower } from "../domain/permission/ExecutionMode.ts"
import { SessionNotFound } from "../domain/Failure.ts"
import { harnesses } from "../domain/Harness.ts"
import type { SessionId } from "../domain/Ids.ts"
import * as Replay from "../domain/session/Replay.ts"
import { Agent, type AgentConnection, type ConnectOptions, type Place, type SessionWishes } from "./Agent.ts"
import { Auth } from "./Auth.ts"
import type { Editor } from "./Editor.ts"
import { Models } from "./Models.ts"
import { SessionStore } from "./SessionStore.ts"
import { Sessions } from "./Sessions.ts"
import type { View } from "./session/Journal.ts"
import type { LiveSession } from "./session/LiveSession.ts"
import { MODE_OPTION } from "./session/SessionOptions.ts"
import { defaultGone, rulesLost } from "./session/Warnings.ts"
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
    const auth = yield* Auth
    const models = yield* Models
    const store = yield* SessionStore
    const sessions = yield* Sessions
    const settings = yield* Settings
    const wish = yield* Wishes.make

    const connect = Effect.fn("Agent.connect")(function* (editor: Editor, { ceiling }: ConnectOptions) {
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
        session.useDirectories(additionalDirectories)
        yield* session.servers.use(mcpServers)
      })

      const newSession = Effect.fn("Agent.newSession")(function* (place: Place, wishes: SessionWishes) {
        yield* auth.require
        yield* wish.place(place)
        const harness = yield* wish.harness(wishes)
        const highest = lower(harness.ceiling, ceiling)
        const wished = yield* wish.choices(wishes, highest)
        const known = yield* models.list
        const [first] = known
        const { alwaysApprove, defaultModel } = yield* settings.current
        const choices = {
          mode: lower(alwaysApprove ? "always-approve" : "ask", highest),
          ...(first === undefined ? {} : { model: first.id }),
          ...wished
        }
        return yield* enter(
          Effect.fnUntraced(function* (view) {
            const session = yield* sessions.create({ cwd: place.cwd, harness, choices })
            if (defaultModel !== undefined && defaultModel !== choices.model && wished.model === undefined) {
              session.warn(defaultGone(defaultModel, choices.model, known))
            }
            yield* settle(session, place)
            yield* session.attach(view, Effect.void)
            return session
          })
        )
      })

      /** Brings a session back; `history` is told before anything else. */
      const reopen = Effect.fnUntraced(function* <E>(
        id: SessionId,
        place: Place,
        wishes: SessionWishes,
        history: (session: LiveSession) => Effect.Effect<void, E>
      ) {
        yield* auth.require
        yield* wish.place(place)
        return yield* enter(
          Effect.fnUntraced(function* (view) {
            const session = yield* sessions.open(id)
            yield* wish.sameFolder(session.cwd, place.cwd)
            const choices = yield* wish.choices(wishes, lower(session.harness.ceiling, ceiling))
            yield* settle(session, place)
            if (!noChoice(choices)) yield* session.configure({ _tag: "Configured", ...choices })
            yield* session.attach(view, history(session))
            return session
          })
        )
      })

      const announceTo = ({ id }: LiveSession) => editor.emit(id, { _tag: "CommandsChanged", commands: [] })

      const tellHistory = Effect.fnUntraced(function* (session: LiveSession) {
        yield* session.flush
        if (session.isStored()) {
          yield* store.entries(session.id).pipe(
            Stream.mapAccum(() => Replay.emptyBuffer, Replay.step, { onHalt: Replay.flush }),
            Stream.runForEach((event) => editor.emit(session.id, event))
          )
        }
        yield* announceTo(session)
      })

      const forkSession = Effect.fn("Agent.forkSession")(function* (id: SessionId, place: Place) {
        yield* auth.require
        yield* wish.place(place)
        return yield* enter(
          Effect.fnUntraced(function* (view) {
            const session = yield* sessions.fork(id, place.cwd)
            yield* settle(session, place)
            yield* session.attach(view, Effect.void)
            return session
          })
        )
      })

      // From its first moment on nothing more can be asked of the session, and a load that comes next has its own view.
      const closeSession = Effect.fn("Agent.closeSession")(function* (id: SessionId) {
        const found = yield* find(id)
        viewed.delete(id)
        yield* sessions.close(found.session)
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

      const describe = Effect.gen(function* () {
        const known = yield* models.list
        return {
          authMethods: yield* auth.methods,
          harnesses,
          image: known.some((model) => model.image),
          mcpHttp: true
        }
      })

      return {
        describe,
        authenticate: auth.authenticate,
        logout: auth.logout,
        newSession,
        loadSession: Effect.fn("Agent.loadSession")((id, place, wishes) => reopen(id, place, wishes, tellHistory)),
        resumeSession: Effect.fn("Agent.resumeSession")((id, place, wishes) =>
          reopen(id, place, wishes, () => Effect.void)
        ),
        forkSession,
        listSessions: store.list,
        closeSession,
        deleteSession,
        prompt: Effect.fn("Agent.prompt")((id, content) =>
          Effect.flatMap(find(id), ({ session, view }) => session.prompt(view, content))
        ),
        cancel: (id) => viewed.get(id)?.session.cancel ?? Effect.void,
        setMode: (id, value) => Effect.asVoid(setOption(id, MODE_OPTION, value)),
        setOption,
        announce: (id) => Effect.ignore(Effect.flatMap(find(id), ({ session }) => announceTo(session)))
      } satisfies AgentConnection
    })

    return Agent.of({ connect })
  })
)
