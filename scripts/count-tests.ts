/**
 * Prints `N passed, N failed` for a JSON report of the tests, failed steps of the same run counted in, and ends with
 * code 1 if anything failed or no test ran.
 *
 *     node scripts/count-tests.ts <report> <failed steps>
 */
import { existsSync, readFileSync } from "node:fs"

const [report = "", steps = "0"] = process.argv.slice(2)

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: ReadonlyArray<{ readonly status: string; readonly assertionResults: ReadonlyArray<unknown> }>
}

const { numFailedTests, numPassedTests, testResults }: Report = existsSync(report)
  ? JSON.parse(readFileSync(report, "utf8"))
  : { numPassedTests: 0, numFailedTests: 0, testResults: [] }
/** Files that failed before one of their tests could run. */
const broken = testResults.filter(
  ({ assertionResults, status }) => status === "failed" && assertionResults.length === 0
)
/** The step of the tests itself is counted by its tests, where there are any that failed. */
const others = Number(steps) - (Number(steps) > 0 && numFailedTests + broken.length > 0 ? 1 : 0)
const failed = numFailedTests + broken.length + others

console.log(`\n${numPassedTests} passed, ${failed} failed`)
process.exit(failed > 0 || numPassedTests === 0 ? 1 : 0)
