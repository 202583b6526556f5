/** Reads `[permission]`: rules as texts in three lists, and as tables in a fourth. */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { parseRule, PermissionRuleTable, ruleOfTable } from "../../domain/permission/PermissionRule.ts"
import type { PermissionSettings } from "../Settings.ts"
import { type Complain, type ListItem, readItem, type Section } from "./ConfigKey.ts"
import * as keys from "./ConfigKeys.ts"

export const ruleLists: ReadonlyArray<keyof PermissionSettings> = ["allow", "ask", "deny"]

const decodeTable = Schema.decodeUnknownOption(PermissionRuleTable)
const decodeAction = Schema.decodeUnknownOption(Schema.Struct({ action: Schema.Literal("allow") }))

const readRule = (item: ListItem, complain: Complain): ReadonlyArray<string> => {
  const text = readItem(item, keys.permissionRule, complain)
  if (text === undefined) return []
  const rule = parseRule(text)
  if (Result.isSuccess(rule)) return [text]
  complain(item.path, `is ignored: ${rule.failure.message}`)
  return []
}

/** `alarm` takes what leaves the agent freer than it was meant to be. */
export const readPermission = (section: Section, complain: Complain, alarm: Complain): PermissionSettings => {
  const found: Record<keyof PermissionSettings, Array<string>> = { allow: [], ask: [], deny: [] }
  for (const { meant, path } of section.unknown(Object.keys(keys.permission))) {
    const remedy = 'write the rules into allow, ask and deny, such as deny = ["Bash(rm *)"]'
    const tell = meant === "allow" ? complain : alarm
    tell(path, `is not read; ${meant === undefined ? remedy : `did you mean ${meant}?`}`)
  }
  for (const list of ruleLists) {
    const tell = list === "allow" ? complain : alarm
    for (const item of section.items(list)) found[list].push(...readRule(item, tell))
  }
  for (const item of section.items("rules")) {
    const table = decodeTable(item.value)
    const tell = Option.isSome(decodeAction(item.value)) ? complain : alarm
    if (Option.isNone(table)) {
      tell(item.path, 'must be a rule such as { action = "deny", tool = "bash", pattern = "rm *" }; it is ignored')
      continue
    }
    const { action, text } = ruleOfTable(table.value)
    found[action].push(...readRule({ path: item.path, value: text }, tell))
  }
  return found
}
