import { assert, describe, it } from "@effect/vitest"
import { ExecutionMode } from "../../../src/domain/permission/ExecutionMode.ts"
import type { Access, Grant } from "../../../src/domain/permission/Permission.ts"
import { factsOf } from "../../../src/domain/permission/PermissionFacts.ts"
import { choicesFor } from "../../../src/domain/permission/PermissionOptions.ts"
import { judge } from "../../../src/domain/permission/PermissionPolicy.ts"
import { parseRules } from "../../../src/domain/permission/PermissionRule.ts"

interface Given {
  readonly allow?: ReadonlyArray<string>
  readonly ask?: ReadonlyArray<string>
  readonly deny?: ReadonlyArray<string>
  readonly grants?: ReadonlyArray<Grant>
  readonly search?: boolean
  readonly roots?: ReadonlyArray<string>
  readonly links?: ReadonlyMap<string, string>
  readonly confined?: boolean
  readonly unconfinable?: boolean
  readonly forgetful?: boolean
}

const decide = (access: Access, mode: ExecutionMode, given: Given = {}) => {
  const { rules } = parseRules({ allow: given.allow ?? [], ask: given.ask ?? [], deny: given.deny ?? [] })
  const { grants = [], search = false } = given
  const { confined = false, links = new Map(), roots = ["/w"], unconfinable = false, forgetful = false } = given
  const place = { cwd: "/w", roots, home: "/home/ada", links }
  const situation = { access, search, ...place, rules, grants, confined, unconfinable, forgetful }
  return judge(factsOf(situation), mode)._tag
}

const none: Access = { _tag: "None" }
const read = (...paths: ReadonlyArray<string>): Access => ({
  _tag: "Read",
  paths,
  outside: paths.filter((path) => !path.startsWith("/w/"))
})
const edit = (...paths: ReadonlyArray<string>): Extract<Access, { readonly _tag: "Edit" }> => ({
  _tag: "Edit",
  paths,
  outside: paths.filter((path) => !path.startsWith("/w/"))
})
const moved: Access = { ...edit("/w/keys/a", "/w/public"), reads: ["/w/keys/a"] }
const run = (command: string, cwd = "/w"): Access => ({ _tag: "Execute", command, cwd })
const free = (command: string): Access => ({ _tag: "Execute", command, cwd: "/w", unsandboxed: true })
const fetch = (url: string): Access => ({ _tag: "Fetch", url })
const mcp: Access = { _tag: "Mcp", server: "sales", tool: "delete_all" }
const tool = (server: string, tool: string): Access => ({ _tag: "Mcp", server, tool })
const here = { cwd: "/w", unconfinable: false }
const granted = (access: Grant["access"], subject: string): Grant => ({ verdict: "allow", access, subject })

describe("PermissionPolicy", () => {
  describe("each mode and each access", () => {
    const [A, Q, D] = ["Allow", "Ask", "Deny"] as const
    for (const [name, access, ...expected] of [
      ["nothing", none, A, A, A, A, A],
      ["reading inside", read("/w/a"), A, A, A, A, A],
      ["reading outside", read("/w/a", "/etc/passwd"), Q, Q, Q, Q, A],
      ["editing inside", edit("/w/a"), D, Q, A, A, A],
      ["editing outside", edit("/w/a", "/etc/passwd"), D, Q, Q, Q, A],
      ["editing what git runs", edit("/w/.git/config"), D, Q, Q, Q, A],
      ["a command that reads", run("git status && ls | wc -l"), A, A, A, A, A],
      ["a command that reads outside", run("cat /etc/passwd"), D, Q, Q, Q, A],
      ["any other command", run("npm test"), D, Q, Q, Q, A],
      ["a dangerous command", run("rm -rf x"), D, Q, Q, Q, A],
      ["a line that cannot be split", run("ls $(rm x)"), D, Q, Q, Q, A],
      ["a command outside of the sandbox", free("ls"), D, Q, Q, Q, A],
      ["fetching", fetch("https://example.org"), Q, Q, Q, Q, A],
      ["a tool of a server", mcp, Q, Q, Q, Q, A]
    ] as const) {
      ExecutionMode.literals.forEach((mode, index) => {
        it(`${name}, ${mode}: ${expected[index]}`, () => assert.strictEqual(decide(access, mode), expected[index]))
      })
    }
  })

  describe("rules", () => {
    for (const [name, access, mode, given, expected] of [
      ["allow", run("npm test"), "ask", { allow: ["Bash(npm test)"] }, "Allow"],
      ["allow has a word boundary", run("npm tester"), "ask", { allow: ["Bash(npm test)"] }, "Ask"],
      ["allow needs every segment", run("npm test && npm publish"), "ask", { allow: ["Bash(npm test)"] }, "Ask"],
      ["allow joins with what reads", run("npm test | tail -5"), "ask", { allow: ["Bash(npm test)"] }, "Allow"],
      ["allow joins rules", run("a; b"), "ask", { allow: ["Bash(a)", "Bash(b)"] }, "Allow"],
      ["allow covers dangerous commands", run("rm x"), "ask", { allow: ["Bash(rm *)"] }, "Allow"],
      ["allow stops at substitution", run("npm test $(rm x)"), "ask", { allow: ["Bash(npm *)", "Bash(rm *)"] }, "Ask"],
      ["allow stops at background", run("npm test &"), "ask", { allow: ["Bash(npm *)"] }, "Ask"],
      ["allow stops at redirection", run("npm test > ~/.bashrc"), "ask", { allow: ["Bash(npm *)"] }, "Ask"],
      ["allow of the whole text", run("npm test > out"), "ask", { allow: ["Bash(npm test > out)"] }, "Allow"],
      ["allow stops at variables", run("LD_PRELOAD=x npm test"), "ask", { allow: ["Bash(npm *)"] }, "Ask"],
      ["allow passes harmless variables", run("CI=1 npm test"), "ask", { allow: ["Bash(npm *)"] }, "Allow"],
      ["allow looks into bash -c", run("bash -c 'npm test'"), "ask", { allow: ["Bash(npm *)"] }, "Allow"],
      ["allow of bash -c needs the inside", run("bash -c 'rm x'"), "ask", { allow: ["Bash(npm *)"] }, "Ask"],
      ["allow does not see through sudo", run("sudo npm test"), "ask", { allow: ["Bash(npm *)"] }, "Ask"],
      ["allow of all commands", run("echo $(date)"), "ask", { allow: ["Bash"] }, "Allow"],
      ["allow of everything", mcp, "ask", { allow: ["*"] }, "Allow"],
      ["allow stops at plan mode", edit("/w/a"), "plan", { allow: ["*"] }, "Deny"],
      ["allow stops at plan mode", run("npm test"), "plan", { allow: ["Bash(npm *)"] }, "Deny"],
      ["deny beats allow", run("npm test"), "ask", { allow: ["Bash"], deny: ["Bash(npm *)"] }, "Deny"],
      ["deny holds always", run("ls && rm x"), "always-approve", { deny: ["Bash(rm *)"] }, "Deny"],
      ["deny of everything", none, "always-approve", { deny: ["*"] }, "Deny"],
      ["deny inside a substitution", run("echo $(rm x)"), "always-approve", { deny: ["Bash(rm)"] }, "Deny"],
      ["deny behind wrappers", run("X=1 timeout 5 sudo /bin/rm x"), "always-approve", { deny: ["Bash(rm *)"] }, "Deny"],
      ["deny of the whole line", run("a && b"), "always-approve", { deny: ["Bash(a && b)"] }, "Deny"],
      ["deny and a hidden command", run("$X y"), "always-approve", { deny: ["Bash(rm *)"] }, "Ask"],
      ["no rule and a hidden command", run("$X y"), "always-approve", { deny: ["Read(x)"] }, "Allow"],
      ["deny of a file", read("/w/.env"), "always-approve", { deny: ["Read(.env)"] }, "Deny"],
      ["deny of a folder", read("/w/keys/a"), "always-approve", { deny: ["Read(keys)"] }, "Deny"],
      ["deny of a file in a command", run("cat .env"), "always-approve", { deny: ["Read(.env)"] }, "Deny"],
      ["deny of a file behind =", run("x --file=.env"), "always-approve", { deny: ["Read(.env)"] }, "Deny"],
      ["deny of a file below home in a command", run("x < ~/.k"), "always-approve", { deny: ["Read(~/.k)"] }, "Deny"],
      ["deny of a file below $HOME", run("x $HOME/.k"), "always-approve", { deny: ["Read(~/.k)"] }, "Deny"],
      ["deny of a file that gets another name", moved, "accept-edits", { deny: ["Read(keys/**)"] }, "Deny"],
      ["deny of reading where it goes", moved, "always-approve", { deny: ["Read(public)"] }, "Allow"],
      ["ask of a file that gets another name", moved, "accept-edits", { ask: ["Read(keys/**)"] }, "Ask"],
      ["deny of all reading", moved, "accept-edits", { deny: ["Read"] }, "Deny"],
      ["deny of all reading and an edit", edit("/w/a"), "accept-edits", { deny: ["Read"] }, "Allow"],
      ["an edit of nothing", edit(), "accept-edits", { allow: ["Edit"] }, "Ask"],
      ["deny of edits and an edit of nothing", edit(), "always-approve", { deny: ["Edit"] }, "Deny"],
      ["deny of edits and a redirection", run("echo > a"), "always-approve", { deny: ["Edit"] }, "Deny"],
      ["deny of one of two files", edit("/w/a", "/w/b"), "always-approve", { deny: ["Edit(b)"] }, "Deny"],
      ["read rules are no edit rules", edit("/w/.env"), "always-approve", { deny: ["Read(.env)"] }, "Allow"],
      ["read rules bind searches", read("/w/.env"), "ask", { deny: ["Read(.env)"], search: true }, "Deny"],
      ["search rules bind searches", read("/w/a"), "ask", { deny: ["Grep"], search: true }, "Deny"],
      ["search rules bind nothing else", read("/w/a"), "ask", { deny: ["Grep"] }, "Allow"],
      ["allow of a file outside", read("/etc/hosts"), "ask", { allow: ["Read(/etc/hosts)"] }, "Allow"],
      ["allow of one of two files", read("/etc/a", "/etc/b"), "ask", { allow: ["Read(/etc/a)"] }, "Ask"],
      ["allow of edits below home", edit("/home/ada/x/y"), "ask", { allow: ["Edit(~/x/**)"] }, "Allow"],
      ["ask beats allow", run("npm test"), "ask", { allow: ["Bash"], ask: ["Bash(npm *)"] }, "Ask"],
      ["ask beats the read-only list", run("git log"), "ask", { ask: ["Bash(git *)"] }, "Ask"],
      ["ask of a segment holds always", run("ls; git push"), "always-approve", { ask: ["Bash(git push)"] }, "Ask"],
      ["ask of a file yields always", edit("/w/a.sql"), "always-approve", { ask: ["Edit(**/*.sql)"] }, "Allow"],
      ["ask of a file", edit("/w/a.sql"), "accept-edits", { ask: ["Edit(**/*.sql)"] }, "Ask"],
      ["ask of an inside read", read("/w/a"), "ask", { ask: ["Read(a)"] }, "Ask"],
      ["tools of a server", mcp, "ask", { allow: ["MCPTool(sales__*)"] }, "Allow"],
      ["a server", mcp, "ask", { allow: ["MCPTool(sales)"] }, "Allow"],
      ["a server in another spelling", mcp, "always-approve", { deny: ["mcp__sales"] }, "Deny"],
      ["a tool in another spelling", mcp, "always-approve", { deny: ["MCPTool(mcp__sales__delete_*)"] }, "Deny"],
      ["every server", mcp, "always-approve", { deny: ["mcp__*"] }, "Deny"],
      ["another server", mcp, "ask", { allow: ["MCPTool(sale)", "MCPTool(sales__delete)"] }, "Ask"],
      ["allow of a server stops at its name", tool("a__b", "c"), "ask", { allow: ["MCPTool(a)", "mcp__a__x"] }, "Ask"],
      ["allow of a server with a longer name", tool("a__b", "c"), "ask", { allow: ["MCPTool(a__b__*)"] }, "Allow"],
      ["allow of tools everywhere", tool("a", "list_x"), "ask", { allow: ["MCPTool(*__list_*)"] }, "Allow"],
      ["deny by the name that the model calls", tool("a", "x.y"), "always-approve", { deny: ["mcp__a__x_y"] }, "Deny"],
      ["allow by that name", tool("a", "x.y"), "ask", { allow: ["mcp__a__x_y"] }, "Ask"],
      ["deny outside of the sandbox, inside", run("x"), "always-approve", { deny: ["Bash(unsandboxed:*)"] }, "Allow"],
      ["deny outside of the sandbox", free("x"), "always-approve", { deny: ["Bash(unsandboxed:*)"] }, "Deny"],
      ["deny of some outside", free("rm x"), "always-approve", { deny: ["Bash(unsandboxed:rm *)"] }, "Deny"],
      ["deny of others outside", free("ls"), "always-approve", { deny: ["Bash(unsandboxed:rm *)"] }, "Allow"],
      ["ask outside of the sandbox", free("ls"), "always-approve", { ask: ["Bash(unsandboxed:)"] }, "Ask"],
      ["allow outside of the sandbox", free("docker ps"), "ask", { allow: ["Bash(unsandboxed:docker *)"] }, "Allow"],
      ["such a rule, inside", run("docker ps"), "ask", { allow: ["Bash(unsandboxed:docker *)"] }, "Allow"],
      ["such a rule, another command", free("docker ps; x"), "ask", { allow: ["Bash(unsandboxed:docker *)"] }, "Ask"],
      ["allow of all, outside", free("npm test"), "auto", { allow: ["*", "Bash", "Bash(*)", "Bash(npm *)"] }, "Ask"],
      ["deny of all, outside", free("npm test"), "always-approve", { deny: ["Bash(npm *)"] }, "Deny"]
    ] satisfies ReadonlyArray<readonly [string, Access, ExecutionMode, Given, string]>) {
      it(`${name}: ${expected}`, () => assert.strictEqual(decide(access, mode, given), expected))
    }
  })

  describe("links", () => {
    const links = new Map([
      ["/w/x", "/w/secret/a"],
      ["/w/d", "/w/secret"],
      ["/w/d/a", "/w/secret/a"],
      ["/w/d/../b", "/elsewhere/b"],
      ["/w/out/a", "/vault/a"],
      ["/w/keys", "/vault"]
    ])
    for (const [name, access, mode, given, expected] of [
      ["deny of where a link leads", read("/w/x"), "always-approve", { deny: ["Read(secret/**)"] }, "Deny"],
      ["deny of edits through a link", edit("/w/x"), "always-approve", { deny: ["Edit(secret/**)"] }, "Deny"],
      ["deny of the link itself", read("/w/x"), "always-approve", { deny: ["Read(x)"] }, "Deny"],
      ["deny of a file by the name of a link", read("/w/secret/a"), "always-approve", { deny: ["Read(x)"] }, "Deny"],
      ["deny of a folder by the name of a link", read("/vault/a"), "always-approve", { deny: ["Read(keys)"] }, "Deny"],
      ["ask of where a link leads", read("/w/x"), "ask", { ask: ["Read(secret/**)"] }, "Ask"],
      ["deny and a link in a command", run("cat x"), "always-approve", { deny: ["Read(secret/**)"] }, "Deny"],
      ["deny and a folder's link", run("cd d && cat a"), "always-approve", { deny: ["Read(secret/*)"] }, "Deny"],
      ["deny behind a link", run("cat d/../b"), "always-approve", { deny: ["Read(/elsewhere/**)"] }, "Deny"],
      ["deny and a written link", run("echo > x"), "always-approve", { deny: ["Edit(secret/a)"] }, "Deny"],
      ["allow of one name only", edit("/w/out/a"), "ask", { allow: ["Edit(out/**)"] }, "Ask"],
      ["allow of the other only", edit("/w/out/a"), "ask", { allow: ["Edit(/vault/**)"] }, "Ask"],
      ["allow of both names", edit("/w/out/a"), "ask", { allow: ["Edit(/vault/**)", "Edit(out/**)"] }, "Allow"],
      ["allow follows no link", edit("/vault/a"), "ask", { allow: ["Edit(keys/**)"] }, "Ask"]
    ] satisfies ReadonlyArray<readonly [string, Access, ExecutionMode, Given, string]>) {
      it(`${name}: ${expected}`, () => assert.strictEqual(decide(access, mode, { ...given, links }), expected))
    }
  })

  describe("a session below its project's folder", () => {
    for (const [name, access, given, expected] of [
      ["deny from the project's folder", read("/p/secret/a"), { deny: ["Read(secret/**)"] }, "Deny"],
      ["deny from the session's folder", read("/p/w/secret/a"), { deny: ["Read(secret/**)"] }, "Deny"],
      ["deny in a command", run("cat ../secret/a"), { deny: ["Read(secret/**)"] }, "Deny"],
      ["deny in a search", run("rg x .."), { deny: ["Read(secret/**)"], roots: ["/p"] }, "Ask"],
      ["allow from the session's folder alone", edit("/p/src/a"), { allow: ["Edit(src/**)"] }, "Ask"]
    ] satisfies ReadonlyArray<readonly [string, Access, Given, string]>) {
      it(`${name}: ${expected}`, () => {
        const { rules } = parseRules({ allow: given.allow ?? [], ask: [], deny: given.deny ?? [] })
        const place = { cwd: "/p/w", roots: given.roots ?? ["/p/w"], home: undefined, root: "/p", links: new Map() }
        const state = { rules, grants: [], confined: false, unconfinable: false, forgetful: false, search: false }
        const here = access._tag === "Execute" ? { ...access, cwd: "/p/w" } : access
        assert.strictEqual(judge(factsOf({ access: here, ...place, ...state }), "ask")._tag, expected)
      })
    }
  })

  describe("commands that may meet a denied file", () => {
    const deny = ["Read(secret/**)", "Grep(/vault/**)"]
    for (const [command, expected] of [
      ["rg needle", "Ask"],
      ["rg needle src", "Ask"],
      ["grep -rn needle .", "Ask"],
      ["grep --recursive needle src", "Ask"],
      ["cat *", "Ask"],
      ["cat sec*/a", "Ask"],
      ["head -1 s?cret/a", "Ask"],
      ["wc -l src/*", "Allow"],
      ["grep -n needle src/a", "Allow"],
      ["ls -l src/*", "Allow"],
      ["find . -name '*.ts'", "Allow"],
      ["cat src/a | grep needle", "Allow"]
    ] as const) {
      it(`${command}: ${expected}`, () => {
        assert.strictEqual(decide(run(command), "ask", { deny }), expected)
        assert.strictEqual(decide(run(command), "ask", { deny: ["Read(/vault/**)", "Edit(secret2/**)"] }), "Allow")
      })
    }

    it("an exact yes still covers them, and what joins them is asked for", () => {
      assert.strictEqual(decide(run("rg needle"), "ask", { deny, grants: [granted("Execute", "rg needle")] }), "Allow")
      assert.strictEqual(decide(run("rg needle"), "ask", { deny, allow: ["Bash(rg *)"] }), "Allow")
      assert.strictEqual(decide(run("npm test; rg x"), "ask", { deny, allow: ["Bash(npm test)"] }), "Ask")
      assert.strictEqual(decide(run("npm test; rg x"), "ask", { allow: ["Bash(npm test)"] }), "Allow")
    })
  })

  describe("additional directories", () => {
    const roots = ["/w", "/lib"]
    for (const [name, access, mode, expected] of [
      ["a command that reads there", run("cat /lib/a"), "ask", "Allow"],
      ["a command that goes there", run("cd /lib && ls src"), "ask", "Allow"],
      ["a command that reads there, planning", run("grep -r x /lib"), "plan", "Allow"],
      ["a command that reads beside", run("cat /library/a"), "ask", "Ask"],
      ["a command that leaves it", run("cat /lib/../etc/passwd"), "ask", "Ask"],
      ["a command that comes back", run("cat /lib/../w/a"), "ask", "Allow"],
      ["git there", run("cd /lib && git status"), "ask", "Ask"],
      ["a command that writes there", run("echo > /lib/a"), "accept-edits", "Ask"],
      ["an edit there", { ...edit("/lib/a"), outside: [] }, "accept-edits", "Allow"],
      ["an edit of what git runs there", { ...edit("/lib/.git/config"), outside: [] }, "accept-edits", "Ask"]
    ] satisfies ReadonlyArray<readonly [string, Access, ExecutionMode, string]>) {
      it(`${name}: ${expected}`, () => assert.strictEqual(decide(access, mode, { roots }), expected))
    }
  })

  describe("remembered answers", () => {
    const inFolder = (subject: string, folder: string): Grant => ({ ...granted("Execute", subject), folder })
    const neverFree: Grant = { verdict: "reject", access: "Unsandboxed", subject: "x" }
    const neverThere: Grant = { verdict: "reject", access: "Fetch", subject: "a.org" }
    const never: Grant = { verdict: "reject", access: "Execute", subject: "npm publish" }
    for (const [name, access, mode, given, expected] of [
      ["the exact line", run("npm test > out"), "ask", { grants: [granted("Execute", "npm test > out")] }, "Allow"],
      ["the exact dangerous line", run(" rm x "), "ask", { grants: [granted("Execute", "rm x")] }, "Allow"],
      ["a dangerous part", run("ls && rm x"), "ask", { grants: [granted("Execute", "rm x")] }, "Ask"],
      ["a part with what reads", run("npm test | tail"), "ask", { grants: [granted("Execute", "npm test")] }, "Allow"],
      ["a part that is fed", run("cat a | x"), "ask", { grants: [granted("Execute", "x")] }, "Ask"],
      ["longer than remembered", run("npm test x"), "ask", { grants: [granted("Execute", "npm test")] }, "Ask"],
      ["elsewhere", run("npm test", "/w/sub"), "ask", { grants: [granted("Execute", "npm test")] }, "Ask"],
      ["of another kind", run("npm test"), "ask", { grants: [granted("Edit", "npm test")] }, "Ask"],
      [
        "a rejection beats a yes",
        run("npm publish"),
        "ask",
        { grants: [granted("Execute", "npm publish"), never] },
        "Deny"
      ],
      ["a rejection of a part", run("ls; npm publish"), "always-approve", { grants: [never] }, "Deny"],
      ["an ask rule", run("npm test"), "ask", { ask: ["Bash"], grants: [granted("Execute", "npm test")] }, "Allow"],
      [
        "an ask rule, a part",
        run("npm test; ls"),
        "ask",
        { ask: ["Bash"], grants: [granted("Execute", "npm test")] },
        "Ask"
      ],
      ["a deny rule", run("npm test"), "ask", { deny: ["Bash"], grants: [granted("Execute", "npm test")] }, "Deny"],
      ["plan mode", edit("/w/a"), "plan", { grants: [granted("Edit", "*")] }, "Deny"],
      ["edits inside", edit("/w/a", "/w/b"), "ask", { grants: [granted("Edit", "*")] }, "Allow"],
      ["edits outside", edit("/w/a", "/x"), "ask", { grants: [granted("Edit", "*")] }, "Ask"],
      ["edits of what git runs", edit("/w/.git/hooks/x"), "ask", { grants: [granted("Edit", "*")] }, "Ask"],
      ["an edit outside", edit("/x"), "ask", { grants: [granted("Edit", "/x")] }, "Allow"],
      ["reading", read("/x/y", "/w/a"), "ask", { grants: [granted("Read", "/x")] }, "Allow"],
      ["reading beside", read("/xy"), "ask", { grants: [granted("Read", "/x")] }, "Ask"],
      ["a tool", mcp, "ask", { grants: [granted("Mcp", "sales__delete_all")] }, "Allow"],
      ["another tool", mcp, "ask", { grants: [granted("Mcp", "sales__list")] }, "Ask"],
      ["given in another folder", run("make", "/w/a"), "ask", { grants: [inFolder("make", "/w/b")] }, "Ask"],
      ["given in this folder", run("make", "/w/a"), "ask", { grants: [inFolder("make", "/w/a")] }, "Allow"],
      ["given in a folder below", run("make"), "ask", { grants: [inFolder("make", "/w/a")] }, "Ask"],
      ["a rejection holds in every folder", run("npm publish", "/w/a"), "always-approve", { grants: [never] }, "Deny"],
      ["a rejection, other blanks", run("npm   'publish'"), "always-approve", { grants: [never] }, "Deny"],
      ["a rejection, wrapped", run("timeout 9 sudo npm publish"), "always-approve", { grants: [never] }, "Deny"],
      ["a rejection inside another", run("echo $(npm publish)"), "always-approve", { grants: [never] }, "Deny"],
      ["a rejection of more", run("npm publish --dry-run"), "always-approve", { grants: [never] }, "Allow"],
      ["a rejection, outside of the sandbox", free("npm publish"), "always-approve", { grants: [never] }, "Deny"],
      ["inside, and now outside", free("npm test"), "ask", { grants: [granted("Execute", "npm test")] }, "Ask"],
      ["outside", free("npm test"), "ask", { grants: [granted("Unsandboxed", "npm test")] }, "Allow"],
      ["outside, a part", free("npm test; ls"), "ask", { grants: [granted("Unsandboxed", "npm test")] }, "Ask"],
      ["outside, and now inside", run("npm test"), "ask", { grants: [granted("Unsandboxed", "npm test")] }, "Ask"],
      ["never outside", free("x"), "always-approve", { grants: [neverFree] }, "Deny"],
      ["never outside, and now inside", run("x"), "always-approve", { grants: [neverFree] }, "Allow"],
      ["a domain", fetch("http://www.a.org/x"), "ask", { grants: [granted("Fetch", "a.org")] }, "Allow"],
      ["a domain below", fetch("http://x.a.org/"), "ask", { grants: [granted("Fetch", "a.org")] }, "Ask"],
      ["a refused domain, below", fetch("http://x.a.org/"), "always-approve", { grants: [neverThere] }, "Deny"],
      ["a refused domain, beside", fetch("http://xa.org/"), "always-approve", { grants: [neverThere] }, "Allow"]
    ] satisfies ReadonlyArray<readonly [string, Access, ExecutionMode, Given, string]>) {
      it(`${name}: ${expected}`, () => assert.strictEqual(decide(access, mode, given), expected))
    }
  })

  describe("a confinement that cannot be had", () => {
    const missed = { unconfinable: true }
    for (const [name, access, mode, given, expected] of [
      ["any command, whatever the mode", run("npm test"), "always-approve", {}, "Ask"],
      ["what only reads", run("git status"), "always-approve", {}, "Ask"],
      ["what only reads, planning", run("git status"), "plan", {}, "Ask"],
      ["what changes, planning", run("npm test"), "plan", {}, "Deny"],
      ["a rule for commands in the sandbox", run("npm test"), "ask", { allow: ["*", "Bash(npm test)"] }, "Ask"],
      ["a rule for commands outside", run("npm test"), "ask", { allow: ["Bash(unsandboxed:npm test)"] }, "Allow"],
      ["an answer for commands in the sandbox", run("x"), "ask", { grants: [granted("Execute", "x")] }, "Ask"],
      ["an answer for commands outside", run("x"), "ask", { grants: [granted("Unsandboxed", "x")] }, "Allow"],
      ["edits", edit("/w/a"), "accept-edits", {}, "Allow"]
    ] satisfies ReadonlyArray<readonly [string, Access, ExecutionMode, Given, string]>) {
      it(`${name}: ${expected}`, () => assert.strictEqual(decide(access, mode, { ...given, ...missed }), expected))
    }
  })

  describe("remembered answers that cannot be read", () => {
    for (const [name, access, mode, given, expected] of [
      ["a command", run("npm test"), "always-approve", {}, "Ask"],
      ["a command that a rule allows", run("npm test"), "ask", { allow: ["Bash(npm *)"] }, "Allow"],
      ["an address", fetch("http://a.org"), "always-approve", {}, "Ask"],
      ["an edit, which nobody can forbid for ever", edit("/w/a"), "always-approve", {}, "Allow"]
    ] satisfies ReadonlyArray<readonly [string, Access, ExecutionMode, Given, string]>) {
      it(`${name}: ${expected}`, () =>
        assert.strictEqual(decide(access, mode, { ...given, forgetful: true }), expected))
    }
  })

  it("every offered always settles the same call next time", () => {
    for (const access of [
      read("/x"),
      edit("/w/a"),
      edit("/w/.git/x", "/y"),
      run("a | b > c"),
      run("$(x)"),
      run("rm x", "/w/sub"),
      free("rm x"),
      fetch("https://example.org:8080/a"),
      mcp
    ]) {
      const choices = choicesFor(access, here)
      assert.deepStrictEqual(
        choices.filter(({ grants }) => grants.length > 0).map(({ option }) => option.kind),
        access._tag === "Execute" || access._tag === "Fetch" ? ["allow_always", "reject_always"] : ["allow_always"]
      )
      for (const { grants, option } of choices) {
        if (option.kind === "allow_always") assert.strictEqual(decide(access, "ask", { grants }), "Allow")
        if (option.kind === "reject_always") assert.strictEqual(decide(access, "always-approve", { grants }), "Deny")
        if (option.kind.endsWith("once")) assert.deepStrictEqual(grants, [])
      }
    }
  })

  it("labels say exactly what is remembered", () => {
    const label = (access: Access) => choicesFor(access, here)[0]?.option.name
    assert.strictEqual(label(run("npm test")), 'Always allow "npm test"')
    assert.strictEqual(label(run("x".repeat(200))), "Always allow exactly this command")
    assert.strictEqual(label(run("npm test", "/w/sub")), 'Always allow "npm test" in "/w/sub"')
    assert.strictEqual(label(free("npm test")), 'Always allow "npm test" outside of the sandbox')
    assert.strictEqual(label(run("npm test\u202e")), "Always allow exactly this command")
    assert.strictEqual(label(run("x".repeat(3000))), "Allow once")
    assert.strictEqual(label(fetch("https://www.Example.org/a")), "Always allow fetching from example.org")
    assert.strictEqual(label(fetch("nowhere")), "Allow once")
    assert.strictEqual(label(edit("/w/a")), "Allow all edits in the workspace for this session")
    assert.strictEqual(label(edit("/x")), 'Allow edits of "/x" for this session')
    assert.strictEqual(label(read("/x")), 'Always allow reading "/x"')
    assert.strictEqual(label(mcp), 'Always allow "sales__delete_all"')
  })
})
