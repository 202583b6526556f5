/** Slash commands of a session: the list, what each of them does, and what reaches the model. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { rmSync } from "node:fs"
import { join } from "node:path"
import * as TestClock from "effect/testing/TestClock"
import { text } from "../../../src/domain/Content.ts"
import { InvalidInput } from "../../../src/domain/Failure.ts"
import { McpManager, noServers } from "../../../src/services/McpManager.ts"
import type { ScriptStep } from "../../../src/services/models/script/Script.ts"
import { Projects } from "../../../src/services/Projects.ts"
import { makeCommands, put } from "../../support/commands.ts"
import { place } from "../../support/agents.ts"
import { completed, type FakeTool } from "../../support/fakeTools.ts"
import { info, spoken } from "../../support/models.ts"

const echo: ScriptStep = { again: true, parts: [{ text: "Heard: " }, { echo: true }] }
const script = [echo]
const plain = { ...info, id: "other/plain", name: "Plain", efforts: [] }
const infos = [{ ...info, contextWindow: 100_000 }, plain]

const named = (commands: ReadonlyArray<{ readonly name: string }> | undefined) =>
  (commands ?? []).map(({ name }) => name)

/** A server with one prompt, that is there at once. */
const withPrompt = Layer.succeed(McpManager, {
  connect: () =>
    Effect.succeed({
      ...noServers,
      prompts: Effect.succeed([
        {
          name: "mcp__city__weather",
          description: "The weather",
          arguments: [
            { name: "city", required: true },
            { name: "days", description: "How many", required: false }
          ],
          get: (given: Readonly<Record<string, string>>) =>
            given["city"] === "nowhere"
              ? Effect.fail(
                  new InvalidInput({ field: "weather", message: 'The MCP server "city" knows no such place.' })
                )
              : Effect.succeed([text(`Weather: ${JSON.stringify(given)}`)])
        }
      ])
    })
})

describe("the list of commands", () => {
  it.effect("has the built-in ones, then those of files and skills, with hints (F63, F117)", () =>
    Effect.gen(function* () {
      const { announce, id, lists } = yield* makeCommands({
        "project/.claude/commands/fix.md": "---\ndescription: Fix it\nargument-hint: [number]\n---\nFix $1",
        "project/.supercharge/commands/review.md": "My own review",
        "project/.supercharge/commands/clear.md": "Not this",
        "project/.agents/skills/pdf/SKILL.md": "---\ndescription: Forms\n---\nFill them",
        "home/skills/quiet/SKILL.md": "---\ndescription: Quiet\nuser-invocable: false\n---\nx"
      })
      yield* announce(id)
      const [list = []] = lists()
      assert.includeMembers(named(list), ["help", "compact", "fix", "pdf", "review"])
      assert.notInclude(named(list), "quiet")
      assert.deepInclude(list, { name: "fix", description: "Fix it", hint: "[number]" })
      assert.deepInclude(list, { name: "pdf", description: "Forms" })
      // What only asks the model gives way to a file; what does something does not.
      assert.strictEqual(list.find(({ name }) => name === "review")?.description, "My own review")
      assert.match(list.find(({ name }) => name === "clear")?.description ?? "", /forget/)
      assert.strictEqual(new Set(named(list)).size, list.length)
    })
  )

  it.effect("is told again, to all who watch, when files change, and only then (F117)", () =>
    Effect.gen(function* () {
      const { announce, cwd, id, lists, until } = yield* makeCommands()
      yield* announce(id)
      const file = join(cwd, ".supercharge/commands/fresh.md")
      const next = Effect.fnUntraced(function* (count: number) {
        yield* TestClock.adjust("3 seconds")
        yield* until(() => lists().length === count)
        return named(lists().at(-1))
      })
      put(file, "New")
      assert.include(yield* next(2), "fresh")
      yield* TestClock.adjust("30 seconds")
      assert.lengthOf(lists(), 2)
      rmSync(file)
      assert.notInclude(yield* next(3), "fresh")
    })
  )

  it.effect("comes with what is wrong in files, at the next prompt", () =>
    Effect.gen(function* () {
      const { announce, id, say, told } = yield* makeCommands(
        { "project/.supercharge/skills/x/SKILL.md": "no description" },
        { script }
      )
      yield* announce(id)
      yield* say("Hi")
      yield* say("Hi again")
      assert.lengthOf(
        told(id).filter((line) => line.includes("SKILL.md: has no description")),
        1
      )
    })
  )
})

describe("commands of files", () => {
  it.effect("reach the model with what was typed in their places, and the log as they were typed", () =>
    Effect.gen(function* () {
      const { cwd, events, id, loadSession, say } = yield* makeCommands(
        {
          "project/.claude/commands/git/fix.md": "Fix #$1 with $2.\n!`date`",
          "home/commands/all.md": "All of it: $ARGUMENTS"
        },
        { script }
      )
      assert.strictEqual(yield* say("/git:fix 12 'great care'"), "Heard: Fix #12 with great care.\n!`date`")
      assert.strictEqual(yield* say("/all  a 'b'  "), "Heard: All of it: a 'b'")
      yield* loadSession(id, place({ cwd }), {})
      const shown = events.flatMap(([, event]) => (event._tag === "UserMessage" ? event.content : []))
      assert.deepStrictEqual(shown, [text("/git:fix 12 'great care'"), text("/all  a 'b'  ")])
    })
  )

  it.effect("choose the model of their turn alone, if there is such a model", () =>
    Effect.gen(function* () {
      const { asked, say } = yield* makeCommands(
        {
          "home/commands/small.md": "---\nmodel: plain\n---\nSmall",
          "home/commands/gone.md": "---\nmodel: of-another-agent\n---\nGone"
        },
        { script, infos }
      )
      assert.strictEqual(yield* say("/small"), "Heard: Small")
      assert.strictEqual(yield* say("/gone"), "Heard: Gone")
      assert.lengthOf(asked.prompts, 2)
    })
  )

  it.effect("that there are none of are text for the model, like paths (F117)", () =>
    Effect.gen(function* () {
      const { say } = yield* makeCommands({}, { script })
      for (const words of ["/nope x", "/usr/bin is a path", "/", "// a comment"]) {
        assert.strictEqual(yield* say(words), `Heard: ${words}`)
      }
    })
  )
})

describe("skills", () => {
  const files = {
    "project/.supercharge/skills/pdf/SKILL.md": "---\ndescription: Fill PDF forms\n---\nUse fill.py on $ARGUMENTS.",
    "project/.supercharge/skills/pdf/fill.py": "",
    "home/skills/mine/SKILL.md": "---\ndescription: Mine\ndisable-model-invocation: true\n---\nMine."
  }
  const skillCall = (name: string): ScriptStep => ({ parts: [{ tool: { name: "skill", input: { name } } }] })

  it.effect("are told to the model by name and description, and opened by it (F63)", () =>
    Effect.gen(function* () {
      const { asked, cwd, say } = yield* makeCommands(files, {
        script: [skillCall("pdf"), skillCall("mine"), { parts: [{ text: "Done" }] }]
      })
      yield* say("Fill it")
      const system = String(asked.prompts[0]?.[0]?.content)
      assert.include(system, "- pdf: Fill PDF forms")
      assert.notInclude(system, "fill.py")
      assert.notInclude(system, "mine")
      assert.include(asked.tools, "skill")
      const read = JSON.stringify(asked.prompts.at(-1))
      assert.include(
        read,
        `<skill name=\\"pdf\\" folder=\\"${cwd}/.supercharge/skills/pdf\\">\\nUse fill.py on $ARGUMENTS.`
      )
      assert.include(read, "Beside it, in its folder: fill.py")
      assert.include(read, 'There is no skill \\"mine\\". The skills are: pdf.')
    })
  )

  it.effect("are called by the person as commands, also those that the model may not open", () =>
    Effect.gen(function* () {
      const { say } = yield* makeCommands(files, { script })
      assert.match(yield* say("/pdf a.pdf"), /^Heard: <skill name="pdf" [^]*\nUse fill.py on a\.pdf\.\n<\/skill>/)
      assert.include(yield* say("/mine"), "Mine.")
    })
  )

  it.effect("cost nothing where there are none", () =>
    Effect.gen(function* () {
      const { asked, say } = yield* makeCommands({}, { script })
      yield* say("Hi")
      assert.notInclude(asked.tools, "skill")
      assert.notInclude(String(asked.prompts[0]?.[0]?.content), "skill")
    })
  )
})

describe("prompts of MCP servers", () => {
  it.effect("are commands with their arguments", () =>
    Effect.gen(function* () {
      const { announce, id, lists, say } = yield* makeCommands(
        {},
        { script, mcp: withPrompt, settings: { mcpServers: [] } }
      )
      assert.strictEqual(
        yield* say("/mcp__city__weather 'New York' 3"),
        'Heard: Weather: {"city":"New York","days":"3"}'
      )
      assert.include(yield* say("/mcp__city__weather days=2 San José"), '{"days":"2","city":"San José"}')
      assert.match(yield* say("/mcp__city__weather"), /^Type `\/mcp__city__weather <city> \[days\]`/)
      assert.strictEqual(yield* say("/mcp__city__weather nowhere"), 'The MCP server "city" knows no such place.')
      yield* announce(id)
      assert.deepInclude(lists().at(-1) ?? [], {
        name: "mcp__city__weather",
        description: "The weather",
        hint: "<city> [days]"
      })
      assert.strictEqual(yield* say("/mcp__city__other x"), "Heard: /mcp__city__other x")
    })
  )
})

describe("choosing by a command", () => {
  it.effect("shows what there is, and chooses as the client would, for every view", () =>
    Effect.gen(function* () {
      const { events, say } = yield* makeCommands({}, { script, infos })
      const changes = () =>
        events.flatMap(([, event]) =>
          event._tag === "ConfigChanged" ? [event.options.map(({ currentValue }) => currentValue).join(" ")] : []
        )
      assert.match(yield* say("/model"), /- \*\*`scripted\/one`\*\* \(now\) One.*\n- `other\/plain` Plain/)
      assert.strictEqual(yield* say("/effort HIGH"), "Reasoning effort: `high`.")
      assert.strictEqual(yield* say("/mode plan"), "Mode: `plan`.")
      assert.strictEqual(yield* say("/model plain"), "Model: `other/plain`.")
      assert.deepStrictEqual(changes(), ["scripted/one high ask", "scripted/one high plan", "other/plain plan"])
      assert.match(yield* say("/effort"), /has no levels of reasoning effort/)
      assert.match(yield* say("/mode nonsense"), /^`nonsense` is no choice here\. Mode; type `\/mode` and one of:/)
      assert.match(yield* say("/mode a"), /^`a` may be any of /)
      assert.lengthOf(changes(), 3)
    })
  )
})

describe("what a session says of itself", () => {
  const steps: ReadonlyArray<ScriptStep> = [
    { again: true, parts: [{ text: "Hi" }], usage: { input: 40_000, output: 10_000, cached: 10_000 } }
  ]
  const price = { input: 1, output: 2, cacheRead: 0.5, cacheWrite: 1 }
  const priced = [{ ...info, contextWindow: 100_000, price }]

  it.effect("by /help, /status, /context and /cost", () =>
    Effect.gen(function* () {
      const { cwd, id, say } = yield* makeCommands({}, { script: steps, infos: priced })
      yield* say("Hello there")
      assert.match(yield* say("/help"), /- `\/compact \[what must be kept\]` Replace/)
      const status = yield* say("/status")
      for (const part of [id, "“Hello there”", "scripted/one", cwd, "Code (super-pi-code)", "| Turns | 3 |", "none"]) {
        assert.include(status, part)
      }
      assert.match(yield* say("/context"), /50,000 of 100,000 tokens \(50 %\)[^]*From you \| 1 messages/)
      const cost = yield* say("/cost")
      assert.include(cost, "| Cost | $0.0550 |")
      assert.include(cost, "| Tokens read | 40,000 |")
      assert.include(cost, "| of them from the cache | 10,000 (25 %) |")
    })
  )

  it.effect("by /permissions and /agents", () =>
    Effect.gen(function* () {
      const { say } = yield* makeCommands(
        {},
        {
          settings: { permission: { allow: ["Bash(npm test)"], ask: [], deny: ["Read(secret)"] } },
          projects: Projects.layerTest({
            permission: { allow: [], ask: ["Bash(git push)"], deny: [] },
            trust: "declined",
            withheld: ["the hook X"]
          })
        }
      )
      assert.match(
        yield* say("/permissions"),
        /The mode is \*\*Ask\*\*[^]*Never runs, by your settings:\n\n- `Read\(secret\)`[^]*`Bash\(npm test\)`[^]*Always asks, by the project[^]*git push[^]*not trusted[^]*the hook X/
      )
      assert.match(yield* say("/agents"), /\*\*Code\*\* \(`super-pi-code`\)[^]*- `super-pi-planner`/)
    })
  )

  it.effect("and says what a command takes that was typed with more", () =>
    Effect.gen(function* () {
      const { asked, say } = yield* makeCommands({}, { script })
      assert.match(yield* say("/undo everything"), /^`\/undo` takes nothing behind its name: .* Nothing was done\.$/)
      assert.lengthOf(asked.prompts, 0)
    })
  )
})

describe("the conversation", () => {
  it.effect("is forgotten by /clear, and summed up by /compact; a load tells all of it (F115)", () =>
    Effect.gen(function* () {
      const { asked, cwd, id, loadSession, say, told } = yield* makeCommands(
        {},
        {
          infos,
          script: [
            { parts: [{ text: "Blue. ".repeat(300) }], usage: { input: 1_000, output: 500 } },
            { when: "kept above all: colours", parts: [{ text: "IT IS BLUE" }] },
            { again: true, parts: [{ text: "OK" }] }
          ]
        }
      )
      yield* say("Which colour?")
      assert.match(yield* say("/compact colours"), /^The model now reads a summary .* about \d+ tokens became \d+\./)
      yield* say("And now?")
      const compacted = spoken(asked.prompts.at(-1) ?? [])
      assert.include(compacted[0], "IT IS BLUE")
      assert.deepStrictEqual(compacted.slice(1), ["user And now?"])
      assert.match(yield* say("/clear"), /has forgotten/)
      yield* say("Who am I?")
      assert.deepStrictEqual(spoken(asked.prompts.at(-1) ?? []), ["user Who am I?"])
      const before = told(id).length
      yield* loadSession(id, place({ cwd }), {})
      const replayed = told(id).slice(before).join("\n")
      assert.include(replayed, "Blue. Blue.")
      assert.strictEqual(replayed.match(/UserMessage/g)?.length, 5)
      yield* say("Still?")
      assert.deepStrictEqual(spoken(asked.prompts.at(-1) ?? []), ["user Who am I?", "assistant OK", "user Still?"])
    })
  )

  it.effect("is as it was when /compact is cancelled, which is told where the client shows it", () =>
    Effect.gen(function* () {
      const { asked, cancel, events, id, say, told, until } = yield* makeCommands(
        {},
        { infos, script: [{ parts: [{ text: "Blue. ".repeat(300) }] }, { parts: [{ hang: true }] }, echo] }
      )
      yield* say("Which colour?")
      const compacting = yield* Effect.forkChild(say("/compact"), { startImmediately: true })
      yield* until(() => told(id).includes("compaction in_progress"))
      yield* cancel(id)
      assert.strictEqual(yield* Fiber.join(compacting), "")
      const states = events.flatMap(([, event]) => (event._tag === "CompactionUpdated" ? [event.status] : []))
      assert.deepStrictEqual(states, ["in_progress", "cancelled"])
      assert.include(told(id), "notice The older part of the conversation is summed up for the model")
      yield* say("And now?")
      assert.include(spoken(asked.prompts.at(-1) ?? [])[1], "Blue.")
    })
  )

  it.effect("is shown by /export, and written by its tool, judged like any other", () =>
    Effect.gen(function* () {
      const written: Array<string> = []
      const write: FakeTool = {
        access: { _tag: "Edit", paths: ["/talk.md"], outside: [] },
        run: (value) => Effect.sync(() => (written.push(value), completed("ok")))
      }
      const { id, questions, say, told, until } = yield* makeCommands({}, { script, tools: { write } })
      yield* say("Hello")
      const shown = yield* say("/export")
      assert.strictEqual(shown, "# Hello\n\n## User\n\nHello\n\n## Agent\n\nHeard: Hello\n")
      const exporting = yield* Effect.forkChild(say("/export talk.md"), { startImmediately: true })
      yield* until(() => questions.length === 1)
      yield* questions[0]?.choose("reject_once") ?? Effect.void
      assert.match(yield* Fiber.join(exporting), /^The conversation was not written: /)
      assert.lengthOf(written, 0)
      assert.include(told(id).join("\n"), "start write")
    })
  )

  it.effect("is asked for /init and /review in words of their own, with what the person adds", () =>
    Effect.gen(function* () {
      const { say } = yield* makeCommands({}, { script })
      assert.match(yield* say("/init"), /^Heard: Write AGENTS\.md in the root/)
      assert.match(
        yield* say("/review the last 3 commits"),
        /^Heard: Review a change\.[^]*The user adds: the last 3 commits/
      )
      assert.match(yield* say("/review"), /git diff HEAD/)
    })
  )
})
