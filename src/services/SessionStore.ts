/** Append-only session logs. The primary key (session, seq) makes two writers of one session a conflict, never a mix. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { InvalidInput, SessionNotFound, StoreFailed } from "../domain/Failure.ts"
import type { SessionId } from "../domain/Ids.ts"
import type { NumberedEntry } from "../domain/session/Position.ts"
import type { Entry, SessionRecord } from "../domain/session/Session.ts"

/** `cwd` filters exactly. `cursor` is opaque and comes from `Page.nextCursor`. */
export interface SessionFilter {
  readonly cwd?: string
  readonly cursor?: string
}

/** Newest first. */
export interface SessionPage {
  readonly sessions: ReadonlyArray<SessionRecord>
  readonly nextCursor?: string
}

/** What `SessionStore` promises. */
export interface SessionStoreShape {
  /** Keeps the session and, in the same transaction, the entries it begins with (`seq` from 0). */
  readonly create: (record: SessionRecord, entries?: ReadonlyArray<Entry>) => Effect.Effect<void, StoreFailed>
  /** Appends entries as `seq`, `seq + 1`, … in one transaction, and moves `updatedAt` (and the title, if an entry sets it). */
  readonly append: (
    id: SessionId,
    seq: number,
    entries: ReadonlyArray<Entry>
  ) => Effect.Effect<void, StoreFailed | SessionNotFound>
  readonly record: (id: SessionId) => Effect.Effect<SessionRecord, StoreFailed | SessionNotFound>
  /** The log in order. Entries that no longer decode are left out with a warning, never fatal (F52). */
  readonly entries: (id: SessionId) => Stream.Stream<Entry, StoreFailed | SessionNotFound>
  /** The same with their numbers, from `seq` on. */
  readonly entriesFrom: (id: SessionId, seq: number) => Stream.Stream<NumberedEntry, StoreFailed | SessionNotFound>
  /** The `seq` that the next append has to use. */
  readonly nextSeq: (id: SessionId) => Effect.Effect<number, StoreFailed | SessionNotFound>
  readonly list: (filter: SessionFilter) => Effect.Effect<SessionPage, StoreFailed | InvalidInput>
  /** Succeeds for an id that does not exist (SES-22). */
  readonly remove: (id: SessionId) => Effect.Effect<void, StoreFailed>
  /** Copies the whole log of `from` under `record`, in one transaction. */
  readonly fork: (from: SessionId, record: SessionRecord) => Effect.Effect<void, StoreFailed | SessionNotFound>
}

/** Keeps sessions beyond the life of the process. */
export class SessionStore extends Context.Service<SessionStore, SessionStoreShape>()("super-pi/SessionStore") {}
