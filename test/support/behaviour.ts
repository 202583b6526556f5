/** A model that does what the user's last words name, and the tools that it uses for it. */
import * as Effect from "effect/Effect"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Models } from "../../src/services/Models.ts"
import type { ScriptPart } from "../../src/services/models/script/Script.ts"
import * as ScriptedModel from "../../src/services/models/script/ScriptedModel.ts"
import { completed, type FakeTool } from "./fakeTools.ts"
import { info } from "./models.ts"

export const behaviours = [
  "say",
  "hang",
  "read",
  "stuck",
  "ask",
  "both",
  "plan",
  "fail",
  "break",
  "delegate",
  "lost"
] as const

const call = (name: string, value: string): ScriptPart => ({ tool: { name, input: { value }, id: "same" } })

const task = (tag: string, behaviour: string): ScriptPart => ({
  tool: { name: "task", input: { agent: "general-purpose", description: behaviour, prompt: `${tag} ${behaviour}` } }
})

const first = (behaviour: string, tag: string): ReadonlyArray<ScriptPart> => {
  switch (behaviour) {
    case "hang":
      return [{ thought: "hm" }, { text: `${tag} begins` }, { hang: true }]
    case "read":
      return [{ text: `${tag} looks`, chunk: 1 }, call("read", "a"), call("read", "b"), call("read", "c")]
    case "stuck":
      return [call("read", "a"), call("bash", "sleep"), call("read", "b")]
    case "ask":
      return [{ text: `${tag} asks` }, call("write", "a"), call("read", "b")]
    case "both":
      return [call("edit", "a"), call("edit", "b"), call("read", "c")]
    case "plan":
      return [call("todo", "x")]
    case "delegate":
      return [{ text: `${tag} delegates` }, ...["both", "ask", "read", "break"].map((work) => task(tag, work))]
    case "lost":
      return [task(tag, "read"), task(tag, "stuck"), task(tag, "hang")]
    case "fail":
      return [{ error: { status: 400, message: "no" } }]
    case "break":
      return [{ text: `${tag} breaks` }, call("read", "a"), { error: {} }]
    default:
      return [{ thought: "hm" }, { text: `${tag} says this and that`, chunk: 3 }]
  }
}

/** The user's last words are `tag behaviour`. */
const partsFor = (prompt: Prompt.Prompt): ReadonlyArray<ScriptPart> => {
  const index = prompt.content.findLastIndex(({ role }) => role === "user")
  const message = prompt.content[index]
  const words =
    message?.role === "user" ? message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : []
  const [tag = "", behaviour = ""] = words.join(" ").split(" ")
  const isSecond = prompt.content.slice(index).some(({ role }) => role === "tool")
  return isSecond ? [{ text: `${tag} is done` }] : first(behaviour, tag)
}

export const models: Layer.Layer<Models> = Layer.sync(Models, () => {
  const streamText = (options: Parameters<LanguageModel.LanguageModel["streamText"]>[0]) =>
    Stream.unwrap(
      Effect.map(ScriptedModel.make({ steps: [{ parts: partsFor(options.prompt as Prompt.Prompt) }] }), (model) =>
        model.streamText(options)
      )
    )
  return {
    list: Effect.succeed([info]),
    resolve: () =>
      Effect.map(
        ScriptedModel.make({ steps: [] }),
        (model) => ({ ...model, streamText }) as LanguageModel.LanguageModel
      )
  }
})

const write: FakeTool = {
  concurrency: "exclusive",
  access: { _tag: "Edit", paths: ["/a"], outside: [] },
  preview: [{ type: "diff", path: "/a", oldText: "1", newText: "2" }],
  run: (value) => Effect.succeed(completed(`wrote ${value}`))
}

export const tools: Readonly<Record<"read" | "write" | "edit" | "bash" | "todo", FakeTool>> = {
  read: { run: (value) => Effect.as(Effect.yieldNow, completed(`read ${value}`)) },
  write,
  edit: { ...write, concurrency: "shared" },
  bash: {
    concurrency: "exclusive",
    run: (_value, context) => Effect.andThen(context.progress({ rawOutput: "half" }), Effect.never)
  },
  todo: {
    run: (_value, context) =>
      Effect.as(context.plan([{ content: "x", priority: "low", status: "pending" }]), completed("planned"))
  }
}
