/** `permissions list` and `revoke`: the answers that are remembered, and what becomes of them. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { settings } from "../composition/Platform.ts"
import * as ProjectFiles from "../composition/Projects.ts"
import { Grants, type RememberedGrant } from "../services/permission/Grants.ts"
import { Projects } from "../services/Projects.ts"
import { explained, failed } from "./Explained.ts"
import { jsonFlag } from "./JsonFlag.ts"

const services = Layer.mergeAll(Grants.layer, ProjectFiles.layer).pipe(
  Layer.provideMerge(settings({ alwaysApprove: false }))
)

/** The project of the folder in which the command was given. */
const project = Effect.gen(function* () {
  const paths = yield* Path.Path
  const { root } = yield* (yield* Projects).of(paths.resolve("."))
  return root
})

/** What was allowed or refused, in the words of rules. */
const ruleOf = ({ access, subject }: RememberedGrant): string => {
  switch (access) {
    case "Execute":
      return `Bash(${subject})`
    case "Unsandboxed":
      return `Bash(unsandboxed:${subject})`
    case "Fetch":
      return `WebFetch(domain:${subject})`
    case "Mcp":
      return `MCPTool(${subject})`
    case "Edit":
    case "Read":
      return `${access}(${subject})`
  }
}

/** On one line, and nothing in it moves the cursor of a terminal. */
const plain = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, (char) => (char === "\n" ? "⏎" : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`))

const lineOf = (grant: RememberedGrant): string =>
  [
    grant.id,
    grant.verdict === "allow" ? "allow" : "never",
    ruleOf(grant),
    grant.folder ?? grant.project,
    `since ${grant.grantedAt.slice(0, 10)}`,
    `last used ${grant.usedAt.slice(0, 10)}`
  ]
    .map(plain)
    .join("\t")

const NOTHING = 'Nothing is remembered. "Always" and "never" answers in your editor are listed here.'
const NOTHING_HERE = "Nothing is remembered for this project. Add --all to see the answers of every project."

const list = Command.make(
  "list",
  {
    json: jsonFlag,
    all: Flag.Boolean("all").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Of every project, not only the one of this folder"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ all, json }) {
    const root = yield* project
    const known = yield* Grants.use((grants) => grants.list).pipe(explained)
    const wanted = all ? known : known.filter((grant) => grant.project === root)
    if (wanted.length === 0) return yield* Console.error(known.length === 0 ? NOTHING : NOTHING_HERE)
    for (const grant of wanted) yield* Console.log(json ? JSON.stringify(grant) : lineOf(grant))
  }, Effect.provide(services))
).pipe(Command.withDescription("List the remembered answers of this project, the oldest first"))

const revoke = Command.make(
  "revoke",
  {
    ids: Argument.String("id").pipe(
      Argument.withDescription("As `permissions list` shows it"),
      Argument.variadic({ min: 0 })
    ),
    all: Flag.Boolean("all").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Forget every remembered answer of every project"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ all, ids }) {
    if (all && ids.length > 0) return yield* failed("Name the ids to revoke, or --all, but not both")
    if (!all && ids.length === 0) {
      return yield* failed("Name the ids to revoke, as `super-pi permissions list` shows them, or --all")
    }
    const revoked = yield* Grants.use((grants) => grants.revoke(all ? "all" : new Set(ids))).pipe(explained)
    for (const grant of revoked)
      yield* Console.log(plain(`Revoked ${ruleOf(grant)} in ${grant.folder ?? grant.project}`))
    const unknown = ids.filter((id) => !revoked.some((grant) => grant.id === id))
    if (unknown.length > 0) return yield* failed(plain(`Nothing is remembered under: ${unknown.join(", ")}`))
  }, Effect.provide(services))
).pipe(Command.withDescription("Forget remembered answers, in running agents too: the next such call asks again"))

export const permissions = Command.make("permissions").pipe(
  Command.withDescription('"Always" and "never" answers to permission questions, which are kept for each project'),
  Command.withSubcommands([list, revoke])
)
