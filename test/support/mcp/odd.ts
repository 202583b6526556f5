/** The odd server as a client names it. */
import { join } from "node:path"
import { node } from "../Program.ts"

export const oddFile = join(import.meta.dirname, "oddServer.mjs")

/** `faults` as the server knows them. */
export const oddServer = (name: string, ...faults: ReadonlyArray<string>) => ({
  name,
  command: node,
  args: [oddFile, ...faults],
  env: [{ name: "ODD_TOKEN", value: `secret-of-${name}` }]
})
