/** The order of a decision, and what the model is told when the answer is no. */
import type { ExecutionMode } from "./ExecutionMode.ts"
import type { Facts } from "./PermissionFacts.ts"
import { printRule } from "./PermissionRule.ts"

export type Verdict =
  | { readonly _tag: "Allow" }
  | { readonly _tag: "Ask" }
  | { readonly _tag: "Deny"; readonly reason: string }

const allow: Verdict = { _tag: "Allow" }
const ask: Verdict = { _tag: "Ask" }
const deny = (reason: string): Verdict => ({ _tag: "Deny", reason })

/**
 * Deny rules, the prohibitions of plan mode, ask and allow rules, remembered answers, the read-only list, the mode.
 * Plan mode stands above what allows, so that switching to it stops changes whatever was allowed before.
 */
export const judge = (facts: Facts, mode: ExecutionMode): Verdict => {
  if (facts.denied !== undefined) return deny(deniedByRule(printRule(facts.denied)))
  if (mode === "plan" && facts.changes) return deny(deniedByPlan)
  if (facts.asked === undefined && !facts.insists && facts.allowed) return allow
  if (facts.rejected) return deny(deniedBefore)
  if (facts.granted) return allow
  if (facts.insists || facts.unsettled || (facts.asked !== undefined && mode !== "always-approve")) return ask
  if (facts.harmless || mode === "always-approve") return allow
  if (mode === "auto" && facts.safe) return allow
  return (mode === "accept-edits" || mode === "auto") && facts.acceptable ? allow : ask
}

const noOtherWay = "Do not retry it and do not try to reach the same result in another way."

export const deniedByRule = (rule: string): string =>
  `Denied by the permission rule ${rule} of the user's settings. ${noOtherWay} If the task needs it, say so and name the rule.`

export const deniedByPlan =
  `Denied: the session is in plan mode, which only reads and searches. ${noOtherWay} ` +
  "Finish the plan; the user leaves plan mode by choosing another mode, such as ask or accept-edits."

export const deniedBefore = `Denied: the user said never to do this here. ${noOtherWay}`

/** `message` is what the user wrote beside the answer. */
export const deniedByUser = (message: string | undefined): string => {
  const words = message?.trim() ?? ""
  return words === ""
    ? `The user said no to this call. ${noOtherWay} Go on without it, or ask the user what to do instead.`
    : `The user said no to this call and wrote: ${words}`
}

export const dismissed = `The question about this call was dismissed, which is no approval. ${noOtherWay}`

export const notOffered = `The client answered the question about this call with an option that was not offered, which is no approval. ${noOtherWay}`

export const unanswered = (reason: string): string => `Nobody approved this call: ${reason}. ${noOtherWay}`

export const nobodyToAsk = `Denied: this call needs an approval and nobody is present to give it. ${noOtherWay} Go on without it.`
