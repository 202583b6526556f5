import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Plan, plan, startsAgent } from "../../../src/cli/setup/AgentEntry.ts"
import { editors, entryText } from "../../../src/cli/setup/Editors.ts"

const launch = { command: "/opt/bin/super-pi", args: ["acp"] }
const { zed } = editors
const wanted =
  zed.kind === "file"
    ? { ...zed.wanted, launch, isSameCommand: (command: string) => [launch.command, "super-pi"].includes(command) }
    : assert.fail("no file")

const planned = (text: string): Plan => Result.getOrThrow(plan(text, wanted))

const ENTRY = `"Super-Pi": {
      "type": "custom",
      "command": "/opt/bin/super-pi",
      "args": ["acp"],
      "env": {}
    }`

/** What people have, and what it becomes. */
const fixtures: ReadonlyArray<readonly [name: string, before: string, after: string]> = [
  ["no file", "", `{\n  "agent_servers": {\n    ${ENTRY}\n  }\n}\n`],
  [
    "comments and commas at the end",
    `// Zed settings\n{\n  // bigger\n  "buffer_font_size": 15, // px\n  "theme": {\n    "mode": "dark", /* always */\n  },\n}\n`,
    `// Zed settings\n{\n  // bigger\n  "buffer_font_size": 15, // px\n  "theme": {\n    "mode": "dark", /* always */\n  },\n  "agent_servers": {\n    ${ENTRY}\n  },\n}\n`
  ],
  [
    "other agents, the last without a comma",
    `{\n  "agent_servers": {\n    // mine\n    "Other": { "command": "other" } // keep\n  },\n  "vim_mode": true\n}`,
    `{\n  "agent_servers": {\n    // mine\n    "Other": { "command": "other" }, // keep\n    ${ENTRY}\n  },\n  "vim_mode": true\n}`
  ],
  [
    "tabs",
    `{\n\t"agent_servers": {},\n}\n`,
    `{\n\t"agent_servers": {\n\t\t${ENTRY.replaceAll("      ", "\t\t\t").replace("    }", "\t\t}")}\n\t},\n}\n`
  ],
  [
    "line ends of Windows and a byte order mark",
    `\u{feff}{\r\n  "vim_mode": true\r\n}\r\n`,
    `\u{feff}{\r\n  "vim_mode": true,\r\n  "agent_servers": {\r\n    ${ENTRY.replaceAll("\n", "\r\n")}\r\n  }\r\n}\r\n`
  ],
  [
    "everything on one line",
    `{"vim_mode":true}`,
    `{"vim_mode":true, "agent_servers": { "Super-Pi": { "type": "custom", "command": "/opt/bin/super-pi", "args": ["acp"], "env": {} } }}`
  ],
  [
    "the terminal program in place of the agent",
    `{\n  "agent_servers": {\n    "Mine": { "command": "super-pi", "args": [], "env": { "KEY": "1" } }\n  }\n}`,
    `{\n  "agent_servers": {\n    "Mine": { "command": "super-pi", "args": ["acp"], "env": { "KEY": "1" } }\n  }\n}`
  ],
  [
    "a program that has moved, under the other name, with flags that are kept",
    `{ "agent_servers": { "Supercharge": { "command": "/old/supercharge", "args": ["agent", "--model", "a/b", "stdio"] } } }`,
    `{ "agent_servers": { "Supercharge": { "command": "/opt/bin/super-pi", "args": ["agent", "--model", "a/b", "stdio"] } } }`
  ],
  [
    "no arguments at all",
    `{\n  "agent_servers": {\n    "Super-Pi": {\n      "command": "super-pi", // from PATH\n    },\n  },\n}`,
    `{\n  "agent_servers": {\n    "Super-Pi": {\n      "command": "super-pi", // from PATH\n      "args": ["acp"],\n    },\n  },\n}`
  ],
  [
    "the name for something else",
    `{\n  "agent_servers": {\n    "Super-Pi": { "type": "registry" }\n  }\n}`,
    `{\n  "agent_servers": {\n    "Super-Pi": { "type": "custom", "command": "/opt/bin/super-pi", "args": ["acp"], "env": {} }\n  }\n}`
  ]
]

describe("the entry in an editor's settings", () => {
  for (const [name, before, after] of fixtures) {
    it(`is right for: ${name}`, () => {
      assert.strictEqual(planned(before).text, after)
      assert.notStrictEqual(planned(before).kind, "unchanged")
    })

    it(`is written once for: ${name}`, () => {
      const again = planned(after)
      assert.deepStrictEqual([again.kind, again.text], ["unchanged", after])
    })
  }

  it("is left alone where it works, whatever its name, variables and flags", () => {
    const text = `{ "agent_servers": { "π": { "command": "super-pi", "args": ["acp", "--model", "a/b"], "env": { "A": "b" } } } }`
    assert.deepStrictEqual(planned(text), { kind: "unchanged", name: "π", text })
  })

  it.each([
    ["/usr/bin/node", ["/opt/bin/super-pi", "acp"]],
    ["npx", ["-y", "super-pi@0.0.1", "acp"]],
    ["/home/me/wrapped.sh", ["acp"]]
  ])("is left alone where %s runs the program", (command, args) => {
    const text = JSON.stringify({ agent_servers: { "Super-Pi": { command, args } } })
    assert.deepStrictEqual(planned(text), { kind: "unchanged", name: "Super-Pi", text })
  })

  it("is set right as a whole where another program runs one that is no longer there", () => {
    const text = JSON.stringify({ agent_servers: { mine: { command: "node", args: ["/old/super-pi", "acp"] } } })
    assert.deepStrictEqual(JSON.parse(planned(text).text), { agent_servers: { mine: launch } })
  })

  it.each([
    ['{ "agent_servers": [] }', "agent_servers that is not an object"],
    ["[]", "is not a JSON object"],
    ['{ "a": 1\n "b": 2 }', "is not JSON at line 2, column 2: a comma"]
  ])("is not written into %s", (text, why) => {
    assert.include(Result.getOrThrow(Result.flip(plan(text, wanted))), why)
  })

  it.effect.prop(
    "is there after one change, and a second changes nothing",
    [
      Schema.Struct({
        agent_servers: Schema.Record(Schema.String, Schema.Json),
        other: Schema.Json,
        indent: Schema.Literals(["", "  ", "\t"])
      })
    ],
    ([{ indent, ...settings }]) =>
      Effect.sync(() => {
        const before = JSON.stringify(settings, undefined, indent)
        const first = planned(before)
        const second = planned(first.text)
        assert.deepStrictEqual([second.kind, second.text, second.name], ["unchanged", first.text, first.name])
        const after = JSON.parse(first.text)
        const { [first.name]: entry, ...others } = after.agent_servers
        const { [first.name]: _, ...kept } = JSON.parse(before).agent_servers
        assert.deepStrictEqual(others, kept)
        assert.deepStrictEqual(after.other, JSON.parse(before).other)
        assert.isTrue(startsAgent(entry.args))
      })
  )

  it("starts the agent and not the program for people", () => {
    assert.deepStrictEqual(
      [["acp"], ["agent", "stdio"], ["-y", "super-pi", "acp"], [], ["agent"], ["-p", "x"]].map(startsAgent),
      [true, true, true, false, false, false]
    )
  })

  it("is shown as it is written", () => {
    assert.strictEqual(zed.kind === "file" ? `${entryText(zed, launch)}\n` : "", fixtures[0]?.[2])
  })
})
