import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import { guises, isDangerous, parseLine } from "../../../src/domain/permission/ShellLine.ts"

const texts = (command: string) => parseLine(command).segments.map(({ text }) => text)

describe("ShellLine", () => {
  for (const [command, ...expected] of [
    ["git status", "git status"],
    ["a && b || c; d | e\nf", "a", "b", "c", "d", "e", "f"],
    ["echo 'a && b; c' \"d | e\"", "echo a && b; c d | e"],
    ["ls \\\n  -la", "ls -la"],
    ["# only words\nls # rm x", "ls"],
    ["r'm' \\-r\"f\" x", "rm -rf x"],
    ["make >out.txt 2>&1 3</dev/null", "make"],
    ["timeout -k 5 10 nice -n 3 ionice -c2 -n7 stdbuf -oL rm x", "rm x"],
    ["env -i -u HOME rm x", "rm x"],
    ["bash -c 'rm x && ls'", "rm x", "ls"],
    ["/bin/sh -ec 'sh -c \"rm x\"'", "rm x"],
    ["bash -o pipefail -c 'ls | wc'", "ls", "wc"]
  ] as const) {
    it(`a simple line: ${JSON.stringify(command)}`, () => {
      const line = parseLine(command)
      assert.deepStrictEqual(
        line.segments.map(({ text }) => text),
        [...expected]
      )
      assert.isTrue(line.simple && line.legible)
    })
  }

  for (const [command, inner] of [
    ["echo $(rm x)", "rm x"],
    ['echo "$(a `rm x`)"', "rm x"],
    ["(cd y; rm x)", "rm x"],
    ["{ rm x; }", "rm x"],
    ["rm x &", "rm x"],
    ["if true; then rm x; fi", "rm x"],
    ["for i in 1 2; do rm x; done", "rm x"],
    ["while rm x; do :; done", "rm x"],
    ["f() { rm x; }; f", "rm x"],
    ["diff <(rm x) y", "rm x"],
    ["echo ${a:-$(rm x)}", "rm x"],
    ["eval 'rm x'", "rm x"],
    ["trap 'a; rm x' EXIT", "rm x"],
    ["cat <<EOF\nEOF\nrm x", "rm x"]
  ] as const) {
    it(`is seen through but never simple: ${JSON.stringify(command)}`, () => {
      assert.include(texts(command), inner)
      assert.isFalse(parseLine(command).simple)
    })
  }

  for (const command of [
    "$RM x",
    "r? x",
    "{rm,x}",
    "$'rm' x",
    "echo 'open",
    'echo "open',
    "echo $(open",
    "echo `open",
    'bash -c "$X"',
    "curl x | sh",
    "bash <<EOF\nrm x\nEOF",
    "cat <<EOF\n$(rm x)\nEOF",
    "eval $X",
    "echo $((1<<2))\nrm x\n2",
    "echo $[1<<2]\nrm x\n2",
    "a[1<<2]=3\nrm x\n2",
    "a[1 << 2]=3\nrm x\n2",
    "cat <<EOF\nEO\\\nF\nrm x\nEOF",
    "cat <<EOF\nrm x",
    "echo ${x:-'}'}; rm x; echo \"'\"",
    "function f { rm x; }; f",
    "coproc N { rm x; }",
    "case x in a) rm x;; esac",
    "bash --rcfile y -c 'rm x'",
    "echo " + "$(".repeat(1_000),
    "x".repeat(40_000)
  ]) {
    it(`hides what runs: ${JSON.stringify(command.slice(0, 40))}`, () => {
      assert.isFalse(parseLine(command).legible)
    })
  }

  it("text of a here-document is no command", () => {
    assert.deepStrictEqual(texts("git commit -F - <<'EOF'\nrm -rf x\nEOF\nls"), ["git commit -F -", "ls"])
  })

  it("scripts behind launchers are seen", () => {
    assert.include(texts("sudo bash -ec 'cd y && rm x'"), "rm x")
    assert.include(texts("find . -exec sh -c 'a; rm x' {} +"), "rm x")
    assert.isFalse(parseLine('xargs sh -c "$X"').legible)
  })

  it("denying looks behind launchers and folders", () => {
    const seen = parseLine("sudo -u root /bin/rm -rf x").segments.flatMap(guises)
    assert.include(seen, "/bin/rm -rf x")
    assert.include(parseLine("/bin/rm x").segments.flatMap(guises), "rm x")
  })

  for (const command of [
    "rm x",
    "/bin/rm x",
    "chmod +x a",
    "sudo ls",
    "git push",
    "git -C sub push origin",
    "find . -exec rm {} +",
    "ls | xargs kill"
  ]) {
    it(`is dangerous: ${command}`, () => assert.isTrue(parseLine(command).segments.some(isDangerous)))
  }
  for (const command of ["git status", "grep rm x", "npm run push"]) {
    it(`is not dangerous: ${command}`, () => assert.isFalse(parseLine(command).segments.some(isDangerous)))
  }
})

/** Shell lines from pieces that nest; `aa`, `bb` and `cc` are the only programs. */
const program = Arbitrary.schema(Schema.Literals(["aa", "bb", "cc", "'aa'", "b\\b", 'c"c"', "./aa", "/nowhere/aa"]))
const literalWords = [
  "x",
  "'x y'",
  '"x;y"',
  "x\\ y",
  "'&&'",
  "-x",
  "a=b",
  "x#y",
  "'it'\\''s'",
  '"a\\"b"',
  "\\\n",
  "$",
  "{}",
  "["
]
const words = [...literalWords, "$HOME", '"$HOME"', "${HOME:-x}", "*", "{a,b}", "#x", "$'x\\ty'", "~", "''", "!", "if"]
const redirection = Arbitrary.schema(
  Schema.Literals(["", "", "", " >/dev/null", " 2>&1", " </dev/null", " &>/dev/null", " 3>&-"])
)
const prefix = Arbitrary.schema(
  Schema.Literals(["", "", "", "X=1 ", "X='a b' ", "timeout 5 ", "nice -n 1 ", "env X=2 ", "! ", "command "])
)
const simpleCommand = (word: Arbitrary.Arbitrary<string>) =>
  Arbitrary.all({ prefix, program, words: Arbitrary.array(word, { maxLength: 3 }), redirection }).pipe(
    Arbitrary.map(
      ({ prefix, program, redirection, words }) => `${prefix}${[program, ...words].join(" ")}${redirection}`
    )
  )

type Shape = (first: string, second: string) => string
const shapes: ReadonlyArray<Shape> = [
  (a, b) => `${a} && ${b}`,
  (a, b) => `${a} || ${b}`,
  (a, b) => `${a};${b}`,
  (a, b) => `${a}\n${b}`,
  (a, b) => `${a} | ${b}`,
  (a, b) => `${a} |& ${b}`,
  (a, b) => `${a} & ${b}; wait`,
  (a, b) => `(${a}; ${b})`,
  (a, b) => `{ ${a}; ${b}; }`,
  (a, b) => `aa $(${a}) "$(${b})"`,
  (a, b) => `aa "x $(${a}
${b}) y"`,
  (a) => `aa \`aa ${a.replace(/[`\\$]/g, "x")}\``,
  (a, b) => `if ${a}; then ${b}; fi`,
  (a, b) => `for i in 1 2; do ${a}; ${b}; done`,
  (a, b) => `while ${a}; do ${b}; break; done`,
  (a, b) => `case x in x) ${a};; *) ${b};; esac`,
  (a, b) => `aa <<EOF\n${b.replace(/\n/g, " ")}\nEOF\n${a}`,
  (a, b) => `aa <<'EOF' && ${a}\n$(x)\nEOF\n${b}`,
  (a, b) => `aa <<< x; ${a}; ${b}`,
  (a, b) => `f() { ${a}; }; f; ${b}`,
  (a, b) => `aa <(${a}) ${b}`,
  (a, b) => `bash -c '${a.replaceAll("'", `'\\''`)}' && ${b}`,
  (a) => `eval '${a.replaceAll("'", `'\\''`)}'`,
  (a, b) => `# ${b.replace(/\n/g, " ")}\n${a}`,
  (a, b) => `echo '${a.replaceAll("'", "")}' | bash; ${b}`,
  (a, b) => `aa \${x:-$(${a})} ${b}`,
  (a, b) => `aa $((1<<2))\n${a}\n2\n${b}`,
  (a, b) => `aa $[1<<2]\n${a}\n2\n${b}`,
  (a, b) => `x[1<<2]=3\n${a}\n2\n${b}`,
  (a, b) => `x[1 << 2]=3\n${a}\n2\n${b}`,
  (a, b) => `((1<<2))\n${a}\n2\n${b}`,
  (a, b) => `aa <<EOF\nEO\\\nF\n${a}\nEOF\n${b}`,
  (a, b) => `aa <<-EOF\nx\n\tEOF\n${a}; ${b}`,
  (a, b) => `aa <<A <<'B'\nx\nA\ny\nB\n${a}\n${b}`,
  (a, b) => `aa \${x:-'}'}; ${a}; aa "'"; ${b}`,
  (a, b) => `aa "\${x:-"}"}" '; ${a}' ; ${b}`,
  (a, b) => `function g { ${a}; }; g; ${b}`,
  (a, b) => `{ ${a} } ; ${b}; }`,
  (a, b) => `[[ x < y ]] && ${a}; ${b}`,
  (a, b) => `trap '${a.replaceAll("'", `'\\''`)}' EXIT; ${b}`,
  (a) => `sudo() { "$@"; }; export -f sudo; command bash -c '${a.replaceAll("'", `'\\''`)}'`,
  (a, b) => `until ! ${a}; do ${b}; break; done`,
  (a, b) => `aa $'\\'' ; ${a} # '\n${b}`,
  (a, b) => `aa \\" ; ${a}; aa \\' ; ${b}`
]
/** Two levels of shapes over simple commands. */
const linesOf = (command: Arbitrary.Arbitrary<string>, shape: Arbitrary.Arbitrary<Shape>) =>
  Arbitrary.all({
    parts: Arbitrary.array(command, { minLength: 4, maxLength: 4 }),
    shapes: Arbitrary.array(shape, { minLength: 3, maxLength: 3 })
  }).pipe(
    Arbitrary.map(({ parts: [a, b, c, d], shapes: [outer, left, right] }) => outer!(left!(a!, b!), right!(c!, d!)))
  )
const pick = <A>(values: ReadonlyArray<A>) =>
  Arbitrary.map(Arbitrary.schema(Schema.Literals(values.map((_, index) => index))), (index) => values[index]!)

const anyLine = linesOf(simpleCommand(pick(words)), pick(shapes))
const plainLine = linesOf(simpleCommand(pick(literalWords)), pick(shapes.slice(0, 6)))

const stub = `#!/bin/sh
ran="\${0##*/}"
for word; do ran="$ran $word"; done
printf '%s\\0' "$ran" >> "$LOG"
`

/** What bash really runs for a line: the programs with their words. */
const runInBash = Effect.fnUntraced(function* (folder: string, line: string, log: string) {
  const fs = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner
  yield* fs.writeFileString(log, "")
  const env = { PATH: `${folder}:/usr/bin:/bin`, LOG: log, HOME: "/home/ada" }
  const options = {
    cwd: folder,
    env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
    forceKillAfter: 100
  } as const
  yield* Effect.scoped(
    Effect.flatMap(spawner.spawn(ChildProcess.make("bash", ["-c", line], options)), ({ exitCode }) => exitCode)
  )
  return (yield* fs.readFileString(log)).split("\0").slice(0, -1)
})

/** Checks each sampled line against what ran; answers how many commands ran in all. */
const compare = (lines: Arbitrary.Arbitrary<string>, check: (line: string, ran: ReadonlyArray<string>) => number) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "super-pi-shell-" })
    for (const name of ["aa", "bb", "cc"]) {
      yield* fs.writeFileString(`${folder}/${name}`, stub, { mode: 0o755 })
    }
    const samples = yield* Arbitrary.sampleEffect(lines, { count: 60 })
    const counts = yield* Effect.forEach(
      samples,
      (line, index) => Effect.map(runInBash(folder, line, `${folder}/log${index}`), (ran) => check(line, ran)),
      { concurrency: 4 }
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const guisesOf = (line: string) => parseLine(line).segments.flatMap(guises)

describe("ShellLine against bash", () => {
  it.live("whatever bash runs was seen, or the line is not legible", () =>
    Effect.gen(function* () {
      const count = yield* compare(anyLine, (line, ran) => {
        if (!parseLine(line).legible) return 0
        const programs = new Set(guisesOf(line).map((text) => text.replace(/ .*/s, "").replace(/^.*\//, "")))
        for (const command of ran) {
          assert.isTrue(programs.has(command.slice(0, 2)), `unseen: ${command}\nin: ${line}`)
        }
        return ran.length
      })
      assert.isAbove(count, 20)
    })
  )

  it.live("a plain line is seen word for word", () =>
    Effect.gen(function* () {
      const count = yield* compare(plainLine, (line, ran) => {
        assert.isTrue(parseLine(line).simple, line)
        const seen = new Set(guisesOf(line).map((text) => text.replace(/^\S*\//, "")))
        for (const command of ran) assert.isTrue(seen.has(command), `not as it ran: ${command}\nin: ${line}`)
        return ran.length
      })
      assert.isAbove(count, 50)
    })
  )
})
