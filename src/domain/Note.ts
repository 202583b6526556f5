/** What an agent writes down for later sessions. */
import * as Schema from "effect/Schema"

/** Small and never used twice, so that a model can name it. */
export const NoteId = Schema.Natural.pipe(Schema.brand("NoteId"))
export type NoteId = typeof NoteId.Type

/** Seen by every session of one project, or by every session. */
export const NoteScope = Schema.Literals(["project", "global"])
export type NoteScope = typeof NoteScope.Type

/** One note. Times are RFC 3339. */
export interface Note {
  readonly id: NoteId
  readonly scope: NoteScope
  readonly title: string
  readonly text: string
  readonly tags: ReadonlyArray<string>
  readonly createdAt: string
  readonly updatedAt: string
}

export const noteLimits = {
  /** Bytes of the text. */
  text: 64 * 1024,
  /** Characters. */
  title: 200,
  tags: 16,
  /** Characters of one tag. */
  tag: 50,
  /** Notes of all projects together. */
  notes: 10_000
} as const

const encoder = new TextEncoder()

/** What is wrong with the parts of a note; undefined when nothing is. */
export const noteProblem = ({ tags = [], text, title }: Partial<Pick<Note, "tags" | "text" | "title">>) => {
  if (title !== undefined && title.trim() === "") return `"title" is empty: say in a few words what the note is about`
  if (title !== undefined && title.length > noteLimits.title) {
    return `"title" has ${title.length} characters; at most ${noteLimits.title} fit`
  }
  const size = text === undefined ? 0 : encoder.encode(text).length
  if (size > noteLimits.text) {
    return `"text" has ${size} bytes; at most ${noteLimits.text} fit: shorten it, or make several notes of it`
  }
  if (tags.length > noteLimits.tags) return `"tags" has ${tags.length} entries; at most ${noteLimits.tags} fit`
  if (tags.some((tag) => tag.trim() === "" || tag.length > noteLimits.tag)) {
    return `"tags" has an entry that is empty or longer than ${noteLimits.tag} characters`
  }
  return undefined
}
