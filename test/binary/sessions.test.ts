/** `super-pi sessions` on the real program. */
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { folder, run as runIn } from "../support/Program.ts"
import { root } from "../support/Sources.ts"
import { hasPython, inTerminal } from "../support/PseudoTerminal.ts"

const isLine = new Ajv2020({ strict: false }).compile(
  JSON.parse(readFileSync(join(root, "docs/stream-json.schema.json"), "utf8"))
)

const steps = [
  { parts: [{ tool: { name: "write", input: { path: "made.txt", content: "1\n" } } }] },
  { parts: [{ text: "Made it." }] }
]

const FIRST = "Write the first file"
const LONG = "A second task with a title that is far too long for the width of any terminal there is"

/** A home with a session for each title, the last of them in a folder of its own; the newest first. */
const home = Effect.fnUntraced(function* (...titles: ReadonlyArray<string>) {
  const cwd = yield* folder
  const other = yield* folder
  const script = join(cwd, "script.json")
  writeFileSync(script, JSON.stringify({ steps }))
  const env = { SUPERCHARGE_HOME: join(cwd, "home") }
  const run = (...args: ReadonlyArray<string>) => runIn(args, { env })
  const task = (text: string, folder: string) =>
    run("-p", text, "--model", `scripted/${script}`, "--permission-mode", "accept-edits", "--cwd", folder)
  for (const [at, title] of titles.entries()) {
    assert.strictEqual((yield* task(title, at === titles.length - 1 ? other : cwd)).end, 0)
  }
  const { stdout } = yield* run("sessions", "list", "--json")
  const ids = stdout
    .trim()
    .split("\n")
    .map((line) => String(JSON.parse(line)["id"]))
  return { cwd, other, env, run, ids }
})

describe("sessions", () => {
  it.live("are listed, shown and exported, for scripts and for people", () =>
    Effect.gen(function* () {
      const { cwd, ids, other, run } = yield* home(FIRST, LONG, "third")
      assert.lengthOf(ids, 3)
      const [latest = "", , oldest = ""] = ids
      const list = yield* run("sessions", "list", "--limit", "1")
      assert.match(list.stdout, new RegExp(`^${latest}\tthird\t${other}\t\\d{4}-[^\n]*\n$`))
      assert.include(list.stderr, "2 more")
      const here = yield* run("sessions", "list", "--json", "--cwd", cwd)
      assert.lengthOf(here.stdout.trim().split("\n"), 2)

      const shown = yield* run("sessions", "show", oldest, "--json")
      const facts = JSON.parse(shown.stdout)
      assert.deepInclude(facts, { id: oldest, title: "Write the first file", prompts: 1, lastOutcome: "end_turn" })
      assert.deepStrictEqual(facts.changedFiles, [join(cwd, "made.txt")])
      assert.match((yield* run("sessions", "show", oldest)).stdout, /^title +Write the first file$/m)

      const page = yield* run("sessions", "export", oldest)
      assert.match(
        page.stdout,
        /^# Write the first file\n\nSession .*\n\n## You\n\nWrite the first file\n\n## Agent\n\n\*\*/
      )
      assert.isTrue(page.stdout.endsWith("Made it.\n"))
      const file = join(cwd, "export.jsonl")
      const exported = yield* run("sessions", "export", oldest, "--json", "--output", file)
      assert.deepStrictEqual([exported.end, exported.stdout], [0, ""])
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      const lines = readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line): unknown => JSON.parse(line))
      for (const line of lines) assert.isTrue(isLine(line), JSON.stringify([line, isLine.errors]))
      assert.deepInclude(lines[1], { type: "user", text: "Write the first file" })
      const again = yield* run("sessions", "export", oldest, "--json", "--output", file)
      assert.deepStrictEqual([again.end, again.stdout], [1, ""])
      assert.include(again.stderr, "exists: name another file, or give --force")
      const lost = yield* run("sessions", "export", oldest, "--output", join(cwd, "nowhere", "page.md"))
      assert.strictEqual(
        lost.stderr,
        `error: ${cwd}/nowhere/page.md cannot be written: there is no folder ${cwd}/nowhere\n`
      )
    })
  )

  it.live("are named by the beginning of an id that only one has, and deleted with a yes", () =>
    Effect.gen(function* () {
      const { env, ids, run } = yield* home(LONG, "third")
      const [latest = "", second = ""] = ids
      const unclear = yield* run("sessions", "show", "0")
      assert.deepStrictEqual([unclear.end, unclear.stdout], [1, ""])
      assert.include(unclear.stderr, '2 sessions begin with "0"')
      const nobody = yield* run("sessions", "delete", latest)
      assert.deepStrictEqual([nobody.end, nobody.stdout], [2, ""])
      assert.include(nobody.stderr, "give --yes")
      const gone = yield* run("sessions", "delete", latest.slice(0, -1), "--yes")
      assert.deepStrictEqual(gone, { end: 0, stdout: `Deleted ${latest}\n`, stderr: "" })
      assert.strictEqual((yield* run("sessions", "show", latest)).end, 1)
      if (!hasPython) return
      const list = yield* inTerminal(["sessions", "list"], { env, columns: 60 })
      const rows = list.screen.trimEnd().split("\n")
      assert.match(rows[0] ?? "", /^ID +TITLE +FOLDER +UPDATED$/)
      for (const row of rows) assert.isAtMost(row.length, 60, row)
      assert.include(rows[1], "…")
      const kept = yield* inTerminal(["sessions", "delete", second], { env, typing: [["[y/N]", "n\n"]] })
      assert.include(kept.screen, "Kept")
      const deleted = yield* inTerminal(["sessions", "delete", second], { env, typing: [["[y/N]", "yes\n"]] })
      assert.include(deleted.screen, `Deleted ${second}`)
      assert.isTrue(existsSync(env.SUPERCHARGE_HOME))
    })
  )
})
