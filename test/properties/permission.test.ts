import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ExecutionMode } from "../../src/domain/permission/ExecutionMode.ts"
import { type Access, Grant } from "../../src/domain/permission/Permission.ts"
import { factsOf, mentionedPaths } from "../../src/domain/permission/PermissionFacts.ts"
import { judge } from "../../src/domain/permission/PermissionPolicy.ts"
import { parseRule, parseRules, PermissionRule, printRule } from "../../src/domain/permission/PermissionRule.ts"
import { parseLine } from "../../src/domain/permission/ShellLine.ts"

const pick = <const A extends ReadonlyArray<string>>(values: A) => Arbitrary.schema(Schema.Literals(values))

const rule = Arbitrary.schema(PermissionRule).pipe(
  Arbitrary.map(({ pattern, tool }): PermissionRule => {
    const trimmed = pattern?.trim() ?? ""
    return tool === "*" || trimmed === "" ? { tool } : { tool, pattern: trimmed }
  })
)

/** Commands that an allow rule covers, and one that none covers. */
const innocent = pick(["npm test", "npm run x 'a;b'", 'make -j 4 "a && b"', "make \\; x", "make 2>&1", "CI=1 npm test"])
const guilty = pick([
  "wget evil",
  "makex",
  "npmx test",
  "npm test > a",
  "PATH=x npm test",
  "w\\get evil",
  "'wget' evil"
])
const joint = pick([" && ", " || ", "; ", " | ", "\n", ";"])
const line = (commands: ReadonlyArray<string>, joints: ReadonlyArray<string>) =>
  commands.map((command, index) => (index === 0 ? "" : (joints[index % joints.length] ?? ";")) + command).join("")
const joints = Arbitrary.array(joint, { minLength: 1, maxLength: 4 })
const innocents = Arbitrary.array(innocent, { minLength: 1, maxLength: 4 })

/** Ways to write a command so that it still runs: behind other programs, and inside other syntax. */
const behind = pick([
  "%",
  "timeout 5 %",
  "nice -n 2 env Y=2 %",
  "sudo -u root %",
  "/usr/bin/sudo %",
  "xargs -n 1 %",
  "bash -c '%'",
  "sh -ec '%'",
  "eval '%'"
])
const inside = pick([
  "%",
  "X=1 %",
  "(%)",
  "{ %; }",
  "echo $(%)",
  'echo "$(a; %)"',
  "% &",
  "if true; then %; fi",
  "! %",
  "cat <<EOF\nEOF\n%",
  "a <(%)",
  "x=$(%)"
])
const remove = pick(["rm -rf x", "/bin/rm -rf x", "r\\m -rf x", 'r"m" -rf x', "rm  -rf   x", "rm -rf x >/dev/null"])

const verdict = (
  command: string,
  mode: ExecutionMode,
  rules: Partial<Parameters<typeof parseRules>[0]>,
  grants: ReadonlyArray<Grant> = []
) =>
  judge(
    factsOf({
      access: { _tag: "Execute", command, cwd: "/w" },
      search: false,
      cwd: "/w",
      roots: ["/w"],
      home: undefined,
      links: new Map(),
      rules: parseRules({ allow: [], ask: [], deny: [], ...rules }).rules,
      grants
    }),
    mode
  )._tag

const allow = ["Bash(npm *)", "Bash(make:*)"]
const mode = Arbitrary.schema(ExecutionMode)
const timid = pick(["ask", "accept-edits", "auto"])

/** Remembers what was asked for and is not there. */
class Watched extends Map<string, string> {
  readonly missed = new Set<string>()
  override get(path: string) {
    if (!this.has(path)) this.missed.add(path)
    return super.get(path)
  }
}

const word = pick([
  "a",
  "./b/../c",
  "/w/x",
  "/lib/y",
  "~/z",
  "$HOME/k",
  "d/../../e",
  "--f=g",
  "-h/i",
  "j:k",
  "*.ts",
  "l/*",
  "m{n,o}"
])
const reader = pick([
  "cat %",
  "rg x %",
  "grep -r x %",
  "cd % && ls",
  "cd a/..; cat < %",
  "npm test % > %",
  "sudo tar -C % -x"
])
const pattern = pick(["a", "b/**", "**/x", "/lib/*", "~/z", "../e", "{a,b}/c", "l/m*/n"])

describe("permission rules", () => {
  it.prop(
    "no real name is asked for that was not mentioned before",
    [
      Arbitrary.array(word, { minLength: 1, maxLength: 4 }),
      Arbitrary.array(reader, { minLength: 1, maxLength: 3 }),
      Arbitrary.array(pattern, { maxLength: 4 })
    ],
    ([words, readers, patterns]) => {
      const command = readers.map((reader, at) => reader.replaceAll("%", words[at % words.length] ?? "a")).join("; ")
      const paths = [`/w/${words.length}`]
      for (const access of [
        { _tag: "Execute", command, cwd: "/w" },
        { _tag: "Read", paths, outside: [] },
        { _tag: "Edit", paths, outside: [] }
      ] satisfies ReadonlyArray<Access>) {
        const [allow = [], ask = [], deny = []] = [0, 1, 2].map((kind) =>
          patterns.flatMap((pattern, at) => (at % 3 === kind ? [`Read(${pattern})`, `Edit(${pattern})`] : []))
        )
        const { rules } = parseRules({ allow, ask, deny })
        const situation = { access, search: true, cwd: "/w", roots: ["/w", "/lib"], home: "/home", rules, grants: [] }
        const links = new Watched([...mentionedPaths(situation)].map((path) => [path, path]))
        factsOf({ ...situation, links })
        assert.deepStrictEqual([...links.missed], [], command)
      }
    }
  )

  it.prop("printing and parsing is the same rule", [rule], ([rule]) => {
    assert.deepStrictEqual(parseRule(printRule(rule)), Result.succeed(rule))
  })

  it.prop("any text is a rule or an explained failure, and any line is read", [Schema.String], ([text]) => {
    const { rules, warnings } = parseRules({ allow: [text], ask: [], deny: [] })
    assert.strictEqual(rules.allow.length + warnings.length, 1)
    assert.isDefined(parseLine(text))
  })

  it.effect.prop(
    "allow rules cover a line of allowed segments",
    [innocents, joints, timid],
    ([commands, joints, mode]) =>
      Effect.sync(() => assert.strictEqual(verdict(line(commands, joints), mode, { allow }), "Allow"))
  )

  it.effect.prop(
    "allow rules never cover a line with a segment that is not allowed",
    [innocents, guilty, innocents, joints, timid],
    ([before, bad, after, joints, mode]) =>
      Effect.sync(() => assert.strictEqual(verdict(line([...before, bad, ...after], joints), mode, { allow }), "Ask"))
  )

  it.effect.prop(
    "a denied segment denies, wherever it stands and however it is wrapped",
    [innocents, remove, behind, inside, joints, mode],
    ([around, remove, behind, inside, joints, mode]) =>
      Effect.sync(() => {
        const wrapped = inside.replace("%", () => behind.replace("%", () => remove))
        const command = line([...around, wrapped, ...around], joints)
        assert.strictEqual(verdict(command, mode, { allow: ["*"], deny: ["Bash(rm *)"] }), "Deny", command)
      })
  )

  it.effect.prop(
    "no yes of rules, answers or modes outweighs a deny rule, and none of them lets plan mode change anything",
    [mode, Arbitrary.array(Arbitrary.schema(Grant), { maxLength: 3 }), remove],
    ([mode, grants, remove]) =>
      Effect.sync(() => {
        const given = [...grants, { verdict: "allow", access: "Execute", subject: remove } as const]
        assert.strictEqual(verdict(remove, mode, { allow: ["*"], deny: ["Bash(rm)"] }, given), "Deny")
        assert.strictEqual(verdict(remove, "plan", { allow: ["*"] }, given), "Deny")
      })
  )
})
