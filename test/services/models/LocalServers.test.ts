import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer } from "node:http"
import { findAt, usualPlaces } from "../../../src/services/models/LocalServers.ts"

/** A server that answers one path. */
const serving = (path: string, answer: unknown, status = 200) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly origin: string; readonly close: () => void }>((resume) => {
      const server = createServer((request, response) => {
        if (request.url !== path) response.writeHead(404).end()
        if (request.url !== path || answer === "never") return
        response.writeHead(status, { "content-type": "application/json", location: "http://127.0.0.1:1/" })
        response.end(typeof answer === "string" ? answer : JSON.stringify(answer))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ origin: `http://127.0.0.1:${port}`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const placeOf = (name: string) => usualPlaces.find((place) => place.name === name) ?? assert.fail(name)

/** What is found where `name` usually is. */
const found = (name: string, answer: unknown, status?: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const place = placeOf(name)
      const { origin } = yield* serving(place.path, answer, status)
      const servers = yield* findAt([{ ...place, origin }])
      return servers.map(({ baseUrl, models, name }) => ({ name, isThere: baseUrl === `${origin}/v1`, models }))
    })
  )

const digest = "a".repeat(64)
const list = (...data: ReadonlyArray<object>) => ({ object: "list", data })
const model = (id: string, more: object) => ({ id, object: "model", created: 1, ...more })

/** Answers as the servers give them. */
const real = {
  ollama: {
    models: [
      { name: "qwen3:8b", model: "qwen3:8b", modified_at: "2026-01-01T00:00:00Z", size: 1, digest, details: {} },
      { name: "nomic-embed-text:latest", model: "nomic-embed-text:latest", size: 1, digest }
    ]
  },
  "lm-studio": list(
    model("qwen/qwen3-4b", { type: "llm", publisher: "qwen", state: "loaded", max_context_length: 32_768 }),
    model("text-embedding-nomic", { type: "embeddings", state: "not-loaded" })
  ),
  vllm: list(model("Qwen/Qwen3-8B", { owned_by: "vllm", max_model_len: 40_960, root: "Qwen/Qwen3-8B" })),
  "llama-cpp": {
    models: [],
    ...list(model("/models/qwen.gguf", { owned_by: "llamacpp", meta: { n_ctx_train: 40_960 } }))
  }
}

const others: ReadonlyArray<readonly [string, unknown, number?]> = [
  ["a page", "<html>It works</html>"],
  ["something else in JSON", { status: "ok" }],
  ["an empty list", []],
  ["nothing", ""],
  ["null", null],
  ["a redirect", {}, 302],
  ["a failure", {}, 500],
  [
    "a list of something else",
    { models: [{ name: "Model T" }], object: "list", data: [{ id: "Model T", object: "car" }] }
  ],
  ["a list of nobody", list(model("qwen", {}))],
  ["a list of somebody else", list(model("gpt", { owned_by: "openai" }))],
  ["an answer that never comes", "never"]
]

describe("servers on this machine", () => {
  it.live("are found by what they say of themselves, with the models that answer prompts", () =>
    Effect.gen(function* () {
      const names = yield* Effect.forEach(Object.entries(real), ([name, answer]) => found(name, answer), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(names.flat(), [
        { name: "ollama", isThere: true, models: ["qwen3:8b"] },
        { name: "lm-studio", isThere: true, models: ["qwen/qwen3-4b"] },
        { name: "vllm", isThere: true, models: ["Qwen/Qwen3-8B"] },
        { name: "llama-cpp", isThere: true, models: ["/models/qwen.gguf"] }
      ])
      assert.deepStrictEqual(yield* found("ollama", { models: [] }), [{ name: "ollama", isThere: true, models: [] }])
    })
  )

  it.live("are not found in any other server, within a second or so", () =>
    Effect.gen(function* () {
      const tries = Object.keys(real).flatMap((name) => [
        ...others.map(([what, answer, status]) => ({ name, what, answer, status })),
        ...Object.entries(real)
          .filter(([owner]) => owner !== name)
          .map(([what, answer]) => ({ name, what, answer, status: 200 }))
      ])
      const wrong = yield* Effect.forEach(
        tries,
        ({ answer, name, status, what }) =>
          Effect.map(found(name, answer, status), (servers) => (servers.length === 0 ? [] : [`${name}: ${what}`])),
        { concurrency: 16 }
      )
      assert.deepStrictEqual(wrong.flat(), [])
    })
  )

  it.live("are not found where nobody listens", () =>
    Effect.gen(function* () {
      const places = usualPlaces.map((place) => ({ ...place, origin: "http://127.0.0.1:1" }))
      assert.deepStrictEqual(yield* findAt(places), [])
      assert.deepStrictEqual(
        usualPlaces.map(({ origin }) => origin),
        ["http://127.0.0.1:11434", "http://127.0.0.1:1234", "http://127.0.0.1:8000", "http://127.0.0.1:8080"]
      )
    })
  )
})
