/** `npm run demo`: exits with 0 if all happened as it should, else with 1 and the reason. */
import { demo } from "./Demo.ts"

/** Far more than it needs on a slow machine. */
const LIMIT = 30_000

const interrupt = new AbortController()
process.once("SIGINT", () => interrupt.abort(new Error("it was interrupted")))
const late = AbortSignal.timeout(LIMIT)
late.addEventListener("abort", () => interrupt.abort(new Error(`it did not end within ${LIMIT / 1000} seconds`)))

try {
  await demo({
    write: (line) => console.log(line),
    colours: process.stdout.isTTY && process.env["NO_COLOR"] === undefined,
    signal: interrupt.signal
  })
  console.log("\nAll of it is as it should be.")
} catch (error) {
  console.error(`\nThe demonstration failed: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
