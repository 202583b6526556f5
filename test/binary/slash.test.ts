/** Commands, plugins and prompts of MCP servers of the program as it is installed. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { put } from "../support/commands.ts"
import { reference } from "../support/mcp/session.ts"
import { descendants } from "../support/Processes.ts"
import { folder, node, run } from "../support/Program.ts"
import { eventually, newSession, open, turn } from "../support/Probe.ts"
import type { RawAgent } from "../support/RawAgent.ts"
import { at } from "../support/Schema.ts"
import { callsOf, mark, ofKind, shownBy, textOf, updatesOf } from "../support/Updates.ts"

const namesIn = (agent: RawAgent, session: string): ReadonlyArray<string> => {
  const list = at(ofKind(updatesOf(agent, session), "available_commands_update").at(-1), "availableCommands")
  return Array.isArray(list) ? list.map((command) => String(at(command, "name"))) : []
}

const told = (agent: RawAgent, session: string, name: string, isThere = true) =>
  agent.until(`the command ${name} is ${isThere ? "" : "not "}told`, () =>
    namesIn(agent, session).includes(name) === isThere && namesIn(agent, session).length > 0 ? true : undefined
  )

const said = Effect.fnUntraced(function* (agent: RawAgent, session: string, words: string) {
  const from = mark(agent)
  assert.strictEqual(yield* turn(agent, session, words), "end_turn")
  return textOf(updatesOf(agent, session, from))
})

const echo = { again: true, parts: [{ text: "Heard: " }, { echo: true }] } as const

describe("slash commands of the program", () => {
  it.live("come from files, plugins and MCP servers, are told when they change, and a plugin's hook forbids", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const plugin = join(yield* folder, "tools")
      put(join(plugin, "commands/go.md"), "---\ndescription: Go\n---\nGo to $1.")
      put(join(plugin, "skills/ship/SKILL.md"), "---\ndescription: Ship it\n---\nShip $ARGUMENTS.")
      put(join(plugin, "deny.sh"), '#!/bin/sh\necho "not from $CLAUDE_PLUGIN_ROOT" >&2\nexit 2\n')
      put(
        join(plugin, "hooks/hooks.json"),
        JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", command: 'sh "$CLAUDE_PLUGIN_ROOT/deny.sh"' }] } })
      )
      put(
        join(plugin, ".mcp.json"),
        JSON.stringify({ mcpServers: { every: { command: node, args: [reference("everything"), "stdio"] } } })
      )
      const agent = yield* open({
        args: ["--yolo", "--plugin-dir", plugin],
        steps: [{ when: "run it", parts: [{ tool: { name: "bash", input: { command: "touch made" } } }] }, echo]
      })
      const session = yield* newSession(agent, place)
      yield* told(agent, session, "mcp__every__args-prompt")
      assert.includeMembers([...namesIn(agent, session)], ["help", "tools:go", "tools:ship"])
      assert.strictEqual(yield* said(agent, session, "/tools:go 'the end'"), "Heard: Go to the end.")
      assert.match(yield* said(agent, session, "/tools:ship it"), /^Heard: <skill name="tools:ship"[^]*\nShip it\./)
      assert.match(
        yield* said(agent, session, "/mcp__every__args-prompt 'New York' state=NY"),
        /^Heard: .*weather in New York, NY/
      )
      assert.match(
        yield* said(agent, session, "/mcp__every__args-prompt"),
        /^Type `\/mcp__every__args-prompt <city> \[state\]`/
      )
      yield* said(agent, session, "run it")
      const [call] = callsOf(updatesOf(agent, session))
      assert.strictEqual(call?.latest["status"], "failed")
      assert.include(shownBy(call?.latest ?? {}), `not from ${plugin}`)

      const fresh = join(place, ".supercharge/commands/fresh.md")
      put(fresh, "Fresh")
      yield* told(agent, session, "fresh")
      assert.strictEqual(yield* said(agent, session, "/fresh"), "Heard: Fresh")
      yield* agent.closeInput
      assert.strictEqual(yield* agent.ended, 0)
      yield* eventually("no server is left", () => descendants(agent.pid).length === 0)
    })
  )

  it.live("a plugin folder that is not there ends the program before anything is served", () =>
    Effect.gen(function* () {
      for (const args of [
        ["acp", "--plugin-dir", "/nowhere/tools"],
        ["agent", "--plugin-dir", "/nowhere/tools", "stdio"]
      ]) {
        const { end, stderr, stdout } = yield* run(args)
        assert.deepStrictEqual([end, stdout], [1, ""])
        assert.include(stderr, "--plugin-dir /nowhere/tools: /nowhere/tools is not a folder")
      }
      const late = yield* run(["agent", "stdio", "--plugin-dir", "/tmp"])
      assert.strictEqual(late.end, 2)
      assert.include(late.stderr, "write super-pi agent --plugin-dir … stdio")
    })
  )
})
