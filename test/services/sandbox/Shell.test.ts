import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { invocationOf } from "../../../src/services/sandbox/Shell.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "super-pi-shell-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Starts what runs a command, and lets it begin only when the pipe for its end is as `isRead` says. */
const begin = (bash: string | undefined, command: string, isRead: boolean) =>
  Effect.promise(async () => {
    const args = ["-c", 'read -r _; exec "$@"', "sh", ...invocationOf(bash, command, "unlimited")]
    const child = spawn("/bin/sh", args, { stdio: ["pipe", "ignore", "ignore", "pipe"] })
    const told = child.stdio[3]
    const ended = once(child, "exit")
    if (isRead) told?.on("data", () => undefined)
    else if (told !== undefined && told !== null) {
      const closed = once(told, "close")
      told.destroy()
      await closed
    }
    child.stdin?.end("\n")
    await ended
  })

describe("a command whose agent was killed while it was being started", () => {
  for (const bash of ["/bin/bash", undefined]) {
    it.live(`does not run, by ${bash ?? "sh"}`, () =>
      Effect.gen(function* () {
        const place = yield* folder
        yield* begin(bash, `touch ${place}/read`, true)
        yield* begin(bash, `touch ${place}/unread`, false)
        assert.isTrue(existsSync(join(place, "read")))
        assert.isFalse(existsSync(join(place, "unread")))
      }).pipe(Effect.scoped)
    )
  }
})
