/** The outcomes that most tools share. */
import { textContent } from "../../../domain/Tool.ts"
import { fenced } from "../../../domain/text/Fence.ts"
import type { ToolOutcome } from "../../ToolDefinition.ts"

/** The same words for the model and the person. */
export const failed = (text: string): ToolOutcome => ({ status: "failed", text, content: [textContent(text)] })

/** A result that people see as it is, such as lines of a file. */
export const completed = (text: string): ToolOutcome => ({
  status: "completed",
  text,
  content: [textContent(fenced(text))]
})
