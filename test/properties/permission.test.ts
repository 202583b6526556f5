import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { matchWildcard } from "../../src/domain/permission/CommandPattern.ts"
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
      confined: false,
      unconfinable: false,
      forgetful: false,
      links: new Map(),
      rules: parseRules({ allow: [], ask: [], deny: [], ...rules }).rules,
      grants
    }),
    mode
  )._tag

/** Spellings of a file in a command, each with the name that the file system knows it by. */
const spelled = pick([
  "cat %",
  "cat ./%",
  "cat $PWD/%",
  "cat /w/%",
  "cat b/../%",
  "cat ../w/%",
  "cat '%'",
  "x --file=%",
  "x -f%",
  "x if=%",
  "x < %",
  "x > %",
  "x >> %",
  "cd b && cat ../%",
  "tar -C / -c w/%",
  "sudo cat %",
  "bash -c 'cat %'",
  "echo $(cat %)",
  "git show HEAD:%"
])
const secret = pick(["secret", "keys/a", "keys/b/c", ".env"])

const among = <A>(values: readonly [A, ...ReadonlyArray<A>]): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(Arbitrary.schema(Schema.Literals(values.map((_, at) => at))), (at) => values[at] ?? values[0])

const commands = [
  "npm test",
  "ls",
  "git status",
  "rm -rf x",
  "cat a > b",
  "make && x",
  "echo $(x)",
  "$X",
  "mkdir a"
] as const
const shell = pick(commands)
const outsideOf = (path: string) => (path.startsWith("/w/") ? [] : [path])
const files = ["/w/a", "/w/.git/config", "/etc/x"]
const anyAccess = among<Access>([
  { _tag: "None" },
  ...commands.flatMap((command): ReadonlyArray<Access> => [
    { _tag: "Execute", command, cwd: "/w" },
    { _tag: "Execute", command, cwd: "/w", unsandboxed: true }
  ]),
  ...["https://a.org/x", "http://b.org", "nowhere"].map((url): Access => ({ _tag: "Fetch", url })),
  ...files.map((path): Access => ({ _tag: "Edit", paths: [path], outside: outsideOf(path) })),
  ...files.map((path): Access => ({ _tag: "Read", paths: [path], outside: outsideOf(path) })),
  { _tag: "Mcp", server: "s", tool: "list" },
  { _tag: "Mcp", server: "s", tool: "drop" }
])
const anyRule = pick([
  "*",
  "Bash",
  "Bash(npm *)",
  "Bash(git status)",
  "Bash(unsandboxed:*)",
  "Bash(rm:*)",
  "Read(**)",
  "Edit(a)",
  "Edit(/etc/*)",
  "WebFetch(domain:a.org)",
  "MCPTool(s)",
  "mcp__s__list"
])
const anyRules = Arbitrary.array(anyRule, { maxLength: 3 })
const anyGrant = among<Grant>([
  { verdict: "reject", access: "Fetch", subject: "a.org" },
  { verdict: "allow", access: "Fetch", subject: "b.org" },
  ...commands.flatMap((subject): ReadonlyArray<Grant> => [
    { verdict: "allow", access: "Execute", subject },
    { verdict: "reject", access: "Execute", subject },
    { verdict: "allow", access: "Unsandboxed", subject }
  ])
])
const anyState = [
  anyAccess,
  anyRules,
  anyRules,
  anyRules,
  Arbitrary.array(anyGrant, { maxLength: 2 }),
  Arbitrary.schema(Schema.Boolean),
  Arbitrary.schema(Schema.Boolean)
] as const

const strength = { Deny: 0, Ask: 1, Allow: 2 } as const
const strengthOf = (
  access: Access,
  mode: ExecutionMode,
  rules: Parameters<typeof parseRules>[0],
  grants: ReadonlyArray<Grant>,
  confined: boolean,
  unconfinable: boolean
): number => {
  const place = { cwd: "/w", roots: ["/w"], home: "/home", links: new Map<string, string>() }
  const state = { search: false, confined, unconfinable, forgetful: false, rules: parseRules(rules).rules, grants }
  return strength[judge(factsOf({ access, ...place, ...state }), mode)._tag]
}

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
        factsOf({ ...situation, confined: false, unconfinable: false, forgetful: false, links })
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

  it.effect.prop(
    "a glob is what a regular expression says",
    [
      Arbitrary.array(pick(["a", "b", " ", "/", "*", "?", "[ab]", "[!a]", "\\*"]), { maxLength: 7 }),
      Arbitrary.array(pick(["a", "b", " ", "/", "*"]), { maxLength: 9 })
    ],
    ([glob, letters]) =>
      Effect.sync(() => {
        const meaning = new Map<string, string>([
          ["*", "[^]*"],
          ["?", "[^]"],
          ["[!a]", "[^a]"]
        ])
        const source = glob.map((part) => meaning.get(part) ?? part).join("")
        const text = letters.join("")
        assert.strictEqual(matchWildcard(glob.join(""), text), new RegExp(`^${source}$`).test(text))
      }),
    { arbitrary: { runs: 1_000 } }
  )

  it.effect.prop(
    "a rule that denies a file also binds commands, however they spell it and through every link",
    [spelled, secret, Arbitrary.schema(Schema.Literals(["Read", "Edit"])), Arbitrary.schema(Schema.Boolean), mode],
    ([spelled, secret, tool, linked, mode]) =>
      Effect.sync(() => {
        const named = linked ? "alias" : secret
        const links = new Map(linked ? [["/w/alias", `/w/${secret}`]] : [])
        const command = spelled.replaceAll("%", named)
        const access: Access = { _tag: "Execute", command, cwd: "/w" }
        const place = { cwd: "/w", roots: ["/w"], home: "/home", links }
        const rules = (pattern: string) => parseRules({ allow: ["*"], ask: [], deny: [`${tool}(${pattern})`] }).rules
        const state = { search: false, grants: [], confined: true, unconfinable: false, forgetful: false }
        const fate = (pattern: string) =>
          judge(factsOf({ access, ...place, ...state, rules: rules(pattern) }), mode)._tag
        assert.strictEqual(fate(secret), "Deny", command)
        assert.strictEqual(fate(`/w/${secret}`), "Deny", command)
        assert.strictEqual(fate("**"), "Deny", command)
      }),
    { arbitrary: { runs: 300 } }
  )

  it.effect.prop(
    "a mode that does more never does less, a no is never weakened and a yes never weakens",
    [...anyState, anyRule],
    ([access, allow, ask, deny, grants, confined, unconfinable, rule]) =>
      Effect.sync(() => {
        const rules = { allow, ask, deny }
        const by = (mode: ExecutionMode, changed: Partial<typeof rules> = {}) =>
          strengthOf(access, mode, { ...rules, ...changed }, grants, confined, unconfinable)
        const strengths = ExecutionMode.literals.map((mode) => by(mode))
        assert.deepStrictEqual(
          strengths,
          strengths.toSorted((one, other) => one - other)
        )
        for (const mode of ExecutionMode.literals) {
          assert.isAtMost(by(mode, { deny: [...deny, rule] }), by(mode))
          assert.isAtMost(by(mode, { ask: [...ask, rule] }), by(mode))
          assert.isAtLeast(by(mode, { allow: [...allow, rule] }), by(mode))
        }
      }),
    { arbitrary: { runs: 1_000 } }
  )

  it.effect.prop(
    "a remembered no holds in every mode, unless a rule allows",
    [shell, mode, Arbitrary.array(anyGrant, { maxLength: 2 }), Arbitrary.schema(Schema.Boolean)],
    ([command, mode, grants, unsandboxed]) =>
      Effect.sync(() => {
        const access: Access = { _tag: "Execute", command, cwd: "/w", unsandboxed }
        const never: Grant = { verdict: "reject", access: "Execute", subject: command }
        const none = { allow: [], ask: [], deny: [] }
        assert.strictEqual(strengthOf(access, mode, none, [...grants, never], true, false), strength.Deny)
      })
  )
})
