import { assert, describe, it } from "@effect/vitest"
import { parseLine } from "../../../src/domain/permission/ShellLine.ts"
import { pathsOfLine } from "../../../src/domain/permission/ShellPaths.ts"

const home = "/home/ada"
const seen = (command: string) => pathsOfLine(parseLine(command), { cwd: "/w", home })

describe("ShellPaths", () => {
  for (const [command, path] of [
    ["cat secret/a", "/w/secret/a"],
    ["cat './secret/a'", "/w/secret/a"],
    ["cat /w/secret/a", "/w/secret/a"],
    ["cat < secret/a", "/w/secret/a"],
    ["echo x >> secret/a", "/w/secret/a"],
    ["tool --file=secret/a", "/w/secret/a"],
    ["tool -fsecret/a", "/w/secret/a"],
    ["tool -f/secret/a", "/secret/a"],
    ["dd if=secret/a", "/w/secret/a"],
    ["git show HEAD:secret/a", "/w/secret/a"],
    ["docker run -v secret/a:/x image", "/w/secret/a"],
    ["cat ~/.ssh/id", "/home/ada/.ssh/id"],
    ["cat $HOME/.ssh/id", "/home/ada/.ssh/id"],
    ['cat "${HOME}/.ssh/id"', "/home/ada/.ssh/id"],
    ["cat $PWD/secret/a", "/w/secret/a"],
    ["cat secret/*", "/w/secret"],
    ["cat secret/{a,b}", "/w/secret"],
    ["cd secret && cat a", "/w/secret/a"],
    ["cd secret; cd deep; cat a", "/w/secret/deep/a"],
    ["(cd x); cd secret && cat a", "/w/secret/a"],
    ["cd x/..; cd secret; cat a", "/w/secret/a"],
    ["pushd secret; cat a", "/w/secret/a"],
    ["cd -P secret; cat a", "/w/secret/a"],
    ["cd; cat .ssh/id", "/home/ada/.ssh/id"],
    ["tar -C secret -cf - a", "/w/secret/a"],
    ["bash -c 'cd secret; cat a'", "/w/secret/a"],
    ["sudo cat secret/a", "/w/secret/a"],
    ["x=$(cat secret/a)", "/w/secret/a"],
    ["cat link/../secret/a", "/w/secret/a"],
    ["cat link/../secret/a", "/w/link/../secret/a"]
  ] as const) {
    it(`${command} spells out ${path}`, () => assert.include(seen(command).paths, path))
  }

  it("options and sentences are no paths", () => {
    assert.notInclude(seen("tool --secret -secret=1").paths, "/w/--secret")
    assert.notInclude(seen("tool --secret").paths, "/w/secret")
    assert.notInclude(seen("git commit -m 'secret: rotate keys'").paths, "/w/secret")
  })

  it("a line of any length is seen in bounded time, all of it from where it starts", () => {
    const words = Array.from({ length: 5_000 }, (_, at) => `f${at}`).join(" ")
    const { followed, folders, paths } = seen(`cd a; cd b; cat ${words} secret/a`)
    assert.deepStrictEqual(folders, ["/w"])
    assert.include(paths, "/w/secret/a")
    assert.isAtMost(followed.length, 2_000)
    assert.isAtMost(seen(Array.from({ length: 100 }, (_, at) => `cd d${at}`).join("; ")).folders.length, 8)
    assert.notInclude(
      seen(`cat ${"x/".repeat(3_000)}`).paths.map((path) => path.length > 4_200),
      true
    )
  })
})
