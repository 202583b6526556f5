/** The pages of the examples in a real browser, with the real program behind them. */
import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import type { ScriptPart, ScriptStep } from "../../src/services/models/script/Script.ts"
import { Browser, missing, visit, wireTo } from "../support/Browser.ts"
import { until } from "../support/Processes.ts"
import { folder, node, start } from "../support/Program.ts"
import { root } from "../support/Sources.ts"

const secret = "a-secret-of-the-browser-tests"

interface Said {
  readonly stdout?: NodeJS.ReadableStream | null
  readonly stderr?: NodeJS.ReadableStream | null
}

/** Waits for what a pattern finds in the output, or for its end without that. */
const heard = (child: Said, pattern: RegExp): Effect.Effect<string> =>
  Effect.callback((resume) => {
    let text = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        text += chunk.toString()
        const [, found] = pattern.exec(text) ?? []
        if (found !== undefined) resume(Effect.succeed(found))
      })
      stream?.on("close", () => resume(Effect.die(new Error(`it ended and said: ${text}`))))
    }
  })

interface ServeOptions {
  readonly mode?: "serve" | "daemon"
  readonly home?: string
  /** The file of the script, which is also the model's name. */
  readonly model?: string
  readonly args?: ReadonlyArray<string>
}

/** The port of an agent that answers by a script. */
const serve = Effect.fnUntraced(function* (steps: ReadonlyArray<ScriptStep>, options: ServeOptions = {}) {
  const { args = [], home = yield* folder, mode = "serve" } = options
  const script = options.model ?? join(home, "script.json")
  writeFileSync(script, JSON.stringify({ steps }))
  const child = yield* start(
    ["agent", "--model", `scripted/${script}`, mode, "--bind", "127.0.0.1:0", "--grace", "0", ...args],
    { env: { SUPERCHARGE_AGENT_SECRET: secret, SUPERCHARGE_PASSWORD: secret, SUPERCHARGE_HOME: join(home, "agent") } }
  )
  return { child, port: Number(yield* heard(child, /\/\/127\.0\.0\.1:(\d+)/)) }
})

/** The port of an example's page, as a person serves it. */
const pageOf = Effect.fnUntraced(function* (example: string) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(node, [join(root, "examples", example, "main.ts"), "--port", "0"], { cwd: root })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  return Number(yield* heard(child, /http:\/\/127\.0\.0\.1:(\d+)\//))
})

const servePage = pageOf("browser")

const act = <A>(step: () => Promise<A>): Effect.Effect<A> => Effect.promise(step)

/** What a person does with the page, and sees of it. */
const personAt = (page: Page) => {
  const texts = (selector: string) => act(() => page.locator(selector).allTextContents())
  const sees = (selector: string, hasText: string) =>
    act(async () => {
      try {
        await page.locator(selector).filter({ hasText }).first().waitFor()
      } catch (error) {
        throw new Error(`"${hasText}" is not on the page, which says: ${await page.innerText("body")}`, {
          cause: error
        })
      }
    })
  return {
    connect: ({ cwd = "/tmp", key = secret, port }: { cwd?: string; key?: string; port: number }) =>
      act(async () => {
        await page.getByLabel("Address").fill(`ws://127.0.0.1:${port}/ws`)
        await page.getByLabel("Secret").fill(key)
        await page.getByLabel("Folder").fill(cwd)
        await page.getByRole("button", { name: "Connect" }).click()
      }),
    send: (text: string) =>
      act(async () => {
        await page.getByRole("textbox", { name: "Message" }).fill(text)
        await page.getByRole("button", { name: "Send" }).click()
      }),
    click: (name: string) => act(() => page.getByRole("button", { name }).click()),
    texts,
    sees,
    says: (text: string) => sees("#status", text),
    question: act(() => page.getByRole("group", { name: "Question" }).waitFor()),
    noQuestion: act(() => page.getByRole("group", { name: "Question" }).waitFor({ state: "detached" }))
  }
}

/** A person at the page who is connected to an agent over a wire. */
const connected = Effect.fnUntraced(function* (
  steps: ReadonlyArray<ScriptStep>,
  options: { readonly args?: ReadonlyArray<string> } = {}
) {
  const cwd = yield* folder
  const agent = yield* serve(steps, options)
  const wire = yield* wireTo(agent.port)
  const person = personAt(yield* visit(`http://127.0.0.1:${yield* servePage}/`))
  yield* person.connect({ port: wire.port, cwd })
  yield* person.says("Connected")
  return { ...person, agent, cwd, wire }
})

const command = (command: string): ScriptPart => ({ tool: { name: "bash", input: { command } } })

const working = async (port: number): Promise<number> => {
  const answer = await fetch(`http://127.0.0.1:${port}/health`)
  const health = (await answer.json()) as { readonly working: number }
  return health.working
}

const idle = (port: number): Effect.Effect<void> =>
  Effect.flatMap(
    act(() => working(port)),
    (count) => (count === 0 ? Effect.void : idle(port))
  )

const live = { excludeTestServices: true, timeout: "40 seconds" } as const

describe.skipIf(missing !== undefined)(missing ?? "in a browser", () => {
  layer(Browser.layer, live)("the page over WebSocket", (it) => {
    it.effect("shows a whole turn, whose questions are answered by clicks", () =>
      Effect.gen(function* () {
        const page = yield* connected([
          { parts: [{ thought: "Look first." }, { text: "I <b>write</b> it. " }, command("echo yes > result")] },
          { parts: [{ text: "It is done." }] },
          { parts: [command("echo no > result")] },
          { parts: [{ text: "Then not." }] }
        ])
        yield* page.send("Write it")
        yield* page.question
        yield* page.sees(".tool summary", "pending · echo yes > result")
        yield* page.click("Allow once")
        yield* page.says("The agent is done")
        yield* page.noQuestion
        assert.deepStrictEqual(yield* page.texts("#log > *:not(.tool)"), [
          "Write it",
          "Look first.",
          "I <b>write</b> it. ",
          "It is done."
        ])
        assert.deepStrictEqual(yield* page.texts(".tool summary"), ["completed · echo yes > result"])
        assert.strictEqual(readFileSync(join(page.cwd, "result"), "utf8"), "yes\n")

        yield* page.send("And now the opposite")
        yield* page.click("Reject")
        yield* page.sees(".message.agent", "Then not.")
        yield* page.says("The agent is done")
        assert.lengthOf(yield* page.texts(".tool[data-status=failed]"), 1)
        assert.strictEqual(readFileSync(join(page.cwd, "result"), "utf8"), "yes\n")
      })
    )

    it.effect("stops a turn, in the middle of an answer and at a question", () =>
      Effect.gen(function* () {
        const page = yield* connected([
          { parts: [{ text: "This takes long" }, { hang: true }] },
          { parts: [command("touch file")] },
          { parts: [{ text: "Still here." }] }
        ])
        yield* page.send("Begin")
        yield* page.sees(".message.agent", "This takes long")
        yield* page.click("Stop")
        yield* page.says("Stopped")
        yield* page.send("Try that")
        yield* page.question
        yield* page.click("Stop")
        yield* page.says("Stopped")
        yield* page.noQuestion
        assert.isFalse(existsSync(join(page.cwd, "file")))
        yield* page.send("Are you there?")
        yield* page.sees(".message.agent", "Still here.")
        yield* page.says("The agent is done")
      })
    )

    it.effect("goes on to the character when the connection is lost again and again", () =>
      Effect.gen(function* () {
        const words = Array.from({ length: 400 }, (_, index) => `w${index} `)
        const page = yield* connected([{ parts: words.flatMap((text) => [{ text }, { delayMs: 10 }]) }])
        yield* page.send("Tell me")
        for (const word of ["w20 ", "w60 ", "w100 "]) {
          yield* page.sees(".message.agent", word)
          yield* page.wire.cut
          yield* page.says("lost")
          yield* page.wire.mend()
          yield* page.says("The agent works")
        }
        yield* page.says("The agent is done")
        assert.deepStrictEqual(yield* page.texts(".message.agent"), [words.join("")])
        assert.deepStrictEqual(yield* page.texts(".message.user"), ["Tell me"])
      })
    )

    it.effect("gets an open question again, and what happened while it was away", () =>
      Effect.gen(function* () {
        const page = yield* connected([
          { parts: [{ text: "First. " }, command("mkfifo pipe; touch waits; cat pipe")] },
          { parts: [{ text: "Second." }] }
        ])
        yield* page.send("Wait for me")
        yield* page.question
        yield* page.wire.cut
        yield* page.noQuestion
        yield* page.wire.mend()
        yield* page.question
        yield* page.click("Allow once")
        yield* until(() => existsSync(join(page.cwd, "waits")))
        yield* page.wire.cut
        yield* page.says("lost")
        writeFileSync(join(page.cwd, "pipe"), "through the pipe")
        yield* idle(page.agent.port)
        assert.deepStrictEqual(yield* page.texts(".message.agent"), ["First. "])
        yield* page.wire.mend()
        yield* page.says("Connected again")
        assert.deepStrictEqual(yield* page.texts(".message"), ["Wait for me", "First. ", "Second."])
        assert.lengthOf(yield* page.texts(".tool[data-status=completed]"), 1)
        assert.include((yield* page.texts(".tool pre")).join(), "through the pipe")
      })
    )

    it.effect("keeps a message that did not arrive, and a session in which nothing was said", () =>
      Effect.gen(function* () {
        const page = yield* connected([{ parts: [{ text: "I heard you." }] }])
        yield* page.wire.cut
        yield* page.says("lost")
        yield* page.wire.mend()
        yield* page.says("Connected again")
        yield* page.wire.mute
        yield* page.send("Hello")
        yield* page.says("The agent works")
        yield* page.wire.cut
        yield* page.wire.mend()
        yield* page.says("lost before your message arrived")
        assert.deepStrictEqual(yield* page.texts(".message"), [])
        yield* page.click("Send")
        yield* page.says("The agent is done")
        assert.deepStrictEqual(yield* page.texts(".message"), ["Hello", "I heard you."])
      })
    )

    for (const isOlder of [false, true]) {
      const log = isOlder ? "whose log ends before what the page was told" : "with the log that it left"
      it.effect(`finds its session again in an agent that was killed, and started anew ${log}`, () =>
        Effect.gen(function* () {
          const home = yield* folder
          const copy = join(yield* folder, "home")
          const steps = [{ parts: [{ text: "Ready." }] }, { parts: [{ text: "Half of " }, { hang: true as const }] }]
          const first = yield* serve(steps, { home })
          const wire = yield* wireTo(first.port)
          const page = personAt(yield* visit(`http://127.0.0.1:${yield* servePage}/`))
          yield* page.connect({ port: wire.port })
          yield* page.says("Connected")
          yield* page.send("Hello")
          yield* page.says("The agent is done")
          cpSync(home, copy, { recursive: true })
          yield* page.send("Begin")
          yield* page.sees(".message.agent", "Half of ")
          first.child.kill("SIGKILL")
          yield* page.says("lost")
          const model = join(home, "script.json")
          const next = [{ parts: [{ text: "All of it." }] }]
          const second = yield* serve(next, { home: isOlder ? copy : home, model })
          yield* wire.mend(second.port)
          yield* page.says("Connected again")
          yield* page.send("Again")
          yield* page.says("The agent is done")
          assert.deepStrictEqual(yield* page.texts(".message"), [
            "Hello",
            "Ready.",
            "Begin",
            "Half of ",
            "Again",
            "All of it."
          ])
        })
      )
    }

    it.effect("says why it cannot connect, and connects when that is mended", () =>
      Effect.gen(function* () {
        const agent = yield* serve([])
        const gone = yield* wireTo(agent.port)
        yield* gone.cut
        const page = personAt(yield* visit(`http://127.0.0.1:${yield* servePage}/`))
        yield* page.connect({ port: gone.port })
        yield* page.says("Nothing answers at ws://127.0.0.1:")
        yield* page.connect({ port: agent.port, key: "not the secret" })
        yield* page.says("The secret is wrong")
        yield* page.connect({ port: agent.port, cwd: "/no/such/folder" })
        yield* page.says("/no/such/folder")
        yield* page.connect({ port: agent.port })
        yield* page.says("Connected")
      })
    )

    it.effect("is refused under a name that the agent does not know", () =>
      Effect.gen(function* () {
        const origin = `http://other.localhost:${yield* servePage}`
        const page = personAt(yield* visit(origin))
        yield* page.connect(yield* serve([]))
        yield* page.says(`The agent refuses this page. Start it with --allow-origin ${origin}`)
        yield* page.connect(yield* serve([], { args: ["--allow-origin", origin] }))
        yield* page.says("Connected")
      })
    )
  })

  layer(Browser.layer, live)("the page of the inbox, over server-sent events", (it) => {
    it.effect("goes on with its conversation when it is loaded again, in the middle of a turn", () =>
      Effect.gen(function* () {
        const cwd = yield* folder
        const wait: ScriptPart = command("mkfifo pipe; touch waits; cat pipe")
        const { port } = yield* serve([{ parts: [{ text: "First." }, wait] }, { parts: [{ text: "Second." }] }], {
          mode: "daemon",
          args: ["--cwd", cwd]
        })
        const page = yield* visit(`http://127.0.0.1:${yield* pageOf("inbox")}/`)
        const { click, says, sees, send, texts } = personAt(page)
        const connect = act(async () => {
          await page.getByLabel("Address").fill(`http://127.0.0.1:${port}`)
          await page.getByLabel("Password").fill(secret)
          await page.getByRole("button", { name: "Connect" }).click()
        })
        yield* connect
        yield* says("Connected")
        yield* send("Wait for me")
        yield* click("Allow once")
        yield* until(() => existsSync(join(cwd, "waits")))
        yield* act(() => page.reload())
        yield* connect
        yield* sees("#log .text", "First.")
        writeFileSync(join(cwd, "pipe"), "")
        yield* sees("#log .text", "Second.")
        yield* says("Done")
        assert.deepStrictEqual(yield* texts("#log p:not(.tool)"), ["Wait for me", "First.", "Second."])
        assert.lengthOf(yield* texts("#log .tool"), 1)
        assert.lengthOf(yield* texts("#questions > *"), 0)
      })
    )
  })
})
