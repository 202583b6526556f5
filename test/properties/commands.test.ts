/** Commands with any text and any input: nothing that was typed is read as a template. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { typedIn } from "../../src/domain/Command.ts"
import { parseCommand, parseSkill } from "../../src/domain/CommandFile.ts"
import { expand, wordsOf } from "../../src/domain/CommandTemplate.ts"
import { text } from "../../src/domain/Content.ts"

const Any = Schema.String
/** Texts in which places, quotes and escapes are frequent. */
const Odd = Schema.Array(
  Schema.Literals(["$ARGUMENTS", "$1", "$2", "\\$", "\\", '"', "'", " ", "\n", "a", "b c", "---", "$"])
)
const runs = { arbitrary: { runs: 300 } }

const quoted = (word: string): string => `"${word.replace(/[\\"]/g, "\\$&")}"`

describe("commands", () => {
  it.effect.prop(
    "put in what was typed as it is, in each place, and look through it no more",
    [Schema.Array(Any), Any, Odd],
    ([more, first, parts]) =>
      Effect.sync(() => {
        const texts = [first, "", ...more].map((part) => part.replaceAll(/[$\\]/g, ""))
        const input = parts.join("")
        assert.strictEqual(expand(texts.join(" $ARGUMENTS "), input), texts.join(` ${input} `))
      }),
    runs
  )

  it.effect.prop(
    "part quoted words into what they were",
    [Schema.Array(Any)],
    ([words]) => Effect.sync(() => assert.deepStrictEqual(wordsOf(words.map(quoted).join(" ")), words)),
    runs
  )

  it.effect.prop(
    "never fail, however odd file and input are, and stay bounded",
    [Odd, Odd],
    ([parts, more]) =>
      Effect.sync(() => {
        const [file, input] = [parts.join(""), more.join("")]
        assert.isBelow(expand(file, input).length, (file.length + 20) * (input.length + 20))
        const command = parseCommand(file, "x.md")
        const skill = parseSkill(file, "x/SKILL.md", "x")
        for (const { description } of [command, skill]) {
          assert.isAtMost(description.length, 300)
          assert.notMatch(description, /\n/)
        }
        assert.strictEqual(skill.name, "x")
        const typed = typedIn([text(`/name ${input}`)])
        assert.strictEqual(typed?.input, input.trim())
      }),
    runs
  )
})
