/**
 * Reads the form of a patch that some models send: `*** Begin Patch`, then for each file `*** Add File:`,
 * `*** Update File:` or `*** Delete File:`, with hunks that carry no line numbers.
 */
import * as Result from "effect/Result"
import { type FilePatch, type Hunk, PatchFailed, type PatchLine } from "./FilePatch.ts"

export const isEnvelope = (text: string): boolean => /^\s*\*\*\* Begin Patch/m.test(text)

const fail = (message: string) => Result.fail(new PatchFailed({ message }))

const fileHead = /^\*\*\* (Add|Update|Delete) File: (.+)$/

/** The head of a hunk as unified diffs have it. */
const numbered = /^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@/

const line = (tag: PatchLine["tag"], text: string): PatchLine => ({ tag, text, isOpen: false })

interface Section {
  readonly kind: string
  readonly name: string
  readonly at: number
  readonly lines: ReadonlyArray<string>
}

/** What belongs to each file. */
const sectionsOf = (text: string): Result.Result<ReadonlyArray<Section>, PatchFailed> => {
  const sections: Array<Section & { readonly lines: Array<string> }> = []
  const all = text.split(/\r?\n/)
  const begin = all.findIndex((each) => each.trim() === "*** Begin Patch")
  const end = all.findLastIndex((each) => each.trim() === "*** End Patch")
  for (const [index, each] of all.entries()) {
    if (index <= begin || (end !== -1 && index >= end)) continue
    const [, kind, name] = fileHead.exec(each) ?? []
    const last = sections.at(-1)
    if (kind !== undefined && name !== undefined) sections.push({ kind, name: name.trim(), at: index + 1, lines: [] })
    else if (last !== undefined) last.lines.push(each)
    else if (each.trim() !== "")
      return fail(`Line ${index + 1} of the patch comes before a file: name one first, such as "*** Update File: path"`)
  }
  return Result.succeed(sections)
}

const withoutBlankEnd = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.slice(0, lines.findLastIndex((each) => each !== "") + 1)

const added = ({ at, lines, name }: Section): Result.Result<FilePatch, PatchFailed> => {
  const body = withoutBlankEnd(lines)
  const wrong = body.findIndex((each) => !each.startsWith("+"))
  if (wrong !== -1) return fail(`Line ${at + wrong + 1} of the patch belongs to the new file ${name}: begin it with +`)
  const hunk: Hunk = { start: 0, anchors: [], atEnd: false, lines: body.map((each) => line("+", each.slice(1))), at }
  const hunks = body.length === 0 ? [] : [hunk]
  return Result.succeed({ from: null, to: name, isCopy: false, isRename: false, isWhole: false, hunks, at })
}

const updated = ({ at, lines, name }: Section): Result.Result<FilePatch, PatchFailed> => {
  let to = name
  const hunks: Array<Hunk> = []
  let open: (Hunk & { readonly anchors: Array<string>; readonly lines: Array<PatchLine> }) | undefined
  const close = (atEnd: boolean) => {
    if (open !== undefined && open.lines.length > 0) hunks.push({ ...open, atEnd })
    open = undefined
  }
  for (const [index, each] of withoutBlankEnd(lines).entries()) {
    const here = at + index + 1
    const moved = /^\*\*\* Move to: (.+)$/.exec(each)?.[1]
    if (moved !== undefined && open === undefined && hunks.length === 0) {
      to = moved.trim()
      continue
    }
    if (each.trim() === "*** End of File") {
      close(true)
      continue
    }
    if (each.startsWith("@@")) {
      const [, start] = numbered.exec(each) ?? []
      const anchor = start === undefined ? each.replace(/^@@ ?/, "").replace(/ ?@@$/, "").trim() : ""
      // Several heads in a row lead from a class to its method.
      if (open === undefined || open.lines.length > 0) {
        close(false)
        open = {
          anchors: [],
          atEnd: false,
          lines: [],
          at: here,
          ...(start === undefined ? {} : { start: Number(start) })
        }
      }
      if (anchor !== "") open.anchors.push(anchor)
      continue
    }
    if (each !== "" && !/^[ +-]/.test(each)) {
      return fail(`Line ${here} of the patch (${name}) is no line of a hunk: begin it with a blank, + or -`)
    }
    open ??= { anchors: [], atEnd: false, lines: [], at: here }
    open.lines.push(line(each.startsWith("-") ? "-" : each.startsWith("+") ? "+" : " ", each.slice(1)))
  }
  close(false)
  return Result.succeed({ from: name, to, isCopy: false, isRename: to !== name, isWhole: false, hunks, at })
}

const deleted = ({ at, name }: Section): Result.Result<FilePatch, PatchFailed> =>
  Result.succeed({ from: name, to: null, isCopy: false, isRename: false, isWhole: true, hunks: [], at })

/** The same files and hunks as a unified diff would name, as far as this form knows them. */
export const parseEnvelope = (text: string): Result.Result<ReadonlyArray<FilePatch>, PatchFailed> =>
  Result.flatMap(sectionsOf(text), (sections) =>
    Result.all(
      sections.map((section) =>
        section.kind === "Add" ? added(section) : section.kind === "Update" ? updated(section) : deleted(section)
      )
    )
  )
