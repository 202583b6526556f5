/**
 * From whatever a provider or the network said to an `AiError`: typed, with the HTTP status and the wished pause kept,
 * readable, bounded, and free of keys. A request's body and headers never get into it.
 */
import * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import { waitOf } from "./RetryAfter.ts"
import { clip } from "../../../domain/text/Clip.ts"

/** What is known of a failure, wherever it came from. */
export interface Facts {
  /** HTTP status; also what a provider would have answered had the stream not begun yet. */
  readonly status: number | undefined
  /** The provider's own words. */
  readonly message: string
  /** The provider's own class of error, such as `overloaded_error`. */
  readonly code: string
  readonly retryAfter: Duration.Duration | undefined
  /** Where the request went. */
  readonly url: string
}

export interface FailureContext {
  /** Name of the provider, as a person configured it. */
  readonly provider: string
  /** What to do when the key is not accepted, for people; kept beside such a failure. */
  readonly keyAdvice?: string
  /** Texts that must never be shown. */
  readonly secrets: ReadonlyArray<string>
}

/** Tells a conversation that no longer fits from other refused requests. Only the texts say it. */
export const CONTEXT_OVERFLOW = "context-overflow"

const MAX_TEXT = 600
/** A shorter text is a placeholder for a server that wants none, and may be part of any word. */
const MIN_SECRET = 8

const OVERFLOW = new RegExp(
  [
    "context.?(length|window|size|overflow)",
    "(prompt|input|request|messages?) (is |are )?too (long|large)",
    "request_too_large",
    "too many (input |prompt )?tokens",
    "(input|prompt|token).{0,40}(exceed|longer than).{0,60}(token|maximum|limit|length|context)",
    "maximum.{0,40}tokens allowed",
    "reduce the length of"
  ].join("|"),
  "i"
)
const QUOTA = /insufficient.?(quota|credit|balance|funds)|billing|credit balance|exceeded your current quota.*plan/i
const BAD_KEY = /(incorrect|invalid|expired|missing) (x-)?api.?key|api.?key (is )?(not valid|invalid|expired|missing)/i
const POLICY = /content_?(policy|filter)|responsible_?ai|safety_violation/i

const statusOfCode: ReadonlyArray<readonly [RegExp, number]> = [
  [/overloaded|unavailable/i, 529],
  [/rate_?limit|resource_exhausted|too_many_requests/i, 429],
  [/authentication|unauthenticated|invalid_api_key/i, 401],
  [/permission/i, 403],
  [/not_?found/i, 404],
  [/invalid_?(request|argument|prompt)|context_length/i, 400],
  [/server_?error|api_error|internal/i, 500]
]

/** Removes secrets in any spelling that a message or an address may hold, folds white space and cuts. */
export const readable = (text: string, secrets: ReadonlyArray<string>): string => {
  const spellings = secrets
    .flatMap((secret) => [
      secret,
      secret.trim(),
      JSON.stringify(secret).slice(1, -1),
      new URLSearchParams([["", secret]]).toString().slice(1)
    ])
    .filter((spelling) => spelling.length >= MIN_SECRET)
    .toSorted((one, other) => other.length - one.length)
  const safe = spellings.reduce((known, spelling) => known.replaceAll(spelling, "[key]"), text)
  const folded = safe.replaceAll(/\s+/g, " ").trim()
  return folded.length > MAX_TEXT ? `${clip(folded, MAX_TEXT)}…` : folded
}

const reasonOf = (facts: Facts, words: string, { keyAdvice, provider }: FailureContext): AiError.AiErrorReason => {
  const status = facts.status ?? statusOfCode.find(([pattern]) => pattern.test(facts.code))?.[1]
  const said = `${facts.code} ${facts.message}`
  const http = status === undefined ? {} : { http: { response: { status, headers: {} } } }
  const metadata = {
    superPi: {
      provider,
      message: words,
      ...(facts.retryAfter === undefined ? {} : { retryAfter: Duration.toSeconds(facts.retryAfter) })
    }
  }
  const described = { description: words, metadata, ...http }
  const unauthorized =
    keyAdvice === undefined ? described : { ...described, metadata: { superPi: { ...metadata.superPi, keyAdvice } } }
  const refused = status === undefined || (status >= 400 && status < 500 && status !== 429)
  if (refused && OVERFLOW.test(said)) {
    return new AiError.InvalidRequestError({ constraint: CONTEXT_OVERFLOW, ...described })
  }
  if (status === 402 || (status !== undefined && status < 500 && QUOTA.test(said))) {
    return new AiError.QuotaExhaustedError({ metadata, ...http })
  }
  if (status === 401 || (status === 400 && BAD_KEY.test(said))) {
    return new AiError.AuthenticationError({ kind: "InvalidKey", ...unauthorized })
  }
  if (status === 403) return new AiError.AuthenticationError({ kind: "InsufficientPermissions", ...unauthorized })
  if (refused && POLICY.test(said)) return new AiError.ContentPolicyError(described)
  if (status === 404) {
    const description = `${words}; check the name of the model and the base URL of ${provider} (${facts.url})`
    return new AiError.InvalidRequestError({ parameter: "model", ...described, description })
  }
  if (status === 429) {
    return new AiError.RateLimitError({
      ...(facts.retryAfter === undefined ? {} : { retryAfter: facts.retryAfter }),
      metadata,
      ...http
    })
  }
  if (status === undefined || status >= 500 || status === 408 || status === 409 || status === 425) {
    return new AiError.InternalProviderError(described)
  }
  return new AiError.InvalidRequestError(described)
}

const failWith = (context: FailureContext, reason: AiError.AiErrorReason): AiError.AiError =>
  AiError.make({ module: context.provider, method: "streamText", reason })

/** A failure that the provider reported. */
export const fromFacts = (facts: Facts, context: FailureContext): AiError.AiError =>
  failWith(
    context,
    reasonOf({ ...facts, url: readable(facts.url, context.secrets) }, readable(facts.message, context.secrets), context)
  )

/** The connection could not be made, or broke. Worth another try. */
export const fromNetwork = (description: string, url: string, context: FailureContext): AiError.AiError =>
  failWith(
    context,
    new AiError.NetworkError({
      reason: "TransportError",
      method: "POST",
      url: readable(url, context.secrets),
      description: readable(description, context.secrets)
    })
  )

/** The provider is elsewhere, for good or for now. */
const moved = (status: number, url: string, context: FailureContext): AiError.AiError =>
  failWith(
    context,
    new AiError.NetworkError({
      reason: "InvalidUrlError",
      method: "POST",
      url: readable(url, context.secrets),
      description:
        `HTTP status ${status}: the address leads on to another one, which is not followed, since the key would go ` +
        "along; give the present address as the base URL"
    })
  )

/** The answer stopped before it was complete. */
export const endedEarly = (context: FailureContext): AiError.AiError =>
  fromNetwork("the answer ended early, before the model had finished it", context.provider, context)

/** The model closed its answer as failed. */
export const answerFailed = (reason: string, context: FailureContext): AiError.AiError =>
  failWith(
    context,
    new AiError.InvalidOutputError({
      description: readable(`the provider ended the answer as failed (${reason})`, context.secrets)
    })
  )

// Names of errors that provider packages throw before or after a request, all of them without a status.
const REFUSED_HERE = /^AI_(UnsupportedFunctionality|Invalid(Prompt|Argument)|LoadAPIKey|LoadSetting|NoSuchModel)/
const UNREADABLE = /^AI_(JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody)/
const NETWORK_CODE = /^(E[A-Z]+|UND_ERR_\w+|ERR_(SSL|TLS)\w*|CERT_\w+|[A-Z_]*CERT[A-Z_]*)$/

const field = (value: unknown, key: string): unknown => (Predicate.hasProperty(value, key) ? value[key] : undefined)
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)
const httpStatus = (value: unknown): number | undefined => {
  const status = Number(value)
  return Number.isInteger(status) && status >= 100 && status < 600 ? status : undefined
}

/** The error and what caused it, outermost first. */
const chainOf = (error: unknown): ReadonlyArray<unknown> => {
  const chain: Array<unknown> = []
  for (let cause = error; cause !== undefined && cause !== null && chain.length < 8; cause = field(cause, "cause")) {
    chain.push(cause)
  }
  return chain
}

const networkWords = (chain: ReadonlyArray<unknown>): string | undefined => {
  const broken = chain.findLast(
    (cause) => cause instanceof Error && NETWORK_CODE.test(text(field(cause, "code")) ?? "")
  )
  if (broken === undefined) return undefined
  return text(field(broken, "message")) ?? text(field(broken, "code"))
}

/** Appends what the provider wrote where its package found no message in it. */
const wordsOf = (error: unknown): string => {
  const message = text(field(error, "message")) ?? text(error) ?? "no reason was given"
  const body = text(field(error, "responseBody"))
  return body === undefined || body.includes(message.slice(0, 40)) ? message : `${message}: ${body}`
}

/** `now` is in milliseconds since 1970, for pauses that are given as a date. */
export const fromUnknown = (error: unknown, context: FailureContext, now: number): AiError.AiError => {
  const chain = chainOf(error)
  const name = text(field(error, "name")) ?? ""
  const url = text(field(error, "url")) ?? context.provider
  const status = httpStatus(field(error, "statusCode")) ?? httpStatus(field(error, "code"))
  const message = wordsOf(error)
  if (status !== undefined && status >= 300 && status < 400) return moved(status, url, context)
  if (status === undefined || status < 400) {
    const words = networkWords(chain)
    if (words !== undefined) return fromNetwork(words, url, context)
    // A success status on an error means that its body could not be read to the end.
    if (status !== undefined || name === "AI_APICallError" || name === "AbortError" || message === "terminated") {
      return fromNetwork(`the connection broke off (${text(field(chain.at(-1), "message")) ?? message})`, url, context)
    }
    if (/without a finish reason/.test(message)) return endedEarly(context)
    const description = readable(message, context.secrets)
    if (REFUSED_HERE.test(name)) return failWith(context, new AiError.InvalidRequestError({ description }))
    if (UNREADABLE.test(name)) {
      return failWith(
        context,
        new AiError.InvalidResponseError({
          description: `the provider's answer does not follow its protocol: ${description}`
        })
      )
    }
    if (error instanceof Error) return failWith(context, new AiError.UnknownError({ description }))
  }
  return fromFacts(
    {
      status,
      message,
      code: [error, field(field(error, "data"), "error")]
        .flatMap((source) => [text(field(source, "type")), text(field(source, "code"))])
        .filter((part) => part !== undefined)
        .join(" "),
      url,
      retryAfter: waitOf(field(error, "responseHeaders"), text(field(error, "responseBody")) ?? "", now)
    },
    context
  )
}
