/** What the person decided about projects, in `trust.json` of the home folder, and whether that still fits. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { makeOwnFile } from "../files/OwnFile.ts"
import type { TrustContent } from "../Projects.ts"
import { OWN_FOLDER } from "./OwnFolder.ts"

export const TrustDecision = Schema.Struct({
  /** The real path of the project's root. */
  root: Schema.String,
  trusted: Schema.Boolean,
  /** What was trusted, file by file; empty after a no, which is about whatever the project says. */
  content: Schema.Record(Schema.String, Schema.Array(Schema.String)),
  /** RFC 3339. */
  decidedAt: Schema.String
})
export type TrustDecision = typeof TrustDecision.Type

const TrustList = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), decisions: Schema.Array(TrustDecision) })
)
type TrustList = typeof TrustList.Type

const undecided: TrustList = { version: 1, decisions: [] }

/** Marks and decisions that are kept. More are dropped, the oldest first: then the person is asked again. */
const MOST_MARKS = 1_000
const MOST_MARKS_OF_ALL = 20_000
const MOST_DECISIONS = 1_000

const marksIn = (content: TrustContent): number => Object.values(content).flat().length

const withinBounds = (decisions: ReadonlyArray<TrustDecision>): ReadonlyArray<TrustDecision> => {
  let marks = 0
  const kept = decisions.slice(-MOST_DECISIONS).toReversed()
  const end = kept.findIndex(({ content }) => (marks += marksIn(content)) > MOST_MARKS_OF_ALL)
  return (end === -1 ? kept : kept.slice(0, end)).toReversed()
}

const withoutEmpty = (content: TrustContent): TrustContent =>
  Object.fromEntries(Object.entries(content).filter(([, marks]) => marks.length > 0))

/** What was trusted from another folder of the project stays trusted. */
const joined = (before: TrustDecision | undefined, now: TrustContent): TrustContent => {
  const all = before?.trusted === true ? { ...before.content, ...now } : now
  return withoutEmpty(marksIn(all) > MOST_MARKS ? now : all)
}

/** The folder of a project to which a file belongs; empty: the root. */
const folderOf = (file: string): string => {
  const parts = file.split("/")
  const own = parts.lastIndexOf(OWN_FOLDER)
  return parts.slice(0, Math.max(own, 0)).join("/")
}

const isSame = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): boolean =>
  one.length === other.length && one.every((mark, at) => mark === other[at])

/** What the files of `folders` say, with nothing for those that were trusted and are gone. */
export const withGone = (trusted: TrustContent, now: TrustContent, folders: ReadonlySet<string>): TrustContent => {
  const gone = Object.keys(trusted).filter((file) => folders.has(folderOf(file)) && now[file] === undefined)
  return { ...now, ...Object.fromEntries(gone.map((file) => [file, []])) }
}

/**
 * Whether all of it is what was trusted. A file that went away is a change, too: it may have held the hook that made an allow
 * rule harmless.
 */
export const isAsTrusted = (trusted: TrustContent, now: TrustContent): boolean =>
  Object.entries(now).every(([file, marks]) => isSame(marks, trusted[file] ?? []))

export const makeTrustDecisions = (fs: FileSystem.FileSystem, path: Path.Path, home: string) => {
  const store = makeOwnFile({
    fs,
    paths: path,
    path: path.join(home, "trust.json"),
    schema: TrustList,
    empty: undecided,
    what: "list of trusted folders"
  })
  const list = Effect.map(store.read, ({ decisions }) => decisions)

  const decision = (root: string, trusted: boolean, content: TrustContent) =>
    Effect.map(DateTime.now, (now): TrustDecision => ({
      root,
      trusted,
      content: trusted ? content : {},
      decidedAt: DateTime.formatIso(now)
    }))

  return {
    list,
    of: (root: string) =>
      Effect.map(list, (decisions) => Option.fromUndefinedOr(decisions.find((one) => one.root === root))),
    decision,
    keep: (made: TrustDecision) =>
      store.change(({ decisions }) => {
        const before = decisions.find(({ root }) => root === made.root)
        const others = decisions.filter(({ root }) => root !== made.root)
        const kept = made.trusted ? { ...made, content: joined(before, made.content) } : made
        return [undefined, { version: 1, decisions: withinBounds([...others, kept]) }]
      }),
    /** The decision that is forgotten, if there was one. */
    forget: (root: string) =>
      store.change(({ decisions }) => [
        Option.fromUndefinedOr(decisions.find((one) => one.root === root)),
        { version: 1, decisions: decisions.filter((one) => one.root !== root) }
      ])
  }
}
