/** What happens in the demonstration: a repository with a fault, the request, and what the scripted model does. */
import type { Script } from "../../src/services/models/script/Script.ts"

const faulty = `/** The sum of an order, in cents. */
export const total = (lines) => lines.reduce((sum, line) => sum + line.price, 0)
`

/** The file as it is when all went well. */
export const repaired = faulty.replace("line.price", "line.price * line.quantity")

/** The file with the fault, relative to the repository. */
export const faultyFile = "src/order.js"

/** The repository's files, as its one commit has them. */
export const files: Readonly<Record<string, string>> = {
  "package.json": `${JSON.stringify({ name: "till", version: "1.0.0", private: true, type: "module" }, undefined, 2)}\n`,
  [faultyFile]: faulty,
  "test/order.test.js": `import assert from "node:assert/strict"
import { test } from "node:test"
import { total } from "../src/order.js"

test("a line counts as often as it was ordered", () => {
  assert.equal(total([{ price: 250, quantity: 3 }, { price: 100, quantity: 1 }]), 850)
})
`
}

export const request =
  "Three coffees cost as much as one: the total of an order is wrong. Find the fault, repair it, and show that the test passes."

const steps = ["Find where the total is computed", "See the test fail", "Repair the total", "See the test pass"]

/** The plan with so many steps done; the next one is at work. */
const plan = (done: number) => {
  const entries = steps.map((content, index) => ({
    content,
    priority: "medium",
    status: index < done ? "completed" : index === done ? "in_progress" : "pending"
  }))
  return { tool: { name: "todo", input: { entries } } }
}

const runTest = { tool: { name: "bash", input: { command: "node --test", description: "Run the test" } } }

/** One step for each request that the agent sends to its model. */
export const script: Script = {
  steps: [
    { parts: [{ thought: "Before I change anything I want to see the code and the failing test." }, plan(0)] },
    {
      parts: [
        { tool: { name: "grep", input: { pattern: "total", path: "src" } } },
        { tool: { name: "read", input: { path: faultyFile } } }
      ]
    },
    {
      parts: [{ thought: "The price of a line is added once, whatever its quantity." }, plan(1), runTest]
    },
    {
      parts: [
        plan(2),
        {
          tool: {
            name: "edit",
            input: { path: faultyFile, old_string: "sum + line.price", new_string: "sum + line.price * line.quantity" }
          }
        }
      ]
    },
    { parts: [plan(3), runTest] },
    { parts: [plan(4)] },
    {
      parts: [
        {
          text:
            `The total added each line's price once. It now multiplies it by the quantity (${faultyFile}:2). ` +
            "The test failed before the change and passes after it.",
          chunk: 24
        }
      ]
    }
  ]
}
