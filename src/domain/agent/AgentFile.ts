/**
 * What the file of an agent says, written for this agent or for others. A mistake costs no protection: a mode that cannot be
 * read is the lowest one, a tool that cannot be read is not given.
 */
import * as Result from "effect/Result"
import type { CustomAgent } from "../CustomAgent.ts"
import { nameProblem } from "./AgentName.ts"
import { harnesses } from "../Harness.ts"
import { ExecutionMode } from "../permission/ExecutionMode.ts"
import { describeProblem, type FrontMatter, parse } from "../text/FrontMatter.ts"
import { asList, asText, type FrontMatterValue } from "../text/FrontMatterValue.ts"
import { closest } from "../text/Similar.ts"
import { visible } from "../text/Visible.ts"

/** An agent, and what is wrong with its file; each line names file, field and remedy. */
export interface ReadAgent {
  readonly agent: CustomAgent
  readonly problems: ReadonlyArray<string>
}

const known = [
  "name",
  "description",
  "model",
  "tools",
  "disallowedTools",
  "mode",
  "permissionMode",
  "capabilityMode",
  "promptMode",
  "maxTurns",
  "prompt",
  "instructions"
]

/** Keys are meant in whichever way their words are joined. */
const plain = (key: string): string => key.toLowerCase().replaceAll(/[-_]/g, "")

const isKnown = (key: string): boolean => known.some((name) => plain(name) === plain(key))

const foreignModes: ReadonlyMap<string, ExecutionMode> = new Map([
  ["default", "ask"],
  ["acceptedits", "accept-edits"],
  ["dontask", "ask"],
  ["bypasspermissions", "always-approve"]
])

const reading = ["read", "grep", "glob", "list", "web_fetch"]
const editing = ["write", "edit", "apply_patch"]
const commands = ["bash", "bash_output", "bash_stop"]

/** Tools by the names under which files of other agents have them. Those that are not here give nothing. */
const foreignTools: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["bash", commands],
  ["bashoutput", ["bash_output"]],
  ["killshell", ["bash_stop"]],
  ["killbash", ["bash_stop"]],
  ["edit", ["edit", "apply_patch"]],
  ["multiedit", ["edit", "apply_patch"]],
  ["ls", ["list"]],
  ["todowrite", ["todo"]],
  ["webfetch", ["web_fetch"]],
  ["agent", ["task"]],
  ["askuserquestion", ["ask_user"]],
  ["skill", ["skill"]],
  ["websearch", []],
  ["notebookedit", []],
  ["notebookread", []],
  ["exitplanmode", []],
  ["slashcommand", []]
])

const capabilities: Readonly<Record<string, ReadonlyArray<string> | undefined>> = {
  "read-only": reading,
  "read-write": [...reading, ...editing],
  execute: [...reading, ...commands],
  all: undefined
}

const ours: ReadonlyArray<string> = [...new Set(harnesses.flatMap(({ tools }) => tools))]

/** In characters. */
const LONGEST = { prompt: 256 * 1024, description: 2000 }
const SUMMARY = 200

type Fields = Readonly<Record<string, FrontMatterValue>>
type Complain = (field: string, problem: string) => void

const toolNames = (value: FrontMatterValue, field: string, complain: Complain): ReadonlyArray<string> => {
  const found = asList(value).flatMap((written) => {
    const name = written.trim()
    if (name === "*" || name.startsWith("mcp__")) return [name]
    if (!/^[\w-]+$/.test(name)) {
      const remedy = "write the name of the tool alone; what it may touch is for permission rules"
      complain(field, `has "${name}", which is no name of a tool and gives none; ${remedy}`)
      return []
    }
    const foreign = foreignTools.get(name.toLowerCase())
    if (foreign !== undefined) return foreign
    const own = ours.find((tool) => plain(tool) === plain(name))
    if (own !== undefined) return [own]
    const [meant] = closest(name, ours)
    if (meant !== undefined) complain(field, `has "${name}", which is no tool here; did you mean ${meant}?`)
    return [name]
  })
  return [...new Set(found)]
}

const modeOf = (value: FrontMatterValue, field: string, complain: Complain): ExecutionMode => {
  const written = asText(value).trim()
  const own = ExecutionMode.literals.find((mode) => mode === written) ?? foreignModes.get(written.toLowerCase())
  if (own !== undefined) return own
  complain(field, `must be one of ${ExecutionMode.literals.join(", ")}; until this is corrected it is plan`)
  return "plan"
}

/** The first line that says something, in short. */
const summaryOf = (prompt: string): string => {
  const line = prompt.split("\n").find((text) => /\w/.test(text)) ?? ""
  const text = line.replace(/^[#>\s*-]+/, "").trim()
  return text.length > SUMMARY ? `${text.slice(0, SUMMARY).toWellFormed()}…` : text
}

/** Fails with why there is no agent in it. `given` is its name if the fields have none. */
const fromFields = (
  fields: Fields,
  body: string,
  given: string,
  complain: Complain
): Result.Result<CustomAgent, string> => {
  const byName = new Map(Object.entries(fields).map(([key, value]) => [plain(key), [key, value] as const]))
  const read = <A>(
    name: string,
    take: (value: FrontMatterValue, field: string, complain: Complain) => A
  ): A | undefined => {
    const [key, value] = byName.get(plain(name)) ?? []
    return key === undefined || value === undefined || value === "" ? undefined : take(value, key, complain)
  }
  const text = (value: FrontMatterValue) => asText(value).trim()

  for (const key of Object.keys(fields)) {
    const [outer = "", inner] = key.split(".")
    if (inner !== undefined && isKnown(outer))
      return Result.fail(`${outer} is a table; write a text or a list of texts`)
    if (isKnown(key)) continue
    const meant = closest(key, known).find((name) => Math.abs(name.length - key.length) <= 2)
    if (meant !== undefined) complain(key, `is not read; did you mean ${meant}?`)
  }

  const name = read("name", text) ?? given
  const problem = nameProblem(name)
  if (problem !== undefined) return Result.fail(`name ${problem}`)
  const prompt = (read("prompt", text) ?? read("instructions", text) ?? body).trim()
  if (prompt === "") return Result.fail("it has no instructions; write them below the second '---'")
  if (prompt.length > LONGEST.prompt) {
    return Result.fail(`its instructions have ${prompt.length} characters; at most ${LONGEST.prompt} fit`)
  }
  const mode = read("mode", modeOf) ?? read("permissionMode", modeOf)
  const capability = read("capabilityMode", (value, field) => {
    const written = text(value)
    if (!Object.hasOwn(capabilities, written)) {
      complain(field, `must be one of ${Object.keys(capabilities).join(", ")}; until this is corrected it is read-only`)
      return reading
    }
    return capabilities[written]
  })
  const listed = read("tools", toolNames)
  const tools =
    listed === undefined || listed.includes("*")
      ? capability
      : listed.filter((tool) => capability?.includes(tool) ?? true)
  const without = read("disallowedTools", toolNames)
  const promptMode = read("promptMode", (value, field) => {
    const written = text(value)
    if (written !== "full" && written !== "extend")
      complain(field, "must be extend or full; until this is corrected it is extend")
    return written
  })
  const model = read("model", text)
  const steps = read("maxTurns", (value, field) => {
    if (typeof value === "number" && Number.isInteger(value) && value > 0) return value
    complain(field, "must be a whole number above 0; it is ignored")
    return undefined
  })
  return Result.succeed({
    name,
    description: visible(read("description", text) ?? summaryOf(prompt))
      .slice(0, LONGEST.description)
      .toWellFormed(),
    prompt,
    replaces: promptMode === "full",
    ...(model === undefined || model === "inherit" ? {} : { model }),
    ...(mode === undefined ? {} : { mode }),
    ...(tools === undefined ? {} : { tools }),
    ...(without === undefined ? {} : { without }),
    ...(steps === undefined ? {} : { steps })
  })
}

const readMarkdown = (file: string, given: string, { body, fields, lines, problems }: FrontMatter) => {
  const found = problems.map((problem) => describeProblem(file, problem))
  const complain: Complain = (field, problem) =>
    void found.push(describeProblem(file, { line: lines[field] ?? 1, message: `${field} ${problem}` }))
  const agent = fromFields(fields, body, given, complain)
  return Result.map(agent, (value): ReadAgent => ({ agent: value, problems: found }))
}

/** A Markdown file with fields at its head. Fails with a sentence where there is no agent in it. */
export const readAgentFile = (file: string, given: string, text: string): Result.Result<ReadAgent, string> => {
  const matter = parse(text)
  const [problem] = matter.problems
  if (problem !== undefined && Object.keys(matter.fields).length === 0) {
    return Result.fail(`${file} is no agent: ${problem.message}`)
  }
  if (!/^\uFEFF?---[ \t]*[\r\n]/.test(text)) {
    return Result.fail(`${file} is no agent: its first line is no '---', behind which its fields stand`)
  }
  return Result.mapError(readMarkdown(file, given, matter), (why) => `${file} is no agent: ${why}`)
}

const isText = (value: unknown): value is string => typeof value === "string"

/** The same fields as an object, with the instructions as `prompt`. `source` names it in problems. */
export const readAgentObject = (
  source: string,
  value: Readonly<Record<string, unknown>>
): Result.Result<ReadAgent, string> => {
  const problems: Array<string> = []
  const complain: Complain = (field, problem) => void problems.push(`${source}: ${field} ${problem}`)
  const fields: Array<[string, FrontMatterValue]> = []
  for (const [key, item] of Object.entries(value)) {
    if (typeof item === "string" || typeof item === "number" || typeof item === "boolean") fields.push([key, item])
    else if (Array.isArray(item) && item.every(isText)) fields.push([key, item])
    // What was to limit it must not be lost.
    else if (item !== null && isKnown(key)) {
      return Result.fail(`${source} is no agent: ${key} must be a text or a list of texts`)
    }
  }
  return Result.mapBoth(fromFields(Object.fromEntries(fields), "", "", complain), {
    onFailure: (why) => `${source} is no agent: ${why}`,
    onSuccess: (agent): ReadAgent => ({ agent, problems })
  })
}
