import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as http from "node:http"
import { vi } from "vitest"
import { ask, openModel, textOf } from "../../support/provider/OpenModel.ts"
import * as ProviderServer from "../../support/ProviderServer.ts"

/** A proxy on this machine, and the addresses that it was asked for. */
const startProxy = Effect.gen(function* () {
  const asked: Array<string> = []
  const server = http.createServer((request, response) => {
    const url = request.url ?? ""
    asked.push(new URL(url).origin)
    const { headers, method } = request
    const onward = http.request(url, { headers, ...(method === undefined ? {} : { method }) }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onward)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { asked, url: `http://127.0.0.1:${port}` }
})

const withVariable = (name: string, value: string) =>
  Effect.acquireRelease(
    Effect.sync(() => vi.stubEnv(name, value)),
    () => Effect.sync(() => vi.unstubAllEnvs())
  )

/** Sees what is asked of the connections that belong to the `fetch` of Node. */
const watchConnections = Effect.gen(function* () {
  const asked: Array<Record<string, unknown>> = []
  const key = Symbol.for("undici.globalDispatcher.1")
  // Node makes them with the first of the classes of its `fetch`.
  assert.instanceOf(new Headers(), Headers)
  const own: unknown = Reflect.get(globalThis, key)
  assert.isTrue(typeof own === "object" && own !== null && "dispatch" in own && typeof own.dispatch === "function")
  const watched = {
    dispatch: (options: Record<string, unknown>, handler: unknown): unknown => {
      asked.push(options)
      return Reflect.apply((own as { dispatch: () => unknown }).dispatch, own, [options, handler])
    }
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => Reflect.set(globalThis, key, watched)),
    () => Effect.sync(() => Reflect.set(globalThis, key, own))
  )
  return asked
})

describe("requests to providers", () => {
  it.effect("wait as long as it takes: a local model may read a long prompt for many minutes", () =>
    Effect.gen(function* () {
      const asked = yield* watchConnections
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "Hello" }] })
      const model = yield* openModel("openai-compatible", server)
      assert.strictEqual(textOf(yield* ask(model, "hi")), "Hello")
      assert.lengthOf(asked, 1)
      assert.include(asked[0], { origin: server.origin, headersTimeout: 0, bodyTimeout: 0 })
    })
  )

  it.effect("go through the proxy that the environment names", () =>
    Effect.gen(function* () {
      const proxy = yield* startProxy
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "Hello" }] })
      yield* withVariable("http_proxy", proxy.url)
      yield* withVariable("no_proxy", "")
      const model = yield* openModel("openai-compatible", server)
      assert.strictEqual(textOf(yield* ask(model, "hi")), "Hello")
      assert.deepStrictEqual(proxy.asked, [server.origin])
    })
  )

  it.effect("go there directly for hosts that the environment excepts", () =>
    Effect.gen(function* () {
      const proxy = yield* startProxy
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "Hello" }] })
      yield* withVariable("http_proxy", proxy.url)
      yield* withVariable("no_proxy", "127.0.0.1")
      const model = yield* openModel("openai-compatible", server)
      assert.strictEqual(textOf(yield* ask(model, "hi")), "Hello")
      assert.deepStrictEqual(proxy.asked, [])
    })
  )
})
