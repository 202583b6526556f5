/**
 * A script: what a model answers, written down. Each request takes the first step that fits and is not used up.
 *
 * ```json
 * {
 *   "steps": [
 *     { "when": "fix the test", "parts": [
 *       { "thought": "Look first." },
 *       { "tool": { "name": "read", "input": { "path": "sum.ts" } } } ] },
 *     { "parts": [{ "text": "Done.", "chunk": 2 }], "usage": { "input": 1200, "output": 9 } },
 *     { "again": true, "parts": [{ "repeat": 5000, "text": "tok " }] }
 *   ]
 * }
 * ```
 *
 * A step fits when the last text of the user contains its `when`; without `when` it fits always. It is used up by one
 * request unless `again` is true. Its parts are told in order, each of them one of:
 *
 * - `{ "text" }` or `{ "thought" }`: one delta, or deltas of `chunk` characters; with `repeat`, the text that many times,
 *   a delta each. Neighbours of one sort form one block.
 * - `{ "echo": true }`: the user's last text.
 * - `{ "tool": { "name", "input", "id"? } }`: a call; an `input` that is a text stands for one that is no JSON.
 * - `{ "delayMs" }`: a pause. `{ "hang": true }`: nothing more until the request is interrupted.
 * - `{ "error": { "status"?, "message"?, "retryAfter"? } }`: fails as a provider would that answers with this HTTP status;
 *   without a status the connection breaks off. `retryAfter` is in seconds.
 * - `{ "finish" }`: ends with this reason; default `tool-calls` after a call, else `stop`.
 *
 * `usage` is in tokens; default 100 in and 10 out.
 */
import * as Schema from "effect/Schema"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Positive = Schema.Int.check(Schema.isGreaterThan(0))

const sorts = ["text", "thought", "tool", "delayMs", "error", "finish", "hang", "echo"] as const

/** One thing that a model does; see the head of this module for what each key means. */
export const ScriptPart = Schema.Struct({
  text: Schema.optionalKey(Schema.String),
  thought: Schema.optionalKey(Schema.String),
  chunk: Schema.optionalKey(Positive),
  repeat: Schema.optionalKey(Count),
  tool: Schema.optionalKey(
    Schema.Struct({ name: Schema.String, input: Schema.Json, id: Schema.optionalKey(Schema.String) })
  ),
  delayMs: Schema.optionalKey(Count),
  error: Schema.optionalKey(
    Schema.Struct({
      status: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 400, maximum: 599 }))),
      message: Schema.optionalKey(Schema.String),
      retryAfter: Schema.optionalKey(Schema.Finite)
    })
  ),
  finish: Schema.optionalKey(Schema.Literals(["stop", "length", "content-filter", "tool-calls", "pause", "other"])),
  hang: Schema.optionalKey(Schema.Literal(true)),
  echo: Schema.optionalKey(Schema.Literal(true))
}).check(
  Schema.makeFilter((part) => {
    const used = sorts.filter((sort) => part[sort] !== undefined)
    return used.length === 1 ? undefined : `a part has exactly one of ${sorts.join(", ")}`
  })
)
export type ScriptPart = typeof ScriptPart.Type

export const ScriptUsage = Schema.Struct({
  input: Count,
  output: Count,
  thought: Schema.optionalKey(Count),
  cached: Schema.optionalKey(Count)
})

/** What a model does in one request. */
export const ScriptStep = Schema.Struct({
  when: Schema.optionalKey(Schema.String),
  again: Schema.optionalKey(Schema.Boolean),
  parts: Schema.Array(ScriptPart),
  usage: Schema.optionalKey(ScriptUsage)
})
export type ScriptStep = typeof ScriptStep.Type

/** Steps, from which each request takes one. */
export const Script = Schema.Struct({ steps: Schema.Array(ScriptStep) })
export type Script = typeof Script.Type

const decodeJson = Schema.decodeEffect(Schema.fromJsonString(Script), { errors: "all", onExcessProperty: "error" })

/** Reads the text of a script. Errors name the fields. */
export const parseScript = (text: string) => decodeJson(text)
