/** `login`: a provider, its key and a model, tried and kept. Asks for what the flags leave open where somebody can answer. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

const flag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)

export const login = Command.make(
  "login",
  {
    provider: text(
      "provider",
      "name",
      "anthropic, openai, google, openrouter, a local server such as ollama, or a name of your own"
    ),
    keyStdin: flag("key-stdin", "Read the key from standard input"),
    model: text("model", "id", "The model of new sessions"),
    baseUrl: text("base-url", "url", "Where the provider answers; a name of your own speaks the OpenAI dialect"),
    noTest: flag("no-test", "Keep it without asking the model for a word first")
  },
  Effect.fnUntraced(function* (flags) {
    const { run } = yield* Effect.promise(() => import("./login/RunLogin.ts"))
    yield* run(flags)
  })
).pipe(Command.withDescription("Choose a model provider, give its key, and try it"))
