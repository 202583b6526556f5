import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type ChangingSession, changesLayer, inFolder, sh } from "../support/changes.ts"

const Path = Schema.Literals(["a", "b", "dir/c", "dir/deep/d", "other/e"])
const Content = Schema.Literals(["1", "2", "3", ""])

const Act = Schema.Union([
  Schema.TaggedStruct("Write", { path: Path, content: Content }),
  Schema.TaggedStruct("Remove", { path: Path })
])

const Step = Schema.Union([
  Schema.TaggedStruct("Turn", {
    calls: Schema.Array(
      Schema.Struct({
        by: Schema.Literals(["tool", "command", "person"]),
        acts: Schema.Array(Act).check(Schema.isMaxLength(3))
      })
    ).check(Schema.isMaxLength(3))
  }),
  Schema.TaggedStruct("Person", { act: Act }),
  Schema.TaggedStruct("Undo", {})
])

type Act = typeof Act.Type
type Files = ReadonlyMap<string, string>

const after = (files: Files, act: Act): Files => {
  const next = new Map(files)
  if (act._tag === "Write") next.set(act.path, act.content)
  else next.delete(act.path)
  return next
}

/** One change of one path that a call of a turn made. */
interface Change {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

const differences = (before: Files, now: Files): ReadonlyArray<Change> =>
  [...new Set([...before.keys(), ...now.keys()])]
    .map((path) => ({ path, before: before.get(path), after: now.get(path) }))
    .filter((change) => change.before !== change.after)

/** What the files are after an undo of a turn; undefined when somebody's work would be lost. */
const undone = (files: Files, turn: ReadonlyArray<Change>): Files | undefined => {
  const next = new Map(files)
  for (const path of new Set(turn.map((change) => change.path))) {
    const own = turn.filter((change) => change.path === path)
    const first = own[0]?.before
    const last = own.at(-1)?.after
    const current = files.get(path)
    if (first === last || current === first) continue
    const isUnbroken = own.every((change, index) => index === 0 || own[index - 1]?.after === change.before)
    if (current !== last || !isUnbroken) return undefined
    if (first === undefined) next.delete(path)
    else next.set(path, first)
  }
  return next
}

const comesToSomething = (turn: ReadonlyArray<Change>): boolean =>
  turn.some(
    ({ path }) =>
      turn.find((change) => change.path === path)?.before !== turn.findLast((change) => change.path === path)?.after
  )

const perform = ({ folder }: ChangingSession, act: Act): void => {
  const path = join(folder, act.path)
  if (act._tag === "Remove") return rmSync(path, { force: true })
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, act.content)
}

const commandOf = (act: Act): string =>
  act._tag === "Remove" ? `rm -f ${act.path}` : `mkdir -p ${dirname(act.path)} && printf '${act.content}' > ${act.path}`

/** Folders, which a turn may have made for files that it removed again. */
const foldersIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => !name.startsWith(".git") && lstatSync(join(folder, name)).isDirectory()
  )

const onDisk = (folder: string): Files =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => !name.startsWith(".git") && lstatSync(join(folder, name)).isFile())
      .toSorted()
      .map((name) => [name, readFileSync(join(folder, name), "utf8")])
  )

const sorted = (files: Files): Files => new Map([...files].toSorted(([one], [other]) => (one < other ? -1 : 1)))

/** A folder made by a person right before a command cannot be told from one of the command's own. */
const personSteps = (session: ChangingSession, acts: ReadonlyArray<Act>) =>
  Effect.andThen(
    Effect.sync(() => acts.forEach((act) => perform(session, act))),
    acts.some(({ _tag }) => _tag === "Write") ? Effect.sleep("25 millis") : Effect.void
  )

const follow = Effect.fnUntraced(function* (session: ChangingSession, steps: ReadonlyArray<typeof Step.Type>) {
  let files: Files = new Map()
  const turns: Array<{ readonly changes: ReadonlyArray<Change>; readonly madeFolders: boolean }> = []
  for (const step of steps) {
    if (step._tag === "Person") {
      yield* personSteps(session, [step.act])
      files = after(files, step.act)
    } else if (step._tag === "Turn") {
      const turn: Array<Change> = []
      let madeFolders = false
      yield* session.turn(
        Effect.gen(function* () {
          for (const { acts, by } of step.calls) {
            const before = files
            for (const act of acts) files = after(files, act)
            if (by !== "person") turn.push(...differences(before, files))
            const folders = foldersIn(session.folder)
            const doing = Effect.sync(() => acts.forEach((act) => perform(session, act)))
            if (by === "person") yield* personSteps(session, acts)
            else if (by === "tool") yield* session.tool([...new Set(acts.map(({ path }) => path))], doing)
            else yield* session.command(["true", ...acts.map(commandOf)].join("; "))
            if (by !== "person") madeFolders ||= foldersIn(session.folder).length > folders.length
          }
        })
      )
      turns.push({ changes: turn, madeFolders })
    } else {
      const last = turns.findLast(({ changes, madeFolders }) => madeFolders || comesToSomething(changes))
      turns.splice(last === undefined ? 0 : turns.indexOf(last) + 1)
      const expected = last === undefined ? undefined : undone(files, last.changes)
      const { _tag } = yield* session.undo
      assert.strictEqual(_tag, last === undefined ? "Nothing" : expected === undefined ? "Refused" : "Undone")
      if (expected !== undefined) {
        files = expected
        turns.pop()
      }
    }
    assert.deepStrictEqual(onDisk(session.folder), sorted(files))
  }
})

const steps = Arbitrary.array(Arbitrary.schema(Step), { minLength: 1, maxLength: 10 })

describe("changes", () => {
  for (const place of ["a folder", "a repository"]) {
    it.live.prop(
      `of turns and persons in ${place} come and go as a simple model says`,
      [steps],
      ([script]) =>
        Effect.gen(function* () {
          const session = yield* inFolder
          if (place === "a repository") yield* sh(session.folder, "git init -q")
          yield* follow(session, script)
        }).pipe(Effect.provide(changesLayer()), Effect.scoped),
      { arbitrary: { runs: 25 }, timeout: 60_000 }
    )
  }
})
