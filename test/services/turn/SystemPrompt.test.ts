import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Scope from "effect/Scope"
import { execFileSync } from "node:child_process"
import * as Tool from "effect/ai/Tool"
import { defaultHarness, findHarness } from "../../../src/domain/Harness.ts"
import { SessionId } from "../../../src/domain/Ids.ts"
import { Tools } from "../../../src/services/Tools.ts"
import * as SystemPrompt from "../../../src/services/turn/SystemPrompt.ts"
import { makeFolder, toolbox, write } from "../../support/toolbox.ts"
import { platform } from "../../support/turns.ts"
import { makeSession, type SessionOptions } from "../../support/turnSession.ts"

const promptIn = Effect.fnUntraced(function* (
  roots: readonly [string, ...ReadonlyArray<string>],
  options: SessionOptions = {}
) {
  const systemPrompt = yield* SystemPrompt.make
  const workspace = {
    sessionId: SessionId.make("s"),
    cwd: roots[0],
    roots,
    editor: undefined,
    scratch: "/scratch",
    lifetime: Scope.makeUnsafe()
  }
  return yield* systemPrompt(makeSession({ workspace, ...options }).session)
})

const makeFolders = Effect.gen(function* () {
  const { base, work } = yield* makeFolder
  const fileSystem = yield* FileSystem.FileSystem
  yield* fileSystem.makeDirectory(`${work}/deep/er`, { recursive: true })
  yield* fileSystem.makeDirectory(`${base}/other`)
  return { base, work, deep: `${work}/deep/er`, other: `${base}/other` }
})

/** Where each of the texts begins, in order; fails if one is missing. */
const order = (prompt: string, ...texts: ReadonlyArray<string>) => {
  for (const text of texts) assert.include(prompt, text)
  const places = texts.map((text) => prompt.indexOf(text))
  assert.deepStrictEqual(
    places,
    places.toSorted((one, other) => one - other)
  )
}

describe("SystemPrompt", () => {
  it.effect("says what the agent is, where it works, and the day", () =>
    Effect.gen(function* () {
      const { other, work } = yield* makeFolders
      const prompt = yield* promptIn([work, other])
      order(
        prompt,
        defaultHarness.prompt,
        `Working directory: ${work}`,
        `Also part of the workspace: ${other}`,
        "Date: 1970-01-01"
      )
    }).pipe(Effect.provide(platform))
  )

  it.effect("takes AGENTS.md of the folder and its parents, the nearest last", () =>
    Effect.gen(function* () {
      const { base, deep, other, work } = yield* makeFolders
      yield* write(`${base}/AGENTS.md`, "Outermost")
      yield* write(`${work}/AGENTS.md`, "\nMiddle\n\n")
      yield* write(`${deep}/AGENTS.md`, "Nearest")
      yield* write(`${other}/AGENTS.md`, "Beside")
      const prompt = yield* promptIn([deep, other])
      order(prompt, "Outermost", "Beside", "Middle", "Nearest")
      assert.include(prompt, `<instructions file="${work}/AGENTS.md">\nMiddle\n</instructions>`)
      assert.lengthOf(prompt.split("Outermost"), 2)
    }).pipe(Effect.provide(platform))
  )

  it.effect("cuts a long one, with a note, and reads no more of it", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolders
      yield* write(`${work}/AGENTS.md`, `${"ä".repeat(20_000)}END`)
      const prompt = yield* promptIn([work])
      assert.notInclude(prompt, "END")
      assert.include(prompt, "The file is longer; the rest is left out")
      assert.isBelow(Buffer.byteLength(prompt), 34_000)
      assert.isTrue(prompt.isWellFormed())
    }).pipe(Effect.provide(platform))
  )

  it.effect("passes over what is no file", () =>
    Effect.gen(function* () {
      const { base, deep, work } = yield* makeFolders
      const fileSystem = yield* FileSystem.FileSystem
      yield* fileSystem.makeDirectory(`${work}/AGENTS.md`)
      execFileSync("sh", ["-c", `mkfifo "$0"`, `${deep}/AGENTS.md`])
      yield* write(`${base}/AGENTS.md`, "Kept")
      assert.include(yield* promptIn([deep]), "Kept")
    }).pipe(Effect.provide(platform))
  )

  it.effect("takes the client's words: a prompt of its own first, its rules last", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolders
      yield* write(`${work}/AGENTS.md`, "Project")
      const prompt = yield* promptIn([work], { systemPrompt: "You are a parrot.", rules: "Be green." })
      assert.notInclude(prompt, defaultHarness.prompt)
      order(prompt, "You are a parrot.", "Project", "<rules>\nBe green.\n</rules>")
    }).pipe(Effect.provide(platform))
  )

  it.effect("reads no file for a harness that may not", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolders
      yield* write(`${work}/AGENTS.md`, "Project")
      const assistant = findHarness("super-pi-assistant") ?? defaultHarness
      const prompt = yield* promptIn([work], { harness: assistant })
      assert.include(prompt, assistant.prompt)
      assert.notInclude(prompt, "Project")
    }).pipe(Effect.provide(platform))
  )

  it.effect("leaves room: with the descriptions of all tools it is under 10 kB", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolder
      const prompt = yield* promptIn([work])
      const tools = (yield* Tools).get(defaultHarness.tools)
      assert.lengthOf(tools, defaultHarness.tools.length)
      const described = tools.map(({ tool }) => [tool.name, tool.description, Tool.getJsonSchema(tool)])
      assert.isBelow(Buffer.byteLength(JSON.stringify([prompt, described])), 10_000)
    }).pipe(Effect.provide(toolbox()))
  )
})
