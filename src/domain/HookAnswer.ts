/** What a hook says, in its own dialect or in one of those that hooks for other agents speak. A no is heard in any. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { HookEvent } from "./Hook.ts"
import { clip } from "./text/Clip.ts"
import * as Terminal from "./text/Terminal.ts"

/** Only `Passed` lets go on what it was asked about. `changesInput`: it wants another input, which no hook can have. */
export type HookAnswer =
  | { readonly _tag: "Passed"; readonly changesInput?: true }
  | { readonly _tag: "Denied"; readonly reason: string }
  | { readonly _tag: "Failed"; readonly problem: string }

/** Characters of a reason that people and the model read. */
const LONGEST_REASON = 4_000

/** These turn round what is shown behind them. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g

const tidy = (text: string): string => {
  const plain = Terminal.plain(text).replace(TURNING, "").trim()
  if (plain.length <= LONGEST_REASON) return plain.toWellFormed()
  const kept = clip(plain, LONGEST_REASON)
  return `${kept.toWellFormed()} [${plain.length - kept.length} characters left out]`
}

const NO_REASON = "It gave no reason"

const passed: HookAnswer = { _tag: "Passed" }

const denied = (reason: string): HookAnswer => {
  const said = tidy(reason)
  return { _tag: "Denied", reason: said === "" ? NO_REASON : said }
}

/** A hook that did not answer. The problem may repeat what it wrote. */
export const failed = (problem: string): HookAnswer => ({ _tag: "Failed", problem: tidy(problem) })

type Fields = ReadonlyMap<string, ReadonlyArray<unknown>>

const isRecord = (value: unknown): value is object => Predicate.isObject(value) && !Array.isArray(value)

/** `permission_decision` is `permissionDecision`, and null is nothing. */
const fieldsOf = (object: object): Fields => {
  const fields = new Map<string, Array<unknown>>()
  for (const [key, value] of Object.entries(object)) {
    const name = key.replace(/[^\p{L}\d]/gu, "").toLowerCase()
    if (value !== null) fields.set(name, [...(fields.get(name) ?? []), value])
  }
  return fields
}

const decisions = ["decision", "permissiondecision", "permission", "behavior"]
const reasons = [
  "permissiondecisionreason",
  "reason",
  "stopreason",
  "message",
  "systemmessage",
  "agentmessage",
  "usermessage"
]
/** Objects in which a dialect puts the above. */
const inner = ["hookspecificoutput", "decision"]

const yes: ReadonlySet<string> = new Set(["allow", "allowed", "approve", "approved", "continue"])
const no: ReadonlySet<string> = new Set(["deny", "denied", "block", "blocked", "reject", "rejected"])

/** One more, for each of the objects in it, none of which is deeper than a dialect goes. */
const flatten = (object: object, depth = 0): ReadonlyArray<Fields> => {
  const fields = fieldsOf(object)
  const below = inner.flatMap((name) => fields.get(name) ?? []).filter(isRecord)
  return [fields, ...(depth === 2 ? [] : below.flatMap((one) => flatten(one, depth + 1)))]
}

const judgeDecision = (value: unknown): "yes" | "no" | HookAnswer => {
  const word = typeof value === "string" ? value.trim().toLowerCase() : undefined
  if (word === "ask") {
    return failed('it decided "ask", and only a rule can make a person be asked; a hook says "allow" or "deny"')
  }
  if (word !== undefined && yes.has(word)) return "yes"
  if (word !== undefined && no.has(word)) return "no"
  const shown = typeof value === "string" ? `"${value}"` : `something of the type ${typeof value}`
  return failed(`it decided ${shown}; a decision is "allow" or "deny"`)
}

/** An end that a hook asks for with `continue` is what `Stop` is about: it lets that go on. */
const judgeContinue = (value: unknown, event: HookEvent): "yes" | "no" | HookAnswer => {
  if (value === true || event === "Stop") return "yes"
  return value === false ? "no" : failed('it said "continue" with something that is neither true nor false')
}

const valuesOf = (object: object) => {
  const all = flatten(object)
  return (name: string) => all.flatMap((fields) => fields.get(name) ?? [])
}

/** An object that decides is judged by what is in it. */
const isOuter = (value: unknown): boolean => isRecord(value) && decisions.flatMap(valuesOf(value)).length > 0

const judge = (object: object, event: HookEvent): HookAnswer => {
  const get = valuesOf(object)
  const verdicts = [
    ...decisions
      .flatMap(get)
      .filter((value) => !isOuter(value))
      .map(judgeDecision),
    ...get("continue").map((value) => judgeContinue(value, event)),
    ...get("hookspecificoutput").map((value) =>
      isRecord(value) ? "yes" : failed("its hookSpecificOutput is no object")
    )
  ]
  if (verdicts.includes("no")) {
    const words = reasons.flatMap(get).find((value) => typeof value === "string" && value.trim() !== "")
    return denied(typeof words === "string" ? words : "")
  }
  const problem = verdicts.find((verdict) => typeof verdict === "object")
  if (problem !== undefined) return problem
  return get("updatedinput").length === 0 ? passed : { _tag: "Passed", changesInput: true }
}

/** Where the object that begins at `from` ends, behind its brace; undefined if it does not. */
const endOf = (text: string, from: number): number | undefined => {
  let depth = 0
  let isQuoted = false
  for (let at = from; at < text.length; at++) {
    const character = text[at]
    if (isQuoted) {
      if (character === "\\") at++
      else if (character === '"') isQuoted = false
    } else if (character === '"') isQuoted = true
    else if (character === "{") depth++
    else if (character === "}" && --depth === 0) return at + 1
  }
  return undefined
}

/** Braces that begin no object, in text for people, are looked at this often. */
const MOST_MISSES = 100

interface Found {
  readonly objects: ReadonlyArray<object>
  /** Whether something looks like an object, and is none. */
  readonly isBroken: boolean
}

/** All objects in a text, of a list as well, whatever stands before, between or behind them. */
const objectsIn = (text: string): Found => {
  const objects: Array<object> = []
  let misses = 0
  let at = text.indexOf("{")
  while (at !== -1 && misses < MOST_MISSES) {
    const end = endOf(text, at)
    const value = end === undefined ? undefined : Result.getOrUndefined(parse(text.slice(at, end)))
    if (Predicate.isObject(value)) objects.push(value)
    else misses++
    at = text.indexOf("{", Predicate.isObject(value) ? end : at + 1)
  }
  return { objects, isBroken: misses > 0 }
}

const parse = (text: string) => Result.try((): unknown => JSON.parse(text))

/** What says that an object was meant to decide. */
const DECIDES = /["'](?:permission_?)?decision["']|["'](?:permission|continue|hook_?specific_?output)["']\s*:/i

/**
 * Text is for people; what is in it as JSON decides. An object that cannot be read, or decides what we do not know, is a
 * failure. One no is enough, whatever else is said.
 */
export const readAnswer = (output: string, event: HookEvent): HookAnswer => {
  const [text] = Terminal.strip("", output)
  const { isBroken, objects } = objectsIn(text)
  // A control sequence that never ends takes along what stands behind it.
  const hidden = text === output ? [] : objectsIn(output).objects
  const answers = [...objects, ...hidden].map((object) => judge(object, event))
  const no = answers.find(({ _tag }) => _tag === "Denied")
  if (no !== undefined) return no
  if (isBroken && (/^[\s[]*\{/.test(text) || DECIDES.test(text))) {
    return failed("its output is not the JSON of a decision")
  }
  return (
    answers.find(({ _tag }) => _tag === "Failed") ??
    answers.find((answer) => answer._tag === "Passed" && answer.changesInput === true) ??
    passed
  )
}

/** Exit code 2 denies, with what was written to stderr as the reason; any other but 0 is a failure. */
export const readExit = (code: number, stdout: string, stderr: string, event: HookEvent): HookAnswer => {
  if (code === 0) return readAnswer(stdout, event)
  if (code === 2) {
    const said = readAnswer(stdout, event)
    return said._tag === "Denied" && said.reason !== NO_REASON ? said : denied(stderr)
  }
  const words = stderr.trim()
  return failed(`it ended with exit code ${code}${words === "" ? "" : `: ${words}`}`)
}
