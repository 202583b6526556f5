/** `token create`, `list` and `revoke`: who may use an agent that asks for a gateway token. */
import * as Argument from "effect/cli/Argument"
import type * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { TokenStore } from "../services/auth/TokenStore.ts"
import { tokenStore } from "../composition/Platform.ts"
import { explained } from "./Explained.ts"
import { jsonFlag } from "./JsonFlag.ts"

/** Runs against the token store. What goes wrong there is a sentence for the person at the terminal. */
const withStore = <A, E extends { readonly message: string }>(
  use: (store: TokenStore["Service"]) => Effect.Effect<A, E>
): Effect.Effect<A, CliError.UserError> => TokenStore.use(use).pipe(explained, Effect.provide(tokenStore))

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(
      Argument.withDescription('Tells this token from others; "editor" unless given'),
      Argument.withDefault("editor")
    )
  },
  Effect.fnUntraced(function* ({ name }) {
    const { id, token } = yield* withStore((store) => store.create(name))
    yield* Console.log(Redacted.value(token))
    yield* Console.error(
      `This is token ${id}, and it is shown this once. An editor passes it on as SUPER_PI_GATEWAY_TOKEN.`
    )
  })
).pipe(Command.withDescription("Make a gateway token; stdout has the token alone"))

const list = Command.make(
  "list",
  { json: jsonFlag },
  Effect.fnUntraced(function* ({ json }) {
    const tokens = yield* withStore((store) => store.list)
    if (tokens.length === 0) return yield* Console.error("There is no token. Make one with: super-pi token create NAME")
    for (const { createdAt, id, lastUsedAt, name } of tokens) {
      if (json) yield* Console.log(JSON.stringify({ id, name, createdAt, lastUsedAt }))
      else yield* Console.log([id, name, `created ${createdAt}`, `last used ${lastUsedAt ?? "never"}`].join("\t"))
    }
  })
).pipe(Command.withDescription("List the gateway tokens, the oldest first; the tokens themselves are not kept"))

const revoke = Command.make(
  "revoke",
  { id: Argument.String("id").pipe(Argument.withDescription("As `token list` shows it")) },
  Effect.fnUntraced(function* ({ id }) {
    yield* withStore((store) => store.revoke(id))
    yield* Console.log(`Token ${id} is refused from now on`)
  })
).pipe(Command.withDescription("Refuse a gateway token from now on, in running agents too"))

export const token = Command.make("token").pipe(
  Command.withDescription("Gateway tokens, for an agent whose configuration has [auth] required = true"),
  Command.withSubcommands([create, list, revoke])
)
