import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { text } from "../../../src/domain/Content.ts"
import type { Elicitation } from "../../../src/domain/Elicitation.ts"
import type { SessionId } from "../../../src/domain/Ids.ts"
import { Projects } from "../../../src/services/Projects.ts"
import type { McpServerSettings } from "../../../src/services/Settings.ts"
import { agentLayer, connect, place } from "../../support/agents.ts"
import { makeEditor } from "../../support/editor.ts"
import { nothingAsked } from "../../support/models.ts"
import { fakeServers, server } from "../../support/servers.ts"

const setting = (name: string): McpServerSettings => ({ spec: server(name), toolTimeouts: {} })

/** A project that is trusted, and has these servers. */
const projectWith = (mcpServers: ReadonlyArray<McpServerSettings>) =>
  Layer.succeed(Projects, {
    of: (root) =>
      Effect.succeed({
        root,
        trust: "trusted",
        permission: { allow: [], ask: [], deny: [] },
        hooks: [],
        choices: {},
        mcpServers,
        withheld: [],
        warnings: []
      }),
    decide: () => Effect.void
  })

const question = (sessionId: SessionId): Elicitation => ({ _tag: "Form", sessionId, message: "Which?", schema: {} })

const script = [{ again: true, parts: [{ text: "Fine." }] }]

const using = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  harness?: string,
  fake = makeEditor({ notices: true })
) {
  const connection = yield* connect(fake)
  const mcpServers = names.map(server)
  const { sessionId: id } = yield* connection.newSession(
    place({ mcpServers }),
    harness === undefined ? {} : { harness }
  )
  return { ...connection, id, say: (words: string) => connection.prompt(id, [text(words)]) }
})

describe("the servers of a session", () => {
  it.effect("give it their tools, and end with it", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const { alive, layer } = fakeServers()
      yield* Effect.gen(function* () {
        const { closeSession, id, say } = yield* using(["one", "two"])
        yield* say("Hi")
        assert.deepStrictEqual(asked.tools, ["mcp__one__echo", "mcp__two__echo"])
        assert.deepStrictEqual(alive, ["one", "two"])
        yield* closeSession(id)
        assert.deepStrictEqual(alive, [])
      }).pipe(Effect.provide(agentLayer({ script, mcp: layer, asked })))
    })
  )

  it.effect("are replaced by those of a load, and not shared with other sessions", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const { alive, layer } = fakeServers()
      yield* Effect.gen(function* () {
        const { deleteSession, id, loadSession, newSession, prompt, say } = yield* using(["one", "two"])
        yield* say("Hi")
        yield* loadSession(id, place({ mcpServers: [server("three")] }), {})
        yield* say("Hi")
        assert.deepStrictEqual(asked.tools, ["mcp__three__echo"])
        assert.deepStrictEqual(alive, ["three"])
        const { sessionId } = yield* newSession(place(), {})
        yield* prompt(sessionId, [text("Hi")])
        assert.deepStrictEqual(asked.tools, [])
        yield* loadSession(id, place(), {})
        assert.deepStrictEqual(alive, [])
        yield* loadSession(id, place({ mcpServers: [server("four")] }), {})
        yield* say("Hi")
        assert.deepStrictEqual(alive, ["four"])
        yield* deleteSession(id)
        assert.deepStrictEqual(alive, [])
      }).pipe(Effect.provide(agentLayer({ script, mcp: layer, asked })))
    })
  )

  it.effect("leave nothing behind when opening the session fails", () =>
    Effect.gen(function* () {
      const { alive, layer, started } = fakeServers()
      yield* Effect.gen(function* () {
        const { closeSession, id, loadSession, say } = yield* using([])
        yield* say("Hi")
        yield* closeSession(id)
        const stuck = makeEditor()
        const telling = yield* Deferred.make<void>()
        const emit = () => Effect.andThen(Deferred.succeed(telling, undefined), Effect.never)
        const { loadSession: load } = yield* connect({ ...stuck, editor: { ...stuck.editor, emit } })
        const loading = yield* Effect.forkChild(load(id, place({ mcpServers: [server("one")] }), {}))
        yield* Effect.andThen(Deferred.await(telling), started)
        assert.deepStrictEqual(alive, ["one"])
        yield* Fiber.interrupt(loading)
        assert.deepStrictEqual(alive, [])
        yield* loadSession(id, place({ mcpServers: [server("two")] }), {})
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ script, mcp: layer })))
      assert.deepStrictEqual(alive, [])
    })
  )

  it.effect("stay while another client uses them, and the one that joins is told if it wanted others", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const { alive, layer } = fakeServers()
      yield* Effect.gen(function* () {
        const { id, say } = yield* using(["one"])
        yield* say("Hi")
        const joining: ReadonlyArray<readonly [names: ReadonlyArray<string>, told: Array<string>]> = [
          [[], []],
          [["one"], []],
          [["two"], ["notice The MCP servers of the client that joined are not used"]]
        ]
        for (const [names, told] of joining) {
          const other = yield* connect()
          yield* other.loadSession(id, place({ mcpServers: names.map(server) }), {})
          assert.deepStrictEqual(alive, ["one"])
          yield* say("Hi")
          assert.deepStrictEqual(
            other.told(id).filter((line) => line.startsWith("notice")),
            told
          )
          yield* other.closeSession(id)
        }
      }).pipe(Effect.provide(agentLayer({ script, mcp: layer, asked })))
    })
  )

  it.effect("that are dead are told once, and harm nobody", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const { id, say, told } = yield* using(["dead", "one"])
        assert.strictEqual((yield* say("Hi")).stopReason, "end_turn")
        assert.deepStrictEqual(asked.tools, ["mcp__one__echo"])
        yield* say("Hi")
        assert.deepStrictEqual(
          told(id).filter((line) => line.startsWith("notice") || line.startsWith("text")),
          ["notice The MCP server dead is not available", "text Fine.", "text Fine."]
        )
      }).pipe(Effect.provide(agentLayer({ script, mcp: fakeServers().layer, asked })))
    })
  )

  it.effect("that are dead are told as a thought to an editor that knows no notices", () =>
    Effect.gen(function* () {
      const { id, say, told } = yield* using(["dead"], undefined, makeEditor())
      yield* say("Hi")
      assert.strictEqual(told(id)[0], "thought The MCP server dead is not available. It ended")
    }).pipe(Effect.provide(agentLayer({ script, mcp: fakeServers().layer })))
  )

  it.effect("are not used by a harness that takes none, and that is told", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const { alive, layer } = fakeServers()
      yield* Effect.gen(function* () {
        const { id, say, told } = yield* using(["one"], "super-pi-planner")
        yield* say("Hi")
        assert.deepStrictEqual([asked.tools, alive], [[], []])
        assert.strictEqual(told(id)[0], "notice MCP servers are not used")
      }).pipe(Effect.provide(agentLayer({ script, mcp: layer, asked })))
    })
  )

  it.effect("keep nobody waiting but the first prompt, and a cancel ends that", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const { cancel, id, loadSession, say } = yield* using(["slow"])
        const prompt = yield* Effect.forkChild(say("Hi"), { startImmediately: true })
        yield* TestClock.adjust("1 minute")
        assert.lengthOf(asked.prompts, 0)
        yield* cancel(id)
        assert.strictEqual((yield* Fiber.join(prompt)).stopReason, "cancelled")
        // One that waits for servers that are replaced waits for the new ones.
        const next = yield* Effect.forkChild(say("Hi"), { startImmediately: true })
        yield* loadSession(id, place({ mcpServers: [server("one")] }), {})
        assert.strictEqual((yield* Fiber.join(next)).stopReason, "end_turn")
        assert.deepStrictEqual(asked.tools, ["mcp__one__echo"])
      }).pipe(Effect.provide(agentLayer({ script, mcp: fakeServers().layer, asked })))
    })
  )

  it.effect("whose connector dies are told as missing, without the reason", () =>
    Effect.gen(function* () {
      const { id, say, told } = yield* using(["broken"])
      assert.strictEqual((yield* say("Hi")).stopReason, "end_turn")
      assert.strictEqual(told(id)[0], "notice MCP servers are not available")
      assert.notInclude(told(id).join(), "secret detail")
    }).pipe(Effect.provide(agentLayer({ script, mcp: fakeServers().layer })))
  )

  it.effect("are those of the client, the project and the settings, the nearer one first", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const { layer, wanted } = fakeServers()
      yield* Effect.gen(function* () {
        const { say } = yield* using(["mine", "shared"])
        yield* say("Hi")
        assert.deepStrictEqual(
          wanted.map((servers) => servers.map(({ origin, spec, toolTimeout }) => [spec.name, origin, toolTimeout])),
          [
            [
              ["usual", "settings", undefined],
              ["both", "project", undefined],
              ["mine", "client", undefined],
              ["shared", "client", Duration.minutes(3)]
            ]
          ]
        )
        assert.deepStrictEqual(
          asked.tools,
          ["usual", "both", "mine", "shared"].map((name) => `mcp__${name}__echo`)
        )
      }).pipe(
        Effect.provide(
          agentLayer({
            script,
            mcp: layer,
            asked,
            settings: {
              mcpServers: [
                setting("usual"),
                setting("both"),
                { ...setting("shared"), toolTimeout: Duration.minutes(3) }
              ]
            },
            projects: projectWith([setting("both")])
          })
        )
      )
    })
  )

  it.effect("of the settings are connected when the session is opened, and anew with each load", () =>
    Effect.gen(function* () {
      const { alive, layer, started, wanted } = fakeServers()
      yield* Effect.gen(function* () {
        const { closeSession, id, loadSession, say } = yield* using([])
        yield* started
        assert.deepStrictEqual(alive, ["usual"])
        yield* say("Hi")
        yield* loadSession(id, place(), {})
        yield* say("Hi")
        assert.lengthOf(wanted, 2)
        assert.deepStrictEqual(alive, ["usual"])
        yield* closeSession(id)
        assert.deepStrictEqual(alive, [])
      }).pipe(Effect.provide(agentLayer({ script, mcp: layer, settings: { mcpServers: [setting("usual")] } })))
    })
  )

  it.effect("of the project come with the first prompt, when nothing else is connected", () =>
    Effect.gen(function* () {
      const { layer, wanted } = fakeServers()
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const { say } = yield* using([])
        assert.lengthOf(wanted, 0)
        yield* say("Hi")
        yield* say("Hi")
        assert.lengthOf(wanted, 1)
        assert.deepStrictEqual(asked.tools, ["mcp__own__echo"])
      }).pipe(Effect.provide(agentLayer({ script, mcp: layer, asked, projects: projectWith([setting("own")]) })))
    })
  )

  it.effect("of the settings are no matter for a harness that takes none", () =>
    Effect.gen(function* () {
      const { layer, wanted } = fakeServers()
      yield* Effect.gen(function* () {
        const { id, say, told } = yield* using([], "super-pi-planner")
        yield* say("Hi")
        assert.lengthOf(wanted, 0)
        assert.isFalse(told(id).some((line) => line.startsWith("notice")))
      }).pipe(Effect.provide(agentLayer({ script, mcp: layer, settings: { mcpServers: [setting("usual")] } })))
    })
  )

  it.effect("know the session: its folders, and what its editor can show", () =>
    Effect.gen(function* () {
      const { contexts, layer } = fakeServers()
      yield* Effect.gen(function* () {
        const fake = makeEditor({ notices: true, elicitation: { form: true, url: false } })
        const connection = yield* connect(fake)
        const { sessionId } = yield* connection.newSession(
          place({ mcpServers: [server("one")], additionalDirectories: ["/tmp"] }),
          {}
        )
        yield* connection.prompt(sessionId, [text("Hi")])
        const [context] = contexts
        assert.deepInclude(context, { sessionId, cwd: "/", elicitation: { form: true, url: false } })
        assert.deepStrictEqual(context?.roots(), ["/", "/tmp"])
        assert.include(context?.scratch, sessionId)
        assert.deepStrictEqual(yield* (context?.elicit ?? Effect.die)(question(sessionId)), {
          _tag: "Unanswered",
          reason: "it shows no forms"
        })
      }).pipe(Effect.provide(agentLayer({ script, mcp: layer })))
    })
  )
})
