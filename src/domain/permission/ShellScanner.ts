/**
 * Splits a shell line into its commands without running anything. Total: what it does not understand is never
 * guessed, it makes the line less than `simple` or less than `legible`.
 */

/** `text` is without quotes, with expansions as written. `dynamic`: its value exists only when it runs. `pattern`: an unquoted glob or brace. */
export interface Word {
  readonly text: string
  readonly dynamic: boolean
  readonly pattern: boolean
  readonly quoted: boolean
}

/** One command of a line, as written in `source`. */
export interface SimpleCommand {
  readonly source: string
  readonly words: ReadonlyArray<Word>
  /** Names of the variables set before the command. */
  readonly assignments: ReadonlyArray<string>
  /** Files that a redirection writes; `/dev/null` and copies of descriptors are none. */
  readonly writes: ReadonlyArray<Word>
  readonly reads: ReadonlyArray<Word>
  /** Gets its input from a pipe or from the line itself. */
  readonly fed: boolean
}

export interface Scan {
  /** Every command that could be found, those inside substitutions and control flow included. */
  readonly commands: ReadonlyArray<SimpleCommand>
  /** Nothing but commands joined by `&&`, `||`, `;`, `|` and newlines. */
  readonly simple: boolean
  /** No command is hidden from view, by an open quote for one. */
  readonly legible: boolean
}

interface Draft {
  readonly words: Array<Word>
  readonly writes: Array<Word>
  readonly reads: Array<Word>
  start: number | undefined
  end: number
  fed: boolean
}

interface Heredoc {
  readonly delimiter: Word
  readonly indented: boolean
}

/** Substitutions nested deeper than this are not followed. */
const MAX_DEPTH = 16
const METACHARACTERS = " \t\n;&|()<>"
const redirection = /&>>|&>|<<<|<<-|<<|<>|<&|>&|>>|>\||<\(|>\(|<|>/y
const assignment = /^([A-Za-z_]\w*)\+?=/
const prefixes = new Set(["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "{", "}"])
const constructs = new Set(["for", "select", "[["])
/** Their parts cannot be told from words without more grammar than is safe to guess. */
const opaque = new Set(["case", "function", "coproc"])
const harmlessTargets = new Set(["/dev/null", "/dev/stdout", "/dev/stderr"])

class Scanner {
  readonly commands: Array<SimpleCommand> = []
  simple = true
  legible = true
  private readonly source: string
  private at = 0
  private depth: number
  private heredocs: Array<Heredoc> = []

  constructor(source: string, depth: number) {
    this.source = source
    this.depth = depth
  }

  private isAhead(text: string): boolean {
    return this.source.startsWith(text, this.at)
  }

  private hide() {
    this.simple = false
    this.legible = false
  }

  /** Commands up to the end, or up to the closing parenthesis of a nested list. */
  list(closer?: ")", fed = false): void {
    let draft = this.draft(fed)
    const cut = (fed: boolean) => {
      this.finish(draft)
      draft = this.draft(fed)
    }
    while (this.at < this.source.length) {
      const char = this.source.charAt(this.at)
      if (char === " " || char === "\t") this.at += 1
      else if (this.isAhead("\\\n")) this.at += 2
      else if (char === "#") this.at = this.lineEnd()
      else if (char === "\n") {
        this.at += 1
        this.skipHeredocs()
        cut(false)
      } else if (char === ";") {
        this.at += 1
        cut(false)
      } else if (this.isAhead("&&") || this.isAhead("||")) {
        this.at += 2
        cut(false)
      } else if (char === "|") {
        this.at += this.isAhead("|&") ? 2 : 1
        cut(true)
      } else if (char === "<" || char === ">" || this.isAhead("&>")) this.redirect(draft)
      else if (char === "&") {
        this.at += 1
        this.simple = false
        cut(false)
      } else if (char === "(") {
        // Arithmetic has operators that look like redirections.
        if (this.isAhead("((")) this.hide()
        this.at += 1
        const isFed = draft.fed
        cut(false)
        this.nested(isFed)
      } else if (char === ")") {
        this.at += 1
        if (closer !== undefined) {
          this.finish(draft)
          return
        }
        this.simple = false
        cut(false)
      } else this.take(draft)
    }
    this.finish(draft)
    if (closer !== undefined) this.hide()
  }

  private draft(fed: boolean): Draft {
    return { words: [], writes: [], reads: [], start: undefined, end: 0, fed }
  }

  /** A list in parentheses, whose opening one was read. */
  private nested(fed = false) {
    this.simple = false
    this.depth += 1
    if (this.depth > MAX_DEPTH) {
      this.hide()
      this.at = this.source.length
    } else {
      this.list(")", fed)
    }
    this.depth -= 1
  }

  private lineEnd(): number {
    const end = this.source.indexOf("\n", this.at)
    return end === -1 ? this.source.length : end
  }

  private take(draft: Draft) {
    draft.start ??= this.at
    const word = this.word()
    draft.end = this.at
    // Digits right before a redirection are a descriptor, not a word.
    const isDescriptor = /^\d+$/.test(word.text) && !word.quoted && /[<>]/.test(this.source.charAt(this.at))
    if (!isDescriptor) draft.words.push(word)
  }

  private redirect(draft: Draft) {
    draft.start ??= this.at
    const isSpaced = this.at === 0 || /\s/.test(this.source.charAt(this.at - 1))
    redirection.lastIndex = this.at
    const operator = redirection.exec(this.source)?.[0] ?? ">"
    this.at += operator.length
    if (operator.endsWith("(")) {
      this.nested()
      draft.words.push({ text: "", dynamic: true, pattern: false, quoted: false })
    } else {
      while (this.isAhead(" ") || this.isAhead("\t")) this.at += 1
      const target = this.word()
      if (target.text === "" && !target.quoted && !target.dynamic) this.hide()
      if (operator === "<<" || operator === "<<-") {
        // Inside a subscript it would be a shift, and what follows no text but commands.
        if (!isSpaced || target.dynamic || draft.words.some(({ text }) => text.includes("["))) this.hide()
        this.heredocs.push({ delimiter: target, indented: operator === "<<-" })
        this.simple = false
        draft.fed = true
      } else if (operator === "<<<") {
        this.simple = false
        draft.fed = true
      } else if (operator === "<") {
        draft.reads.push(target)
        draft.fed = true
      } else if (operator === "<&" || (operator === ">&" && /^(\d+|-)$/.test(target.text))) {
        // A copy of a descriptor touches no file.
      } else if (target.dynamic || !harmlessTargets.has(target.text)) {
        draft.writes.push(target)
      }
    }
    draft.end = this.at
  }

  private skipHeredocs() {
    for (const { delimiter, indented } of this.heredocs.splice(0)) {
      let isOpen = true
      while (isOpen && this.at < this.source.length) {
        const end = this.lineEnd()
        const line = this.source.slice(this.at, end)
        this.at = end + 1
        isOpen = (indented ? line.replace(/^\t+/, "") : line) !== delimiter.text
        // The shell expands the text of a here-document whose delimiter is bare, and joins its lines.
        if (isOpen && !delimiter.quoted && /\$\(|`|\\$/.test(line)) this.hide()
      }
      if (isOpen) this.hide()
    }
  }

  private word(): Word {
    let text = ""
    let dynamic = false
    let pattern = false
    let quoted = false
    const expand = (inQuotes: boolean) => {
      const start = this.at
      if (!this.expansion(inQuotes)) dynamic = true
      text += this.source.slice(start, this.at)
    }
    while (this.at < this.source.length && !METACHARACTERS.includes(this.source.charAt(this.at))) {
      const char = this.source.charAt(this.at)
      if (char === "\\") {
        if (!this.isAhead("\\\n")) text += this.source.charAt(this.at + 1)
        quoted = true
        this.at += 2
      } else if (char === "'") {
        quoted = true
        text += this.until("'")
      } else if (char === '"') {
        quoted = true
        this.at += 1
        while (this.at < this.source.length && !this.isAhead('"')) {
          const inner = this.source.charAt(this.at)
          if (inner === "\\" && /[$`"\\\n]/.test(this.source.charAt(this.at + 1))) {
            if (!this.isAhead("\\\n")) text += this.source.charAt(this.at + 1)
            this.at += 2
          } else if (inner === "$" || inner === "`") expand(true)
          else {
            text += inner
            this.at += 1
          }
        }
        if (!this.isAhead('"')) this.hide()
        this.at += 1
      } else if (char === "$" || char === "`") expand(false)
      else {
        if (
          "*?[".includes(char) ||
          (char === "{" && !/^\{(\}|[\s;&|()<>]|$)/.test(this.source.slice(this.at, this.at + 2)))
        )
          pattern = true
        text += char
        this.at += 1
      }
    }
    return { text, dynamic, pattern: pattern && text !== "[" && text !== "[[", quoted }
  }

  /** The text between the quote here and the next one. */
  private until(quote: string): string {
    const end = this.source.indexOf(quote, this.at + 1)
    if (end === -1) this.hide()
    const text = this.source.slice(this.at + 1, end === -1 ? this.source.length : end)
    this.at = end === -1 ? this.source.length : end + 1
    return text
  }

  /** Reads on from a `$` or a backquote. Whether it is only itself. */
  private expansion(inQuotes: boolean): boolean {
    if (this.isAhead("`")) {
      this.backquotes()
    } else if (this.isAhead("$(")) {
      if (this.isAhead("$((")) this.hide()
      this.at += 2
      this.nested()
    } else if (this.isAhead("${")) {
      this.at += 2
      this.parameter()
    } else if (this.isAhead("$'") && !inQuotes) {
      const end = /'(?:[^'\\]|\\[\s\S])*'/y
      end.lastIndex = this.at + 1
      if (!end.test(this.source)) this.hide()
      this.at = end.lastIndex === 0 ? this.source.length : end.lastIndex
    } else {
      const name = /\$(?:\w+|[@*#?$!-])?/y
      name.lastIndex = this.at
      const found = name.exec(this.source)?.[0] ?? "$"
      this.at += found.length
      if (found === "$" && this.isAhead("[")) this.hide()
      return found === "$" && (inQuotes || !this.isAhead('"'))
    }
    return false
  }

  private backquotes() {
    const body = /`((?:[^`\\]|\\[\s\S])*)`/y
    body.lastIndex = this.at
    const inner = body.exec(this.source)?.[1]
    this.simple = false
    if (inner === undefined) {
      this.hide()
      this.at = this.source.length
      return
    }
    this.at = body.lastIndex
    const nested = scanAt(inner.replace(/\\([`\\$])/g, "$1"), this.depth + 1)
    this.commands.push(...nested.commands)
    if (!nested.legible) this.hide()
  }

  /** The inside of `${…}`, which may hold substitutions. */
  private parameter() {
    let depth = 1
    while (this.at < this.source.length) {
      const char = this.source.charAt(this.at)
      if (char === "$" || char === "`") {
        if (this.isAhead("${")) {
          this.at += 2
          depth += 1
        } else this.expansion(false)
      } else {
        // What quotes mean here depends on what is around.
        if (char === "'" || char === '"') this.hide()
        this.at += char === "\\" ? 2 : 1
        if (char === "}") depth -= 1
        if (depth === 0) return
      }
    }
    this.hide()
  }

  private finish(draft: Draft) {
    const words = [...draft.words]
    const assignments: Array<string> = []
    for (let first = words[0]; first !== undefined; first = words[0]) {
      const name = assignment.exec(first.text)?.[1]
      if (prefixes.has(first.text)) this.simple = false
      else if (name !== undefined) assignments.push(name)
      else if (first.text !== "!") break
      words.shift()
    }
    if (constructs.has(words[0]?.text ?? "")) this.simple = false
    if (opaque.has(words[0]?.text ?? "")) this.hide()
    if (words.length + assignments.length + draft.writes.length + draft.reads.length === 0) return
    this.commands.push({
      source: this.source.slice(draft.start, draft.end).trim(),
      words,
      assignments,
      writes: draft.writes,
      reads: draft.reads,
      fed: draft.fed
    })
  }
}

const scanAt = (source: string, depth: number): Scan => {
  if (depth > MAX_DEPTH) return { commands: [], simple: false, legible: false }
  const scanner = new Scanner(source, depth)
  scanner.list()
  return { commands: scanner.commands, simple: scanner.simple, legible: scanner.legible }
}

export const scan = (source: string): Scan => scanAt(source, 0)
