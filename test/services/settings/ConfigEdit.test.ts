import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { type ConfigValue, removeKey, setKey } from "../../../src/services/settings/ConfigEdit.ts"

interface Example {
  readonly name: string
  readonly text: string
  readonly path: ReadonlyArray<string>
  readonly value: ConfigValue
  readonly made: string
}

const examples: ReadonlyArray<Example> = [
  { name: "an empty file", text: "", path: ["models", "default"], value: "a/b", made: '[models]\ndefault = "a/b"\n' },
  {
    name: "a value with a comment behind it",
    text: "[models] # mine\n# the usual one\ndefault = 'x/y'   # for now\n\n[ui]\n",
    path: ["models", "default"],
    value: "a/b",
    made: '[models] # mine\n# the usual one\ndefault = "a/b"   # for now\n\n[ui]\n'
  },
  {
    name: "a key of a table that is there",
    text: '[models]\n\n# Below\n[ui]\npermission_mode = "ask"\n',
    path: ["models", "default"],
    value: "a/b",
    made: '[models]\ndefault = "a/b"\n\n# Below\n[ui]\npermission_mode = "ask"\n'
  },
  {
    name: "a table beside its sisters",
    text: '[providers.one]\nkind = "openai" # one',
    path: ["providers", "two", "base_url"],
    value: "http://127.0.0.1:1/v1",
    made: '[providers.one]\nkind = "openai" # one\n\n[providers.two]\nbase_url = "http://127.0.0.1:1/v1"\n'
  },
  {
    name: "a key above every table",
    text: "# Mine\n[ui]\n",
    path: ["disabled_mcp_servers"],
    value: ["a", "b"],
    made: 'disabled_mcp_servers = ["a", "b"]\n\n# Mine\n[ui]\n'
  },
  {
    name: "an inline table",
    text: 'providers = { one = { kind = "openai" }, two = {} }\n',
    path: ["providers", "two", "kind"],
    value: "google",
    made: 'providers = { one = { kind = "openai" }, two = { kind = "google" } }\n'
  },
  {
    name: "dotted keys",
    text: 'providers.one.kind = "openai" # here\nother = 1\n',
    path: ["providers", "one", "base_url"],
    value: "http://x",
    made: 'providers.one.kind = "openai" # here\nproviders.one.base_url = "http://x"\nother = 1\n'
  },
  {
    name: "names that need quotes, and what would end a text",
    text: "",
    path: ["mcp_servers", "a b", "env", 'K"'],
    value: 'x"\n\u007f',
    made: '[mcp_servers."a b".env]\n"K\\"" = "x\\"\\n\\u007f"\n'
  },
  {
    name: "a file of another system",
    text: "[ui]\r\nx = 1\r\n",
    path: ["models", "default"],
    value: "a/b",
    made: '[ui]\r\nx = 1\r\n\r\n[models]\r\ndefault = "a/b"\r\n'
  }
]

describe("ConfigEdit", () => {
  for (const { made, name, path, text, value } of examples) {
    it(`sets a key: ${name}`, () => {
      assert.deepStrictEqual(setKey(text, path, value), Result.succeed(made))
    })
  }

  it("changes nothing where the value is there already, however it is written", () => {
    const text = "[models]\ndefault = 'a/b'\n"
    assert.deepStrictEqual(setKey(text, ["models", "default"], "a/b"), Result.succeed(text))
  })

  it("removes a key, and leaves what stands around it", () => {
    const text = '[providers.one]\n# the key\napi_key = "x" # secret\nkind = "openai"\n'
    const made = '[providers.one]\n# the key\nkind = "openai"\n'
    assert.deepStrictEqual(removeKey(text, ["providers", "one", "api_key"]), Result.succeed(made))
    const inline = 'providers = { one = { api_key = "x", kind = "openai" } }\n'
    const rest = 'providers = { one = { kind = "openai" } }\n'
    assert.deepStrictEqual(removeKey(inline, ["providers", "one", "api_key"]), Result.succeed(rest))
    assert.deepStrictEqual(removeKey(made, ["providers", "one", "api_key"]), Result.succeed(made))
  })

  it("refuses what it cannot do without taking something away, and never repeats a value", () => {
    for (const text of ['models = "sk-0123456789"\n', "[models\nsk-0123456789 = \n", "[[models]]\na = 1\n"]) {
      const made = setKey(text, ["models", "default"], "sk-9876543210")
      assert.isTrue(Result.isFailure(made), text)
      assert.notMatch(Result.isFailure(made) ? made.failure : "", /sk-/)
    }
  })
})
