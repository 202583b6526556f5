/** Commands of the built program under each profile, and what is left of them when it is killed. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { eventually, newSession, open, prompt, turn } from "../support/Probe.ts"
import { descendants, gone, isAlive } from "../support/Processes.ts"
import { callsOf, updatesOf } from "../support/Updates.ts"

const trial = ["--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"]
const missing = spawnSync("bwrap", trial).status === 0 ? undefined : "bubblewrap does not work here: not tried with it"

const bash = (command: string) => ({ tool: { name: "bash", input: { command } } })
const done = { parts: [{ text: "done" }] }

/** A workspace, and a folder beside it; neither is below the folders for temporary files. */
const places = Effect.acquireRelease(
  Effect.sync(() => {
    const base = realpathSync(mkdtempSync(join(process.getuid?.() === 0 ? "/srv" : homedir(), "super-pi-binary-")))
    const [work, beside] = [join(base, "work"), join(base, "beside")]
    for (const folder of [work, beside]) mkdirSync(folder)
    return { base, work, beside }
  }),
  ({ base }) => Effect.sync(() => rmSync(base, { recursive: true, force: true }))
)

const config = (profile: string) => `[sandbox]\nprofile = "${profile}"\n`

describe.skipIf(missing !== undefined)(missing ?? "the program confines its commands", () => {
  for (const [profile, writes] of [
    ["off", { work: true, beside: true }],
    ["workspace", { work: true, beside: false }],
    ["read-only", { work: false, beside: false }],
    ["strict", { work: true, beside: false }]
  ] as const) {
    it.live(`as sandbox.profile = "${profile}" says`, () =>
      Effect.gen(function* () {
        const { beside, work } = yield* places
        const command = `echo x > here; echo x > ${beside}/there; cat "$SUPERCHARGE_HOME/config.toml"; true`
        const agent = yield* open({
          args: ["--yolo"],
          config: config(profile),
          steps: [{ parts: [bash(command)] }, done]
        })
        const session = yield* newSession(agent, work)
        assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
        assert.strictEqual(existsSync(join(work, "here")), writes.work)
        assert.strictEqual(existsSync(join(beside, "there")), writes.beside)
        const shown = JSON.stringify(callsOf(updatesOf(agent, session)).map(({ latest }) => latest))
        assert.strictEqual(shown.includes("[sandbox]"), profile === "off")
      }).pipe(Effect.scoped)
    )
  }

  it.live("kill -9 ends it with every command, those included that left their session", () =>
    Effect.gen(function* () {
      const { work } = yield* places
      const agent = yield* open({
        args: ["--yolo"],
        config: config("workspace"),
        steps: [{ parts: [bash("setsid sleep 611 & trap '' TERM; echo on > started; sleep 612")] }]
      })
      const session = yield* newSession(agent, work)
      yield* prompt(agent, session, "go")
      yield* eventually("the command has started", () => existsSync(join(work, "started")))
      const name = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
      yield* eventually(
        "all of it runs",
        () => descendants(agent.pid).filter((pid) => name(pid).startsWith("sleep")).length === 2
      )
      const pids = descendants(agent.pid)
      assert.isTrue(pids.every(isAlive))
      yield* agent.kill("SIGKILL")
      yield* gone(...pids)
    }).pipe(Effect.scoped)
  )
})
