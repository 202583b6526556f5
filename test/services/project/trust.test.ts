/** What a yes of the person covers, and what ends it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { Projects } from "../../../src/services/Projects.ts"
import * as ProjectsLive from "../../../src/services/project/ProjectsLive.ts"
import { Settings } from "../../../src/services/Settings.ts"
import { platform, write } from "../../support/toolbox.ts"
import { config, within } from "./support.ts"

describe("trust in a project", () => {
  it.effect("trust brings all of it, in every folder of the project and in every process", () =>
    within(({ home, root }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { decide, of } = yield* Projects
        yield* decide(yield* of(root), true)
        const value = yield* of(`${root}/deep`)
        assert.strictEqual(value.trust, "trusted")
        assert.deepStrictEqual(value.permission.allow, ["Bash(make)"])
        assert.strictEqual(value.hooks.length, 1)
        assert.strictEqual(value.mcpServers.length, 1)
        assert.deepStrictEqual(value.withheld, [])
        assert.strictEqual((yield* fs.stat(`${home}/trust.json`)).mode & 0o777, 0o600)
        assert.notInclude(yield* fs.readFileString(`${home}/trust.json`), "secret")
      })
    )
  )

  for (const [what, change] of [
    ["a hook", config.replace("./check.sh", "./other.sh")],
    ["a server", config.replace('command = "files"', 'command = "evil"')],
    ["a variable of a server", config.replace('"secret"', '"other"')],
    ["an allow rule", config.replace("Bash(make)", "Bash")],
    ["a time of a server", config.replace('command = "files"', 'command = "files"\ntool_timeout_sec = 9')]
  ] as const) {
    it.effect(`trust ends when ${what} changes`, () =>
      within(({ root }) =>
        Effect.gen(function* () {
          const { decide, of } = yield* Projects
          yield* decide(yield* of(root), true)
          yield* write(`${root}/.supercharge/config.toml`, `${change}\n`)
          const value = yield* of(root)
          assert.strictEqual(value.trust, "undecided")
          assert.deepStrictEqual([value.mcpServers, value.permission.allow], [[], []])
          const isNew = value.withheld.filter((line) => line.includes("new since you trusted"))
          assert.strictEqual(isNew.length, 1, value.withheld.join("\n"))
          assert.strictEqual(value.hooks.length, what === "a hook" ? 0 : 1, "a hook that was trusted still guards")
          yield* decide(value, true)
          assert.deepInclude(yield* of(root), { trust: "trusted", withheld: [] })
        })
      )
    )
  }

  it.effect("trust stays when a deny rule changes, and a no stays whatever changes", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const { decide, of } = yield* Projects
        yield* decide(yield* of(root), true)
        yield* write(`${root}/.supercharge/config.toml`, config.replace("secrets", "private"))
        assert.strictEqual((yield* of(root)).trust, "trusted")
        yield* decide(yield* of(root), false)
        yield* write(`${root}/.supercharge/config.toml`, config.replace("./check.sh", "./other.sh"))
        assert.strictEqual((yield* of(root)).trust, "declined")
      })
    )
  )

  it.effect("trusts what was shown, and not what stands there by the time of the answer", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const { decide, of } = yield* Projects
        const shown = yield* of(root)
        yield* write(`${root}/.supercharge/config.toml`, config.replace("./check.sh", "./evil.sh"))
        yield* decide(shown, true)
        const value = yield* of(root)
        assert.strictEqual(value.trust, "undecided")
        assert.deepStrictEqual([value.hooks, value.mcpServers, value.permission.allow], [[], [], []])
        assert.include(value.withheld, "the hook PreToolUse: ./evil.sh (new since you trusted this folder)")
      })
    )
  )

  it.effect("trust from a folder inside counts there and above; a folder beside is asked about once", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { decide, of } = yield* Projects
        yield* write(`${root}/deep/.supercharge/config.toml`, '[permission]\nallow = ["Bash(deep)"]')
        yield* fs.makeDirectory(`${root}/beside/.supercharge`, { recursive: true })
        yield* write(`${root}/beside/.supercharge/config.toml`, '[permission]\nallow = ["Bash(beside)"]')
        yield* decide(yield* of(`${root}/deep`), true)
        assert.deepStrictEqual((yield* of(`${root}/deep`)).permission.allow, ["Bash(make)", "Bash(deep)"])
        assert.deepStrictEqual((yield* of(root)).permission.allow, ["Bash(make)"])
        const beside = yield* of(`${root}/beside`)
        assert.strictEqual(beside.trust, "undecided")
        yield* decide(beside, true)
        for (const folder of ["", "/deep", "/beside"]) assert.strictEqual((yield* of(root + folder)).trust, "trusted")
      })
    )
  )

  it.effect("a guard that is taken away ends trust in what it made harmless", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { decide, of } = yield* Projects
        const guard = `${root}/.supercharge/hooks/guard.json`
        yield* write(guard, JSON.stringify({ hooks: { PreToolUse: [{ command: "./guard.sh" }] } }))
        yield* decide(yield* of(root), true)
        assert.strictEqual((yield* of(root)).hooks.length, 2)
        yield* fs.remove(guard)
        const value = yield* of(root)
        assert.deepStrictEqual([value.trust, value.hooks.length, value.permission.allow], ["undecided", 1, []])
        yield* decide(value, true)
        assert.strictEqual((yield* of(root)).trust, "trusted")
      })
    )
  )

  it.effect("arguments that read alike are not the same, and nothing unseen hides in a line", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const { decide, of } = yield* Projects
        const server = (args: ReadonlyArray<string>) =>
          write(`${root}/.supercharge/config.toml`, `[mcp_servers.x]\ncommand = "sh"\nargs = ${JSON.stringify(args)}\n`)
        yield* server(["-c", "a b"])
        yield* decide(yield* of(root), true)
        yield* server(["-c", "a", "b"])
        const { trust, withheld } = yield* of(root)
        assert.strictEqual(trust, "undecided")
        assert.include(withheld[0] ?? "", "the MCP server x: sh -c a b")
        yield* write(
          `${root}/.supercharge/config.toml`,
          `[[hooks.Stop]]\ncommand = "ok \\u202e \\u001b[2K${"x".repeat(2000)}evil"\n`
        )
        const [line = ""] = (yield* of(root)).withheld
        assert.include(line, "the hook Stop: ok \\u{202e} \\u{1b}[2Kxx")
        assert.match(line, /… \(\d+ more characters in \.supercharge\/config\.toml\)/)
      })
    )
  )

  it.effect("more than anybody could judge is not trusted at all", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const { decide, of } = yield* Projects
        const rules = Array.from({ length: 201 }, (_, at) => `"Bash(a${at})"`)
        yield* write(`${root}/.supercharge/config.toml`, `[permission]\nallow = [${rules.join(",")}]\ndeny = ["Edit"]`)
        const value = yield* of(root)
        assert.deepInclude(value, { trust: "declined", withheld: [] })
        assert.deepStrictEqual(value.permission, { allow: [], ask: [], deny: ["Edit"] })
        assert.match(value.warnings.join("\n"), /more than 200 hooks, MCP servers, choices and allow rules/)
        yield* decide(value, true)
        assert.deepStrictEqual((yield* of(root)).permission.allow, [])
      })
    )
  )

  it.effect("an answer that cannot be written down holds in this process", () =>
    within(({ home, root }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { decide, of } = yield* Projects
        yield* fs.makeDirectory(home)
        yield* write(`${home}/trust.json`, "{ no list")
        const value = yield* of(root)
        assert.strictEqual(value.trust, "undecided", "a list that is damaged trusts nothing")
        yield* decide(value, true)
        assert.strictEqual((yield* of(root)).trust, "trusted")
        assert.strictEqual(yield* fs.readFileString(`${home}/trust.json`), "{ no list")
      })
    )
  )

  it.live("two processes decide about many projects at once, and no answer is lost", () =>
    within(({ home, root }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const one = yield* Projects
        const other = yield* Effect.provide(
          Projects,
          Layer.fresh(Layer.provide(ProjectsLive.layer, [Settings.layerValues({ home: `${root}/../home` }), platform]))
        )
        const folders = Array.from({ length: 12 }, (_, at) => `${root}/p${at}`)
        for (const folder of folders) {
          yield* fs.makeDirectory(`${folder}/.git`, { recursive: true })
          yield* fs.makeDirectory(`${folder}/.supercharge`)
          yield* write(`${folder}/.supercharge/config.toml`, config)
        }
        yield* Effect.forEach(
          folders,
          (folder, at) => Effect.flatMap(one.of(folder), (value) => (at % 2 === 0 ? one : other).decide(value, true)),
          { concurrency: "unbounded" }
        )
        for (const folder of folders) {
          assert.strictEqual((yield* one.of(folder)).trust, "trusted")
          assert.strictEqual((yield* other.of(folder)).trust, "trusted")
        }
        assert.deepStrictEqual(yield* fs.readDirectory(home), ["trust.json"])
      })
    )
  )

  it.effect("needs no trust where that is switched off", () =>
    within(
      ({ root }) =>
        Effect.gen(function* () {
          const { of } = yield* Projects
          assert.deepInclude(yield* of(root), { trust: "trusted", withheld: [] })
        }),
      { folderTrust: false }
    )
  )
})
