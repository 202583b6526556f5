/** The entry of this agent in the settings of an editor: found under whichever name it has, added, or set right. */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { appendRoot, applyEdits, insertMember, replaceValue, type TextEdit } from "../../domain/text/json/JsonInsert.ts"
import {
  type JsonMember,
  type JsonNode,
  type JsonObjectNode,
  memberOf,
  parseTree,
  valueOf
} from "../../domain/text/json/JsonTree.ts"

/** How an editor starts the agent. */
export interface Launch {
  readonly command: string
  readonly args: ReadonlyArray<string>
}

/** What is wanted in the settings. */
export interface Wanted {
  /** The member that holds the entries, such as `agent_servers`. */
  readonly section: string
  readonly name: string
  readonly launch: Launch
  /** Members of a new entry beside `command` and `args`. */
  readonly before: Schema.JsonObject
  readonly after: Schema.JsonObject
  /** Whether another spelling of a command starts the same program. */
  readonly isSameCommand: (command: string) => boolean
}

/** `name` is what the editor shows. `text` is the whole file as it ought to be. */
export interface Plan {
  readonly kind: "added" | "corrected" | "unchanged"
  readonly name: string
  readonly text: string
}

const isProgram = (word: string): boolean => /(?:^|[\\/])(?:super-pi|supercharge)(?:\.cmd|@[^\\/]*)?$/.test(word)

/** What an editor can talk to: a bare start is for people. */
export const startsAgent = (args: ReadonlyArray<Schema.Json>): boolean =>
  args.includes("acp") || (args.includes("agent") && args.includes("stdio"))

const stringsOf = (node: JsonNode | undefined): ReadonlyArray<string> => {
  const value = node === undefined ? [] : valueOf(node)
  return (Array.isArray(value) ? value : [value]).filter((word) => typeof word === "string")
}

const isOurs = ({ value }: JsonMember): boolean =>
  value._tag === "Object" &&
  [...stringsOf(memberOf(value, "command")?.value), ...stringsOf(memberOf(value, "args")?.value)].some(isProgram)

/** The entry of this agent: the one with the name, else the first that starts it. */
export const findEntry = (entries: JsonObjectNode, name: string): JsonMember | undefined =>
  memberOf(entries, name) ?? entries.members.find(isOurs)

const newEntry = ({ after, before, launch }: Wanted): Schema.JsonObject => ({
  ...before,
  command: launch.command,
  args: launch.args,
  ...after
})

const isNpx = (command: string): boolean => /(?:^|[\\/])npx(?:\.cmd)?$/.test(command)

/**
 * Only what would not work is changed: names, variables and flags that somebody chose are theirs, and so is another program
 * that runs this one, such as `node`.
 */
const correct = (text: string, { value }: JsonMember, wanted: Wanted): ReadonlyArray<TextEdit> => {
  const { command, args } = wanted.launch
  const present = value._tag === "Object" ? memberOf(value, "command")?.value : undefined
  if (value._tag !== "Object" || present?._tag !== "Scalar" || typeof present.value !== "string") {
    return [replaceValue(text, value, newEntry(wanted))]
  }
  const given = memberOf(value, "args")
  const words = stringsOf(given?.value)
  const run = words.find(isProgram)
  // A program of their own that is to start an agent, such as a script around this one.
  const isWrapper = run === undefined && !isProgram(present.value) && startsAgent(words)
  const isSame =
    isWrapper ||
    (run === undefined ? wanted.isSameCommand(present.value) : wanted.isSameCommand(run) || isNpx(present.value))
  const isKept = startsAgent(words) && (isSame || (run === undefined && !args.some(isProgram)))
  const type = memberOf(value, "type")?.value
  const isCommandKept = isSame && (isKept || run === undefined)
  return [
    ...(type === undefined || valueOf(type) === "custom" ? [] : [replaceValue(text, type, "custom")]),
    ...(isCommandKept ? [] : [replaceValue(text, present, command)]),
    ...(isKept
      ? []
      : given === undefined
        ? insertMember(text, value, "args", args)
        : [replaceValue(text, given.value, args)])
  ]
}

/** What the file would have to be; or why it is better left alone, as a sentence that begins with what is there. */
export const plan = (text: string, wanted: Wanted): Result.Result<Plan, string> => {
  const { name, section } = wanted
  const parsed = parseTree(text)
  if (Result.isFailure(parsed)) {
    const { column, line, message } = parsed.failure
    return Result.fail(`is not JSON at line ${line}, column ${column}: ${message}`)
  }
  const root = parsed.success
  const added = (edits: ReadonlyArray<TextEdit>): Result.Result<Plan, string> =>
    Result.succeed({ kind: "added", name, text: applyEdits(text, edits) })
  if (root === undefined) return added(appendRoot(text, { [section]: { [name]: newEntry(wanted) } }))
  if (root._tag !== "Object") return Result.fail("is not a JSON object")
  const entries = memberOf(root, section)?.value
  if (entries === undefined) return added(insertMember(text, root, section, { [name]: newEntry(wanted) }))
  if (entries._tag !== "Object") return Result.fail(`has a member ${section} that is not an object`)
  const entry = findEntry(entries, name)
  if (entry === undefined) return added(insertMember(text, entries, name, newEntry(wanted)))
  const edits = correct(text, entry, wanted)
  return Result.succeed({
    kind: edits.length === 0 ? "unchanged" : "corrected",
    name: entry.name,
    text: applyEdits(text, edits)
  })
}
