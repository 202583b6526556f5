import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { McpSpec, Pair } from "../../../src/domain/McpSpec.ts"
import { expandServer } from "../../../src/services/mcp/Expansion.ts"
import { describeServers } from "../../../src/services/mcp/McpDescription.ts"
import { parseServerFile } from "../../../src/services/settings/McpSection.ts"
import { begin, call, connectWith, http, manager, modelKey, oddFile, stdio } from "../../support/mcp/session.ts"
import { serveRaw, polite } from "../../support/mcp/hostile.ts"

const environment = { TOKEN: "t0k3n-of-ada", HOST: "https://tracker.example.com", BIN: "/opt/bin", EMPTY: "" }

/** As text, secrets included. */
const plain = (spec: McpSpec) => {
  const texts = (given: ReadonlyArray<Pair>) => given.map(({ name, value }) => `${name}=${Redacted.value(value)}`)
  return spec._tag === "Stdio" ? [spec.command, ...spec.args, ...texts(spec.env)] : [spec.url, ...texts(spec.headers)]
}

const fileOf = (server: object) =>
  Result.getOrThrow(parseServerFile(JSON.stringify({ mcpServers: { mine: server } }), "/p/.mcp.json"))

const expanded = (server: object, origin: "project" | "client" = "project") => {
  const [found] = fileOf(server).servers
  assert.isDefined(found, JSON.stringify(fileOf(server).warnings))
  return expandServer({ ...found, origin }, environment)
}

describe("the servers of settings", () => {
  it("read the environment in every field that says how to reach them", () => {
    const local = expanded({
      command: "${BIN}/server",
      args: ["--token", "${TOKEN}", "${MODE:-fast}"],
      env: { AUTH: "Bearer ${TOKEN}", ODD: "${EMPTY:-none}" }
    })
    assert.deepStrictEqual(plain(local.spec), [
      "/opt/bin/server",
      "--token",
      "t0k3n-of-ada",
      "fast",
      "AUTH=Bearer t0k3n-of-ada",
      "ODD=none"
    ])
    const remote = expanded({ url: "${HOST}/mcp", headers: { Authorization: "Bearer ${env:TOKEN}" } })
    assert.deepStrictEqual(plain(remote.spec), ["https://tracker.example.com/mcp", "Authorization=Bearer t0k3n-of-ada"])
    assert.isUndefined(local.problem ?? remote.problem)
    assert.sameMembers(
      [...local.read, ...remote.read].map(({ name }) => name),
      ["BIN", "TOKEN", "TOKEN", "HOST", "TOKEN"]
    )
  })

  it("that the client names are meant as they are written", () => {
    const { read, spec } = expanded({ command: "${BIN}", args: ["${NOT_SET}"] }, "client")
    assert.deepStrictEqual([plain(spec), read], [["${BIN}", "${NOT_SET}"], []])
  })

  for (const [server, field] of [
    [{ command: "${NOT_SET}/x" }, "command"],
    [{ command: "x", args: ["a", "${NOT_SET}"] }, "args[1]"],
    [{ command: "x", env: { TOKEN: "${NOT_SET}" } }, "env.TOKEN"],
    [{ url: "${NOT_SET}/mcp" }, "url"],
    [{ url: "https://example.org/mcp", headers: { "X-Key": "${NOT_SET}" } }, "headers.X-Key"]
  ] as const) {
    it(`are not started without a variable in ${field}, and that is told with its place`, () => {
      assert.strictEqual(
        expanded(server).problem,
        `was not started: /p/.mcp.json: mcpServers.mine.${field} reads the variable NOT_SET, which is not set. ` +
          "Set it where the agent is started, or write ${NOT_SET:-…} with a value to take instead"
      )
    })
  }

  it("with a command that is nothing are not started", () => {
    assert.strictEqual(expanded({ command: "${EMPTY}" }).problem, "was not started: its command is empty")
  })

  it("take an address only where it is one, or begins with a variable", () => {
    assert.match(fileOf({ url: "ftp://${HOST}" }).warnings[0] ?? "", /url must be an address/)
  })

  it.live("are told as warnings, keep what they read to themselves, and leave the others alone", () =>
    Effect.gen(function* () {
      const server = stdio("odd", [oddFile], { ODD_TOKEN: "${MY_OWN_KEY}", ODD_MODE: "production" })
      const settings = { origin: "settings", toolTimeouts: {} } as const
      const connection = yield* connectWith([
        { spec: server, ...settings },
        {
          spec: { _tag: "Stdio", name: "lost", command: "${NOT_SET_ANYWHERE}", args: [], env: [] },
          place: "/home/ada/config.toml: mcp_servers.lost",
          ...settings
        }
      ])
      assert.strictEqual(
        (yield* call(connection, "mcp__odd__secret")).text,
        "the token is <redacted> in production",
        modelKey
      )
      assert.deepStrictEqual(
        connection.notices.map(({ description, title }) => [title, description]),
        [
          [
            'The MCP server "lost" cannot be used',
            "It was not started: /home/ada/config.toml: mcp_servers.lost.command reads the variable NOT_SET_ANYWHERE, which is not set. " +
              "Set it where the agent is started, or write ${NOT_SET_ANYWHERE:-…} with a value to take instead. " +
              "The session goes on without its tools; correct the server's settings and open the session again."
          ]
        ]
      )
      yield* connection.now
      assert.lengthOf(connection.notices, 1, "once")
      assert.include(
        describeServers(yield* connection.status),
        "- **lost**: cannot be used (over stdio, from your settings)"
      )
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("send what they read as headers, and show it nowhere", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* serveRaw(polite())
      const spec = http(url, { Authorization: "Bearer ${MY_OWN_KEY}" })
      const connection = yield* begin([{ spec, origin: "project", toolTimeouts: {} }])
      yield* connection.tools
      assert.include(asked[0]?.head ?? "", `Bearer ${modelKey}`)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})
