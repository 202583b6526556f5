/** The `note_write` tool: keeps, changes or deletes one note for later sessions. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Note, NoteId, NoteScope } from "../../domain/Note.ts"
import { textContent } from "../../domain/Tool.ts"
import type { NotesFailed, NotesShape } from "../Notes.ts"
import type { ProjectsShape } from "../Projects.ts"
import { type PreparedCall, type ToolDefinition, ToolInputInvalid, type ToolOutcome } from "../ToolDefinition.ts"
import type { Workspace } from "../Workspace.ts"
import { makeInput } from "./support/Input.ts"
import { failed } from "./support/Outcome.ts"
import { clip } from "../../domain/text/Clip.ts"

const parameters = Schema.Struct({
  id: Schema.optionalKey(NoteId.annotate({ description: "A note to change or delete; absent: a new one" })),
  title: Schema.optionalKey(Schema.String),
  text: Schema.optionalKey(Schema.String.annotate({ description: "The whole text, Markdown, at most 64 KiB" })),
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  scope: Schema.optionalKey(NoteScope.annotate({ description: "Default: project" })),
  delete: Schema.optionalKey(Schema.Boolean)
})
type Input = typeof parameters.Type

const tool = AiTool.make("note_write", {
  description: "Keep a note that later sessions can find, or change or delete one by its id. No secrets.",
  parameters
})

const done = (did: string, { id, scope, title }: Note): ToolOutcome => {
  const text = `${did} the ${scope} note ${id}, "${title}".`
  return { status: "completed", text, content: [textContent(text)], rawOutput: { id, scope, title } }
}

interface Dependencies {
  readonly notes: NotesShape
  readonly projects: ProjectsShape
}

export const makeNoteWrite = ({ notes, projects }: Dependencies): ToolDefinition => {
  const decode = makeInput("note_write", parameters)

  const write = Effect.fnUntraced(function* (project: string, { delete: isDeleted, id, ...parts }: Input) {
    if (id === undefined) {
      const { text = "", title = "", ...others } = parts
      return done("Kept", yield* notes.add(project, { title, text, ...others }))
    }
    if (isDeleted === true) return done("Deleted", yield* notes.remove(project, id))
    return done("Changed", yield* notes.change(project, id, parts))
  })

  const run = Effect.fn("Tools.noteWrite")(
    function* ({ cwd }: Workspace, input: Input) {
      const { root } = yield* projects.of(cwd)
      return yield* write(root, input)
    },
    Effect.catch(({ message }: NotesFailed) => Effect.succeed(failed(message)))
  )

  return {
    tool,
    kind: "other",
    title: "Write note",
    concurrency: "exclusive",
    prepare: Effect.fnUntraced(function* (raw, workspace) {
      const input = yield* decode(raw)
      const { delete: isDeleted = false, id, text, title } = input
      const isNew = id === undefined
      if (isNew && isDeleted)
        return yield* new ToolInputInvalid({ message: `"id" is missing: name the note to delete` })
      if (isNew && (title === undefined || text === undefined)) {
        return yield* new ToolInputInvalid({
          message: `A new note needs "title" and "text"; to change one, give its "id"`
        })
      }
      const about = title === undefined ? String(id) : `"${clip(title, 100)}"`.toWellFormed()
      return {
        title: `${isDeleted ? "Delete" : isNew ? "Write" : "Change"} note ${about}`,
        kind: "other",
        locations: [],
        preview: text === undefined ? [] : [textContent(text)],
        access: { _tag: "None" },
        run: () => run(workspace, input)
      } satisfies PreparedCall
    })
  }
}
