/** "Always" and "never" answers, kept for each project until they are revoked or nobody used them for long. */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { SecureRandom } from "effect/crypto/SecureRandom"
import { Grant } from "../../domain/permission/Permission.ts"
import { makeOwnFile } from "../files/OwnFile.ts"
import type { OwnFileFailed } from "../files/OwnText.ts"
import { Settings } from "../Settings.ts"

/** What was answered, for which project, and when. Times are RFC 3339; `usedAt` is right to the day. */
export const RememberedGrant = Schema.Struct({
  id: Schema.NonEmptyString,
  /** The project's root, absolute. */
  project: Schema.String,
  ...Grant.fields,
  grantedAt: Schema.String,
  usedAt: Schema.String
})
export type RememberedGrant = typeof RememberedGrant.Type

/** What `Grants` promises. */
export interface GrantsShape {
  /** Those of one project, in every process at once. Whoever cannot read them knows of no yes, and of no no either. */
  readonly of: (project: string) => Effect.Effect<ReadonlyArray<Grant>, OwnFileFailed>
  /** A later answer replaces an earlier one to the same. One that cannot be kept is told in the log. */
  readonly remember: (project: string, grant: Grant) => Effect.Effect<void>
  /** Notes that these were what decided. */
  readonly use: (project: string, grants: ReadonlyArray<Grant>) => Effect.Effect<void>
  /** Oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<RememberedGrant>, OwnFileFailed>
  /** Those that were there; the others have no such grant. */
  readonly revoke: (ids: ReadonlySet<string> | "all") => Effect.Effect<ReadonlyArray<RememberedGrant>, OwnFileFailed>
}

const GrantList = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), grants: Schema.Array(RememberedGrant) })
)
type GrantList = typeof GrantList.Type

const nothing: GrantList = { version: 1, grants: [] }

/** More of them are dropped, those that were not used for longest first. In entries, and in bytes. */
const MOST = 2_000
const LARGEST = 2 * 1024 * 1024

/** Days after which an answer that nobody used is dropped. */
const KEPT_FOR = { days: 30 }

const isSame = (one: Grant, other: Grant): boolean =>
  one.access === other.access && one.subject === other.subject && one.folder === other.folder

/** An answer without a folder is one for every folder. */
const replaces = (later: Grant, earlier: Grant): boolean =>
  later.access === earlier.access &&
  later.subject === earlier.subject &&
  (later.folder === undefined || later.folder === earlier.folder)

const day = (time: string): string => time.slice(0, 10)

/** Those that were used of late. */
const fresh = ({ grants }: GrantList, now: DateTime.DateTime): ReadonlyArray<RememberedGrant> => {
  const oldest = DateTime.formatIso(DateTime.subtract(now, KEPT_FOR))
  return grants.filter(({ usedAt }) => usedAt >= oldest)
}

const encoder = new TextEncoder()

/** As many as the file may hold. */
const bounded = (grants: ReadonlyArray<RememberedGrant>): ReadonlyArray<RememberedGrant> => {
  let bytes = 0
  const newest = grants.toSorted((one, other) => (one.usedAt < other.usedAt ? 1 : -1)).slice(0, MOST)
  const kept = new Set(
    newest.filter((grant) => {
      bytes += encoder.encode(JSON.stringify(grant)).length
      return bytes <= LARGEST
    })
  )
  return grants.filter((grant) => kept.has(grant))
}

/** Where the list is kept. */
interface Shelf {
  readonly read: Effect.Effect<GrantList, OwnFileFailed>
  readonly change: <A>(
    apply: (list: GrantList) => readonly [result: A, list: GrantList]
  ) => Effect.Effect<A, OwnFileFailed>
  readonly nextId: Effect.Effect<string>
}

const orLog = <A>(effect: Effect.Effect<A, OwnFileFailed>, otherwise: A) =>
  Effect.catch(effect, ({ message }) => Effect.as(Effect.logWarning(message), otherwise))

const makeGrants = (shelf: Shelf): GrantsShape => {
  const known = Effect.gen(function* () {
    return fresh(yield* shelf.read, yield* DateTime.now)
  })

  const change = Effect.fnUntraced(function* <A>(
    apply: (
      grants: ReadonlyArray<RememberedGrant>,
      now: string
    ) => readonly [result: A, grants: ReadonlyArray<RememberedGrant>]
  ) {
    const now = yield* DateTime.now
    return yield* shelf.change((list) => {
      const [result, grants] = apply(fresh(list, now), DateTime.formatIso(now))
      return [result, { version: 1, grants: bounded(grants) }]
    })
  })

  return {
    of: Effect.fn("Grants.of")((project) =>
      Effect.map(known, (grants) => grants.filter((grant) => grant.project === project))
    ),
    remember: Effect.fn("Grants.remember")(function* (project, { access, folder, subject, verdict }) {
      const id = yield* shelf.nextId
      const grant: Grant = { verdict, access, subject, ...(folder === undefined ? {} : { folder }) }
      yield* orLog(
        change((grants, now) => [
          undefined,
          [
            ...grants.filter((other) => other.project !== project || !replaces(grant, other)),
            { id, project, ...grant, grantedAt: now, usedAt: now }
          ]
        ]),
        undefined
      )
    }),
    use: Effect.fn("Grants.use")(function* (project, used) {
      const today = day(DateTime.formatIso(yield* DateTime.now))
      const isUsed = (grant: RememberedGrant) =>
        grant.project === project && used.some((one) => isSame(one, grant)) && day(grant.usedAt) !== today
      if (!(yield* orLog(known, [])).some(isUsed)) return
      yield* orLog(
        change((all, now) => [undefined, all.map((grant) => (isUsed(grant) ? { ...grant, usedAt: now } : grant))]),
        undefined
      )
    }),
    list: known,
    revoke: Effect.fn("Grants.revoke")((ids) =>
      change((grants) => {
        const isRevoked = ({ id }: RememberedGrant) => ids === "all" || ids.has(id)
        return [grants.filter(isRevoked), grants.filter((grant) => !isRevoked(grant))]
      })
    )
  }
}

/** Remembered answers of all projects. */
export class Grants extends Context.Service<Grants, GrantsShape>()("super-pi/Grants") {
  /** `grants.json` of the home folder. Building it touches no file. */
  static readonly layer: Layer.Layer<Grants, never, FileSystem.FileSystem | Path.Path | SecureRandom | Settings> =
    Layer.effect(
      Grants,
      Effect.gen(function* () {
        const paths = yield* Path.Path
        const random = yield* SecureRandom
        const { home } = yield* Settings
        const file = makeOwnFile({
          fs: yield* FileSystem.FileSystem,
          paths,
          path: paths.join(home, "grants.json"),
          schema: GrantList,
          empty: nothing,
          what: "list of remembered answers"
        })
        return makeGrants({ ...file, nextId: Effect.map(random.uuidV4(), (id) => id.slice(0, 8)) })
      })
    )

  /** In memory, with the same promises: for tests, and for hosts that keep nothing. */
  static readonly layerMemory: Layer.Layer<Grants> = Layer.sync(Grants, () => {
    let kept = nothing
    let count = 0
    return makeGrants({
      read: Effect.sync(() => kept),
      change: (apply) =>
        Effect.sync(() => {
          const [result, list] = apply(kept)
          kept = list
          return result
        }),
      nextId: Effect.sync(() => String(++count))
    })
  })
}
