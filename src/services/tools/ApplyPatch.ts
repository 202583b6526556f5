/** The `apply_patch` tool: a patch of any number of files, which is applied as a whole or not at all. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { applyHunks } from "../../domain/text/patch/ApplyHunks.ts"
import type { FilePatch } from "../../domain/text/patch/FilePatch.ts"
import { parsePatch } from "../../domain/text/patch/Patch.ts"
import type { ToolKind } from "../../domain/Tool.ts"
import type { TextFile } from "../ClientFS.ts"
import { type ToolDefinition, ToolInputInvalid } from "../ToolDefinition.ts"
import type { Workspace } from "../Workspace.ts"
import { type Change, type ChangeServices, type Plan, prepareChange, present, refuse } from "./support/FileChange.ts"
import { makeInput } from "./support/Input.ts"
import type { Place } from "./support/Places.ts"

const parameters = Schema.Struct({
  patch: Schema.String.annotate({ description: "Unified diff, as git writes it" })
})

const tool = AiTool.make("apply_patch", {
  description: "Apply a patch: change, create, delete and rename files, all or none.",
  parameters
})

/** Files of one patch. */
const FILES_LIMIT = 200

/** A part of the patch with its names understood: of a new file there is no `from`, of one that goes no `to`. */
interface Part {
  readonly patch: FilePatch
  readonly from: Place | undefined
  readonly to: Place | undefined
}

/** What a path is after the parts so far. `file` is what it was before all of them. */
interface State {
  readonly place: Place
  readonly file: TextFile | null
  readonly text: string | null
  readonly line: number
  readonly like?: TextFile
  readonly executable?: boolean
}

const kindOf = (files: ReadonlyArray<FilePatch>): ToolKind => {
  if (files.every(({ to }) => to === null)) return "delete"
  return files.every(({ hunks, isRename }) => isRename && hunks.length === 0) ? "move" : "edit"
}

const placesOf = (parts: ReadonlyArray<Part>): ReadonlyArray<Place> => [
  ...new Map(
    parts.flatMap(({ from, to }) => [from, to].flatMap((place) => (place === undefined ? [] : [[place.path, place]])))
  ).values()
]

const sourcesOf = (parts: ReadonlyArray<Part>): ReadonlyArray<Place> =>
  parts.flatMap(({ from, patch }) => (from !== undefined && (patch.isRename || patch.isCopy) ? [from] : []))

const titleOf = (places: ReadonlyArray<Place>): string => {
  const names = places.slice(0, 3).map(({ shown }) => shown)
  return `Patch ${names.join(", ")}${places.length > names.length ? ` and ${places.length - names.length} more` : ""}`
}

const verbOf = ({ file, text }: Change): string =>
  file === null ? "created" : text === null ? "deleted" : text === file.text ? "left as it was" : "changed"

const summaryOf = (changes: ReadonlyArray<Change>): string =>
  `Applied the patch: ${changes.map((change) => `${change.place.shown} ${verbOf(change)}`).join(", ")}.`

export const makeApplyPatch = (services: ChangeServices): ToolDefinition => {
  const decode = makeInput("apply_patch", parameters)

  const plan = Effect.fnUntraced(function* (parts: ReadonlyArray<Part>, workspace: Workspace) {
    const states = new Map<string, State>()

    const load = Effect.fnUntraced(function* (place: Place) {
      const known = states.get(place.real)
      if (known !== undefined) return known
      const file = yield* present(services, workspace, place)
      return { place, file, text: file?.text ?? null, line: 1 } satisfies State
    })

    const patched = Effect.fnUntraced(function* ({ file, place }: State, text: string, { hunks }: FilePatch) {
      const result = applyHunks(place.shown, text, hunks)
      if (Result.isSuccess(result)) return result.success
      const outdated = file !== null && services.ledger.isOutdated(workspace.sessionId, place.real, file.stamp)
      const again = outdated ? `. ${place.shown} changed since you read it` : ""
      return yield* refuse(`${result.failure.message}${again}. No file was changed`)
    })

    const create = Effect.fnUntraced(function* (place: Place, patch: FilePatch) {
      const state = yield* load(place)
      if (state.text !== null) {
        return yield* refuse(`${place.shown} exists already, so the patch cannot create it. No file was changed`)
      }
      const { text } = yield* patched(state, "", patch)
      states.set(place.real, { ...state, text, line: 1 })
    })

    const remove = Effect.fnUntraced(function* (place: Place, patch: FilePatch) {
      const state = yield* load(place)
      if (state.text === null) return yield* refuse(`${place.shown} does not exist`, place)
      const rest = patch.isWhole ? "" : (yield* patched(state, state.text, patch)).text
      if (rest !== "") {
        return yield* refuse(
          `The patch deletes ${place.shown}, but does not remove all of its lines. No file was changed`
        )
      }
      states.set(place.real, { ...state, text: null, line: 1 })
    })

    const modify = Effect.fnUntraced(function* (place: Place, patch: FilePatch) {
      const state = yield* load(place)
      // Without a word on it, a patch of nothing makes the file.
      if (state.text === null && patch.hunks.every(({ start }) => start === 0)) return yield* create(place, patch)
      if (state.text === null) return yield* refuse(`${place.shown} does not exist`, place)
      const { firstLine, text } = yield* patched(state, state.text, patch)
      states.set(place.real, { ...state, text, line: firstLine })
    })

    const move = Effect.fnUntraced(function* (from: Place, to: Place, patch: FilePatch) {
      const [source, target] = [yield* load(from), yield* load(to)]
      if (!patch.isRename && !patch.isCopy) {
        if (target.text !== null) return yield* modify(to, patch)
        return yield* refuse(
          `The patch names ${from.shown} and ${to.shown} for one file: use one name, or lines "rename from" and "rename to". No file was changed`
        )
      }
      if (source.text === null) return yield* refuse(`${from.shown} does not exist`, from)
      if (target.text !== null) return yield* refuse(`${to.shown} exists already. No file was changed`)
      const { firstLine, text } = yield* patched(source, source.text, patch)
      const like = source.file ?? source.like
      states.set(to.real, { ...target, text, line: firstLine, ...(like === undefined ? {} : { like }) })
      if (patch.isRename) states.set(from.real, { ...source, text: null, line: 1 })
    })

    for (const { from, patch, to } of parts) {
      if (from === undefined) {
        if (to !== undefined) yield* create(to, patch)
      } else if (to === undefined) yield* remove(from, patch)
      else if (from.real === to.real) yield* modify(to, patch)
      else yield* move(from, to, patch)
      const target = to === undefined ? undefined : states.get(to.real)
      const { executable } = patch
      if (target !== undefined && executable !== undefined) states.set(target.place.real, { ...target, executable })
    }
    const changes = [...states.values()].filter(({ file, text }) => file !== null || text !== null)
    return { changes, summary: summaryOf(changes) } satisfies Plan
  })

  return {
    tool,
    kind: "edit",
    title: "Apply patch",
    concurrency: "exclusive",
    prepare: Effect.fnUntraced(function* (raw, workspace) {
      const input = yield* decode(raw)
      const files = yield* Effect.mapError(
        Effect.fromResult(parsePatch(input.patch)),
        ({ message }) => new ToolInputInvalid({ message })
      )
      if (files.length > FILES_LIMIT) {
        const message = `The patch is about more than ${FILES_LIMIT} files: apply it in parts`
        return yield* new ToolInputInvalid({ message })
      }
      const placeOf = (name: string | null) =>
        name === null ? Effect.undefined : services.places.find(name, workspace, 'A file name in "patch"')
      const parts = yield* Effect.forEach(files, (patch) =>
        Effect.map(Effect.all([placeOf(patch.from), placeOf(patch.to)]), ([from, to]): Part => ({ patch, from, to }))
      )
      const places = placesOf(parts)
      return yield* prepareChange(
        services,
        {
          title: titleOf(places),
          kind: kindOf(files),
          places,
          sources: sourcesOf(parts),
          plan: (now) => plan(parts, now)
        },
        workspace
      )
    })
  }
}
