/** The environment of commands that a model runs: the user's own, without our secrets and without anything that waits. */

export type Environment = Readonly<Record<string, string | undefined>>

const providerKeys =
  /^(?:ANTHROPIC|OPENAI|AZURE_OPENAI|GEMINI|GOOGLE|GOOGLE_GENERATIVE_AI|OPENROUTER|MISTRAL|GROQ|XAI|DEEPSEEK|TOGETHER|TOGETHER_AI|FIREWORKS|CEREBRAS|PERPLEXITY|COHERE|MOONSHOT|DASHSCOPE|ZAI|NVIDIA|HF|HUGGINGFACE|AI_GATEWAY)_(?:API_KEY|AUTH_TOKEN)$/
const ownSecrets = /^(?:SUPER_PI|SUPERCHARGE|SUPERAGENT)_\w*(?:TOKEN|SECRET|PASSWORD|KEY)$/

/** Forces colours, and would win over `NO_COLOR`. */
const colours: ReadonlySet<string> = new Set(["FORCE_COLOR", "CLICOLOR_FORCE", "COLORTERM"])

/** Nobody is there to page, to edit, to answer or to see colours. An editor that changes nothing ends at once. */
const quiet: Readonly<Record<string, string>> = {
  NO_COLOR: "1",
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0"
}

/** Shorter values are no secrets but words such as `none`, which other variables may hold too. */
const SHORTEST_SECRET = 8

/** Leaves out variables by name, and those that hold one of `secrets` under a name of the user's choice. */
export const childEnvironment = (
  environment: Environment,
  secrets: ReadonlyArray<string>
): Readonly<Record<string, string>> => {
  const hidden = new Set(secrets.filter((secret) => secret.length >= SHORTEST_SECRET))
  const kept = Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !providerKeys.test(entry[0]) &&
      !ownSecrets.test(entry[0]) &&
      !colours.has(entry[0]) &&
      !hidden.has(entry[1])
  )
  return { ...Object.fromEntries(kept), ...quiet }
}
