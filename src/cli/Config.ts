/** `config`: what is configured and where it comes from, and changes of one key. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { agentFlags, flagsOf } from "./agent/AgentFlags.ts"
import { jsonFlag } from "./JsonFlag.ts"

const key = Argument.String("key").pipe(Argument.withDescription("Such as sandbox.profile"))

const show = Command.make(
  "show",
  {
    ...agentFlags,
    key: Argument.String("key").pipe(
      Argument.withDescription("A key or a section, such as sandbox; default: all"),
      Argument.optional
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ json, key, ...flags }) {
    const { run } = yield* Effect.promise(() => import("./config/ShowConfig.ts"))
    yield* run({ flags: yield* flagsOf(flags), key, json })
  })
).pipe(
  Command.withDescription(
    "Print each value that holds in this folder, and where it comes from; with flags, as they make it"
  )
)

const path = Command.make(
  "path",
  {},
  Effect.fnUntraced(function* () {
    const { printPath } = yield* Effect.promise(() => import("./config/EditConfig.ts"))
    yield* printPath
  })
).pipe(Command.withDescription("Print where your config.toml is, whether it exists or not"))

const schema = Command.make(
  "schema",
  {},
  Effect.fnUntraced(function* () {
    const { printSchema } = yield* Effect.promise(() => import("./config/EditConfig.ts"))
    yield* printSchema
  })
).pipe(Command.withDescription("Print the JSON Schema of the file, for an editor that completes TOML by one"))

const set = Command.make(
  "set",
  {
    key,
    value: Argument.String("value").pipe(
      Argument.withDescription(
        "As in the file; a text needs no quotes. - reads it from standard input, as secrets want it"
      )
    )
  },
  Effect.fnUntraced(function* ({ key, value }) {
    const { set } = yield* Effect.promise(() => import("./config/EditConfig.ts"))
    yield* set(key, value)
  })
).pipe(Command.withDescription("Change one key of your config.toml; the rest, its comments too, stays as it is"))

const unset = Command.make(
  "unset",
  { key },
  Effect.fnUntraced(function* ({ key }) {
    const { unset } = yield* Effect.promise(() => import("./config/EditConfig.ts"))
    yield* unset(key)
  })
).pipe(Command.withDescription("Remove one key of your config.toml"))

export const config = Command.make("config").pipe(
  Command.withDescription("Your configuration: show, path, schema, set and unset"),
  Command.withSubcommands([show, path, schema, set, unset])
)
