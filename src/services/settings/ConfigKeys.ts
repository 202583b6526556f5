/** Every key of the configuration: what it takes, what it is for, and what holds without it. Nothing else defines one. */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { PermissionRuleTable } from "../../domain/permission/PermissionRule.ts"
import { ExecutionMode } from "../../domain/permission/ExecutionMode.ts"
import { ModeName } from "../../domain/permission/ModeName.ts"
import { SandboxProfile } from "../../domain/sandbox/Profile.ts"
import type { FsDelegation, ProviderKind } from "../Settings.ts"
import { baseUrlExpected, parseBaseUrl } from "./BaseUrl.ts"
import { type ConfigKey, configKey, described, optional } from "./ConfigKey.ts"

const oneOf = (values: ReadonlyArray<string>) => `one of ${values.map((value) => `"${value}"`).join(", ")}`

const yesOrNo = "true or false without quotes"

const text = Schema.NonEmptyString
const secret = Schema.RedactedFromValue(Schema.Trim.check(Schema.isNonEmpty()))
const secrets = Schema.Record(Schema.String, Schema.RedactedFromValue(Schema.String))
const seconds = Schema.Finite.check(Schema.isGreaterThan(0))
const tokens = Schema.Int.check(Schema.isGreaterThan(0))
const httpAddress = Schema.String.check(Schema.isPattern(/^https?:\/\/[^\s/]+/))

const isMatcher = (pattern: string): boolean =>
  pattern === "*" || Result.isSuccess(Result.try(() => new RegExp(pattern)))

export const kinds: ReadonlyArray<ProviderKind> = ["anthropic", "openai", "google", "openai-compatible"]
const delegations: ReadonlyArray<FsDelegation> = ["unsaved_only", "never", "always"]

/** From the least to the most. */
export const effortNames = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]

export const models = {
  default: configKey(Schema.Trim.check(Schema.isPattern(/^[^\s/]+\/\S+$/)), {
    about: "The model of new sessions; without it, the first model of the first provider.",
    expected: 'provider/model, such as "anthropic/claude-sonnet-5"'
  }),
  default_reasoning_effort: configKey(Schema.Literals(effortNames), {
    about: "The reasoning effort of new sessions, where their model has it.",
    expected: oneOf(effortNames)
  })
}

const dollars = (of: string, without: string) =>
  configKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)), {
    about: `US dollars per million tokens of ${of}; without it, ${without}.`,
    expected: "a number of US dollars per million tokens",
    otherwise: "it counts as 0"
  })

export const model = {
  id: configKey(text.check(Schema.isPattern(/^\S{1,200}$/)), {
    about: "The id that the endpoint knows. It may contain slashes.",
    expected: "the id of a model, a text without spaces"
  }),
  name: configKey(text.check(Schema.isPattern(/^[^\p{Cc}]{1,100}$/u)), {
    about: "How it is shown; without it, what is known of the model, else its id.",
    expected: "a text on one line"
  }),
  context_window: configKey(tokens, {
    about: "Tokens of a request and its answer; without it, what is known of the model, else 128000.",
    expected: "a whole number of tokens without quotes, such as 128000"
  }),
  output_limit: configKey(tokens, {
    about: "Tokens of the longest answer. It is shown, and bounds nothing.",
    expected: "a whole number of tokens without quotes, such as 32000"
  }),
  image: configKey(Schema.Boolean, {
    about: "Whether it takes images; without it, what is known of the model, else false.",
    expected: yesOrNo
  }),
  efforts: configKey(Schema.Array(text), {
    about: "The levels of reasoning effort that can be chosen; without it, what is known of the model, else none.",
    expected: 'a list of texts, such as ["low", "high"]'
  })
}

export const price = {
  input: dollars("a request", "0"),
  output: dollars("an answer", "0"),
  cache_read: dollars("a request that came from the cache", "the same as input"),
  cache_write: dollars("a request that went into the cache", "the same as input")
}

const modelItem = Schema.Union([
  model.id.schema,
  Schema.Struct({
    ...optional(model),
    id: described(model.id),
    price: Schema.optionalKey(Schema.Struct(optional(price)))
  })
]).annotate({ identifier: "Model" })

const decodeText = Schema.decodeUnknownOption(text)

export const provider = {
  kind: configKey(Schema.Literals(kinds), {
    about: "The dialect that the endpoint speaks; a provider that is named like one of the first three needs none.",
    expected: oneOf(kinds)
  }),
  base_url: {
    ...configKey(text, {
      about: "Where requests go; without it, the public endpoint of the kind.",
      expected: baseUrlExpected
    }),
    decode: (value: unknown) =>
      Option.flatMap(decodeText(value), (address) => Option.fromUndefinedOr(parseBaseUrl(address)))
  } satisfies ConfigKey<string>,
  api_key: configKey(secret, {
    about: "The key itself. `super-pi login` keeps it apart from this file, and api_key_env out of every file.",
    expected: "the key as a text in double quotes",
    isSecret: true
  }),
  api_key_env: configKey(text.check(Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_]*$/)), {
    about: "The environment variable that holds the key.",
    expected: "the name of an environment variable, such as MY_PROVIDER_KEY; a key itself belongs into api_key"
  }),
  models: configKey(Schema.Union([modelItem, Schema.Array(modelItem)]), {
    about: "Models that can be chosen beside the well-known ones of the kind: ids, or tables.",
    expected: 'a list of ids, such as ["qwen"], or of tables with an id'
  })
}

export const acp = {
  fs_delegation: configKey(Schema.Literals(delegations), {
    about: "Whether files are read from the editor, with their unsaved changes, or from the disk.",
    expected: oneOf(delegations),
    without: "unsaved_only"
  })
}

const rule = 'a rule in double quotes, such as "Bash(git status)"'

/** A rule of one of the lists; what it says is checked by whoever reads it. */
export const permissionRule = configKey(text, { about: "A rule.", expected: rule })

const rules = (about: string) => configKey(Schema.Union([text, Schema.Array(text)]), { about, expected: rule })

export const permission = {
  allow: rules("Rules for what runs without a question."),
  ask: rules("Rules for what asks, whatever is allowed."),
  deny: rules("Rules for what never runs, in any mode."),
  rules: configKey(Schema.Array(PermissionRuleTable), {
    about: 'The same as tables, such as { action = "deny", tool = "bash", pattern = "rm *" }.',
    expected: 'a rule such as { action = "deny", tool = "bash", pattern = "rm *" }'
  })
}

// What a person wrote to protect the machine must not stop protecting it because of a spelling mistake.
export const sandbox = {
  profile: configKey(SandboxProfile, {
    about: "How closely commands are confined; without it, workspace where the system can enforce it.",
    expected: oneOf(SandboxProfile.literals),
    otherwise: 'the profile is "strict" until this is corrected',
    unreadable: "strict"
  })
}

export const bash = {
  timeout_secs: configKey(seconds, {
    about: "Seconds after which a command that names no time of its own is ended.",
    expected: "a number of seconds",
    otherwise: "it is 120",
    without: 120
  }),
  process_limit: configKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 })), {
    about: "Processes that one command may have at a time.",
    expected: "a whole number of processes",
    otherwise: "it is 512",
    without: 512
  })
}

export const webFetch = {
  allowed_domains: configKey(Schema.Array(text), {
    about: "Nothing but these domains and what lies below them is fetched.",
    expected: 'a list of domains, such as ["example.org"]',
    otherwise: "nothing can be fetched until this is corrected",
    unreadable: []
  }),
  allow_local: configKey(Schema.Boolean, {
    about: "Whether addresses of this machine and of private networks may be fetched.",
    expected: yesOrNo,
    otherwise: "it is false",
    without: false
  })
}

export const tools = {
  respect_gitignore: configKey(Schema.Boolean, {
    about: "Whether searches leave out what .gitignore names.",
    expected: yesOrNo,
    otherwise: "it is true",
    without: true
  })
}

export const agent = {
  harness: configKey(text, {
    about: "The kind of agent of sessions that name none.",
    expected: 'the id of a harness, such as "super-pi-code"',
    without: "super-pi-code"
  })
}

export const ui = {
  permission_mode: configKey(ModeName, {
    about: "The mode of new sessions.",
    expected: oneOf(ExecutionMode.literals),
    otherwise: 'it is "ask"',
    without: "ask"
  }),
  remember_tool_approvals: configKey(Schema.Boolean, {
    about: "Whether questions offer answers that are remembered.",
    expected: yesOrNo,
    otherwise: "answers are not remembered",
    unreadable: false,
    without: true
  })
}

export const folderTrust = {
  enabled: configKey(Schema.Boolean, {
    about: "Whether a project's own hooks, servers, choices and allow rules need your trust.",
    expected: yesOrNo,
    otherwise: "it is true",
    without: true
  })
}

export const mcpServer = {
  command: configKey(text, {
    about: "The program to start. A server has this or a url.",
    expected: "the program of the server",
    otherwise: "the server is left out"
  }),
  args: configKey(Schema.Array(Schema.String), {
    about: "Its arguments.",
    expected: 'a list of texts, such as ["-y", "package"]'
  }),
  env: configKey(secrets, {
    about: "Variables of its environment.",
    expected: 'a table of texts, such as { NAME = "value" }',
    isSecret: true
  }),
  // One that begins with a variable shows what it is when the server is connected.
  url: configKey(Schema.String.check(Schema.isPattern(/^(?:https?:\/\/[^\s/]+|\$\{)/)), {
    about: "The address of a server that is reached by HTTP.",
    expected: 'an address, such as "https://example.org/mcp"',
    otherwise: "the server is left out"
  }),
  type: configKey(Schema.Literals(["stdio", "http", "streamable-http", "sse"]), {
    about: "The transport of a url; without it, http.",
    expected: '"stdio", "http" or "sse"'
  }),
  headers: configKey(secrets, {
    about: "Sent with each request.",
    expected: 'a table of texts, such as { NAME = "value" }',
    isSecret: true
  }),
  enabled: configKey(Schema.Boolean, {
    about: "Whether it is used; without it, true.",
    expected: yesOrNo,
    otherwise: "the server is left out"
  }),
  startup_timeout_sec: configKey(seconds, {
    about: "Seconds that the server may take to get ready.",
    expected: "a number of seconds"
  }),
  tool_timeout_sec: configKey(seconds, {
    about: "Seconds that one call may take; without it, ten minutes without progress, and four hours in all.",
    expected: "a number of seconds"
  }),
  tool_timeouts: configKey(Schema.Record(Schema.String, seconds), {
    about: "Seconds by tool, for those that differ.",
    expected: "a table of seconds by tool, such as { slow_tool = 900 }"
  })
}

export const mcp = {
  max_output_bytes: configKey(Schema.Int.check(Schema.isGreaterThan(0)), {
    about: "Bytes of a result that the model gets; the rest is kept in a file.",
    expected: "a whole number of bytes",
    otherwise: "it is 20000",
    without: 20_000
  })
}

const serverName = "the name of a server in double quotes"

/** One of `disabled_mcp_servers`. */
export const disabledServer = configKey(text, { about: "A server that is not used.", expected: serverName })

export const disabledServers = configKey(Schema.Union([text, Schema.Array(text)]), {
  about: "Servers that are not used, in no project either.",
  expected: serverName
})

export const hook = {
  type: configKey(Schema.Literals(["command", "http"]), {
    about: "What it is; without it, http where there is a url.",
    expected: '"command" or "http"'
  }),
  command: configKey(text, { about: "Run by the shell.", expected: 'a command, such as "./check.sh"' }),
  url: configKey(httpAddress, {
    about: "Where the event is sent.",
    expected: 'an address, such as "http://127.0.0.1:9000/hook"'
  }),
  timeout: configKey(seconds, { about: "Seconds that it may take.", expected: "a number of seconds" }),
  advisory: configKey(Schema.Boolean, {
    about: "Whether the call goes on where the hook fails.",
    expected: yesOrNo,
    otherwise: "the hook is not advisory"
  }),
  env: configKey(secrets, {
    about: "Variables of its environment.",
    expected: 'a table of texts, such as { MODE = "strict" }',
    isSecret: true
  })
}

/** A pattern that is none would fit no tool, and the hook would guard nothing. */
export const matcher = configKey(Schema.String.check(Schema.makeFilter(isMatcher)), {
  about: "The tools that it hears of; without it, all.",
  expected: 'the name of a tool or a pattern of names, such as "Bash|Edit"',
  otherwise: "until then the hook hears of every tool"
})

export const remote = {
  execution_mode_ceiling: configKey(ExecutionMode, {
    about: "The highest mode that a client can choose over anything but stdio.",
    expected: oneOf(ExecutionMode.literals),
    otherwise: 'the ceiling is "ask" until this is corrected',
    unreadable: "ask",
    without: "accept-edits"
  }),
  grace_seconds: configKey(Schema.Natural, {
    about:
      "Seconds that a turn goes on while no client watches it, over anything but stdio; without it, until it ends.",
    expected: "a whole number of seconds",
    otherwise: "turns go on until they end"
  })
}

export const relay = {
  url: configKey(Schema.String.check(Schema.isPattern(/^wss?:\/\/[^\s/]+/)), {
    about: "The relay through which `super-pi agent headless` is reached.",
    expected: 'the address of a relay, such as "wss://relay.example.org/agent"',
    otherwise: "there is no relay until this is corrected"
  }),
  token: configKey(Schema.RedactedFromValue(text), {
    about: "What the agent shows to the relay.",
    expected: "the token of the relay in double quotes",
    otherwise: "it is ignored",
    isSecret: true
  }),
  origin: configKey(Schema.String.check(Schema.isPattern(/^https?:\/\/[^\s/]+$/)), {
    about: "The Origin header of the handshake.",
    expected: 'an origin, such as "https://example.org"',
    otherwise: "it is ignored"
  })
}

export const auth = {
  required: configKey(Schema.Boolean, {
    about: "Whether a client needs a gateway token before it can open sessions.",
    expected: yesOrNo,
    otherwise: "signing in is required until this is corrected",
    unreadable: true,
    without: false
  })
}

export const cli = {
  use_leader: configKey(Schema.Boolean, {
    about: "Whether editors that start the agent over stdio share one.",
    expected: yesOrNo,
    otherwise: "each editor has an agent of its own",
    without: false
  })
}
