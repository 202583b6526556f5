/** Agents in real folders of this machine. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { CustomAgents, type NewAgent } from "../../../src/services/CustomAgents.ts"
import { Plugins } from "../../../src/services/Plugins.ts"
import * as CustomAgentsLive from "../../../src/services/agents/CustomAgentsLive.ts"
import { Projects, type ProjectValue } from "../../../src/services/Projects.ts"
import { Settings } from "../../../src/services/Settings.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "super-pi-agents-")))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

interface Place {
  readonly person: string
  readonly home: string
  readonly project: string
  readonly put: (path: string, text: string) => string
}

const agentText = (fields: Readonly<Record<string, string>>, body = "Do it."): string =>
  ["---", ...Object.entries(fields).map(([key, value]) => `${key}: ${value}`), "---", body, ""].join("\n")

/** A person's home with a repository in it. */
const inPlace = <A, E>(
  test: (place: Place) => Effect.Effect<A, E>,
  project: Partial<ProjectValue> = {},
  plugins: ReadonlyArray<string> = []
) =>
  Effect.gen(function* () {
    const person = yield* folder
    const home = join(person, ".supercharge")
    const root = join(person, "work")
    mkdirSync(join(root, ".git"), { recursive: true })
    const put = (path: string, text: string): string => {
      const full = join(person, path)
      mkdirSync(dirname(full), { recursive: true })
      writeFileSync(full, text)
      return full
    }
    const layer = CustomAgentsLive.layer.pipe(
      Layer.provide([
        Settings.layerValues({ home }),
        Projects.layerTest(project),
        NodeFileSystem.layer,
        NodePath.layer,
        ConfigProvider.layer(ConfigProvider.fromEnv({ env: { HOME: person } })),
        Layer.succeed(Plugins, {
          of: () =>
            Effect.succeed([
              {
                name: "tools",
                root: person,
                agents: plugins.map((path) => join(person, path)),
                commands: [],
                skills: [],
                hooks: [],
                mcpServers: []
              }
            ])
        })
      ])
    )
    return yield* Effect.provide(test({ person, home, project: root, put }), layer)
  }).pipe(Effect.scoped)

const listIn = (cwd: string) => Effect.flatMap(CustomAgents, ({ list }) => list(cwd))

const named = (cwd: string) =>
  Effect.map(listIn(cwd), ({ agents }) =>
    agents.map(({ description, name, scope }) => `${scope} ${name}: ${description}`)
  )

const create = (cwd: string, agent: Partial<NewAgent>) =>
  Effect.flatMap(CustomAgents, (agents) => agents.create(cwd, { name: "reviewer", instructions: "Look.", ...agent }))

describe("agents of files", () => {
  it.effect("come from the project, the nearest first, and from the person", () =>
    inPlace(
      Effect.fnUntraced(function* ({ project, put }) {
        put("work/deep/.supercharge/agents/near.md", agentText({ description: "near" }))
        put("work/.supercharge/agents/far.md", agentText({ description: "far" }))
        put("work/.supercharge/agents/near.md", agentText({ description: "hidden" }))
        put("work/.claude/agents/other.md", agentText({ name: "their-name", description: "claude" }))
        put(".supercharge/agents/own.md", agentText({ description: "own" }))
        put(".claude/agents/far.md", agentText({ description: "hidden" }))
        put("work/.supercharge/agents/README.md", "Read me")
        put("work/.supercharge/agents/notes.txt", "text")
        put(".supercharge/agents/.hidden.md", "text")
        put("plugin/x.md", agentText({ name: "helper", description: "of a plugin" }))
        put(".agents/agents/no.md", agentText({ description: "elsewhere" }))
        mkdirSync(join(project, "deep"), { recursive: true })
        assert.deepStrictEqual(yield* named(join(project, "deep")), [
          "project near: near",
          "project far: far",
          "project their-name: claude",
          "user own: own",
          "plugin tools:helper: of a plugin"
        ])
        assert.deepStrictEqual((yield* listIn(join(project, "deep"))).problems, [])
      }),
      {},
      ["plugin/x.md"]
    )
  )

  it.effect("without a repository come from the folder alone, and a home folder is no project", () =>
    inPlace(
      Effect.fnUntraced(function* ({ person, put }) {
        put(".supercharge/agents/own.md", agentText({ description: "own" }))
        put("loose/.supercharge/agents/here.md", agentText({ description: "here" }))
        put("loose/in/.supercharge/agents/in.md", agentText({ description: "in" }))
        assert.deepStrictEqual(yield* named(join(person, "loose/in")), ["project in: in", "user own: own"])
        assert.deepStrictEqual(yield* named(person), ["user own: own"])
      })
    )
  )

  it.effect("of a project keep within the limits of the person's own of that name", () =>
    inPlace(
      Effect.fnUntraced(function* ({ project, put }) {
        put(".supercharge/agents/reviewer.md", agentText({ mode: "ask", tools: "read, grep" }))
        put(
          "work/.supercharge/agents/Reviewer.md",
          agentText({ description: "theirs", mode: "auto", tools: "read, bash" })
        )
        const { agents } = yield* listIn(project)
        assert.lengthOf(agents, 1)
        assert.deepInclude(agents[0], { name: "Reviewer", scope: "project", mode: "ask", tools: ["read"] })
      })
    )
  )

  it.effect("of a project keep within the limits of the built-in one of that name, unless the person has another", () =>
    inPlace(
      Effect.fnUntraced(function* ({ project, put }) {
        put("work/.supercharge/agents/Explore.md", agentText({ mode: "always-approve", tools: "'*'" }))
        const [explore] = (yield* listIn(project)).agents
        assert.deepInclude(explore, { scope: "project", mode: "plan", tools: ["read", "grep", "glob", "list"] })
        put(".supercharge/agents/explore.md", agentText({ mode: "ask", tools: "read, bash" }))
        const [bound] = (yield* listIn(project)).agents
        assert.deepInclude(bound, { scope: "project", mode: "ask" })
        assert.include([...(bound?.tools ?? [])], "bash")
      })
    )
  )

  it.effect("are read anew when they change, come and go", () =>
    inPlace(
      Effect.fnUntraced(function* ({ project, put }) {
        const path = put(".supercharge/agents/own.md", agentText({ description: "first" }))
        assert.deepStrictEqual(yield* named(project), ["user own: first"])
        writeFileSync(path, agentText({ description: "secnd" }))
        utimesSync(path, 1, 1)
        put("work/.claude/agents/new.md", agentText({ description: "new" }))
        assert.deepStrictEqual(yield* named(project), ["project new: new", "user own: secnd"])
        rmSync(path)
        assert.deepStrictEqual(yield* named(project), ["project new: new"])
      })
    )
  )

  it.effect("that are broken cost only themselves, and say why", () =>
    inPlace(
      Effect.fnUntraced(function* ({ person, project, put }) {
        put("secret.md", agentText({ description: "secret" }))
        mkdirSync(join(project, ".supercharge/agents/folder.md"), { recursive: true })
        symlinkSync(join(person, "secret.md"), join(project, ".supercharge/agents/link.md"))
        put("work/.supercharge/agents/empty.md", "")
        put("work/.supercharge/agents/huge.md", "x".repeat(600_000))
        put("work/.supercharge/agents/twice.md", agentText({ name: "one" }))
        put("work/.supercharge/agents/uno.md", agentText({ name: "ONE" }))
        put("work/.supercharge/agents/odd.md", agentText({ mode: "fast" }))
        symlinkSync(join(person, "secret.md"), join(put(".supercharge/agents/own.md", agentText({})), "../linked.md"))
        const { agents, problems } = yield* listIn(project)
        assert.deepStrictEqual(
          agents.map(({ name }) => name),
          ["odd", "one", "linked", "own"]
        )
        const said = problems.map((problem) => problem.replace(`${project}/.supercharge/agents/`, ""))
        assert.deepStrictEqual(
          said.map((problem) => problem.slice(0, 42)),
          [
            "empty.md is no agent: its first line is no",
            "folder.md is no plain file; give the path ",
            "huge.md has more than 524288 bytes; shorte",
            "link.md leads out of the project; put the ",
            "odd.md, line 2: mode must be one of plan, ",
            'uno.md: the name "ONE" is taken by ' + said[5]?.slice(35, 42)
          ]
        )
      })
    )
  )

  it.effect("whose folder leads out of the project do not count", () =>
    inPlace(
      Effect.fnUntraced(function* ({ person, project, put }) {
        put("elsewhere/x.md", agentText({ description: "outside" }))
        mkdirSync(join(project, ".supercharge"))
        symlinkSync(join(person, "elsewhere"), join(project, ".supercharge/agents"))
        assert.deepStrictEqual(yield* named(project), [])
      })
    )
  )
})

describe("a new agent", () => {
  it.effect("is written for the person, unless the project is trusted or meant", () =>
    inPlace(
      Effect.fnUntraced(function* ({ home, project }) {
        const description = 'Says "yes": or\nno # maybe'
        const made = yield* create(project, { description, instructions: "\n Look: closely.\n---\nTwice. \n" })
        assert.deepInclude(made, {
          name: "reviewer",
          description,
          scope: "user",
          path: join(home, "agents/reviewer.md")
        })
        assert.strictEqual(made.prompt, "Look: closely.\n---\nTwice.")
        const meant = yield* create(project, { name: "second", scope: "project" })
        assert.strictEqual(meant.path, join(project, ".supercharge/agents/second.md"))
        assert.deepStrictEqual(readdirSync(join(home, "agents")), ["reviewer.md"])
        assert.deepStrictEqual(yield* named(project), ["project second: Look.", `user reviewer: ${description}`])
      })
    )
  )

  it.effect("of a trusted project lies at its root", () =>
    inPlace(
      Effect.fnUntraced(function* ({ project }) {
        mkdirSync(join(project, "deep/er"), { recursive: true })
        const made = yield* create(join(project, "deep/er"), {})
        assert.deepInclude(made, { scope: "project", path: join(project, ".supercharge/agents/reviewer.md") })
        assert.strictEqual(
          readFileSync(join(project, ".supercharge/agents/reviewer.md"), "utf8"),
          "---\nname: reviewer\n---\n\nLook.\n"
        )
      }),
      { trust: "trusted" }
    )
  )

  it.effect("never takes the place of another one, in whichever case", () =>
    inPlace(
      Effect.fnUntraced(function* ({ home, project, put }) {
        const old = put(".supercharge/agents/Reviewer.md", agentText({ description: "old" }))
        const other = put(".supercharge/agents/broken.md", "no agent")
        for (const name of ["reviewer", "Reviewer", "broken", "BROKEN"]) {
          const error = yield* Effect.flip(create(project, { name, scope: "user" }))
          assert.strictEqual(error.field, "name")
          assert.match(error.message, /already.*choose another name/)
        }
        assert.include(readFileSync(old, "utf8"), "old")
        assert.strictEqual(readFileSync(other, "utf8"), "no agent")
        assert.deepStrictEqual(readdirSync(join(home, "agents")).toSorted(), ["Reviewer.md", "broken.md"])
      })
    )
  )

  it.effect("asked for many times at once is written once", () =>
    inPlace(
      Effect.fnUntraced(function* ({ home, project }) {
        const attempt = (text: string) => Effect.result(create(project, { instructions: text }))
        const results = yield* Effect.forEach(["a", "b", "c", "d"], attempt, { concurrency: "unbounded" })
        assert.lengthOf(
          results.filter(({ _tag }) => _tag === "Success"),
          1
        )
        assert.deepStrictEqual(readdirSync(join(home, "agents")), ["reviewer.md"])
      })
    )
  )

  it.effect("is refused by field, and nothing is written", () =>
    inPlace(
      Effect.fnUntraced(function* ({ home, person, project }) {
        const wrong: ReadonlyArray<readonly [Partial<NewAgent>, string]> = [
          [{ name: "../../x" }, "name"],
          [{ name: "/tmp/x" }, "name"],
          [{ name: "ask" }, "name"],
          [{ name: "README" }, "name"],
          [{ instructions: " \n" }, "instructions"],
          [{ instructions: "x".repeat(300_000) }, "instructions"],
          [{ description: "x".repeat(2001) }, "description"]
        ]
        for (const [agent, field] of wrong) {
          assert.strictEqual((yield* Effect.flip(create(project, agent))).field, field)
        }
        assert.isFalse(existsSync(home))
        const outside = join(person, "outside")
        mkdirSync(outside)
        mkdirSync(join(project, ".supercharge"))
        symlinkSync(outside, join(project, ".supercharge/agents"))
        const error = yield* Effect.flip(create(project, { scope: "project" }))
        assert.strictEqual(error.field, "scope")
        assert.match(error.message, /leads out of the project/)
        rmSync(join(project, ".supercharge"), { recursive: true })
        symlinkSync(outside, join(project, ".supercharge"))
        assert.strictEqual((yield* Effect.flip(create(project, { scope: "project" }))).field, "scope")
        symlinkSync(join(person, "nowhere"), join(home))
        assert.strictEqual((yield* Effect.flip(create(project, { scope: "user" }))).field, "scope")
        assert.deepStrictEqual(readdirSync(outside), [])
      })
    )
  )

  it.effect("says what to do where nothing can be written", () =>
    inPlace(
      Effect.fnUntraced(function* ({ home, project }) {
        writeFileSync(home, "")
        const error = yield* Effect.flip(create(project, { scope: "user" }))
        assert.match(error.message, /cannot be written .*make its folder writable/)
      })
    )
  )
})

describe("an agent that is brought", () => {
  it.effect("comes from a file or as an object", () =>
    inPlace(
      Effect.fnUntraced(function* ({ put }) {
        const agents = yield* CustomAgents
        const markdown = yield* agents.load(put("x/a.md", agentText({ mode: "plan" })))
        assert.deepInclude(markdown, { name: "a", mode: "plan", scope: "session" })
        const json = yield* agents.load(put("x/b.json", `{"name": "bee", "prompt": "Do it."}`))
        assert.deepInclude(json, { name: "bee", prompt: "Do it." })
        assert.deepInclude(yield* agents.define({ name: "c", prompt: "Do it." }), { name: "c", scope: "session" })
        for (const path of [put("x/d.json", "{"), put("x/e.md", "no"), "/nonexistent/x.md", "/"]) {
          const error = yield* Effect.flip(agents.load(path))
          assert.strictEqual(error.field, "agentProfile")
          assert.include(error.message, path)
        }
        assert.strictEqual((yield* Effect.flip(agents.define({ prompt: "x" }))).field, "agentProfile")
      })
    )
  )
})
