/** Whether every row of stable version 1 has a test, or a reason to have none. */
import { assert, it } from "@effect/vitest"
import type { Version } from "../support/Harness.ts"
import { isHeld, rows } from "../support/Rows.ts"
import type { Transport } from "../support/Transports.ts"

const later = "a rule of version 2 alone"

const notApplicable: Readonly<Record<string, string>> = {
  "RPC-04": later,
  "INI-05": "says how an agent behaves that serves two versions; this one serves version 1",
  "INI-12": later,
  "INI-14": later,
  "AUT-03": later,
  "AUT-04": "no way to sign in runs in a terminal",
  "SES-11": later,
  "SES-20": later,
  "PRM-06": later,
  "MCP-03": later,
  "EXT-04": "the agent does not claim to pass trace keys on",
  "EXT-05": later
}

export const covering = (version: Version, transport: Transport): void => {
  it(`v${version} over ${transport.name}: every row has a test or a reason to have none`, () => {
    const reasons = { ...notApplicable, ...transport.notApplicable }
    assert.deepStrictEqual(
      rows.filter((row) => !isHeld(transport.name, row) && !(row in reasons)),
      []
    )
    assert.deepStrictEqual(
      Object.keys(reasons).filter((row) => !rows.includes(row) || isHeld(transport.name, row)),
      []
    )
  })
}
