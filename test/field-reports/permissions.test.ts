import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { configFor, settingOf } from "../support/LocalProvider.ts"
import { folder } from "../support/Program.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import { always, choose, load, newSession, open, prompt, question, questions, turn } from "../support/Probe.ts"
import { type JsonObject, start } from "../support/RawAgent.ts"
import { at } from "../support/Schema.ts"
import { callsOf, mark, ofKind, shownBy, textOf, thoughtOf, updatesOf } from "../support/Updates.ts"

const call = (name: string, input: JsonObject) => ({ tool: { name, input } })
const bash = (command: string) => call("bash", { command })
const done = { parts: [{ text: "done" }] }

const optionValues = (options: unknown, id: string): ReadonlyArray<string> => {
  const list: ReadonlyArray<JsonObject> = Array.isArray(options) ? options : []
  const found = list.find((option) => option["id"] === id)?.["options"]
  const choices = Array.isArray(found) ? found.flatMap((entry) => (at(entry, "options") ?? entry) as JsonObject) : []
  return choices.map((choice) => String(at(choice, "value")))
}

const current = (options: unknown, id: string): unknown => {
  const list: ReadonlyArray<JsonObject> = Array.isArray(options) ? options : []
  return list.find((option) => option["id"] === id)?.["currentValue"]
}

describe("1e. permissions, modes, config", () => {
  it.live("F32 a call is announced, asked about, refused, and the turn goes on", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const agent = yield* open({ steps: [{ parts: [call("write", { path: "a.txt", content: "x" })] }, done] })
      const session = yield* newSession(agent, place)
      const { answer } = yield* prompt(agent, session, "go")
      const asked = yield* question(agent)
      const before = callsOf(updatesOf(agent, session))
      assert.deepStrictEqual([before.map(({ id }) => id), before[0]!.latest["status"]], [[asked.toolCallId], "pending"])
      assert.strictEqual(before[0]!.updates[0]!["sessionUpdate"], "tool_call")
      yield* choose(agent, asked, "reject_once")
      assert.strictEqual((yield* answer).result["stopReason"], "end_turn")
      const [after] = callsOf(updatesOf(agent, session))
      assert.deepStrictEqual([after!.statuses[0], after!.statuses.at(-1)], ["pending", "failed"])
      assert.include(shownBy(after!.latest), "said no")
      assert.strictEqual(textOf(updatesOf(agent, session)), "done")
      assert.isFalse(existsSync(join(place, "a.txt")))
    })
  )

  it.live("F33 nothing is destroyed unasked", () =>
    Effect.gen(function* () {
      const place = yield* folder
      mkdirSync(join(place, "keep"))
      const agent = yield* open({ steps: [{ parts: [bash(`rm -rf ${place}/keep`)] }, done] })
      const session = yield* newSession(agent, place)
      const { answer } = yield* prompt(agent, session, "go")
      const asked = yield* question(agent)
      assert.isString(asked.option("allow_once"))
      assert.isString(asked.option("reject_once"))
      assert.isTrue(existsSync(join(place, "keep")))
      yield* choose(agent, asked, "allow_once")
      assert.strictEqual((yield* answer).result["stopReason"], "end_turn")
      assert.isFalse(existsSync(join(place, "keep")))
      assert.lengthOf(questions(agent), 1)
    })
  )

  it.live("F34 always means always, for what its label says, in every session of the project and in no other", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const agent = yield* open({
        onRequest: always("allow_always"),
        steps: [
          { when: "first", parts: [bash("touch one")] },
          { when: "first", parts: [bash("touch one && touch one")] },
          { when: "second", parts: [bash("touch one"), call("write", { path: "a.txt", content: "1" })] },
          { when: "second", parts: [call("edit", { path: "a.txt", old_string: "1", new_string: "2" })] },
          { when: "third", parts: [bash("touch one")] },
          { when: "elsewhere", parts: [bash("touch one")] },
          { again: true, parts: [{ text: "done" }] }
        ]
      })
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "first")
      assert.lengthOf(questions(agent), 1)
      yield* turn(agent, session, "second")
      assert.lengthOf(questions(agent), 2)
      assert.strictEqual(readFileSync(join(place, "a.txt"), "utf8"), "2")
      yield* turn(agent, yield* newSession(agent, place), "third")
      assert.lengthOf(questions(agent), 2)
      yield* turn(agent, yield* newSession(agent, yield* folder), "elsewhere")
      assert.lengthOf(questions(agent), 3)
      for (const { option, params } of questions(agent)) {
        const chosen = option("allow_always")
        const offered = params["options"]
        assert.isTrue(Array.isArray(offered) && offered.some((entry) => at(entry, "optionId") === chosen))
      }
    })
  )

  it.live("F34 never means never", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const agent = yield* open({
        onRequest: always("reject_always"),
        steps: [
          { parts: [bash("touch one")] },
          { parts: [bash("touch one")] },
          done,
          { parts: [bash("touch one")] },
          done
        ]
      })
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "go")
      yield* turn(agent, session, "once more")
      assert.lengthOf(questions(agent), 1)
      const calls = callsOf(updatesOf(agent, session))
      assert.deepStrictEqual(
        calls.map(({ latest }) => latest["status"]),
        ["failed", "failed", "failed"]
      )
      assert.isFalse(existsSync(join(place, "one")))
    })
  )

  it.live("F36 the configured rules hold", () =>
    Effect.gen(function* () {
      const place = yield* folder
      writeFileSync(join(place, "x"), "")
      const agent = yield* open({
        config: '[permission]\nallow = ["Bash(make:*)"]\nask = ["Bash(rm:*)"]\ndeny = ["Bash(touch:*)"]',
        onRequest: always("allow_once"),
        args: ["--yolo"],
        steps: [{ parts: [bash("make --version")] }, { parts: [bash("rm x")] }, { parts: [bash("touch y")] }, done]
      })
      const session = yield* newSession(agent, place)
      yield* agent.ok("session/set_mode", { sessionId: session, modeId: "ask" })
      yield* turn(agent, session, "go")
      const calls = callsOf(updatesOf(agent, session))
      assert.deepStrictEqual(
        questions(agent).map(({ toolCallId }) => toolCallId),
        [calls[1]!.id]
      )
      assert.strictEqual(calls[2]!.latest["status"], "failed")
      assert.include(shownBy(calls[2]!.latest), "Bash(touch:*)")
      assert.deepStrictEqual([existsSync(join(place, "x")), existsSync(join(place, "y"))], [false, false])
    })
  )

  it.live("F37 three calls at once are three questions, each about its own call", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const names = ["a", "b", "c"]
      const agent = yield* open({
        onRequest: always("allow_once"),
        steps: [{ parts: names.map((path) => call("write", { path, content: path })) }, done]
      })
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "go")
      const calls = callsOf(updatesOf(agent, session))
      assert.lengthOf(calls, 3)
      assert.deepStrictEqual(
        questions(agent).map(({ params, toolCallId }) => [params["sessionId"], toolCallId]),
        calls.map(({ id }) => [session, id])
      )
      for (const name of names) assert.strictEqual(readFileSync(join(place, name), "utf8"), name)
    })
  )

  it.live("F38 a mode can be set to what it is", () =>
    Effect.gen(function* () {
      const agent = yield* open({ steps: [done] })
      const { modes, sessionId } = yield* agent.ok("session/new", { cwd: agent.home, mcpServers: [] })
      const available = at(modes, "availableModes")
      const ids = Array.isArray(available) ? available.map((mode) => at(mode, "id")!) : []
      assert.isAtLeast(ids.length, 4)
      const present = at(modes, "currentModeId")!
      assert.include(ids, present)
      for (const modeId of [present, present, ...ids.flatMap((id) => [id, id])]) {
        yield* agent.ok("session/set_mode", { sessionId: sessionId!, modeId })
      }
      const { error } = yield* agent.request("session/set_mode", { sessionId: sessionId!, modeId: "made-up" })
      assert.strictEqual(error?.["code"], -32602)
      const { modes: after } = yield* agent.ok("session/resume", {
        sessionId: sessionId!,
        cwd: agent.home,
        mcpServers: []
      })
      assert.strictEqual(at(after, "currentModeId"), ids.at(-1))
    })
  )

  it.live("F39 a mode that is set is told, shown as an option, and enforced at once", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const agent = yield* open({
        steps: [
          { parts: [call("write", { path: "a.txt", content: "1" })] },
          { parts: [call("bash", { command: "until [ -e go ]; do sleep 0.02; done" })] },
          { parts: [call("write", { path: "a.txt", content: "1" })] },
          done
        ],
        config: '[permission]\nallow = ["Bash(until:*)"]',
        onRequest: always("allow_once")
      })
      const session = yield* newSession(agent, place)
      const told = (from: number) => {
        const updates = updatesOf(agent, session, from)
        return [
          ofKind(updates, "current_mode_update").map(({ currentModeId }) => currentModeId),
          ofKind(updates, "config_option_update").map(({ configOptions }) => current(configOptions, "mode"))
        ]
      }
      const first = mark(agent)
      yield* agent.ok("session/set_mode", { sessionId: session, modeId: "plan" })
      assert.deepStrictEqual(told(first), [["plan"], ["plan"]])
      const { answer } = yield* prompt(agent, session, "plan it")
      yield* agent.until("the second call", () =>
        callsOf(updatesOf(agent, session))[1] === undefined ? undefined : true
      )
      const second = mark(agent)
      yield* agent.ok("session/set_mode", { sessionId: session, modeId: "accept-edits" })
      assert.deepStrictEqual(told(second), [["accept-edits"], ["accept-edits"]])
      writeFileSync(join(place, "go"), "")
      yield* answer
      const statuses = callsOf(updatesOf(agent, session)).map(({ latest }) => latest["status"])
      assert.deepStrictEqual([statuses[0], statuses.at(-1)], ["failed", "completed"])
      assert.include(shownBy(callsOf(updatesOf(agent, session))[0]!.latest), "plan mode")
    })
  )

  it.live("F41 what depends on the model follows it", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "ok" }] })
      const models = [
        '{ id = "thinker", efforts = ["low", "high"] }',
        '{ id = "other", efforts = ["high", "max"] }',
        '"plain"'
      ]
      const agent = yield* open({ config: configFor(server, { models }) })
      const session = yield* newSession(agent, agent.home)
      yield* turn(agent, session, "hi")
      const set = (configId: string, value: string) =>
        Effect.map(
          agent.ok("session/set_config_option", { sessionId: session, configId, value }),
          ({ configOptions }) => configOptions
        )
      const seen: Array<unknown> = []
      yield* set("reasoning_effort", "low")
      for (const value of ["local/other", "local/plain", "local/thinker"]) {
        const from = mark(agent)
        const options = yield* set("model", value)
        const told = ofKind(updatesOf(agent, session, from), "config_option_update").map(
          ({ configOptions }) => configOptions
        )
        assert.deepStrictEqual(told, [options!])
        const loaded = yield* load(agent, session, agent.home)
        assert.deepStrictEqual(loaded["configOptions"], options)
        const mode = current(options, "mode")
        yield* agent.ok("session/set_mode", { sessionId: session, modeId: String(mode) })
        seen.push([optionValues(options, "reasoning_effort"), current(options, "reasoning_effort")])
      }
      assert.deepStrictEqual(seen, [
        [["high", "max"], "high"],
        [[], undefined],
        [["low", "high"], "low"]
      ])
    })
  )

  it.live("F42 every listed model is one that the provider is asked for by name", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "ok" }] })
      const agent = yield* open({ config: configFor(server, { models: ['"qwen"', '"org/big-model"', '"v1.5:tag"'] }) })
      const { configOptions, sessionId } = yield* agent.ok("session/new", { cwd: agent.home, mcpServers: [] })
      const values = optionValues(configOptions, "model")
      assert.lengthOf(values, 3)
      assert.include(values, String(current(configOptions, "model")))
      for (const value of values) {
        const after = yield* agent.ok("session/set_config_option", { sessionId: sessionId!, configId: "model", value })
        assert.strictEqual(current(after["configOptions"], "model"), value)
        assert.strictEqual(yield* turn(agent, String(sessionId), "hi"), "end_turn")
        assert.strictEqual(`local/${settingOf(server.seen().at(-1), "model")}`, value)
      }
    })
  )

  for (const [name, id] of [
    ["no model's name", "does-not-exist"],
    ["one of a provider that is gone", "gone/model"],
    ["one that is not listed", "local/custom"]
  ] as const) {
    it.live(`F43 a session opens with a configured model that is ${name}`, () =>
      Effect.gen(function* () {
        const server = yield* ProviderServer.start
        server.answer({ pieces: [{ text: "ok" }] })
        const config = configFor(server).replace('"local/qwen"', `"${id}"`)
        const agent = yield* open({ config })
        const { configOptions, sessionId } = yield* agent.ok("session/new", { cwd: agent.home, mcpServers: [] })
        const chosen = String(current(configOptions, "model"))
        assert.include(optionValues(configOptions, "model"), chosen)
        assert.strictEqual(yield* turn(agent, String(sessionId), "hi"), "end_turn")
        assert.strictEqual(`local/${settingOf(server.seen().at(-1), "model")}`, chosen)
        if (id === "does-not-exist") assert.include(agent.stderr(), "models.default")
        if (id === "local/custom") assert.strictEqual(chosen, id)
        const thought = thoughtOf(updatesOf(agent, String(sessionId)))
        if (id === "gone/model") assert.match(thought, /gone\/model cannot be used.*local\/qwen instead/s)
        else assert.strictEqual(thought, "")
      })
    )
  }

  it.live("F44 flags and custom endpoints count", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "ok" }] })
      const agent = yield* open({
        args: ["--model", "anthropic/claude-sonnet-5-5", "--yolo"],
        env: { ANTHROPIC_API_KEY: "sk-ant-0123456789", ANTHROPIC_BASE_URL: `${server.origin}/v1` }
      })
      const { configOptions, modes, sessionId } = yield* agent.ok("session/new", { cwd: agent.home, mcpServers: [] })
      assert.strictEqual(current(configOptions, "model"), "anthropic/claude-sonnet-5-5")
      assert.strictEqual(at(modes, "currentModeId"), "always-approve")
      yield* agent.ok("session/set_config_option", {
        sessionId: sessionId!,
        configId: "reasoning_effort",
        value: "high"
      })
      assert.strictEqual(yield* turn(agent, String(sessionId), "hi"), "end_turn")
      const [seen] = server.seen()
      assert.strictEqual(seen?.dialect, "anthropic")
      assert.strictEqual(settingOf(seen, "model"), "claude-sonnet-5-5")
      assert.include(seen?.text ?? "", '"high"')
    })
  )

  it.live("F44 a flag that does not exist is told on stderr, and ends the program", () =>
    Effect.gen(function* () {
      const agent = yield* start({ args: ["--exclude-tool", "bash"] })
      assert.notStrictEqual(yield* agent.ended, 0)
      assert.include(agent.stderr(), "--exclude-tool")
      assert.strictEqual(agent.bytes(), 0)
    })
  )
})
