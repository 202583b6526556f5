import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { version } from "../../src/domain/Version.ts"
import { mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { folder, run, start } from "../support/Program.ts"

const lines = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line !== "")

describe("command line", () => {
  it.live("--version prints the name and the version", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run(["--version"]), { end: 0, stdout: `super-pi ${version}\n`, stderr: "" })
    })
  )

  for (const [path, ...words] of [
    ["", "acp", "agent", "token", "doctor", "sessions", "--log-level", "--prompt", "--output-format", "--max-turns"],
    ["acp setup", "super-pi acp setup", "--editor", "jetbrains", "--print", "--file"],
    ["doctor", "super-pi doctor", "--json", "--offline"],
    ["sessions", "list", "show", "export", "delete"],
    ["sessions export", "super-pi sessions export", "--format", "--output", "--force"],
    ["acp", "super-pi acp", "--model", "--always-approve", "--yolo", "ask rules for commands"],
    ["acp", "--agent-profile", "--reasoning-effort", "--plugin-dir", "--cwd"],
    ["acp", "--permission-mode", "--sandbox", "--harness", "--allow", "--ask", "--deny", "--trust"],
    ["agent", "stdio", "serve", "daemon", "headless", "leader", "--model", "--always-approve", "--yolo"],
    ["agent stdio", "super-pi agent stdio", "--model"],
    [
      "agent serve",
      "super-pi agent serve",
      "--bind",
      "127.0.0.1:2419",
      "--secret",
      "SUPERCHARGE_AGENT_SECRET",
      "--allow-origin",
      "--tls-cert",
      "--tls-key",
      "--grace"
    ],
    ["token", "create", "list", "revoke"],
    ["permissions", "list", "revoke"],
    ["permissions list", "super-pi permissions list", "--all", "--json"],
    ["permissions revoke", "super-pi permissions revoke", "--all"],
    ["trust", "super-pi trust", "list", "revoke"],
    ["trust list", "super-pi trust list"],
    ["trust revoke", "super-pi trust revoke"],
    ["token create", "super-pi token create"],
    ["token list", "super-pi token list", "--json"],
    ["token revoke", "super-pi token revoke"]
  ]) {
    it.live(`--help of "super-pi ${path}" is on stdout and names all that it takes`, () =>
      Effect.gen(function* () {
        const { end, stderr, stdout } = yield* run([...lines((path ?? "").replaceAll(" ", "\n")), "--help"])
        assert.deepStrictEqual([end, stderr], [0, ""])
        for (const word of words) assert.include(stdout, word)
      })
    )
  }

  for (const [line, complaint] of [
    ["", "a command is missing"],
    ["agent", "a command is missing"],
    ["bogus", '"bogus"'],
    ["acp --bogus", "--bogus"],
    ["acp extra", '"extra"'],
    ["acp --model", "model"],
    ["acp --log-level loud", "loud"],
    ["acp --permission-mode loud", "accept-edits"],
    ["acp --sandbox loose", "read-only"],
    ["acp --deny Bash(", "its parenthesis is not closed"],
    ["--model a/b acp", "--model stands before acp: write super-pi acp --model"],
    ["--trust agent stdio", "--trust stands before agent: write super-pi agent --trust"],
    ["agent stdio --sandbox off", "--sandbox stands after the transport's name"],
    ["agent stdio --model some/model", "--model stands after the transport's name"],
    ["agent --secret=x serve", "error: --secret stands before the transport's name:"],
    ["agent --secret x serve", "--secret stands before the transport's name: write super-pi agent serve --secret …"],
    ["agent --yolo --bind=127.0.0.1:0 daemon", "write super-pi agent daemon --bind …"],
    ["serve --bind 127.0.0.1:0", "serve is a transport: write super-pi agent serve …"],
    ["agent stdio --cwd /", "--cwd stands after the transport's name: write super-pi agent --cwd … stdio"],
    ["--cwd / acp", "--cwd stands before acp: write super-pi acp --cwd"],
    ["acp --cwd /no-such-folder", "does not exist: /no-such-folder"],
    ["-p hello --cwd /no-such-folder", "does not exist: /no-such-folder"],
    ["agent stdio --yolo", "--yolo stands after the transport's name"],
    ["token", "a command is missing"],
    ["token revoke", "id"]
  ] as const) {
    it.live(`"super-pi ${line}" is a usage error: code 2, a reason on stderr, nothing on stdout`, () =>
      Effect.gen(function* () {
        const { end, stderr, stdout } = yield* run(line === "" ? [] : line.split(" "))
        assert.deepStrictEqual([end, stdout], [2, ""])
        assert.include(stderr, complaint)
        assert.isBelow(lines(stderr).length, 8)
      })
    )
  }

  it.live("--cwd is as if the program had been started there, for every transport and for a task", () =>
    Effect.gen(function* () {
      const place = realpathSync(yield* folder)
      const agent = "---\ndescription: Reads\n---\nRead only.\n"
      writeFileSync(join(place, "reader.md"), agent)
      mkdirSync(join(place, "tools"))
      writeFileSync(join(place, "script.json"), JSON.stringify({ steps: [{ parts: [{ text: "Here." }] }] }))
      const flags = ["--cwd", place, "--agent-profile", "reader.md", "--plugin-dir", "tools"]
      for (const args of [
        ["acp", ...flags],
        ["agent", ...flags, "stdio"]
      ]) {
        assert.deepStrictEqual(yield* run(args), { end: 0, stdout: "", stderr: "" })
      }
      const missing = yield* run(["agent", "--cwd", place, "--agent-profile", "writer.md", "stdio"])
      assert.deepStrictEqual([missing.end, missing.stdout], [1, ""])
      assert.include(missing.stderr, `--agent-profile: ${join(place, "writer.md")}`)
      const shown = yield* run(["config", "show", ...flags, "agent"])
      assert.strictEqual(shown.end, 0, shown.stderr)
      const task = ["-p", "Where?", ...flags, "--model", `scripted/${join(place, "script.json")}`]
      const told = yield* run([...task, "--output-format", "stream-json"])
      assert.strictEqual(told.end, 0, told.stderr)
      assert.include(told.stdout, `"cwd":"${place}"`)
      const inbox = yield* start(["agent", ...flags, "daemon", "--bind", "127.0.0.1:0"])
      const serving = yield* Effect.callback<string>((resume) => {
        let said = ""
        inbox.on("close", () => resume(Effect.succeed(said)))
        inbox.stderr.setEncoding("utf8").on("data", (text) => {
          said += text
          if (said.includes("Conversations work in")) resume(Effect.succeed(said))
        })
      })
      assert.include(serving, `Conversations work in ${place} unless`)
    })
  )

  it.live("takes several words for a task, and says where it stands", () =>
    Effect.gen(function* () {
      const { end, stderr, stdout } = yield* run(["Fix the test"])
      assert.deepStrictEqual([end, stdout], [2, ""])
      assert.include(stderr, 'error: A task stands behind -p: super-pi -p "your task"\n')
    })
  )
})
