import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { SessionId, ToolCallId } from "../../src/domain/Ids.ts"
import type { Access, Answer, Grant, Question } from "../../src/domain/permission/Permission.ts"
import { Grants } from "../../src/services/permission/Grants.ts"
import { Projects } from "../../src/services/Projects.ts"
import { OwnFileFailed } from "../../src/services/files/OwnText.ts"
import { textContent } from "../../src/domain/Tool.ts"
import { PermissionBroker, type PermissionRequest } from "../../src/services/PermissionBroker.ts"
import { type PermissionSettings, Settings, type SettingsValue } from "../../src/services/Settings.ts"
import { defaultSettings } from "../../src/services/settings/Merge.ts"
import { platform } from "../support/toolbox.ts"

const noRules: PermissionSettings = { allow: [], ask: [], deny: [] }

const brokerWith = (
  settings: Effect.Effect<Partial<SettingsValue>>,
  { grants = Grants.layerMemory, projects = Projects.layerNone } = {}
) =>
  PermissionBroker.layer.pipe(
    Layer.provideMerge(grants),
    Layer.provide([
      projects,
      Layer.succeed(Settings, {
        home: "/home/ada/.supercharge",
        current: Effect.map(settings, (settings) => ({ ...defaultSettings, ...settings }))
      }),
      platform
    ])
  )

const brokerOf = (permission: Effect.Effect<PermissionSettings>) =>
  brokerWith(Effect.map(permission, (permission) => ({ permission })))

const project = (root: string, permission: PermissionSettings) =>
  Layer.succeed(Projects, {
    of: () =>
      Effect.succeed({
        root,
        trust: "trusted",
        permission,
        hooks: [],
        choices: {},
        mcpServers: [],
        withheld: [],
        warnings: []
      }),
    decide: () => Effect.void
  })

const command: Access = { _tag: "Execute", command: "npm test", cwd: "/w" }
const edit: Access = { _tag: "Edit", paths: ["/w/a"], outside: [] }
const mcp: Access = { _tag: "Mcp", server: "sales", tool: "list" }

const requestOf = (access: Access, more: Partial<PermissionRequest> = {}): PermissionRequest => ({
  sessionId: SessionId.make("s1"),
  call: { id: ToolCallId.make("c1"), patch: { title: "the call", kind: "execute" } },
  access,
  cwd: "/w",
  roots: ["/w"],
  mode: "ask",
  grants: [],
  confined: false,
  unconfinable: false,
  ask: () => Effect.die("nobody should be asked"),
  remember: () => Effect.die("nothing should be remembered"),
  ...more
})

/** Decides with one answer; also gives what was asked and remembered. */
const answered = (access: Access, answer: Answer) =>
  Effect.gen(function* () {
    const questions: Array<Question> = []
    const grants: Array<Grant> = []
    const decision = yield* (yield* PermissionBroker).decide(
      requestOf(access, {
        ask: (question) => {
          questions.push(question)
          return Effect.succeed(answer)
        },
        remember: (grant) => Effect.sync(() => grants.push(grant))
      })
    )
    const kept = yield* (yield* Grants).of("/w")
    return { decision, questions, grants: [...grants, ...kept] }
  }).pipe(Effect.provide(brokerOf(Effect.succeed(noRules))))

const selected = (optionId: string, message?: string): Answer => ({
  _tag: "Selected",
  optionId,
  ...(message === undefined ? {} : { message })
})

describe("PermissionBroker", () => {
  describe("answers", () => {
    for (const [name, access, answer, isAllowed, remembered] of [
      ["once", command, selected("allow-once"), true, []],
      ["always", command, selected("always-allow"), true, ["allow Execute npm test"]],
      ["no", command, selected("reject-once"), false, []],
      ["never", command, selected("reject-always"), false, ["reject Execute npm test"]],
      ["cancelled", command, { _tag: "Cancelled" }, false, []],
      ["an error", command, { _tag: "Unanswered", reason: "the client failed" }, false, []],
      ["an unknown option", command, selected("allow"), false, []],
      ["an option of another question", command, selected("allow-edits-session"), false, []],
      ["an empty option", command, selected(""), false, []],
      ["edits, once", edit, selected("allow-once"), true, []],
      ["edits, for the session", edit, selected("allow-edits-session"), true, ["allow Edit *"]],
      ["edits, no", edit, selected("reject-once"), false, []],
      ["edits have no never", edit, selected("reject-always"), false, []],
      ["a tool, always", mcp, selected("always-allow"), true, ["allow Mcp sales__list"]]
    ] satisfies ReadonlyArray<readonly [string, Access, Answer, boolean, ReadonlyArray<string>]>) {
      it.effect(`${name}: ${isAllowed ? "yes" : "no"}`, () =>
        Effect.gen(function* () {
          const { decision, grants } = yield* answered(access, answer)
          assert.strictEqual(decision._tag, isAllowed ? "Allowed" : "Denied")
          assert.deepStrictEqual(
            grants.map(({ access, subject, verdict }) => `${verdict} ${access} ${subject}`),
            [...remembered]
          )
        })
      )
    }

    it.effect("the question names the call and offers the options of its kind", () =>
      Effect.gen(function* () {
        const { questions } = yield* answered(command, selected("allow-once"))
        assert.deepStrictEqual(questions, [
          {
            sessionId: SessionId.make("s1"),
            call: {
              id: ToolCallId.make("c1"),
              patch: { title: "the call", kind: "execute", content: [textContent("```sh\nnpm test\n```\nIn /w")] }
            },
            options: [
              { id: "always-allow", name: 'Always allow "npm test"', kind: "allow_always" },
              { id: "allow-once", name: "Allow once", kind: "allow_once" },
              { id: "reject-once", name: "Reject", kind: "reject_once" },
              { id: "reject-always", name: 'Never run "npm test"', kind: "reject_always" }
            ]
          }
        ])
        const ids = (access: Access) =>
          Effect.map(answered(access, selected("")), ({ questions }) => questions[0]?.options.map(({ id }) => id))
        assert.deepStrictEqual(yield* ids(edit), ["allow-edits-session", "allow-once", "reject-once"])
        assert.deepStrictEqual(yield* ids(mcp), ["always-allow", "allow-once", "reject-once"])
      })
    )

    it.effect("a no says who said it, and carries the words of the user", () =>
      Effect.gen(function* () {
        const reason = (answer: Answer) =>
          Effect.map(answered(command, answer), ({ decision }) => (decision._tag === "Denied" ? decision.reason : ""))
        assert.match(yield* reason(selected("reject-once")), /^The user said no/)
        assert.include(yield* reason(selected("reject-once", " use make ")), "wrote: use make")
        assert.include(yield* reason({ _tag: "Unanswered", reason: "the client failed" }), "the client failed")
        assert.match(yield* reason({ _tag: "Cancelled" }), /dismissed/)
        for (const answer of [selected("reject-once"), { _tag: "Cancelled" } as const, selected("x")]) {
          assert.include(yield* reason(answer), "Do not retry it")
        }
      })
    )
  })

  it.effect("where nobody can be asked, a question is a no", () =>
    Effect.gen(function* () {
      const { decide } = yield* PermissionBroker
      const decision = yield* decide(requestOf(command, { ask: undefined }))
      assert.deepInclude(decision, { _tag: "Denied" })
      assert.deepStrictEqual(yield* decide(requestOf(command, { ask: undefined, mode: "always-approve" })), {
        _tag: "Allowed"
      })
    }).pipe(Effect.provide(brokerOf(Effect.succeed(noRules))))
  )

  it.effect("an answer that is remembered is not asked for again (F34)", () =>
    Effect.gen(function* () {
      const { decide } = yield* PermissionBroker
      yield* decide(requestOf(command, { ask: () => Effect.succeed(selected("always-allow")) }))
      assert.deepStrictEqual(yield* decide(requestOf(command)), { _tag: "Allowed" })
      const elsewhere = yield* decide(
        requestOf({ ...command, cwd: "/v" }, { cwd: "/v", roots: ["/v"], ask: undefined })
      )
      assert.strictEqual(elsewhere._tag, "Denied")
    }).pipe(Effect.provide(brokerOf(Effect.succeed(noRules))))
  )

  it.effect("rules are those of the moment, and a bad one is named once", () =>
    Effect.gen(function* () {
      const messages: Array<unknown> = []
      const settings = yield* Ref.make<PermissionSettings>({ ...noRules, allow: ["Shell(x)", "Bash(npm test)"] })
      const logger = Logger.make(({ message }) => {
        messages.push(message)
      })
      yield* Effect.gen(function* () {
        const { decide } = yield* PermissionBroker
        assert.strictEqual((yield* decide(requestOf(command)))._tag, "Allowed")
        assert.strictEqual((yield* decide(requestOf(command)))._tag, "Allowed")
        yield* Ref.set(settings, { ...noRules, deny: ["Bash(npm *)"] })
        const denied = yield* decide(requestOf(command, { mode: "always-approve" }))
        assert.include(denied._tag === "Denied" ? denied.reason : "", "the permission rule Bash(npm *)")
      }).pipe(Effect.provide([brokerOf(Ref.get(settings)), Logger.layer([logger])]))
      assert.strictEqual(messages.length, 1)
      assert.include(String(messages[0]), 'the allow rule "Shell(x)" is ignored'.replace("the", "The"))
    })
  )

  it.effect("of the warnings that were said only so many are known, however many there are", () =>
    Effect.gen(function* () {
      const messages: Array<string> = []
      const settings = yield* Ref.make<PermissionSettings>(noRules)
      const logger = Logger.make(({ message }) => {
        messages.push(String(message))
      })
      yield* Effect.gen(function* () {
        const { decide } = yield* PermissionBroker
        const say = (rule: number) =>
          Effect.andThen(
            Ref.set(settings, { ...noRules, allow: [`Shell(${rule})`, "Bash(npm test)"] }),
            decide(requestOf(command))
          )
        for (let rule = 0; rule < 501; rule++) yield* Effect.andThen(say(rule), say(rule))
        assert.strictEqual(messages.length, 501)
        yield* say(500)
        assert.strictEqual(messages.length, 501)
        yield* say(0)
        assert.strictEqual(messages.length, 502)
      }).pipe(Effect.provide([brokerOf(Ref.get(settings)), Logger.layer([logger])]))
    })
  )

  it.effect("what may be shown below a folder is what the rules of the moment leave", () =>
    Effect.gen(function* () {
      const settings = yield* Ref.make<PermissionSettings>(noRules)
      yield* Effect.gen(function* () {
        const { readable } = yield* PermissionBroker
        const shown = (search: boolean) =>
          Effect.map(
            readable({ cwd: "/w", search }),
            Option.match({
              onNone: () => "all",
              onSome: (readable) => ["/w/a", "/w/b/c", "/w/d", "/e"].filter(readable).join(" ")
            })
          )
        assert.strictEqual(yield* shown(true), "all")
        yield* Ref.set(settings, { ...noRules, ask: ["Read(a)"], allow: ["Read(a)"], deny: ["Edit(a)", "Bash(x)"] })
        assert.strictEqual(yield* shown(true), "all")
        yield* Ref.set(settings, { ...noRules, deny: ["Read(b)", "Grep(a)", "Read(/e)"] })
        assert.strictEqual(yield* shown(true), "/w/d")
        assert.strictEqual(yield* shown(false), "/w/a /w/d")
        yield* Ref.set(settings, { ...noRules, deny: ["*"] })
        assert.strictEqual(yield* shown(false), "")
      }).pipe(Effect.provide(brokerOf(Ref.get(settings))))
    })
  )

  it.effect("open questions never wait for one another (PRM-05, PRM-07)", () =>
    Effect.gen(function* () {
      const { decide } = yield* PermissionBroker
      const first = yield* Deferred.make<Answer>()
      const asked = yield* Deferred.make<void>()
      const waiting = yield* decide(
        requestOf(command, {
          ask: () => Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(first)),
          remember: () => Effect.void
        })
      ).pipe(Effect.forkChild)
      yield* Deferred.await(asked)
      const second = yield* decide(requestOf(edit, { ask: () => Effect.succeed(selected("allow-once")) }))
      assert.strictEqual(second._tag, "Allowed")
      yield* Deferred.succeed(first, selected("reject-once"))
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "Denied")
    }).pipe(Effect.provide(brokerOf(Effect.succeed(noRules))))
  )

  it.effect("interrupting a decision withdraws its question", () =>
    Effect.gen(function* () {
      const { decide } = yield* PermissionBroker
      const asked = yield* Deferred.make<void>()
      const withdrawn = yield* Deferred.make<void>()
      const ask = () =>
        Deferred.succeed(asked, undefined).pipe(
          Effect.andThen(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(withdrawn, undefined))
        )
      const fiber = yield* Effect.forkChild(decide(requestOf(command, { ask })))
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(withdrawn)
    }).pipe(Effect.provide(brokerOf(Effect.succeed(noRules))))
  )

  it.effect("the rules of the person and of the project are one set", () =>
    Effect.gen(function* () {
      const { decide } = yield* PermissionBroker
      const fate = (command: string) =>
        Effect.map(
          decide(requestOf({ _tag: "Execute", command, cwd: "/w" }, { mode: "ask", ask: undefined })),
          ({ _tag }) => _tag
        )
      assert.strictEqual(yield* fate("mine"), "Allowed")
      assert.strictEqual(yield* fate("its"), "Allowed")
      assert.strictEqual(yield* fate("mine; its"), "Allowed")
      assert.strictEqual(yield* fate("mine no"), "Denied")
      assert.strictEqual(yield* fate("its no"), "Denied")
    }).pipe(
      Effect.provide(
        brokerWith(
          Effect.succeed({ permission: { allow: ["Bash(mine)", "Bash(mine no)"], ask: [], deny: ["Bash(its no)"] } }),
          { projects: project("/w", { allow: ["Bash(its)", "Bash(its no)"], ask: ["Bash(mine no)"], deny: [] }) }
        )
      )
    )
  )

  it.effect("answers are kept for the project's root, with the folder of the command", () =>
    Effect.gen(function* () {
      const { decide } = yield* PermissionBroker
      const inFolder = (cwd: string, more: Partial<PermissionRequest> = {}) =>
        Effect.map(
          decide(requestOf({ ...command, cwd }, { cwd, roots: [cwd], ask: undefined, ...more })),
          ({ _tag }) => _tag
        )
      yield* inFolder("/p/a", { ask: () => Effect.succeed(selected("always-allow")) })
      const kept = yield* (yield* Grants).of("/p")
      assert.strictEqual(kept.length, 1)
      assert.deepInclude(kept[0], { verdict: "allow", access: "Execute", subject: "npm test", folder: "/p/a" })
      assert.strictEqual(yield* inFolder("/p/a"), "Allowed")
      assert.strictEqual(yield* inFolder("/p"), "Denied")
      yield* inFolder("/p", { ask: () => Effect.succeed(selected("reject-always")) })
      assert.strictEqual(yield* inFolder("/p/a", { mode: "always-approve" }), "Denied")
    }).pipe(Effect.provide(brokerWith(Effect.succeed({}), { projects: project("/p", noRules) })))
  )

  it.effect("where answers are not remembered, none is offered", () =>
    Effect.gen(function* () {
      const { decide } = yield* PermissionBroker
      const ids: Array<string> = []
      const ask = ({ options }: Question) => {
        ids.push(...options.map(({ id }) => id))
        return Effect.succeed(selected("always-allow"))
      }
      for (const access of [command, edit, mcp]) {
        assert.strictEqual((yield* decide(requestOf(access, { ask })))._tag, "Denied")
      }
      assert.deepStrictEqual([...new Set(ids)], ["allow-once", "reject-once"])
    }).pipe(Effect.provide(brokerWith(Effect.succeed({ rememberApprovals: false }))))
  )

  it.effect("what was remembered and cannot be read is no yes, and the question says so", () =>
    Effect.gen(function* () {
      const failure = new OwnFileFailed({ reason: "damaged", message: "the list is broken" })
      const broken = Layer.effect(
        Grants,
        Effect.map(Grants, (grants) => ({ ...grants, of: () => Effect.fail(failure) }))
      ).pipe(Layer.provide(Grants.layerMemory))
      yield* Effect.gen(function* () {
        const { decide } = yield* PermissionBroker
        const questions: Array<Question> = []
        const ask = (question: Question) => {
          questions.push(question)
          return Effect.succeed(selected("allow-once"))
        }
        assert.strictEqual((yield* decide(requestOf(command, { mode: "always-approve", ask })))._tag, "Allowed")
        assert.include(JSON.stringify(questions), "What was answered before is unknown: the list is broken")
        assert.strictEqual((yield* decide(requestOf(edit, { mode: "accept-edits" })))._tag, "Allowed")
      }).pipe(Effect.provide(brokerWith(Effect.succeed({}), { grants: broken })))
    })
  )

  it.effect("only the answer that decided counts as used", () =>
    Effect.gen(function* () {
      const used: Array<string> = []
      const watched = Layer.effect(
        Grants,
        Effect.map(Grants, (grants) => ({
          ...grants,
          use: (_: string, grants: ReadonlyArray<Grant>) =>
            Effect.sync(() => used.push(...grants.map(({ subject }) => subject)))
        }))
      ).pipe(Layer.provide(Grants.layerMemory))
      yield* Effect.gen(function* () {
        const { decide } = yield* PermissionBroker
        const { remember } = yield* Grants
        yield* remember("/w", { verdict: "allow", access: "Execute", subject: "npm test", folder: "/w" })
        yield* remember("/w", { verdict: "allow", access: "Execute", subject: "make", folder: "/w" })
        yield* remember("/w", { verdict: "reject", access: "Execute", subject: "npm publish" })
        yield* decide(requestOf(command))
        assert.deepStrictEqual(used.splice(0), ["npm test"])
        yield* decide(requestOf({ ...command, command: "npm publish" }, { ask: undefined }))
        assert.deepStrictEqual(used.splice(0), ["npm publish"])
        yield* decide(requestOf({ ...command, command: "make", cwd: "/w/sub" }, { ask: undefined }))
        yield* decide(requestOf({ ...command, command: "git status" }))
        assert.deepStrictEqual(used, [])
      }).pipe(Effect.provide(brokerWith(Effect.succeed({}), { grants: watched })))
    })
  )

  it.effect("layers for hosts allow or deny everything", () =>
    Effect.gen(function* () {
      const decide = Effect.flatMap(PermissionBroker, ({ decide }) => decide(requestOf(command, { mode: "plan" })))
      assert.strictEqual((yield* Effect.provide(decide, PermissionBroker.layerAllow))._tag, "Allowed")
      assert.strictEqual((yield* Effect.provide(decide, PermissionBroker.layerDeny))._tag, "Denied")
      const shows = Effect.map(
        Effect.flatMap(PermissionBroker, ({ readable }) => readable({ cwd: "/w", search: true })),
        Option.match({ onNone: () => true, onSome: (readable) => readable("/w/a") })
      )
      assert.isTrue(yield* Effect.provide(shows, PermissionBroker.layerAllow))
      assert.isFalse(yield* Effect.provide(shows, PermissionBroker.layerDeny))
    })
  )
})
