/**
 * A sign-in in the browser of the person, for services that let every program offer one: no program has to be known there,
 * and the key that comes of it belongs to the person. The code that the browser brings back is worth nothing to anybody who
 * does not have the secret that was made here (PKCE, RFC 7636).
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createHash, randomBytes } from "node:crypto"
import { createServer, type Server } from "node:http"
import { getJson, type Send } from "../models/GetJson.ts"

/** Where a service shows its page, and where it gives the key for a code. */
export interface BrowserService {
  readonly authorizeUrl: string
  readonly exchangeUrl: string
}

/** As https://openrouter.ai/docs/guides/overview/auth/oauth describes it. */
export const openRouter: BrowserService = {
  authorizeUrl: "https://openrouter.ai/auth",
  exchangeUrl: "https://openrouter.ai/api/v1/auth/keys"
}

/** Nobody was signed in. `message` says why. */
export class NotSignedIn extends Schema.TaggedError<NotSignedIn>()("NotSignedIn", { message: Schema.String }) {}

/** A person has to find a password, perhaps. */
const PATIENCE = Duration.minutes(10)
const EXCHANGE_PATIENCE = Duration.seconds(30)

const decodeKey = Schema.decodeUnknownEffect(Schema.Struct({ key: Schema.NonEmptyString }))

const page = (text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Super-Pi</title><p style="font-family:sans-serif">${text}</p>`

const portOf = (server: Server): number => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

const noPort = new NotSignedIn({ message: "No port of this machine is free for the browser to come back to" })

/** Listens on this machine alone, for the browser to come back with a code. The path is a secret of this sign-in. */
const listen = (path: string, answered: Deferred.Deferred<string>) =>
  Effect.acquireRelease(
    Effect.callback<Server, NotSignedIn>((resume) => {
      const server = createServer((request, response) => {
        const url = URL.parse(request.url ?? "", "http://localhost")
        const code = url?.searchParams.get("code") ?? ""
        const isOurs = request.method === "GET" && url?.pathname === path && code !== ""
        response.writeHead(isOurs ? 200 : 404, { "content-type": "text/html; charset=utf-8", connection: "close" })
        response.end(page(isOurs ? "You are signed in. Go back to the terminal." : "There is nothing here."))
        if (isOurs) Deferred.doneUnsafe(answered, Effect.succeed(code))
      })
      server.once("error", () => resume(Effect.fail(noPort)))
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        // Browsers open connections ahead of their requests, and half a request would hold the process up.
        server.closeAllConnections()
      })
  )

/** `show` is given the address to open. The key that comes back is the person's. */
export const signIn = Effect.fn("BrowserSignIn.signIn")(function* (
  { authorizeUrl, exchangeUrl }: BrowserService,
  send: Send,
  show: (url: string) => Effect.Effect<void>
) {
  const verifier = randomBytes(32).toString("base64url")
  const path = `/${randomBytes(16).toString("base64url")}`
  const answered = yield* Deferred.make<string>()
  const port = portOf(yield* listen(path, answered))
  const url = new URL(authorizeUrl)
  url.searchParams.set("callback_url", `http://localhost:${port}${path}`)
  url.searchParams.set("code_challenge", createHash("sha256").update(verifier).digest("base64url"))
  url.searchParams.set("code_challenge_method", "S256")
  yield* show(url.href)
  const code = yield* Deferred.await(answered).pipe(
    Effect.timeoutOrElse({
      duration: PATIENCE,
      orElse: () => Effect.fail(new NotSignedIn({ message: `Nobody signed in within ${Duration.format(PATIENCE)}` }))
    })
  )
  const body = { code, code_verifier: verifier, code_challenge_method: "S256" }
  const answer = yield* Effect.mapError(
    getJson(send, { url: exchangeUrl, body, patience: EXCHANGE_PATIENCE }),
    ({ message }) => new NotSignedIn({ message: `${new URL(exchangeUrl).host} ${message}` })
  )
  const { key } = yield* Effect.mapError(
    decodeKey(answer),
    () => new NotSignedIn({ message: `${new URL(exchangeUrl).host} answers without a key` })
  )
  return Redacted.make(key)
}, Effect.scoped)
