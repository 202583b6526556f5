/** Reads hooks: `[[hooks.<Event>]]` of `config.toml`, and files of hooks, which have the same shape as JSON. */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { HookEvent, type HookSettings } from "../../domain/Hook.ts"
import { type Complain, type ListItem, rootSection, type Section, sectionOfItem, tellUnknown } from "./ConfigKey.ts"
import * as keys from "./ConfigKeys.ts"

const events = HookEvent.literals

/** Events that other agents have; a hook that waits for one of them guards nothing here, and was not misspelt. */
const foreignEvents: ReadonlySet<string> = new Set([
  "PostToolUseFailure",
  "PermissionRequest",
  "StopFailure",
  "StopCancelled",
  "Notification",
  "SubagentStart",
  "SubagentStop",
  "SubagentEnd",
  "PreCompact",
  "PostCompact"
])

const hookKeys = Object.keys(keys.hook)

/** `alarm` takes what leaves the agent freer than it was meant to be, which is nearly all that can be wrong with a hook. */
interface Tell {
  readonly complain: Complain
  readonly alarm: Complain
}

const actionOf = (table: Section, alarm: Complain): HookSettings["action"] | undefined => {
  if (table.has("command") && table.has("url")) {
    alarm(table.path, "has a command and a url, and can be only one of them; it does not run")
    return undefined
  }
  const type = table.has("type") ? table.read("type", keys.hook.type) : table.has("url") ? "http" : "command"
  const command = type === "command" ? table.read("command", keys.hook.command) : undefined
  if (command !== undefined) return { _tag: "Command", command }
  const url = type === "http" ? table.read("url", keys.hook.url) : undefined
  if (url !== undefined) return { _tag: "Http", url }
  alarm(table.path, "does not run: it needs a command, or a url")
  return undefined
}

const readHook = (
  event: HookEvent,
  matcher: string | undefined,
  table: Section,
  source: string,
  alarm: Complain
): ReadonlyArray<HookSettings> => {
  const action = actionOf(table, alarm)
  const timeout = table.read("timeout", keys.hook.timeout)
  const advisory = table.read("advisory", keys.hook.advisory) ?? false
  const environment = table.read("env", keys.hook.env) ?? {}
  if (action === undefined) return []
  return [
    {
      event,
      ...(matcher === undefined ? {} : { matcher }),
      action,
      ...(timeout === undefined ? {} : { timeout: Duration.seconds(timeout) }),
      advisory,
      environment,
      source
    }
  ]
}

const tableOf = (item: ListItem, alarm: Complain): Section | undefined => {
  const table = sectionOfItem(item, alarm)
  if (table === undefined) {
    alarm(item.path, 'must be a hook such as { type = "command", command = "./check.sh" }; it does not run')
  }
  return table
}

/** One entry of an event: a matcher with its hooks, or a hook alone. */
const readEntry = (event: HookEvent, item: ListItem, source: string, { alarm, complain }: Tell) => {
  const entry = tableOf(item, alarm)
  if (entry === undefined) return []
  const matcher = entry.read("matcher", keys.matcher)
  if (!entry.has("hooks")) {
    tellUnknown(entry, ["matcher", "hooks", ...hookKeys], complain)
    return readHook(event, matcher, entry, source, alarm)
  }
  tellUnknown(entry, ["matcher", "hooks"], complain)
  return entry.items("hooks").flatMap((hook) => {
    const table = tableOf(hook, alarm)
    if (table === undefined) return []
    tellUnknown(table, hookKeys, complain)
    return readHook(event, matcher, table, source, alarm)
  })
}

/** `source` is the file, for messages. */
export const readHooks = (
  section: Section,
  source: string,
  complain: Complain,
  alarm: Complain
): ReadonlyArray<HookSettings> => {
  for (const { meant, name, path } of section.unknown(events)) {
    if (foreignEvents.has(name)) complain(path, `never happens here; the events are ${events.join(", ")}`)
    else if (meant === undefined) complain(path, `is no event; the events are ${events.join(", ")}`)
    else alarm(path, `is no event; did you mean ${meant}?`)
  }
  return events.flatMap((event) =>
    section.items(event).flatMap((item) => readEntry(event, item, source, { alarm, complain }))
  )
}

/** What a file of hooks says; `lost` are those of the warnings that tell of hooks that do not hold. */
export interface HookFile {
  readonly hooks: ReadonlyArray<HookSettings>
  readonly warnings: ReadonlyArray<string>
  readonly lost: ReadonlyArray<string>
}

/** A file of hooks: `{ "hooks": { "<Event>": [ … ] } }`. Fails with a sentence where it is none at all. */
export const parseHookFile = (text: string, file: string): Result.Result<HookFile, string> => {
  const document = Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))
  if (!Predicate.isObject(document) || Array.isArray(document)) {
    return Result.fail(`${file} is no JSON object, so none of its hooks runs; correct it or move it away`)
  }
  const warnings: Array<string> = []
  const lost: Array<string> = []
  const complain: Complain = (path, problem) => void warnings.push(`${file}: ${path} ${problem}`)
  const alarm: Complain = (path, problem) => {
    complain(path, problem)
    lost.push(...warnings.slice(-1))
  }
  const root = rootSection({ ...document }, alarm)
  if (!root.has("hooks")) {
    return Result.fail(`${file} has no "hooks", so nothing of it runs; write { "hooks": { … } }`)
  }
  return Result.succeed({ hooks: readHooks(root.section("hooks"), file, complain, alarm), warnings, lost })
}
