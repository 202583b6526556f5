/** What lets a command run outside of the sandbox, through the broker: a yes to the one is never a yes to the other. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SessionId, ToolCallId } from "../../../src/domain/Ids.ts"
import { ExecutionMode } from "../../../src/domain/permission/ExecutionMode.ts"
import type { Access } from "../../../src/domain/permission/Permission.ts"
import { PermissionBroker, type PermissionRequest } from "../../../src/services/PermissionBroker.ts"
import { type PermissionSettings, Settings } from "../../../src/services/Settings.ts"
import { platform } from "../../support/toolbox.ts"
import { unremembered } from "../../support/turns.ts"

const modes = ExecutionMode.literals

const noRules: PermissionSettings = { allow: [], ask: [], deny: [] }

/** `free`: the model wants it outside; `missed`: a sandbox was asked for and cannot be had, so that it would run free. */
type Where = "inside" | "free" | "missed"

const execute = (command: string, where: Where, cwd: string): Access => ({
  _tag: "Execute",
  command,
  cwd,
  ...(where === "free" ? { unsandboxed: true } : {})
})

interface Call {
  readonly command?: string
  readonly where: Where
  readonly cwd?: string
  readonly mode: ExecutionMode
  /** The answer, if it asks; none: no. */
  readonly answer?: string
}

const decide = Effect.fnUntraced(function* ({
  answer = "reject-once",
  command = "npm test",
  cwd = "/w",
  mode,
  where
}: Call) {
  let labels: ReadonlyArray<string> | undefined
  const request: PermissionRequest = {
    sessionId: SessionId.make("s1"),
    call: { id: ToolCallId.make("c1"), patch: { title: "the call", kind: "execute" } },
    access: execute(command, where, cwd),
    cwd: "/w",
    roots: ["/w"],
    mode,
    grants: [],
    confined: where === "inside",
    unconfinable: where === "missed",
    ask: ({ options }) =>
      Effect.sync(() => {
        labels = options.map(({ name }) => name)
        return { _tag: "Selected", optionId: answer } as const
      }),
    remember: () => Effect.die("nothing is for this session alone")
  }
  const decision = yield* (yield* PermissionBroker).decide(request)
  return {
    verdict: labels === undefined ? (decision._tag === "Allowed" ? "runs" : "no") : "asks",
    labels: labels ?? []
  }
})

const broker = (rules: Partial<PermissionSettings>) =>
  PermissionBroker.layer.pipe(
    Layer.provide([unremembered, Settings.layerValues({ permission: { ...noRules, ...rules } }), platform])
  )

/** In the order of the modes: plan, ask, accept-edits, auto, always-approve. */
type Verdicts = string

const verdictsOf = Effect.fnUntraced(function* (call: Omit<Call, "mode">) {
  const found = yield* Effect.forEach(modes, (mode) => Effect.map(decide({ ...call, mode }), ({ verdict }) => verdict))
  return found.join(" ")
})

interface Row {
  readonly what: string
  /** Answered before, in the mode `ask`. */
  readonly before?: readonly [where: Where, answer: string]
  readonly rules?: Partial<PermissionSettings>
  readonly inside: Verdicts
  readonly free: Verdicts
  readonly missed: Verdicts
  readonly command?: string
  readonly cwd?: string
}

const never = "no no no no no"

const rows: ReadonlyArray<Row> = [
  {
    what: "a known development command",
    inside: "no asks asks runs runs",
    free: "no asks asks asks runs",
    missed: "no asks asks asks asks"
  },
  {
    what: "a command that only reads",
    command: "ls",
    inside: "runs runs runs runs runs",
    free: "no asks asks asks runs",
    missed: "asks asks asks asks asks"
  },
  {
    what: "an unknown command",
    command: "./deploy",
    inside: "no asks asks asks runs",
    free: "no asks asks asks runs",
    missed: "no asks asks asks asks"
  },
  {
    what: "always, inside",
    before: ["inside", "always-allow"],
    inside: "no runs runs runs runs",
    free: "no asks asks asks runs",
    missed: "no asks asks asks asks"
  },
  {
    what: "always, outside",
    before: ["free", "always-allow"],
    inside: "no asks asks runs runs",
    free: "no runs runs runs runs",
    missed: "no runs runs runs runs"
  },
  {
    what: "always, where there was no sandbox",
    before: ["missed", "always-allow"],
    inside: "no asks asks runs runs",
    free: "no runs runs runs runs",
    missed: "no runs runs runs runs"
  },
  {
    what: "always outside, as a part of another line",
    before: ["free", "always-allow"],
    command: "npm test; npm test",
    inside: "no asks asks runs runs",
    free: "no asks asks asks runs",
    missed: "no asks asks asks asks"
  },
  {
    what: "always outside, in another folder",
    before: ["free", "always-allow"],
    cwd: "/w/sub",
    inside: "no asks asks runs runs",
    free: "no asks asks asks runs",
    missed: "no asks asks asks asks"
  },
  {
    what: "never, inside",
    before: ["inside", "reject-always"],
    inside: never,
    free: never,
    missed: never
  },
  {
    what: "never, outside",
    before: ["free", "reject-always"],
    inside: "no asks asks runs runs",
    free: never,
    missed: never
  },
  ...["Bash(npm test)", "Bash(npm *)", "Bash(*)", "Bash", "*"].map((rule) => ({
    what: `the rule ${rule}`,
    rules: { allow: [rule] },
    inside: "no runs runs runs runs",
    free: "no asks asks asks runs",
    missed: "no asks asks asks asks"
  })),
  ...["Bash(unsandboxed:npm test)", "Bash(unsandboxed:*)", "Bash(unsandboxed:)"].map((rule) => ({
    what: `the rule ${rule}`,
    rules: { allow: [rule] },
    inside: "no runs runs runs runs",
    free: "no runs runs runs runs",
    missed: "no runs runs runs runs"
  })),
  {
    what: "a rule for another command outside",
    rules: { allow: ["Bash(npm test)", "Bash(unsandboxed:npm run *)"] },
    inside: "no runs runs runs runs",
    free: "no asks asks asks runs",
    missed: "no asks asks asks asks"
  },
  {
    what: "an ask rule for what is outside",
    rules: { ask: ["Bash(unsandboxed:)"], allow: ["Bash(unsandboxed:*)"] },
    inside: "no runs runs runs runs",
    free: "no asks asks asks asks",
    missed: "no asks asks asks asks"
  },
  {
    what: "a deny rule for what is outside",
    rules: { deny: ["Bash(unsandboxed:*)"] },
    inside: "no asks asks runs runs",
    free: never,
    missed: never
  }
]

describe("a command outside of the sandbox", () => {
  for (const { before, command = "npm test", cwd = "/w", rules = {}, what, ...expected } of rows) {
    it.effect(what, () =>
      Effect.gen(function* () {
        if (before !== undefined) yield* decide({ where: before[0], mode: "ask", answer: before[1] })
        const found = {
          inside: yield* verdictsOf({ where: "inside", command, cwd }),
          free: yield* verdictsOf({ where: "free", command, cwd }),
          missed: yield* verdictsOf({ where: "missed", command, cwd })
        }
        assert.deepStrictEqual(found, expected)
      }).pipe(Effect.provide(broker(rules)))
    )
  }

  it.effect("the labels say where it runs", () =>
    Effect.gen(function* () {
      const labels = (where: Where) => Effect.map(decide({ where, mode: "ask" }), (asked) => asked.labels)
      assert.deepStrictEqual(yield* labels("inside"), [
        'Always allow "npm test"',
        "Allow once",
        "Reject",
        'Never run "npm test"'
      ])
      for (const where of ["free", "missed"] as const) {
        assert.deepStrictEqual(yield* labels(where), [
          'Always allow "npm test" outside of the sandbox',
          "Allow once",
          "Reject",
          'Never run "npm test" outside of the sandbox'
        ])
      }
    }).pipe(Effect.provide(broker({})))
  )
})
