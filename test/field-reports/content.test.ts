import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { configFor, conversationOf } from "../support/LocalProvider.ts"
import { folder } from "../support/Program.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import { load, newSession, open, turn } from "../support/Probe.ts"
import { mark, textOf, updatesOf } from "../support/Updates.ts"

const base64 = (text: string) => Buffer.from(text).toString("base64")
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

describe("1l. prompt content", () => {
  it.live("F96 what is attached reaches the model, in order, with its name", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "ok" }] })
      const agent = yield* open({ config: configFor(server) })
      const session = yield* newSession(agent, agent.home)
      const resource = (resource: Record<string, string>) => ({ type: "resource", resource })
      yield* turn(agent, session, [
        { type: "text", text: "sum up " },
        resource({ uri: "file:///w/buf.md", mimeType: "text/markdown", text: "SECRET-42" }),
        resource({ uri: "file:///w/blob.txt", mimeType: "text/plain", blob: base64("BLOB-43 é") }),
        resource({ uri: "file:///w/paper.pdf", mimeType: "application/pdf", blob: base64("%PDF-1.7 \u0000") }),
        { type: "resource_link", uri: "file:///w/link.ts", name: "link.ts" },
        { type: "text", text: " now" }
      ])
      const asked = conversationOf(server.seen()[0]).at(-1) ?? ""
      const places = [
        "sum up ",
        "file:///w/buf.md",
        "SECRET-42",
        "file:///w/blob.txt",
        "BLOB-43 é",
        "paper.pdf",
        "file:///w/link.ts",
        " now"
      ].map((text) => asked.indexOf(text))
      assert.notInclude(places, -1)
      assert.deepStrictEqual(
        places,
        places.toSorted((one, other) => one - other)
      )
    })
  )

  it.live("F98 an image that the provider refuses does not ruin the session, today or tomorrow", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const server = yield* ProviderServer.start
      const config = configFor(server, { models: ['{ id = "qwen", image = true }'] })
      const first = yield* open({ config })
      const session = yield* newSession(first, place)
      server.answer({ pieces: [{ text: "hello" }] })
      yield* turn(first, session, "hi")
      server.answer({ status: 400, message: "image exceeds 5 MB maximum" })
      const from = mark(first)
      const picture = [
        { type: "image", mimeType: "image/png", data: pixel },
        { type: "text", text: "what is it?" }
      ]
      assert.strictEqual(yield* turn(first, session, picture), "refusal")
      assert.include(conversationOf(server.seen().at(-1)).join(), "image_url")
      assert.include(textOf(updatesOf(first, session, from)), "image exceeds 5 MB maximum")
      server.answer({ pieces: [{ text: "fine" }] })
      assert.strictEqual(yield* turn(first, session, "go on"), "end_turn")
      yield* first.closeInput
      yield* first.ended
      const second = yield* open({ config, home: first.home })
      yield* load(second, session, place)
      assert.strictEqual(yield* turn(second, session, "still there?"), "end_turn")
      for (const seen of server.seen().slice(-2)) {
        const conversation = conversationOf(seen).join()
        assert.notInclude(conversation, pixel)
        assert.include(conversation, "hello")
      }
    })
  )
})
