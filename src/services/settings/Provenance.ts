/** Where each value of the configuration comes from. The later source wins; lists of rules and names add up. */
import type * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SandboxProfile, stricter } from "../../domain/sandbox/Profile.ts"
import type { Flags } from "../Settings.ts"
import { ModeName, modeOf } from "../../domain/permission/ModeName.ts"
import { isChoice } from "./ChoiceSection.ts"
import { keyText } from "./ConfigEdit.ts"
import { type Document, isTable } from "./ConfigKey.ts"
import { providerVariables, readEnvironment, readVariable } from "./Environment.ts"
import { isKey, type Shape, shape } from "./ConfigSchema.ts"

/** What says a value, from the one that everything wins over to the one that wins over everything. */
export type Layer = "default" | "file" | "project" | "login" | "environment" | "flag"

export interface Origin {
  readonly layer: Layer
  /** The path of the file, the name of the variable, or the flag. */
  readonly name: string
  /** Of a file. */
  readonly line?: number
}

type Path = ReadonlyArray<string>

/** A value that somebody says. A secret has none that could be shown. */
export interface Said {
  readonly path: Path
  readonly value: unknown
  readonly isSecret: boolean
  readonly from: Origin
}

/** The value of a key that holds, and what it won over, the last first. */
export interface Explained {
  readonly key: string
  readonly value: unknown
  readonly isSecret: boolean
  readonly from: Origin
  readonly over: ReadonlyArray<Origin>
}

/** What of a document is read, each value that fits its key. */
const leavesOf = (
  document: Document,
  within: Shape,
  prefix: Path
): ReadonlyArray<{ readonly path: Path; readonly value: unknown; readonly isSecret: boolean }> =>
  Object.entries(within).flatMap(([name, part]) => {
    const value = document[name]
    const path = [...prefix, name]
    if (value === undefined) return []
    if (isKey(part)) {
      const fits = Option.isSome(part.decode(value))
      const held = fits ? value : part.unreadable
      return held === undefined ? [] : [{ path, value: held, isSecret: part.isSecret }]
    }
    if (!isTable(value)) return []
    if ("table" in part) return leavesOf(value, part.table, path)
    return Object.entries(value).flatMap(([each, table]) =>
      isTable(table) ? leavesOf(table, part.each, [...path, each]) : []
    )
  })

/** What a file says; `line` tells where. */
export const saidInFile = (
  document: Document,
  layer: "file" | "project",
  name: string,
  line: (key: string) => number | undefined
): ReadonlyArray<Said> =>
  leavesOf(document, shape, []).map((leaf) => {
    const at = line(leaf.path.join("."))
    return { ...leaf, from: { layer, name, ...(at === undefined ? {} : { line: at }) } }
  })

/** Whether a project may say it: what only restricts always, the rest with trust. */
export const isProjectKey = (path: Path, isTrusted: boolean): boolean => {
  const [section = "", name = ""] = path
  if (section === "sandbox") return true
  if (section === "permission") return name !== "allow" || isTrusted
  return isTrusted && (section === "mcp_servers" || isChoice(path))
}

/** What holds where nobody says anything. */
const defaults = (within: Shape, prefix: Path): ReadonlyArray<Said> =>
  Object.entries(within).flatMap(([name, part]): ReadonlyArray<Said> => {
    const path = [...prefix, name]
    if (!isKey(part)) return "table" in part ? defaults(part.table, path) : []
    if (part.without === undefined) return []
    return [{ path, value: part.without, isSecret: false, from: { layer: "default", name: "default" } }]
  })

const flag = (path: string, value: unknown, name: string): ReadonlyArray<Said> =>
  value === undefined ? [] : [{ path: path.split("."), value, isSecret: false, from: { layer: "flag", name } }]

const rules = (list: "allow" | "ask" | "deny", given: ReadonlyArray<string> = []) =>
  given.length === 0 ? [] : flag(`permission.${list}`, given, `--${list}`)

/** What the flags of a command line say. */
export const saidInFlags = (flags: Flags): ReadonlyArray<Said> => [
  ...flag("models.default", flags.model, "--model"),
  ...flag("models.default_reasoning_effort", flags.effort, "--reasoning-effort"),
  ...flag("ui.permission_mode", flags.mode, "--permission-mode"),
  ...flag("ui.permission_mode", flags.alwaysApprove ? "always-approve" : undefined, "--always-approve"),
  ...flag("sandbox.profile", flags.sandbox, "--sandbox"),
  ...flag("agent.harness", flags.harness, "--harness"),
  ...flag("folder_trust.enabled", flags.trust === true ? false : undefined, "--trust"),
  ...rules("allow", flags.allow),
  ...rules("ask", flags.ask),
  ...rules("deny", flags.deny)
]

/** Variables that say the value of a key. */
const variables: ReadonlyArray<readonly [name: string, path: ReadonlyArray<string>, isSecret: boolean]> = [
  ["SUPERCHARGE_MODEL", ["models", "default"], false],
  ["SUPERCHARGE_SANDBOX", ["sandbox", "profile"], false],
  ["SUPERCHARGE_WS_URL", ["relay", "url"], false],
  ["SUPERCHARGE_RELAY_TOKEN", ["relay", "token"], true],
  ["SUPERCHARGE_WS_ORIGIN", ["relay", "origin"], false],
  ...providerVariables.map(
    ({ baseUrl, name }) => [baseUrl, ["providers", name, "base_url"], false] satisfies [string, Array<string>, boolean]
  )
]

/** What the environment says, key by key. */
export const environmentSaid = Effect.fnUntraced(function* (provider: ConfigProvider.ConfigProvider) {
  const { sandbox } = yield* readEnvironment(provider)
  const said: Array<Said> = []
  for (const [name, path, isSecret] of variables) {
    const value = yield* readVariable(provider, name)
    if (value === undefined) continue
    const held = isSecret ? undefined : path[0] === "sandbox" ? sandbox : value
    said.push({ path, value: held, isSecret, from: { layer: "environment", name } })
  }
  return said
})

/** Their values add up instead of replacing each other. */
const adds = (key: string): boolean => key.startsWith("permission.") || key === "disabled_mcp_servers"

const asList = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [value])

const decodeProfile = Schema.decodeUnknownOption(SandboxProfile)

/** Lays one saying over another. */
const over = (below: Explained | undefined, { from, isSecret, path, value }: Said): Explained => {
  const key = keyText(path)
  if (below === undefined) return { key, value, isSecret, from, over: [] }
  if (adds(key)) return { ...below, value: [...asList(below.value), ...asList(value)], over: [from, ...below.over] }
  if (from.layer === "project" && key === "sandbox.profile") {
    const mine = decodeProfile(below.value)
    const theirs = decodeProfile(value)
    if (Option.isSome(mine) && Option.isSome(theirs) && stricter(mine.value, theirs.value) === mine.value) return below
  }
  return { key, value, isSecret, from, over: [below.from, ...below.over] }
}

const isMode = Schema.is(ModeName)

/** A mode by our own name. */
const shownValue = (key: string, value: unknown): unknown =>
  key === "ui.permission_mode" && isMode(value) ? modeOf(value) : value

const order = new Map(Object.keys(shape).map((name, index) => [name, index]))
const rank = (key: string): number => order.get(key.split(".")[0] ?? "") ?? order.size

/** Every value that holds, section by section. `said` comes from the lowest source to the highest. */
export const explain = (said: ReadonlyArray<Said>): ReadonlyArray<Explained> => {
  const found = new Map<string, Explained>()
  // Whatever else says it, a project can ask for a stricter sandbox.
  const isLast = ({ from, path }: Said) => from.layer === "project" && path[0] === "sandbox"
  const inOrder = [...defaults(shape, []), ...said.filter((one) => !isLast(one)), ...said.filter(isLast)]
  for (const one of inOrder) {
    const key = keyText(one.path)
    found.set(key, over(found.get(key), one))
  }
  return [...found.values()]
    .map((one) => ({ ...one, value: shownValue(one.key, one.value) }))
    .toSorted((one, other) => rank(one.key) - rank(other.key))
}
