import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { closedFrom, inside } from "../../../src/domain/files/Bounds.ts"
import { isWithin } from "../../../src/domain/files/Paths.ts"

const privates = ["/home/ada/.ssh", "/home/ada/.supercharge", "/home/ada/.netrc", "/etc/shadow"]

describe("what of some folders is a workspace", () => {
  for (const [roots, path, expected] of [
    [["/home/ada"], "/home/ada/notes", true],
    [["/home/ada"], "/home/ada", true],
    [["/home/ada"], "/home/ada/.ssh", false],
    [["/home/ada"], "/home/ada/.ssh/id", false],
    [["/home/ada"], "/home/ada/.SSH/id", false],
    [["/home/ada"], "/home/ada/.sshrc", true],
    [["/home"], "/home/ada/.netrc", false],
    [["/"], "/etc/shadow", false],
    [["/"], "/etc/passwd", true],
    [["/home/ada/.ssh"], "/home/ada/.ssh/id", true],
    [["/home/ada/.ssh/project"], "/home/ada/.ssh/project/a", true],
    [["/home/ada/.ssh/project"], "/home/ada/.ssh/id", false],
    [["/home/ada", "/home/ada/.ssh/project"], "/home/ada/.ssh/project/a", true],
    [["/home/ada", "/home/ada/.ssh/project"], "/home/ada/.ssh/id", false],
    [["/home/ada/.supercharge/sessions/s"], "/home/ada/.supercharge/config.toml", false],
    [["/work"], "/home/ada/notes", false],
    [[], "/", false]
  ] as const) {
    it(`${roots.join(", ") || "nothing"}: ${path} is ${expected ? "inside" : "outside"}`, () =>
      assert.strictEqual(inside(roots, privates)(path), expected))
  }

  const path = Arbitrary.map(
    Arbitrary.array(Arbitrary.schema(Schema.Literals(["a", "b", "c"])), { maxLength: 4 }),
    (parts) => `/${parts.join("/")}`
  )
  const paths = Arbitrary.array(path, { maxLength: 4 })

  it.effect.prop(
    "more that is private never opens anything, and more roots never close anything",
    [paths, paths, path, path],
    ([roots, closed, one, other]) =>
      Effect.sync(() => {
        const isInside = inside(roots, closed)(one)
        if (isInside) assert.isTrue(inside([...roots, other], closed)(one))
        if (!isInside) assert.isFalse(inside(roots, [...closed, other])(one))
        assert.strictEqual(
          inside(roots, [])(one),
          roots.some((root) => isWithin(root, one))
        )
        assert.isFalse(closedFrom(one, closed)(one))
      })
  )
})
