/** An editor without windows: the official client of the protocol, and the screen for all that the agent tells it. */
import {
  client,
  type ClientApp,
  methods,
  type PermissionOption,
  type RequestPermissionRequest,
  RequestError,
  type SessionUpdate,
  type ToolCallUpdate
} from "@agentclientprotocol/sdk"
import type { Card, Screen } from "./Screen.ts"

/** What the editor saw, to be compared with what should have happened. */
export interface Seen {
  readonly cards: Map<string, Card>
  /** The kind of the call and of the answer. */
  readonly questions: Array<string>
  plan: ReadonlyArray<string>
  answer: string
}

/** Commands may run again, changes are allowed one by one. */
const choose = (card: Card, options: ReadonlyArray<PermissionOption>): PermissionOption => {
  const wanted = card.kind === "execute" ? "allow_always" : "allow_once"
  const chosen = options.find(({ kind }) => kind === wanted)
  if (chosen === undefined) throw new Error(`The question about "${card.title}" has no option of kind ${wanted}`)
  return chosen
}

export const makeEditor = (screen: Screen): { readonly app: ClientApp; readonly seen: Seen } => {
  const seen: Seen = { cards: new Map(), questions: [], plan: [], answer: "" }
  let thought = ""

  /** A thought comes in pieces; it is shown when something else follows. */
  const endThought = () => {
    if (thought !== "") screen.thought(thought)
    thought = ""
  }

  const patch = (update: ToolCallUpdate): Card => {
    const known = seen.cards.get(update.toolCallId)
    const card = known ?? {
      id: update.toolCallId,
      title: "",
      kind: "other",
      statuses: [],
      locations: [],
      content: [],
      begun: performance.now()
    }
    seen.cards.set(card.id, card)
    if (update.title != null) card.title = update.title
    if (update.kind != null) card.kind = update.kind
    if (update.locations != null) card.locations = update.locations
    if (update.content != null) card.content = update.content
    if (update.status != null && card.statuses.at(-1) !== update.status) {
      card.statuses.push(update.status)
      // The plan is shown as a plan and needs no card.
      if (/completed|failed/.test(update.status) && card.kind !== "think") screen.card(card)
    }
    return card
  }

  const show = (update: SessionUpdate) => {
    if (update.sessionUpdate === "agent_thought_chunk") {
      thought += update.content.type === "text" ? update.content.text : ""
      return
    }
    endThought()
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        seen.answer += update.content.type === "text" ? update.content.text : ""
        break
      case "plan":
        seen.plan = update.entries.map(({ status }) => status)
        screen.plan(update.entries)
        break
      case "tool_call":
      case "tool_call_update":
        patch(update)
        break
    }
  }

  const ask = ({ options, toolCall }: RequestPermissionRequest) => {
    endThought()
    const card = patch(toolCall)
    const chosen = choose(card, options)
    seen.questions.push(`${card.kind} ${chosen.kind}`)
    screen.question(card, options, chosen)
    return { outcome: { outcome: "selected" as const, optionId: chosen.optionId } }
  }

  const app = client({ name: "demo-editor" })
    .onNotification(methods.client.session.update, ({ params }) => show(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => ask(params))
    .onRequest("*", ({ method }) => {
      throw RequestError.methodNotFound(method)
    })
  return { app, seen }
}
