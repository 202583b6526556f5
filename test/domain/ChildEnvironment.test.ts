import { assert, describe, it } from "@effect/vitest"
import { childEnvironment } from "../../src/domain/ChildEnvironment.ts"

describe("childEnvironment", () => {
  it("drops secrets by name and by value, and what would make programs wait", () => {
    const environment = childEnvironment(
      {
        PATH: "/bin",
        ANTHROPIC_API_KEY: "a",
        GEMINI_API_KEY: "b",
        SUPER_PI_GATEWAY_TOKEN: "c",
        SUPERCHARGE_PASSWORD: "d",
        COMPANY_MODEL_KEY: "0123456789",
        SHORT: "none",
        FORCE_COLOR: "1",
        TERM: "xterm",
        EDITOR: "vim",
        UNSET: undefined,
        STRIPE_API_KEY: "of the project"
      },
      ["0123456789", "none"]
    )
    assert.deepStrictEqual(environment, {
      PATH: "/bin",
      SHORT: "none",
      STRIPE_API_KEY: "of the project",
      NO_COLOR: "1",
      TERM: "dumb",
      PAGER: "cat",
      GIT_PAGER: "cat",
      EDITOR: "true",
      VISUAL: "true",
      GIT_EDITOR: "true",
      GIT_SEQUENCE_EDITOR: "true",
      GIT_TERMINAL_PROMPT: "0"
    })
  })
})
