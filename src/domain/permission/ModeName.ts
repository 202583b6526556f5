/** The names that a person can give a mode: ours, and those of other agents. */
import * as Schema from "effect/Schema"
import { ExecutionMode } from "./ExecutionMode.ts"

const others = {
  default: "ask",
  acceptEdits: "accept-edits",
  bypassPermissions: "always-approve"
} as const

const OtherName = Schema.Literals(["default", "acceptEdits", "bypassPermissions"])

export const ModeName = Schema.Union([ExecutionMode, OtherName])
export type ModeName = typeof ModeName.Type

export const modeNames: ReadonlyArray<ModeName> = [...ExecutionMode.literals, ...OtherName.literals]

const isOther = Schema.is(OtherName)

export const modeOf = (name: ModeName): ExecutionMode => (isOther(name) ? others[name] : name)
