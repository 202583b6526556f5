/** The agent of this process: every intent of a connection, in terms of sessions. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { Content } from "../domain/Content.ts"
import { atMost, type ExecutionMode, lower } from "../domain/ExecutionMode.ts"
import { InvalidInput, SessionNotFound } from "../domain/Failure.ts"
import { defaultHarness, findHarness, harnesses } from "../domain/Harness.ts"
import type { SessionId } from "../domain/Ids.ts"
import type { Entry } from "../domain/Session.ts"
import * as Replay from "../domain/Replay.ts"
import { Agent, type AgentConnection, type ConnectOptions, type Place, type SessionWishes } from "./Agent.ts"
import { Auth } from "./Auth.ts"
import type { Editor } from "./Editor.ts"
import { Models } from "./Models.ts"
import { SessionStore } from "./SessionStore.ts"
import { Sessions } from "./Sessions.ts"
import type { LiveSession, View } from "./session/LiveSession.ts"
import { Settings } from "./Settings.ts"

export const layer = Layer.effect(
  Agent,
  Effect.gen(function* () {
    const auth = yield* Auth
    const models = yield* Models
    const store = yield* SessionStore
    const sessions = yield* Sessions
    const settings = yield* Settings
    const fileSystem = yield* FileSystem.FileSystem

    const requireFolder = Effect.fnUntraced(function* (field: string, folder: string) {
      const info = yield* Effect.option(fileSystem.stat(folder))
      if (info._tag === "Some" && info.value.type === "Directory") return
      return yield* new InvalidInput({
        field,
        message: `${folder} is not a folder on the machine that runs the agent; open the session in one that exists`
      })
    })

    const requirePlace = (place: Place) =>
      Effect.andThen(
        requireFolder("cwd", place.cwd),
        Effect.forEach(place.additionalDirectories, (folder) => requireFolder("additionalDirectories", folder), {
          discard: true
        })
      )

    const samePlace = Effect.fnUntraced(function* (session: LiveSession, cwd: string) {
      const real = (folder: string) => Effect.orElseSucceed(fileSystem.realPath(folder), () => folder)
      if ((yield* real(session.cwd)) === (yield* real(cwd))) return
      return yield* new InvalidInput({
        field: "cwd",
        message: `This session works in ${session.cwd}; open it with that cwd, or start a new session in ${cwd}`
      })
    })

    const requireModel = Effect.fnUntraced(function* (id: string) {
      const known = yield* models.list
      if (known.some((model) => model.id === id)) return
      return yield* new InvalidInput({
        field: "_meta.modelId",
        message: `There is no model "${id}"; choose one of: ${known.map((model) => model.id).join(", ")}`
      })
    })

    /** Entries that carry out what the client wished for the session. */
    const configure = Effect.fnUntraced(function* (wishes: SessionWishes, ceiling: ExecutionMode) {
      if (wishes.model !== undefined) yield* requireModel(wishes.model)
      if (wishes.mode !== undefined && !atMost(wishes.mode, ceiling)) {
        return yield* new InvalidInput({
          field: "_meta",
          message: `The mode "${wishes.mode}" is above the ceiling of this session, which is "${ceiling}"`
        })
      }
      const { mode, model, effort } = wishes
      return {
        ...(mode === undefined ? {} : { mode }),
        ...(model === undefined ? {} : { model }),
        ...(effort === undefined ? {} : { effort })
      }
    })

    const connect = Effect.fn("Agent.connect")(function* (editor: Editor, options: ConnectOptions) {
      const view: View = { editor, ceiling: options.ceiling }
      const attached = new Set<LiveSession>()

      const leave = Effect.fnUntraced(function* (session: LiveSession) {
        session.detach(editor)
        if (session.views() === 0) yield* sessions.close(session)
      })
      yield* Effect.addFinalizer(() =>
        Effect.forEach([...attached], leave, { concurrency: "unbounded", discard: true })
      )

      const find = (id: SessionId): Effect.Effect<LiveSession, SessionNotFound> => {
        const session = sessions.get(id)
        return session === undefined ? Effect.fail(new SessionNotFound({ sessionId: id })) : Effect.succeed(session)
      }

      const settle = Effect.fnUntraced(function* (session: LiveSession, place: Place) {
        session.additionalDirectories(place.additionalDirectories)
        yield* session.servers.use(place.mcpServers)
      })

      const join = Effect.fnUntraced(function* <E>(session: LiveSession, history: Effect.Effect<void, E>) {
        yield* session.attach(view, history)
        attached.add(session)
        return yield* session.snapshot(view)
      })

      const announceTo = (session: LiveSession) => editor.emit(session.id, { _tag: "CommandsChanged", commands: [] })

      const newSession = Effect.fn("Agent.newSession")(function* (place: Place, wishes: SessionWishes) {
        yield* auth.require
        yield* requirePlace(place)
        const harness = wishes.harness === undefined ? defaultHarness : findHarness(wishes.harness)
        if (harness === undefined) {
          return yield* new InvalidInput({
            field: "_meta.harness",
            message: `There is no harness "${wishes.harness}"; choose one of: ${harnesses.map(({ id }) => id).join(", ")}`
          })
        }
        const ceiling = lower(harness.ceiling, options.ceiling)
        const { alwaysApprove } = yield* settings.current
        const mode: ExecutionMode = lower(alwaysApprove ? "always-approve" : "ask", ceiling)
        const wished = yield* configure(wishes, ceiling)
        const first = (yield* models.list)[0]
        const entry: Entry = {
          _tag: "Configured",
          mode,
          ...(first === undefined ? {} : { model: first.id }),
          ...wished
        }
        const session = yield* sessions.create({ cwd: place.cwd, harness, rules: wishes.rules, entries: [entry] })
        session.systemPrompt(wishes.systemPrompt)
        yield* settle(session, place)
        return yield* join(session, Effect.void)
      })

      const reopen = Effect.fnUntraced(function* (id: SessionId, place: Place, wishes: SessionWishes) {
        yield* auth.require
        yield* requirePlace(place)
        const session = yield* sessions.open(id)
        yield* samePlace(session, place.cwd)
        if (wishes.systemPrompt !== undefined) session.systemPrompt(wishes.systemPrompt)
        yield* settle(session, place)
        return session
      })

      const tellHistory = (session: LiveSession) =>
        session.isStored()
          ? Effect.andThen(
              session.flush,
              store.entries(session.id).pipe(
                Stream.mapAccum(() => Replay.emptyBuffer, Replay.step, { onHalt: Replay.flush }),
                Stream.runForEach((event) => editor.emit(session.id, event))
              )
            )
          : Effect.void

      const loadSession = Effect.fn("Agent.loadSession")(function* (
        id: SessionId,
        place: Place,
        wishes: SessionWishes
      ) {
        const session = yield* reopen(id, place, wishes)
        return yield* join(session, Effect.andThen(tellHistory(session), announceTo(session)))
      })

      const resumeSession = Effect.fn("Agent.resumeSession")(function* (
        id: SessionId,
        place: Place,
        wishes: SessionWishes
      ) {
        return yield* join(yield* reopen(id, place, wishes), Effect.void)
      })

      const forkSession = Effect.fn("Agent.forkSession")(function* (id: SessionId, place: Place) {
        yield* auth.require
        yield* requirePlace(place)
        const session = yield* sessions.fork(id)
        yield* settle(session, place)
        return yield* join(session, Effect.void)
      })

      const closeSession = Effect.fn("Agent.closeSession")(function* (id: SessionId) {
        const session = yield* find(id)
        attached.delete(session)
        yield* sessions.close(session)
      })

      const deleteSession = Effect.fn("Agent.deleteSession")(function* (id: SessionId) {
        const session = sessions.get(id)
        if (session !== undefined) attached.delete(session)
        yield* sessions.remove(id)
      })

      const prompt = Effect.fn("Agent.prompt")(function* (id: SessionId, content: ReadonlyArray<Content>) {
        const session = yield* find(id)
        return yield* session.prompt(view, content)
      })

      const cancel = Effect.fn("Agent.cancel")((id: SessionId) => sessions.get(id)?.cancel ?? Effect.void)

      const setOption = Effect.fn("Agent.setOption")(function* (id: SessionId, option: string, value: string) {
        const session = yield* find(id)
        yield* session.setOption(view, option, value)
        return (yield* session.snapshot(view)).options
      })

      const setMode = Effect.fn("Agent.setMode")(function* (id: SessionId, mode: string) {
        const session = yield* find(id)
        yield* session.setOption(view, "mode", mode)
      })

      const announce = Effect.fn("Agent.announce")((id: SessionId) => {
        const session = sessions.get(id)
        return session === undefined ? Effect.void : announceTo(session)
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
        loadSession,
        resumeSession,
        forkSession,
        listSessions: store.list,
        closeSession,
        deleteSession,
        prompt,
        cancel,
        setMode,
        setOption,
        announce
      } satisfies AgentConnection
    })

    return Agent.of({ connect })
  })
)
