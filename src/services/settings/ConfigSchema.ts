/** The whole of `config.toml` as one schema, made of its keys: for editors, and for whoever names a key in words. */
import * as Schema from "effect/Schema"
import { HookEvent } from "../../domain/Hook.ts"
import { type ConfigKey, described, optional } from "./ConfigKey.ts"
import * as keys from "./ConfigKeys.ts"

/** Keys of a table, tables below it, and tables of any name. */
export interface Shape {
  readonly [name: string]:
    | ConfigKey<unknown>
    | { readonly table: Shape }
    | { readonly each: Shape; readonly about: string }
}

export const isKey = (part: Shape[string]): part is ConfigKey<unknown> => "decode" in part

/** Without hooks, which are lists of tables and have no place that could be named. */
export const shape: Shape = {
  disabled_mcp_servers: keys.disabledServers,
  models: { table: keys.models },
  providers: { each: keys.provider, about: "Providers, by the name that model ids begin with." },
  acp: { table: keys.acp },
  permission: { table: keys.permission },
  sandbox: { table: keys.sandbox },
  toolset: { table: { bash: { table: keys.bash }, web_fetch: { table: keys.webFetch } } },
  tools: { table: keys.tools },
  agent: { table: keys.agent },
  ui: { table: keys.ui },
  folder_trust: { table: keys.folderTrust },
  mcp_servers: { each: keys.mcpServer, about: "MCP servers of every session, by name." },
  mcp: { table: keys.mcp },
  remote: { table: keys.remote },
  relay: { table: keys.relay },
  auth: { table: keys.auth },
  cli: { table: keys.cli }
}

/** The key of a path, such as `["providers", "local", "base_url"]`. */
export const keyAt = (path: ReadonlyArray<string>, within: Shape = shape): ConfigKey<unknown> | undefined => {
  const [name = "", ...rest] = path
  const part = Object.hasOwn(within, name) ? within[name] : undefined
  if (part === undefined) return undefined
  if (isKey(part)) return rest.length === 0 ? part : undefined
  return "table" in part ? keyAt(rest, part.table) : keyAt(rest.slice(1), part.each)
}

/** Every key by its path, with `<name>` for a name that is the person's. */
export const keyPaths = (within: Shape = shape): ReadonlyArray<readonly [path: string, key: ConfigKey<unknown>]> =>
  Object.entries(within).flatMap(([name, part]): ReadonlyArray<readonly [string, ConfigKey<unknown>]> => {
    if (isKey(part)) return [[name, part]]
    const [prefix, inner] = "table" in part ? [name, part.table] : [`${name}.<name>`, part.each]
    return keyPaths(inner).map(([path, key]) => [`${prefix}.${path}`, key])
  })

/** Words that belong to the format: no value of a person hides behind one of them. */
export const configWords: ReadonlySet<string> = new Set([
  ...keyPaths().flatMap(([path]) => path.split(".")),
  ...[keys.model, keys.price, keys.hook].flatMap((table) => Object.keys(table)),
  "price",
  "hooks",
  "matcher",
  "action",
  "tool",
  "pattern",
  "true",
  "false"
])

type Fields = Record<string, Schema.Top>

const fieldsOf = (within: Shape): Fields =>
  Object.fromEntries(
    Object.entries(within).map(([name, part]): [string, Schema.Top] => {
      if (isKey(part)) return [name, Schema.optionalKey(described(part))]
      if ("table" in part) return [name, Schema.optionalKey(Schema.Struct(fieldsOf(part.table)))]
      return [
        name,
        Schema.optionalKey(
          Schema.Record(Schema.String, Schema.Struct(fieldsOf(part.each))).annotate({ description: part.about })
        )
      ]
    })
  )

/** A hook alone may stand without brackets. */
const oneOrMore = (schema: Schema.Top) => Schema.Union([schema, Schema.Array(schema)])

const hook = optional(keys.hook)
const matcher = { matcher: Schema.optionalKey(described(keys.matcher)) }
const hookEntry = Schema.Union([
  Schema.Struct({ ...matcher, hooks: oneOrMore(Schema.Struct(hook)) }),
  Schema.Struct({ ...matcher, ...hook })
]).annotate({ identifier: "Hook" })

/** What the file may say. The reader is more patient: a value that does not fit costs only itself. */
export const ConfigDocument = Schema.Struct({
  ...fieldsOf(shape),
  hooks: Schema.optionalKey(
    Schema.Struct(
      Object.fromEntries(HookEvent.literals.map((event) => [event, Schema.optionalKey(oneOrMore(hookEntry))]))
    )
  )
})

/** The same as JSON Schema, for editors that complete TOML by one. */
export const jsonSchema = () => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(ConfigDocument)
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of Super-Pi",
    description: "config.toml of the home folder, ~/.supercharge",
    ...schema,
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions })
  }
}
