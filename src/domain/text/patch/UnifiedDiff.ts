/**
 * Reads unified diffs as `git diff` and `diff -u` write them, and as models do, who count badly: where the numbers of a
 * hunk do not fit its lines, its lines count. What stands before the first file and between files is passed over.
 */
import * as Result from "effect/Result"
import { type FilePatch, type Hunk, PatchFailed, type PatchLine } from "./FilePatch.ts"
import { gitHeadNames, headName, unquote, withoutSides } from "./GitName.ts"

interface Head {
  from?: string | null
  to?: string | null
  isGit: boolean
  isRename: boolean
  isCopy: boolean
  /** The names are without the letters of their sides. */
  isBare: boolean
  executable?: boolean
}

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

const fail = (message: string) => Result.fail(new PatchFailed({ message }))

/** A patch with Windows line ends as a whole has one more `\r` in every line than its files. */
const linesOf = (text: string): ReadonlyArray<string> => {
  const lines = text.replace(/\n+$/, "").split("\n")
  const isWindows = lines.slice(0, -1).every((line) => line.endsWith("\r"))
  return isWindows ? lines.map((line) => line.replace(/\r$/, "")) : lines
}

const isTagged = (line: string): boolean => /^[ +-]/.test(line)

const hasNames = (lines: ReadonlyArray<string>, index: number): boolean =>
  lines[index]?.startsWith("--- ") === true && lines[index + 1]?.startsWith("+++ ") === true

/** Whether another file or hunk begins, where the numbers say that the hunk goes on. */
const isSurelyHead = (lines: ReadonlyArray<string>, index: number): boolean =>
  /^(@@ -|diff --git )/.test(lines[index] ?? "") || (hasNames(lines, index) && hunkHead.test(lines[index + 2] ?? ""))

/** A head of a file where a line of a hunk could be: two lines say it together. */
const isFileHead = (lines: ReadonlyArray<string>, index: number): boolean =>
  lines[index]?.startsWith("diff --git ") === true || hasNames(lines, index)

interface Body {
  readonly lines: ReadonlyArray<PatchLine>
  readonly next: number
}

const tagOf = (line: string): PatchLine["tag"] => (line.startsWith("-") ? "-" : line.startsWith("+") ? "+" : " ")

/** The lines of a hunk from `index` on, `old` of the old file and `fresh` of the new one if the head is right. */
const readBody = (lines: ReadonlyArray<string>, index: number, old: number, fresh: number): Body => {
  const body: Array<PatchLine> = []
  let next = index
  let [oldLeft, newLeft] = [old, fresh]
  for (; next < lines.length; next++) {
    const line = lines[next] ?? ""
    const isDue = oldLeft > 0 || newLeft > 0
    if (line.startsWith("\\")) {
      const last = body.pop()
      if (last !== undefined) body.push({ ...last, isOpen: true })
      continue
    }
    if (isSurelyHead(lines, next) || (!isDue && (!isTagged(line) || isFileHead(lines, next)))) break
    // Editors and models cut the blank off an empty line. One before the next head belongs to nothing.
    const isBlank = line === "" || line === "\r"
    if (!isTagged(line) && (!isBlank || isSurelyHead(lines, next + 1))) break
    const tag = tagOf(line)
    body.push({ tag, text: isBlank ? line : line.slice(1), isOpen: false })
    if (tag !== "+") oldLeft -= 1
    if (tag !== "-") newLeft -= 1
  }
  return { lines: body, next }
}

const executableOf = (mode: string): boolean => mode.endsWith("755")

const isPlainFile = (mode: string): boolean => /^100[67][0-7]{2}$/.test(mode)

/** Takes what a line of a file's head says; undefined for a line that says nothing. */
const readHead = (head: Head, line: string): Result.Result<boolean, PatchFailed> => {
  const [, key = "", rest = ""] =
    /^(old mode|new mode|deleted file mode|new file mode|rename from|rename to|copy from|copy to) (.*?)\r?$/.exec(
      line
    ) ?? []
  switch (key) {
    case "old mode":
      return Result.succeed(true)
    case "new mode":
    case "new file mode":
    case "deleted file mode":
      if (!isPlainFile(rest)) {
        return fail(
          `it changes something of mode ${rest}, which is no plain file (a link or a submodule): use a command`
        )
      }
      if (key !== "deleted file mode") head.executable = executableOf(rest)
      if (key === "new file mode") head.from = null
      if (key === "deleted file mode") head.to = null
      return Result.succeed(true)
    case "rename from":
    case "copy from":
    case "rename to":
    case "copy to":
      if (key.endsWith("from")) head.from = unquote(rest)
      else head.to = unquote(rest)
      head.isBare = true
      if (key.startsWith("rename")) head.isRename = true
      else head.isCopy = true
      return Result.succeed(true)
    default:
      return /^(GIT binary patch|Binary files .* differ)/.test(line)
        ? fail("it is a binary patch, and only text can be changed: use git apply in a command")
        : Result.succeed(/^(index|similarity index|dissimilarity index) /.test(line))
  }
}

const namesOf = (head: Head, gitNames: readonly [string, string] | undefined) => {
  const pick = (own: string | null | undefined, other: string | undefined) =>
    own === undefined ? (other ?? null) : own
  const from = pick(head.from, gitNames?.[0])
  const to = pick(head.to, gitNames?.[1])
  return head.isBare ? ([from, to] as const) : withoutSides(from, to)
}

const newHead = (isGit: boolean): Head => ({ isGit, isRename: false, isCopy: false, isBare: false })

/** Every file of the patch, in its order. */
export const parseUnifiedDiff = (text: string): Result.Result<ReadonlyArray<FilePatch>, PatchFailed> => {
  const lines = linesOf(text)
  const files: Array<FilePatch> = []
  let index = 0
  while (index < lines.length) {
    const line = lines[index] ?? ""
    const at = index + 1
    if (hunkHead.test(line))
      return fail(`Line ${at} of the patch begins a hunk, but no file was named: write --- and +++ lines before it`)
    if (!isFileHead(lines, index)) {
      index += 1
      continue
    }
    const head = newHead(line.startsWith("diff --git "))
    const gitNames = head.isGit ? gitHeadNames(line.slice("diff --git ".length).replace(/\r$/, "")) : undefined
    if (head.isGit) index += 1
    while (head.isGit && index < lines.length) {
      const read = readHead(head, lines[index] ?? "")
      if (Result.isFailure(read))
        return fail(`The part of the patch from line ${at} on cannot be applied: ${read.failure.message}`)
      if (!read.success) break
      index += 1
    }
    if (hasNames(lines, index)) {
      const [from, to] = [lines[index] ?? "", lines[index + 1] ?? ""].map((name) => headName(name.slice(4)))
      if (!head.isBare) {
        head.from = from ?? null
        head.to = to ?? null
      }
      index += 2
    }
    const hunks: Array<Hunk> = []
    for (let match = hunkHead.exec(lines[index] ?? ""); match !== null; match = hunkHead.exec(lines[index] ?? "")) {
      const body = readBody(lines, index + 1, Number(match[2] ?? 1), Number(match[4] ?? 1))
      hunks.push({ start: Number(match[1]), anchors: [], atEnd: false, lines: body.lines, at: index + 1 })
      index = body.next
    }
    if (lines[index]?.startsWith("@@") === true) {
      return fail(`Line ${index + 1} of the patch is no head of a hunk: write it as "@@ -12,5 +12,6 @@"`)
    }
    const [from, to] = namesOf(head, gitNames)
    if (from === null && to === null) return fail(`The file that line ${at} of the patch begins with has no name`)
    const { executable, isCopy, isRename } = head
    files.push({
      from,
      to,
      isCopy,
      isRename,
      isWhole: false,
      ...(executable === undefined ? {} : { executable }),
      hunks,
      at
    })
  }
  return Result.succeed(files)
}
