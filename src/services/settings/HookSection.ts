/** Reads hooks: `[[hooks.<Event>]]` of `config.toml`, and files of hooks, which have the same shape as JSON. */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { HookEvent, type HookSettings } from "../../domain/Hook.ts"
import { type Complain, configKey, type ListItem, rootSection, type Section, sectionOfItem } from "./ConfigKey.ts"

const isPattern = (text: string): boolean => text === "*" || Result.isSuccess(Result.try(() => new RegExp(text)))

/** A pattern that is none would fit no tool, and the hook would guard nothing without a word. */
const matcherKey = configKey(
  Schema.String.check(Schema.makeFilter(isPattern)),
  'the name of a tool or a pattern of names, such as "Bash|Edit"'
)
const typeKey = configKey(Schema.Literals(["command", "http"]), '"command" or "http"')
const commandKey = configKey(Schema.NonEmptyString, 'a command, such as "./check.sh"')
const urlKey = configKey(
  Schema.String.check(Schema.isPattern(/^https?:\/\/[^\s/]+/)),
  'an address, such as "http://127.0.0.1:9000/hook"'
)
const timeoutKey = configKey(Schema.Finite.check(Schema.isGreaterThan(0)), "a number of seconds")
const advisoryKey = configKey(Schema.Boolean, "true or false without quotes", "the hook is not advisory")
const envKey = configKey(Schema.Record(Schema.String, Schema.String), 'a table of texts, such as { MODE = "strict" }')

const events = HookEvent.literals

/** What is wrong with a hook leaves the agent freer than it was meant to be, so that all of it is told as an alarm. */
const readHook = (
  event: HookEvent,
  matcher: string | undefined,
  item: ListItem,
  source: string,
  alarm: Complain
): ReadonlyArray<HookSettings> => {
  const table = sectionOfItem(item, alarm)
  if (table === undefined) {
    alarm(item.path, 'must be a hook such as { type = "command", command = "./check.sh" }; it does not run')
    return []
  }
  const type = table.has("type") ? table.read("type", typeKey) : table.has("url") ? "http" : "command"
  const command = type === "command" ? table.read("command", commandKey) : undefined
  const url = type === "http" ? table.read("url", urlKey) : undefined
  const timeout = table.read("timeout", timeoutKey)
  const action =
    command !== undefined
      ? ({ _tag: "Command", command } as const)
      : url !== undefined
        ? ({ _tag: "Http", url } as const)
        : undefined
  if (action === undefined) {
    alarm(table.path, "does not run: it needs a command, or a url")
    return []
  }
  return [
    {
      event,
      ...(matcher === undefined ? {} : { matcher }),
      action,
      ...(timeout === undefined ? {} : { timeout: Duration.seconds(timeout) }),
      advisory: table.read("advisory", advisoryKey) ?? false,
      environment: table.read("env", envKey) ?? {},
      source
    }
  ]
}

/** One entry of an event: a matcher with its hooks, or a hook alone. */
const readEntry = (event: HookEvent, item: ListItem, source: string, alarm: Complain) => {
  const table = sectionOfItem(item, alarm)
  if (table === undefined || !table.has("hooks")) {
    const matcher = table?.read("matcher", matcherKey)
    return readHook(event, matcher, item, source, alarm)
  }
  const matcher = table.read("matcher", matcherKey)
  if (matcher === undefined && table.has("matcher")) return []
  return table.items("hooks").flatMap((hook) => readHook(event, matcher, hook, source, alarm))
}

/** `source` is the file, for messages. */
export const readHooks = (section: Section, source: string, alarm: Complain): ReadonlyArray<HookSettings> => {
  for (const { meant, path } of section.unknown(events)) {
    alarm(
      path,
      `is no event; ${meant === undefined ? `the events are ${events.join(", ")}` : `did you mean ${meant}?`}`
    )
  }
  return events.flatMap((event) => section.items(event).flatMap((item) => readEntry(event, item, source, alarm)))
}

/** A file of hooks: `{ "hooks": { "<Event>": [ … ] } }`. What is wrong is told with the name of the file. */
export const parseHookFile = (
  text: string,
  file: string
): { readonly hooks: ReadonlyArray<HookSettings>; readonly problems: ReadonlyArray<string> } => {
  const problems: Array<string> = []
  const alarm: Complain = (path, problem) => void problems.push(`${file}: ${path} ${problem}`)
  const document = Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))
  if (!Predicate.isObject(document) || Array.isArray(document)) {
    return { hooks: [], problems: [`${file} is no JSON object, so none of its hooks runs; correct it or move it away`] }
  }
  const root = rootSection({ ...document }, alarm)
  if (!root.has("hooks")) {
    return { hooks: [], problems: [`${file} has no "hooks", so nothing of it runs; write { "hooks": { … } }`] }
  }
  return { hooks: readHooks(root.section("hooks"), file, alarm), problems }
}
