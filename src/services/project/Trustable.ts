/** What of a project's files needs trust: in words that a person can judge, and with marks that change with it. */
import * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import type { HookSettings } from "../../domain/Hook.ts"
import type { McpServerSettings } from "../Settings.ts"
import { choicesMade } from "../settings/ChoiceSection.ts"
import type { SaidFile } from "./ProjectFiles.ts"
import { clip } from "../../domain/text/Clip.ts"
import { variablesIn } from "../../domain/text/Variables.ts"

/** Something that would run or be allowed. */
export interface Trustable {
  readonly kind: "hook" | "server" | "rule" | "choice"
  /** The file that it stands in, by its path in the project. */
  readonly file: string
  /** Fit to be shown: on one line, without what nobody sees. */
  readonly line: string
  /** Made of all that it means, so that trust in one thing is none in another. */
  readonly mark: string
}

/** Characters of one line. Who would trust more than is shown is told where to read on. */
const LIMIT = 1_000

/** Characters that could hide or reorder what stands beside them. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** On one line, and nothing in it moves the cursor of a terminal. */
export const shown = (text: string): string =>
  text.replace(unseen, (char) => (char === "\n" ? "⏎" : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`))

const lineOf = (text: string, file: string): string => {
  const flat = shown(text)
  const more = flat.length - LIMIT
  return more > 0 ? `${clip(flat, LIMIT)}… (${more} more characters in ${shown(file)})` : flat
}

/** Names alone: the values may be secrets. */
const beside = (what: string, names: ReadonlyArray<string>): string =>
  names.length === 0 ? "" : `, with ${what} ${names.join(", ")}`

const ofHook = ({ action, environment, event, matcher }: HookSettings): string =>
  `the hook ${event}${matcher === undefined || matcher === "" ? "" : ` (${matcher})`}: ` +
  (action._tag === "Command" ? action.command : action.url) +
  beside("the variables", Object.keys(environment))

const word = (text: string): string => (/^[^\s"'`\\]+$/.test(text) ? text : JSON.stringify(text))

const ofServer = ({ spec }: McpServerSettings): string => {
  const start = spec._tag === "Stdio" ? [spec.command, ...spec.args].map(word).join(" ") : spec.url
  const pairs = spec._tag === "Stdio" ? spec.env : spec.headers
  const names = pairs.map(({ name }) => name)
  const texts = [
    ...(spec._tag === "Stdio" ? [spec.command, ...spec.args] : [spec.url]),
    ...pairs.map(({ value }) => Redacted.value(value))
  ]
  const read = [...new Set(texts.flatMap(variablesIn))]
  return (
    `the MCP server ${spec.name}: ${start}${beside(spec._tag === "Stdio" ? "the variables" : "the headers", names)}` +
    (read.length === 0 ? "" : `, which reads ${read.join(", ")} of your environment`)
  )
}

const millis = (time: Duration.Duration | undefined) => (time === undefined ? null : Duration.toMillis(time))

const markOf = (meaning: ReadonlyArray<unknown>): string =>
  createHash("sha256").update(JSON.stringify(meaning)).digest("base64url")

export const hookMark = ({ action, advisory, environment, event, matcher = "", timeout }: HookSettings): string =>
  markOf([
    "hook",
    event,
    matcher,
    action._tag,
    action._tag === "Command" ? action.command : action.url,
    advisory,
    millis(timeout),
    Object.entries(environment).map(([name, value]) => [name, Redacted.value(value)])
  ])

const serverMark = ({ spec, startupTimeout, toolTimeout, toolTimeouts }: McpServerSettings): string =>
  markOf([
    "server",
    spec._tag,
    spec.name,
    spec._tag === "Stdio" ? [spec.command, ...spec.args] : [spec.url],
    (spec._tag === "Stdio" ? spec.env : spec.headers).map(({ name, value }) => [name, Redacted.value(value)]),
    [millis(startupTimeout), millis(toolTimeout)],
    Object.entries(toolTimeouts).map(([tool, time]) => [tool, millis(time)])
  ])

/** Also a server that a nearer file replaces: in another folder of the project it counts. */
export const trustableIn = ({ choices, file, hooks, mcpServers, permission }: SaidFile): ReadonlyArray<Trustable> => {
  const one = (kind: Trustable["kind"], text: string, mark: string) => ({ kind, file, line: lineOf(text, file), mark })
  return [
    ...hooks.map((hook) => one("hook", ofHook(hook), hookMark(hook))),
    ...mcpServers.map((server) => one("server", ofServer(server), serverMark(server))),
    ...permission.allow.map((rule) => one("rule", `the rule allow ${rule}`, markOf(["allow", rule]))),
    ...choicesMade(choices).map(([key, value]) => one("choice", `${key} = ${value}`, markOf(["choice", key, value])))
  ]
}
