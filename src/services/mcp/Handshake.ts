/** Finds out what a server speaks: the handshake of the revisions until 2025-11-25, else the way of 2026-07-28. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { version } from "../../domain/Version.ts"
import { clip } from "../../domain/text/Clip.ts"
import * as Lenient from "../../domain/wire/Lenient.ts"
import { visible } from "../../domain/text/Visible.ts"
import { McpFailed, type McpTransport } from "./transport/McpTransport.ts"
import { MODERN, SERVER_INFO } from "./Modern.ts"

/** Newest first: the first is what we ask for, and a server may choose any of them. */
const revisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const

export const clientInfo: Schema.JsonObject = { name: "super-pi", title: "Super-Pi", version }

const Info = Schema.Struct({ name: Schema.String, version: Lenient.drop(Schema.String) })
const Capabilities = Schema.Struct({
  tools: Lenient.drop(Schema.Struct({ listChanged: Lenient.drop(Schema.Boolean) })),
  prompts: Lenient.drop(Schema.Struct({ listChanged: Lenient.drop(Schema.Boolean) }))
})

const Initialized = Schema.Struct({
  protocolVersion: Schema.String,
  capabilities: Lenient.drop(Capabilities),
  serverInfo: Lenient.drop(Info)
})
const Discovered = Schema.Struct({
  supportedVersions: Schema.Array(Schema.String),
  capabilities: Lenient.drop(Capabilities),
  _meta: Lenient.drop(Schema.Struct({ [SERVER_INFO]: Lenient.drop(Info) }))
})

/** What was agreed on. */
export interface Agreement {
  readonly revision: string
  readonly isModern: boolean
  readonly capabilities: typeof Capabilities.Type | undefined
  /** Name and version. */
  readonly software: string | undefined
}

/** Decodes what the server sent, or says what it was. */
export const decode = <A>(schema: Schema.ConstraintCodec<A, unknown>, what: string) => {
  const parse = Schema.decodeUnknownEffect(schema)
  return (value: unknown) =>
    Effect.mapError(parse(value), () => new McpFailed({ message: `sent ${what} that does not follow the protocol` }))
}
const decodeInitialized = decode(Initialized, "an answer to the handshake")
const decodeDiscovered = decode(Discovered, "a description of itself")

const MAX_SOFTWARE = 100

const softwareOf = (info: typeof Info.Type | undefined): string | undefined =>
  info === undefined
    ? undefined
    : clip(visible([info.name, info.version ?? ""].join(" ").replace(/\s+/g, " ")).trim(), MAX_SOFTWARE)

const unknownRevision = (spoken: string) =>
  new McpFailed({
    message: `speaks the protocol revision "${spoken}"; the known ones are ${[MODERN, ...revisions].join(", ")}`,
    reason: "final"
  })

type Request = (method: string, params: Schema.JsonObject, isModern: boolean) => Effect.Effect<unknown, McpFailed>

const shakeHands = Effect.fnUntraced(function* (
  transport: McpTransport,
  request: Request,
  capabilities: Schema.JsonObject
): Effect.fn.Return<Agreement, McpFailed> {
  const params = { protocolVersion: revisions[0], capabilities, clientInfo }
  const initialized = yield* Effect.flatMap(request("initialize", params, false), decodeInitialized)
  const revision = initialized.protocolVersion
  if (!revisions.some((known) => known === revision)) return yield* unknownRevision(revision)
  transport.agree(revision)
  yield* transport.notify("notifications/initialized")
  return {
    revision,
    isModern: false,
    capabilities: initialized.capabilities,
    software: softwareOf(initialized.serverInfo)
  }
})

const discover = Effect.fnUntraced(function* (
  transport: McpTransport,
  request: Request
): Effect.fn.Return<Agreement, McpFailed> {
  transport.agree(MODERN)
  const discovered = yield* Effect.flatMap(request("server/discover", {}, true), decodeDiscovered)
  if (!discovered.supportedVersions.includes(MODERN)) {
    return yield* unknownRevision(discovered.supportedVersions.join(", "))
  }
  return {
    revision: MODERN,
    isModern: true,
    capabilities: discovered.capabilities,
    software: softwareOf(discovered._meta?.[SERVER_INFO])
  }
})

/**
 * The handshake comes first: servers that know both ways take it, and some that know only it end at anything else. One that
 * refuses it in the words of the protocol is asked in the other way.
 */
export const agree = (transport: McpTransport, request: Request, capabilities: Schema.JsonObject) =>
  Effect.catchIf(
    shakeHands(transport, request, capabilities),
    ({ code }) => code !== undefined,
    (failure) =>
      Effect.mapError(discover(transport, request), (second) => (second.reason === "final" ? second : failure))
  )
