import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import { existsSync, readFileSync } from "node:fs"
import { loginEnvironment } from "../../../src/services/sandbox/LoginEnvironment.ts"
import { gone, until } from "../../support/Processes.ts"
import { platform, write } from "../../support/toolbox.ts"

/** The environment of a login shell whose start file is this. */
const capture = (profile: string, own: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const home = yield* fs.makeTempDirectoryScoped()
    yield* write(`${home}/.bash_profile`, profile)
    const spawner = yield* ChildProcessSpawner
    return yield* loginEnvironment(spawner, { HOME: home, PATH: "/usr/bin:/bin", SHELL: "/bin/bash", ...own })
  }).pipe(Effect.scoped, Effect.provide(platform))

describe("loginEnvironment", () => {
  it.live("a start file that hangs delays nobody for ever, and ends with whoever asked", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const home = yield* fs.makeTempDirectoryScoped()
      yield* write(`${home}/.bash_profile`, `echo $$ > ${home}/pid; exec sleep 620`)
      const spawner = yield* ChildProcessSpawner
      const fiber = yield* Effect.forkChild(
        loginEnvironment(spawner, { HOME: home, PATH: "/usr/bin:/bin", SHELL: "/bin/bash" })
      )
      yield* until(() => existsSync(`${home}/pid`) && readFileSync(`${home}/pid`, "utf8").endsWith("\n"))
      const pid = Number(yield* fs.readFileString(`${home}/pid`))
      yield* Fiber.interrupt(fiber)
      yield* gone(pid)
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.live("has what the person's start files set, and looks for programs in the folders of both", () =>
    Effect.gen(function* () {
      const environment = yield* capture(
        'echo hello; export TOOL_HOME=/opt/tool MULTI="a\nb"; export PATH="/opt/tool/bin:$PATH"',
        { PATH: "/usr/bin:/bin:/own" }
      )
      assert.include(environment, { TOOL_HOME: "/opt/tool", MULTI: "a\nb" })
      assert.match(environment["PATH"] ?? "", /^\/usr\/bin:\/bin:\/own:\/opt\/tool\/bin/)
    })
  )

  it.live("a process that knows no other folders gets the order of the person", () =>
    Effect.gen(function* () {
      const environment = yield* capture('export PATH="/opt/tool/bin:$PATH"', { PATH: "/usr/bin:/bin" })
      assert.match(environment["PATH"] ?? "", /^\/opt\/tool\/bin:.*\/usr\/bin/)
    })
  )

  it.live("what this process was given wins", () =>
    Effect.gen(function* () {
      const environment = yield* capture("export EDITOR=vi WANTED=login", { WANTED: "own" })
      assert.include(environment, { WANTED: "own", EDITOR: "vi" })
    })
  )

  for (const [what, profile, shell] of [
    ["start files that fail", "exit 1", "/bin/bash"],
    ["a shell that is not there", "", "/nonexistent/bash"],
    ["a shell that is unknown", "", "/bin/sh"]
  ] as const) {
    it.live(`${what} leave the own environment`, () =>
      Effect.gen(function* () {
        const environment = yield* capture(profile, { SHELL: shell, MINE: "1" })
        assert.include(environment, { MINE: "1", PATH: "/usr/bin:/bin" })
      })
    )
  }
})
