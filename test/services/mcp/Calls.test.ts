import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { Elicitation, ElicitationAnswer } from "../../../src/domain/Elicitation.ts"
import { ToolCallId } from "../../../src/domain/Ids.ts"
import type { ToolCallPatch } from "../../../src/domain/Tool.ts"
import type { ToolOutcome } from "../../../src/services/ToolDefinition.ts"
import {
  call,
  connect,
  connectWith,
  everythingOver,
  find,
  http,
  manager,
  managerWith,
  odd,
  reference,
  sse,
  stdio,
  temporary,
  wanted,
  workspace
} from "../../support/mcp/session.ts"
import { textOf } from "../../support/toolbox.ts"

const everything = stdio("remote", [reference("everything"), "stdio"])

/** A person who gives this answer; `asked` is what was asked. */
const person = (answer: ElicitationAnswer) => {
  const asked: Array<Elicitation> = []
  const elicit = (request: Elicitation) =>
    Effect.sync(() => {
      asked.push(request)
      return answer
    })
  return { asked, elicit }
}

const accepted = { _tag: "Accepted", content: { colour: "blue" } } as const
const both = { elicitation: { form: true, url: true } }

describe("progress of a call", () => {
  it.live("is shown while it runs, and not faster than it can be read", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("odd", "slow"))
      const shown: Array<string> = []
      const progress = ({ content }: ToolCallPatch) => Effect.sync(() => void shown.push(textOf(content)))
      const outcome = yield* call(connection, "mcp__odd__slow", { n: 20 }, { progress })
      assert.strictEqual(outcome.text, "slow but done")
      assert.strictEqual(shown[0], "1 of 20: step 1")
      assert.isAtLeast(shown.length, 2)
      assert.isAtMost(shown.length, 8)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("shows nothing that the server was given in confidence", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("odd", "slow", "tells"))
      const shown: Array<string> = []
      const progress = ({ content }: ToolCallPatch) => Effect.sync(() => void shown.push(textOf(content)))
      yield* call(connection, "mcp__odd__slow", { n: 1 }, { progress })
      assert.deepStrictEqual(shown, ["1 of 1: step 1 with <redacted>"])
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("reaches us from the reference server over each transport", () =>
    Effect.gen(function* () {
      const streamable = yield* everythingOver("streamableHttp")
      const older = yield* everythingOver("sse")
      for (const spec of [everything, http(streamable.url), sse(older.url)]) {
        const connection = yield* connect(spec)
        const shown: Array<string> = []
        const progress = ({ content }: ToolCallPatch) => Effect.sync(() => void shown.push(textOf(content)))
        const input = { duration: 0.6, steps: 2 }
        const outcome = yield* call(connection, "mcp__remote__trigger-long-running-operation", input, { progress })
        assert.include(outcome.text, "Long running operation completed")
        assert.deepStrictEqual(shown, ["1 of 2", "2 of 2"], spec._tag)
      }
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})

describe("a server that asks the person", () => {
  it.live("has its form shown with its name and the call, and gets the answer", () =>
    Effect.gen(function* () {
      const connection = yield* connectWith([wanted(odd("odd", "ask"))], both)
      for (const [answer, expected] of [
        [accepted, { action: "accept", content: { colour: "blue" } }],
        [{ _tag: "Declined" }, { action: "decline" }],
        [{ _tag: "Cancelled" }, { action: "cancel" }],
        [{ _tag: "Gone" }, { action: "cancel" }],
        [{ _tag: "Unanswered", reason: "no" }, { action: "cancel" }]
      ] satisfies ReadonlyArray<readonly [ElicitationAnswer, object]>) {
        const { asked, elicit } = person(answer)
        const outcome = yield* call(connection, "mcp__odd__ask", {}, { elicit, callId: ToolCallId.make("call-7") })
        assert.deepStrictEqual(JSON.parse(outcome.text), expected)
        assert.deepStrictEqual(asked, [
          {
            _tag: "Form",
            sessionId: workspace.sessionId,
            callId: ToolCallId.make("call-7"),
            message: 'The MCP server "odd" asks: Which one?',
            schema: {
              type: "object",
              properties: { colour: { type: "string", title: "Colour" } },
              required: ["colour"]
            }
          }
        ])
      }
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("has its page shown, if that is safe to do", () =>
    Effect.gen(function* () {
      const connection = yield* connectWith([wanted(odd("odd", "ask-page"))], both)
      const { asked, elicit } = person({ _tag: "Accepted", content: {} })
      const outcome = yield* call(connection, "mcp__odd__ask-page", {}, { elicit })
      assert.deepStrictEqual(JSON.parse(outcome.text), { action: "accept", content: {} })
      assert.deepInclude(asked[0], { _tag: "Url", url: "https://example.org/in", elicitationId: "e-1" })
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("is refused what the editor cannot show, and what nobody knows", () =>
    Effect.gen(function* () {
      const nobody = yield* connect(odd("odd", "ask", "asks-twice"))
      assert.deepInclude(JSON.parse((yield* call(nobody, "mcp__odd__ask")).text).error, { code: -32601 })
      const forms = yield* connectWith([wanted(odd("odd", "ask-page", "asks-twice"))], {
        elicitation: { form: true, url: false }
      })
      const { asked, elicit } = person(accepted)
      const page = yield* call(forms, "mcp__odd__ask-page", {}, { elicit })
      assert.deepInclude(JSON.parse(page.text).error, { code: -32602 })
      const [broken, unknown] = JSON.parse((yield* call(forms, "mcp__odd__asks-twice", {}, { elicit })).text)
      assert.deepInclude(broken.error, { code: -32602 })
      assert.deepInclude(unknown.error, { code: -32601 })
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("and needs a page first has it shown, and the model is told what to do", () =>
    Effect.gen(function* () {
      const connection = yield* connectWith([wanted(odd("odd", "page-first"))], both)
      const { asked, elicit } = person({ _tag: "Accepted", content: {} })
      const shown = yield* call(connection, "mcp__odd__page-first", {}, { elicit })
      assert.strictEqual(shown.status, "failed")
      assert.include(shown.text, "wants the user to finish something on a page first, which the user was shown")
      assert.lengthOf(asked, 1)
      const unable = yield* connect(odd("odd", "page-first"))
      const untold = yield* call(unable, "mcp__odd__page-first")
      assert.include(untold.text, "wants the user to open https://example.org/in first")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("as the reference server does, over stdio and HTTP", () =>
    Effect.gen(function* () {
      const { url } = yield* everythingOver("streamableHttp")
      for (const spec of [everything, http(url)]) {
        const connection = yield* connectWith([wanted(spec)], both)
        const { asked, elicit } = person({ _tag: "Accepted", content: { name: "Ada", check: true } })
        const outcome = yield* call(connection, "mcp__remote__trigger-elicitation-request", {}, { elicit })
        assert.include(outcome.text, "Ada", JSON.stringify(outcome))
        assert.deepInclude(asked[0], { _tag: "Form", callId: ToolCallId.make("call-1") })
      }
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("is told the folders of the workspace, and that no model answers it", () =>
    Effect.gen(function* () {
      const connection = yield* connectWith([wanted(odd("odd", "roots", "sample"))], {
        roots: () => ["/w/ä b", "/x"]
      })
      assert.deepStrictEqual(JSON.parse((yield* call(connection, "mcp__odd__roots")).text), {
        roots: [
          { uri: "file:///w/%C3%A4%20b", name: "ä b" },
          { uri: "file:///x", name: "x" }
        ]
      })
      assert.deepInclude(JSON.parse((yield* call(connection, "mcp__odd__sample")).text).error, { code: -32601 })
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})

describe("the limits of a call", () => {
  it.live("are those of the settings, of the tool before those of the server (F103)", () =>
    Effect.gen(function* () {
      const connection = yield* connectWith([
        wanted(odd("odd", "slow"), {
          toolTimeout: Duration.minutes(1),
          toolTimeouts: { hang: Duration.millis(200), slow: Duration.millis(200) }
        })
      ])
      const hung = yield* call(connection, "mcp__odd__hang")
      assert.deepInclude(hung, {
        status: "failed",
        text: 'The MCP server "odd" did not finish the call within 200ms, its limit in the settings.'
      })
      const slow = yield* call(connection, "mcp__odd__slow", { n: 20 })
      assert.include(
        slow.text,
        "did not finish the call within 200ms",
        "progress does not stretch a limit that was set"
      )
      assert.strictEqual((yield* call(connection, "mcp__odd__fail")).text, "that went wrong")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("a result that is too long is kept in a file of the session, which the model is told", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const scratch = yield* temporary
      const connection = yield* connectWith([wanted(odd("odd"))], { scratch })
      const long = yield* call(connection, "mcp__odd__many", { n: 150_000 }, { callId: ToolCallId.make("call-9/..") })
      const path = `${scratch}/mcp/call-9___-1.txt`
      assert.isTrue(
        long.text.endsWith(
          `[This is the beginning of 300000 bytes. All of it is in ${path}: search it, or read it in parts]`
        )
      )
      assert.isBelow(long.text.length, 1_200)
      assert.strictEqual(yield* fs.readFileString(path), "é".repeat(150_000))
      assert.strictEqual((yield* fs.stat(path)).mode & 0o777, 0o600)
    }).pipe(Effect.scoped, Effect.provide(managerWith({ mcpOutputLimit: 1_000 })))
  )

  it.live("a result that cannot be kept is cut, and the model is told", () =>
    Effect.gen(function* () {
      const connection = yield* connectWith([wanted(odd("odd"))], { scratch: "/dev/null/none" })
      const long = yield* call(connection, "mcp__odd__many", { n: 150_000 })
      assert.include(
        long.text,
        "The rest is lost: the file could not be written (BadResource). Ask the tool for less at a time]"
      )
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})

describe("other reference servers", () => {
  it.live("the one for files works in the folders of the workspace", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.realPath(yield* temporary)
      yield* fs.writeFileString(`${folder}/a.txt`, "Grüße")
      const spec = stdio("files", [reference("filesystem"), folder])
      const connection = yield* connectWith([wanted(spec)], { cwd: folder, roots: () => [folder], scratch: folder })
      const read = yield* call(connection, "mcp__files__read_text_file", { path: `${folder}/a.txt` })
      assert.deepInclude(read, { status: "completed", text: "Grüße" } satisfies Partial<ToolOutcome>)
      const escaped = yield* call(connection, "mcp__files__read_text_file", { path: "/etc/passwd" })
      assert.deepInclude(escaped, { status: "failed" })
      assert.include(escaped.text, "Access denied")
      yield* call(connection, "mcp__files__write_file", { path: `${folder}/b.txt`, content: "new" })
      assert.strictEqual(yield* fs.readFileString(`${folder}/b.txt`), "new")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("the one for memory remembers across sessions, in its own file", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const spec = stdio("memory", [reference("memory")], { MEMORY_FILE_PATH: `${folder}/memory.json` })
      const entities = [{ name: "Ada", entityType: "person", observations: ["writes programs"] }]
      yield* Effect.scoped(
        Effect.flatMap(connect(spec), (connection) => call(connection, "mcp__memory__create_entities", { entities }))
      )
      const connection = yield* connect(spec)
      const found = yield* call(connection, "mcp__memory__search_nodes", { query: "programs" })
      assert.include(found.text, "Ada")
      assert.deepStrictEqual(Object(found.rawOutput)["entities"], entities)
      assert.isDefined(find(connection, "mcp__memory__read_graph"))
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})
