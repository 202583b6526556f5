import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import type { Choices } from "../../../src/services/settings/Choices.ts"
import {
  choiceSections,
  choicesMade,
  isChoice,
  readChoices,
  tellBesideChoices
} from "../../../src/services/settings/ChoiceSection.ts"
import { rootSection } from "../../../src/services/settings/ConfigKey.ts"
import { keyPaths } from "../../../src/services/settings/ConfigSchema.ts"

const document = {
  models: { default: "a/b", default_reasoning_effort: "low" },
  agent: { harness: "super-pi-planner" },
  ui: { permission_mode: "acceptEdits" },
  toolset: { bash: { timeout_secs: 7 } },
  tools: { respect_gitignore: false }
}

const made: Required<Choices> = {
  defaultModel: "a/b",
  defaultEffort: "low",
  harness: "super-pi-planner",
  mode: "accept-edits",
  commandTimeout: Duration.seconds(7),
  respectGitignore: false
}

const complaintsOf = (text: object) => {
  const complaints: Array<string> = []
  tellBesideChoices(
    rootSection({ ...text }, () => assert.fail("a section is mistaken")),
    (path, problem) => void complaints.push(`${path} ${problem}`)
  )
  return complaints
}

describe("ChoiceSection", () => {
  it("reads every choice, and each by a key that the configuration has", () => {
    const choices = readChoices(rootSection(document, (path, problem) => assert.fail(`${path} ${problem}`)))
    assert.deepStrictEqual(choices, made)
    const known = keyPaths().filter(([path]) => isChoice(path.split(".")))
    assert.deepStrictEqual(
      choicesMade(made)
        .map(([key]) => key)
        .toSorted(),
      known.map(([path]) => path).toSorted()
    )
    assert.deepStrictEqual(choiceSections.toSorted(), Object.keys(document).toSorted())
  })

  it("tells what was chosen as a person reads it", () => {
    assert.deepStrictEqual(choicesMade({ commandTimeout: Duration.seconds(7), mode: "plan" }), [
      ["ui.permission_mode", "plan"],
      ["toolset.bash.timeout_secs", "7"]
    ])
    assert.deepStrictEqual(choicesMade({}), [])
  })

  it("names what stands beside a choice", () => {
    assert.deepStrictEqual(complaintsOf(document), [])
    assert.deepStrictEqual(
      complaintsOf({ toolset: { bash: { timeout_secs: 7, process_limit: 1 } }, ui: { remember_tool_approvals: true } }),
      [
        "ui.remember_tool_approvals is not read; the keys are permission_mode",
        "toolset.bash.process_limit is not read; the keys are timeout_secs"
      ]
    )
  })
})
