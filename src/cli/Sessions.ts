/** `sessions list`, `show`, `export` and `delete`: the sessions of every editor and of single tasks. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

const loaded = Effect.promise(() => import("./sessions/RunSessions.ts"))

const id = Argument.String("id").pipe(
  Argument.withDescription("Its id, or the beginning of it that no other session has")
)

const flag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))

const list = Command.make(
  "list",
  {
    json: flag("json", "One JSON object a line, for scripts"),
    limit: Flag.Int("limit").pipe(Flag.withDescription("How many, the newest first"), Flag.withDefault(50)),
    cwd: Flag.String("cwd").pipe(
      Flag.withMetavar("folder"),
      Flag.withDescription("Only those that work in this folder"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* (options) {
    yield* (yield* loaded).list(options)
  })
).pipe(Command.withDescription("List the sessions, the newest first"))

const show = Command.make(
  "show",
  { id, json: flag("json", "One JSON object, for scripts") },
  Effect.fnUntraced(function* (options) {
    yield* (yield* loaded).show(options)
  })
).pipe(Command.withDescription("Show what is known of a session"))

const exported = Command.make(
  "export",
  {
    id,
    format: Flag.Literals("format", ["markdown", "json"]).pipe(
      Flag.withDescription("A page to read, or the lines of --output-format stream-json"),
      Flag.withDefault("markdown")
    ),
    json: flag("json", "The same as --format json"),
    output: Flag.String("output").pipe(
      Flag.withAlias("o"),
      Flag.withMetavar("file"),
      Flag.withDescription("A new file, instead of standard output"),
      Flag.optional
    ),
    force: flag("force", "Replace the file if it exists")
  },
  Effect.fnUntraced(function* (options) {
    const { exported } = yield* loaded
    yield* exported({ ...options, format: options.json ? "json" : options.format })
  })
).pipe(Command.withDescription("Write down what was said and done in a session"))

const remove = Command.make(
  "delete",
  {
    ids: Argument.String("id").pipe(
      Argument.withDescription("Ids, or beginnings of them"),
      Argument.variadic({ min: 1 })
    ),
    json: flag("json", "One JSON object for each that was deleted, for scripts"),
    yes: flag("yes", "Without asking")
  },
  Effect.fnUntraced(function* (options) {
    yield* (yield* loaded).remove(options)
  })
).pipe(Command.withDescription("Delete sessions for good, with what they kept for /undo"))

export const sessions = Command.make("sessions").pipe(
  Command.withDescription("The sessions of this machine: those of editors and those of super-pi -p"),
  Command.withSubcommands([list, show, exported, remove])
)
