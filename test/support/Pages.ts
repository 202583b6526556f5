/** The pages of the project as a reader uses them: chapter by chapter, the blocks of one in one shell. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { delimiter, join } from "node:path"
import { folder } from "./Program.ts"
import { makeSignal } from "./signal.ts"
import { root } from "./Sources.ts"

export interface Block {
  readonly language: string
  readonly text: string
}

/** A section of the second level, with all below it. */
export interface Chapter {
  readonly page: string
  readonly title: string
  readonly blocks: ReadonlyArray<Block>
}

export const pages = ["README.md", ...globSync("docs/*.md", { cwd: root })]

export const textOf = (page: string): string => readFileSync(join(root, page), "utf8")

/** A block that stands in a list is indented as the list is. */
const blocksOf = (text: string): ReadonlyArray<Block> =>
  [...text.matchAll(/^( *)```(\w+)\n(.*?)^\1```$/gms)].map(([, indent = "", language = "", inner = ""]) => ({
    language,
    text: inner.replaceAll(new RegExp(`^${indent}`, "gm"), "")
  }))

export const blocks = (page: string, language: string): ReadonlyArray<string> =>
  blocksOf(textOf(page)).flatMap((block) => (block.language === language ? [block.text] : []))

export const chapters: ReadonlyArray<Chapter> = pages.flatMap((page) =>
  textOf(page)
    .split(/^(?=## )/m)
    .map((text) => ({ page, title: /^#+ (.*)/.exec(text)?.[1] ?? page, blocks: blocksOf(text) }))
)

/** Something of the chapter goes on in the background, so its blocks belong together. */
export const isServed = ({ blocks }: Chapter): boolean =>
  blocks.some(({ language, text }) => language === "sh" && /[^&]&$/m.test(text))

/** What a line that goes on in the background says when it is there, as a pattern and its replacement. */
const announcements: ReadonlyArray<readonly [RegExp, string]> = [
  [/^super-pi agent serve --bind (\S+).*$/, "serves ACP on $1"],
  [/^super-pi agent daemon --bind (\S+).*$/, "serves its HTTP inbox, not ACP, on $1"],
  [/^super-pi relay --bind (\S+).*$/, "relays on $1"],
  [/^super-pi agent headless .*$/, "Connected to the relay"],
  [/^npx node examples\/browser\/main\.ts --port (\d+).*$/, "Open http://127.0.0.1:$1/"]
]

const announcementsIn = (script: string): ReadonlyArray<string> =>
  script
    .split("\n")
    .filter((line) => /[^&]&$/.test(line))
    .flatMap((line) =>
      announcements.flatMap(([pattern, text]) => (pattern.test(line) ? [line.replace(pattern, text)] : []))
    )

/** The ports that the pages name. */
const documented = ["2419", "2420", "2421", "8420", "8790"]

/** Ports that nobody has, all of them held until the last is known. */
const freePorts = (count: number): Effect.Effect<ReadonlyArray<string>> =>
  Effect.forEach(
    Array.from({ length: count }),
    () =>
      Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const server = createServer().listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
      ),
    { concurrency: 1 }
  ).pipe(
    Effect.map((servers) =>
      servers.map((server) => {
        const address = server.address()
        return typeof address === "object" && address !== null ? String(address.port) : assert.fail("no port")
      })
    ),
    Effect.scoped
  )

/** The one rewriting of what the pages say: each port that they name becomes one that is free. */
export const onFreePorts: Effect.Effect<(text: string) => string> = Effect.map(
  freePorts(documented.length),
  (ports) => (text) =>
    text.replaceAll(
      new RegExp(`\\b(${documented.join("|")})\\b`, "g"),
      (port) => ports[documented.indexOf(port)] ?? port
    )
)

/** The environment of a reader who has installed the program, with a home of their own. */
export const environment = (home: string): Record<string, string | undefined> => {
  const { NODE_OPTIONS: _, ...inherited } = process.env
  return {
    ...inherited,
    HOME: home,
    SUPERCHARGE_HOME: join(home, ".supercharge"),
    PATH: [join(root, "bin"), join(root, "node_modules", ".bin"), process.env["PATH"] ?? ""].join(delimiter),
    NPM_CONFIG_UPDATE_NOTIFIER: "false"
  }
}

export interface Shell {
  /** Runs lines to their end and waits until everything that they left in the background is there; what they printed. */
  readonly run: (lines: string) => Effect.Effect<string>
  /** What a command prints, on standard error as well, whether it fails or not. */
  readonly answerOf: (command: string) => Effect.Effect<string>
  /** All that was printed so far, by servers too. */
  readonly printed: () => string
}

/**
 * A shell in an empty folder that has the examples, with a model whose answers are written down. The first line that
 * fails, or that a server answers with an error, ends it. With the scope ends all that was started in it.
 */
export const shell = Effect.gen(function* (): Effect.fn.Return<Shell, never, Scope.Scope> {
  const [home, place] = [yield* folder, yield* folder]
  const script = join(home, "script.json")
  writeFileSync(script, JSON.stringify({ steps: [{ again: true, parts: [{ text: "Hello from the script." }] }] }))
  mkdirSync(join(home, ".supercharge"))
  writeFileSync(join(home, ".supercharge", "config.toml"), `[models]\ndefault = "scripted/${script}"\n`)
  writeFileSync(join(home, ".curlrc"), "silent\nshow-error\n")
  for (const name of ["examples", "node_modules"]) symlinkSync(join(root, name), join(place, name))
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn("bash", ["-euo", "pipefail"], { cwd: place, env: environment(home), detached: true })),
    ({ pid }) => Effect.sync(() => pid !== undefined && process.kill(-pid, "SIGKILL")).pipe(Effect.ignoreCause)
  )
  const { changed, until } = makeSignal()
  let [stdout, stderr, over] = ["", "", false]
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text
    changed()
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
    changed()
  })
  child.on("exit", () => {
    over = true
    changed()
  })
  const printed = (): string => `${stdout}${stderr}`
  let steps = 0
  const run = Effect.fnUntraced(function* (lines: string) {
    const mark = `\u0001${steps++}\n`
    const before = stdout.length
    child.stdin.write(`${lines}\nprintf '%s\\n' ${mark}`)
    const expected = announcementsIn(lines)
    const isDone = (): boolean => stdout.includes(mark) && expected.every((text) => printed().includes(text))
    yield* until(() => isDone() || over || stderr.includes("\nerror: "))
    if (!isDone()) assert.fail(`${lines}\n${printed()}`)
    return stdout.slice(before, stdout.indexOf(mark))
  })
  // A status that says no is a failure, where the page does not show it as one.
  yield* run('curl() { command curl --fail-with-body "$@"; }')
  return {
    run,
    answerOf: (command) =>
      Effect.map(run(`(unset -f curl; ${command}) 2>&1 < /dev/null || true`), (text) => text.trim()),
    printed
  }
})

/** The commands of a transcript, each with what it prints. */
export const transcript = (text: string): ReadonlyArray<{ readonly command: string; readonly output: string }> =>
  text.split(/^\$ /m).flatMap((part) => {
    const [command = "", ...output] = part.split("\n")
    return command === "" ? [] : [{ command, output: output.join("\n").trim() }]
  })
