/** Finding files and lines: the questions and answers that every way of searching shares. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { clip } from "../../../domain/text/Clip.ts"

/** `root` is an absolute file or folder. Hidden files are searched, `.git` never. */
export interface SearchScope {
  readonly root: string
  /** Also what `.gitignore` and its like leave out. */
  readonly includeIgnored: boolean
}

export interface GrepQuery extends SearchScope {
  /** A regular expression. */
  readonly pattern: string
  readonly ignoreCase: boolean
  /** Only files that match: `*.ts` at any depth, `src/**` from the root. */
  readonly glob: string | undefined
  /** Only files that it says yes to, by their path from the root; the others are as if they were not there. */
  readonly shows: (relative: string) => boolean
  readonly limit: number
}

/** `line` counts from 1; `text` has no line end and is cut when it is very long. */
export interface Match {
  readonly path: string
  readonly line: number
  readonly text: string
}

/** In the order of paths. `more`: there was more than the limit. */
export interface Found<A> {
  readonly items: ReadonlyArray<A>
  readonly more: boolean
}

/** `message` says what to change. */
export class SearchFailed extends Schema.TaggedError<SearchFailed>()("SearchFailed", { message: Schema.String }) {}

export interface Search {
  readonly grep: (query: GrepQuery) => Effect.Effect<Found<Match>, SearchFailed>
  /** Absolute paths of files, no folders; `matches` gets them relative to the root. */
  readonly files: (
    scope: SearchScope,
    matches: (relative: string) => boolean,
    limit: number
  ) => Effect.Effect<Found<string>, SearchFailed>
}

/** Characters of a line that a match shows. */
export const LINE_WIDTH = 500

export const shorten = (line: string): string =>
  line.length > LINE_WIDTH ? `${clip(line, LINE_WIDTH)} [… the rest of this line is left out]` : line
