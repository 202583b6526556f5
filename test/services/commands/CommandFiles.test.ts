/** Commands and skills on a real disk: where they may lie, what comes first, and what is not followed. */
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { CommandFiles } from "../../../src/services/CommandFiles.ts"
import * as CommandFilesLive from "../../../src/services/commands/files/CommandFilesLive.ts"
import { Plugins } from "../../../src/services/Plugins.ts"
import { Settings } from "../../../src/services/Settings.ts"
import { folder } from "../../support/Program.ts"
import { platform } from "../../support/turns.ts"

const put = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const skill = (description: string) => `---\ndescription: ${description}\n---\nDo ${description}.`

const plugin = (root: string) => ({
  name: "tools",
  root,
  agents: [],
  commands: [join(root, "commands")],
  skills: [join(root, "skills")],
  hooks: [],
  mcpServers: []
})

const make = Effect.gen(function* () {
  const root = yield* folder
  const [home, project] = [join(root, "home", ".supercharge"), join(root, "project")]
  const cwd = join(project, "a", "b")
  mkdirSync(join(project, ".git"), { recursive: true })
  mkdirSync(cwd, { recursive: true })
  const files = yield* Layer.build(
    CommandFilesLive.layer.pipe(
      Layer.provide(Plugins.layer),
      Layer.provide(Settings.layerValues({ home, plugins: [plugin(join(root, "plugin"))] })),
      Layer.provide(platform),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { HOME: join(root, "home") } })))
    )
  ).pipe(Effect.flatMap((context) => Effect.provideContext(CommandFiles, context)))
  const names = Effect.map(files.of(cwd), ({ commands, problems, skills }) => ({
    commands: Object.fromEntries(commands.map(({ body, name }) => [name, body])),
    skills: Object.fromEntries(skills.map(({ description, name }) => [name, description])),
    problems
  }))
  return { root, home, project, cwd, files, names }
})

describe("files of commands", () => {
  it.live("are found in the project up to its root, in the home, and in plugins; the nearest of a name counts", () =>
    Effect.gen(function* () {
      const { cwd, home, names, project, root } = yield* make
      put(join(cwd, ".supercharge/commands/fix.md"), "near")
      put(join(project, ".claude/commands/fix.md"), "far")
      put(join(project, ".claude/commands/git/commit.md"), "commit")
      put(join(project, ".claude/skills/pdf/SKILL.md"), skill("forms"))
      put(join(project, ".agents/skills/x/SKILL.md"), skill("x"))
      put(join(home, "commands/fix.md"), "home")
      put(join(home, "commands/mine.md"), "mine")
      put(join(dirname(home), ".claude/commands/mine.md"), "further away")
      put(join(dirname(home), ".claude/commands/other.md"), "other")
      put(join(dirname(home), ".agents/skills/own/SKILL.md"), skill("own"))
      put(join(home, "skills/pdf/SKILL.md"), skill("other forms"))
      put(join(root, "plugin/commands/deploy.md"), "deploy")
      put(join(root, "plugin/skills/ship/SKILL.md"), skill("ship"))
      // Above the root of the project nothing counts.
      put(join(root, ".supercharge/commands/above.md"), "above")
      assert.deepStrictEqual(yield* names, {
        commands: { fix: "near", "git:commit": "commit", mine: "mine", other: "other", "tools:deploy": "deploy" },
        skills: { pdf: "forms", x: "x", own: "own", "tools:ship": "ship" },
        problems: []
      })
    })
  )

  it.live("are read again when they changed, and gone when they are removed", () =>
    Effect.gen(function* () {
      const { names, project } = yield* make
      const file = join(project, ".supercharge/commands/one.md")
      assert.deepStrictEqual((yield* names).commands, {})
      put(file, "first")
      assert.deepStrictEqual((yield* names).commands, { one: "first" })
      put(file, "second, and longer")
      assert.deepStrictEqual((yield* names).commands, { one: "second, and longer" })
      rmSync(file)
      assert.deepStrictEqual((yield* names).commands, {})
    })
  )

  it.live("of a project lead nowhere out of it, while the person's own may be links", () =>
    Effect.gen(function* () {
      const { home, names, project, root } = yield* make
      put(join(root, "secret"), "a secret")
      put(join(root, "elsewhere/shared.md"), "shared")
      mkdirSync(join(project, ".claude/commands"), { recursive: true })
      symlinkSync(join(root, "secret"), join(project, ".claude/commands/leak.md"))
      symlinkSync(join(root, "elsewhere"), join(project, ".claude/skills"))
      mkdirSync(home, { recursive: true })
      symlinkSync(join(root, "elsewhere"), join(home, "commands"))
      const { commands, problems } = yield* names
      assert.deepStrictEqual(commands, { shared: "shared" })
      assert.match(problems.join("\n"), /leak\.md leads out of the project/)
    })
  )

  it.live("are looked for once in each folder, however many links lead to it", () =>
    Effect.gen(function* () {
      const { names, project } = yield* make
      const commands = join(project, ".supercharge/commands")
      put(join(commands, "one.md"), "1")
      put(join(commands, "real/two.md"), "2")
      for (let count = 0; count < 100; count++) symlinkSync(".", join(commands, `l${count}`))
      symlinkSync("real", join(commands, "link"))
      const start = performance.now()
      assert.deepStrictEqual((yield* names).commands, { one: "1", "link:two": "2" })
      assert.isBelow(performance.now() - start, 2_000)
    })
  )

  it.live("that are too large, too deep, too many or badly named are left out", () =>
    Effect.gen(function* () {
      const { names, project } = yield* make
      const commands = join(project, ".supercharge/commands")
      put(join(commands, "big.md"), "x".repeat(70_000))
      put(join(commands, "no good.md"), "x")
      put(join(commands, "notes.txt"), "x")
      put(join(commands, "a/b/c/d/e.md"), "too deep")
      put(join(commands, "a/b/c/ok.md"), "deep")
      mkdirSync(join(commands, "folder.md"))
      for (let count = 0; count < 300; count++) put(join(commands, `many/n${count}.md`), "x")
      const { commands: found, problems } = yield* names
      assert.isAtMost(Object.keys(found).length, 200)
      assert.strictEqual(found["a:b:c:ok"], "deep")
      assert.notProperty(found, "big")
      assert.match(
        problems.join("\n"),
        /big\.md has more than 65536 bytes.*\n.*no good\.md has no name that can be typed/
      )
    })
  )

  it.live("in the home are the person's also where they work around it", () =>
    Effect.gen(function* () {
      const { files, home } = yield* make
      put(join(home, "commands/mine.md"), "mine")
      const { commands } = yield* files.of(dirname(home))
      assert.deepStrictEqual(
        commands.map(({ name }) => name),
        ["mine"]
      )
    })
  )

  it.live("of a skill are named when it is opened", () =>
    Effect.gen(function* () {
      const { cwd, files, project } = yield* make
      put(join(project, ".supercharge/skills/pdf/SKILL.md"), skill("forms"))
      put(join(project, ".supercharge/skills/pdf/fill.py"), "print()")
      const [pdf] = (yield* files.of(cwd)).skills
      if (pdf === undefined) return assert.fail("no skill")
      assert.deepStrictEqual(yield* files.open(pdf), { body: "Do forms.", files: ["fill.py"] })
      rmSync(pdf.folder, { recursive: true })
      assert.isUndefined(yield* files.open(pdf))
    })
  )
})
