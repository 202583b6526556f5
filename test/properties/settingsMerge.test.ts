/** Of all that says the value of a key, the one that stands highest holds, and the person is told which one that is. */
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ExecutionMode } from "../../src/domain/permission/ExecutionMode.ts"
import { SandboxProfile, stricter } from "../../src/domain/sandbox/Profile.ts"
import { parseProjectFile } from "../../src/services/project/ProjectFile.ts"
import type { Flags, SettingsValue } from "../../src/services/Settings.ts"
import { inProject } from "../../src/services/settings/Choices.ts"
import { parseConfigFile } from "../../src/services/settings/ConfigFile.ts"
import { effortNames } from "../../src/services/settings/ConfigKeys.ts"
import { linesOf } from "../../src/services/settings/ConfigLines.ts"
import { setKey } from "../../src/services/settings/ConfigEdit.ts"
import { readEnvironment } from "../../src/services/settings/Environment.ts"
import { mergeSettings, noStoredKeys } from "../../src/services/settings/Merge.ts"
import {
  environmentSaid,
  explain,
  isProjectKey,
  type Layer,
  saidInFile,
  saidInFlags
} from "../../src/services/settings/Provenance.ts"
import * as Toml from "effect/encoding/Toml"

const Model = Schema.Literals(["a/one", "b/two", "c/three"])
const Values = Schema.Struct({
  model: Schema.optionalKey(Model),
  effort: Schema.optionalKey(Schema.Literals(effortNames)),
  mode: Schema.optionalKey(ExecutionMode),
  harness: Schema.optionalKey(Schema.Literals(["super-pi-code", "super-pi-planner", "mine"])),
  sandbox: Schema.optionalKey(SandboxProfile),
  seconds: Schema.optionalKey(Schema.Literals([1, 20, 300])),
  gitignore: Schema.optionalKey(Schema.Boolean)
})
type Values = typeof Values.Type
type Name = keyof Values

const keys = {
  model: "models.default",
  effort: "models.default_reasoning_effort",
  mode: "ui.permission_mode",
  harness: "agent.harness",
  sandbox: "sandbox.profile",
  seconds: "toolset.bash.timeout_secs",
  gitignore: "tools.respect_gitignore"
} as const
const names = Object.keys(Values.fields).filter((name): name is Name => name in keys)

const textOf = Effect.fnUntraced(function* (values: Values) {
  let text = "# a comment that stays\n"
  for (const name of names) {
    const value = values[name]
    if (value !== undefined) text = yield* Effect.fromResult(setKey(text, keys[name].split("."), value))
  }
  return text
})

const heldBy = (value: SettingsValue, profile: SandboxProfile | undefined): Values => {
  const { commandTimeout, defaultEffort, defaultModel, harness, mode, respectGitignore } = value
  return {
    ...(defaultModel !== undefined && { model: Schema.decodeUnknownSync(Model)(defaultModel) }),
    ...(defaultEffort !== undefined && { effort: defaultEffort }),
    ...(mode !== undefined && { mode }),
    ...(harness !== undefined && { harness: Schema.decodeUnknownSync(Values.fields.harness.schema)(harness) }),
    ...(profile !== undefined && { sandbox: profile }),
    ...(commandTimeout !== undefined && {
      seconds: Schema.decodeUnknownSync(Values.fields.seconds.schema)(Duration.toSeconds(commandTimeout))
    }),
    gitignore: respectGitignore
  }
}

const flagsOf = ({ effort, harness, mode, model, sandbox }: Values): Flags => ({
  alwaysApprove: false,
  ...(model !== undefined && { model }),
  ...(effort !== undefined && { effort }),
  ...(harness !== undefined && { harness }),
  ...(mode !== undefined && { mode }),
  ...(sandbox !== undefined && { sandbox })
})

describe("settings", () => {
  it.effect.prop(
    "the highest source that says a value wins, and is named",
    [Values, Values, Values, Values, Schema.Boolean],
    Effect.fnUntraced(function* ([mine, theirs, exported, given, isTrusted]) {
      const env: Record<string, string> = {
        ...(exported.model !== undefined && { SUPERCHARGE_MODEL: exported.model }),
        ...(exported.sandbox !== undefined && { SUPERCHARGE_SANDBOX: exported.sandbox })
      }
      const provider = ConfigProvider.fromEnv({ env })
      const ownText = yield* textOf(mine)
      const theirText = yield* textOf(theirs)
      const flags = flagsOf(given)

      const own = mergeSettings({
        file: yield* Effect.fromResult(parseConfigFile(ownText, "config.toml")),
        path: "config.toml",
        environment: yield* readEnvironment(provider),
        namedKeys: new Map(),
        storedKeys: noStoredKeys,
        flags
      })
      const project = yield* Effect.fromResult(parseProjectFile(theirText, "theirs.toml", "config"))
      assert.deepStrictEqual([...own.warnings, ...project.warnings], [])
      const value = inProject(own, isTrusted ? project.choices : {})
      const profiles = [own.sandboxProfile, project.sandboxProfile].flatMap((profile) => profile ?? [])
      const held = heldBy(value, profiles.length === 0 ? undefined : profiles.reduce(stricter))

      const layers: ReadonlyArray<readonly [Layer, (name: Name) => Values[Name]]> = [
        ["flag", (name) => (name === "seconds" || name === "gitignore" ? undefined : given[name])],
        ["environment", (name) => (name === "model" || name === "sandbox" ? exported[name] : undefined)],
        ["project", (name) => (isTrusted ? theirs[name] : undefined)],
        ["file", (name) => mine[name]],
        ["default", (name) => (name === "gitignore" ? true : undefined)]
      ]
      const document = yield* Effect.fromResult(Toml.parse(ownText))
      const theirDocument = yield* Effect.fromResult(Toml.parse(theirText))
      const explained = explain([
        ...saidInFile(document, "file", "config.toml", linesOf(ownText)),
        ...saidInFile(theirDocument, "project", "theirs.toml", linesOf(theirText)).filter(({ path }) =>
          isProjectKey(path, isTrusted)
        ),
        ...(yield* environmentSaid(provider)),
        ...saidInFlags(flags)
      ])
      for (const name of names) {
        const row = explained.find(({ key }) => key === keys[name])
        // The harness that holds without any is named in the row only.
        if (held[name] !== undefined) assert.strictEqual(row?.value, held[name], name)
        if (name === "sandbox") continue
        const winner = layers.find(([, says]) => says(name) !== undefined)
        if (winner === undefined) {
          assert.isUndefined(held[name])
          continue
        }
        assert.strictEqual(held[name], winner[1](name), name)
        assert.strictEqual(row?.from.layer, winner[0], name)
        const text = winner[0] === "file" ? ownText : winner[0] === "project" ? theirText : undefined
        if (text !== undefined) {
          const line = text.split("\n")[(row?.from.line ?? 0) - 1]
          assert.include(line ?? "", `${keys[name].split(".").at(-1)} = `)
        }
      }
    }),
    { arbitrary: { runs: 200 } }
  )
})
