/** One conversation with the inbox: prompts by POST, and all that happens by server-sent events. */
const find = (selector) => document.querySelector(selector)
const log = find("#log")
const questions = find("#questions")
const fields = find("#message fieldset")

let address
let token
let sessionId
let events
/** The message that still grows, and tool calls by their ids. */
let growing
const tools = new Map()

const say = (text) => {
  find("#status").textContent = text
}

const call = async (path, body) => {
  const response = await fetch(new URL(path, address), {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body)
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error)
  return answer
}

/** Runs what a person asked for; what goes wrong is said. */
const attempt = async (work) => {
  try {
    await work()
  } catch (error) {
    say(error.message)
  }
}

const add = (kind, text) => {
  const line = document.createElement("p")
  line.className = kind
  line.textContent = text
  log.append(line)
  return line
}

/** Whatever the agent says is text, never HTML. */
const grow = (kind, text) => {
  if (growing?.className !== kind) growing = add(kind, "")
  growing.append(text)
}

const ask = ({ id, options, title }) => {
  if (document.getElementById(id) !== null) return
  const group = document.createElement("fieldset")
  group.id = id
  group.setAttribute("aria-label", "Question")
  const legend = document.createElement("legend")
  legend.textContent = title
  group.append(legend)
  for (const { name, optionId } of options) {
    const button = document.createElement("button")
    button.textContent = name
    button.addEventListener("click", () => {
      void attempt(() => call(`/v1/chat/permissions/${encodeURIComponent(id)}`, { optionId }))
    })
    group.append(button)
  }
  questions.append(group)
}

const show = {
  user: ({ text }) => add("user", text),
  typing: () => say("The agent works"),
  text: ({ text }) => grow("text", text),
  thought: ({ text }) => grow("thought", text),
  tool: ({ state, title, toolCallId }) => {
    if (!tools.has(toolCallId)) tools.set(toolCallId, add("tool", ""))
    tools.get(toolCallId).textContent = `${title}: ${state}`
  },
  permission: ask,
  permission_closed: ({ permissionId }) => document.getElementById(permissionId)?.remove(),
  error: ({ text }) => add("error", text),
  done: ({ stopReason }) => say(stopReason === "cancelled" ? "Stopped" : "Done")
}

/** The browser connects again by itself, and says which event was the last that it got. */
const follow = () => {
  events?.close()
  events = new EventSource(new URL(`/v1/chat/events?${new URLSearchParams({ sessionId, token })}`, address))
  events.addEventListener("open", () => say("Connected"))
  events.addEventListener("error", () => say("The connection is lost; trying again"))
  events.addEventListener("message", ({ data }) => {
    const event = JSON.parse(data)
    if (event.type !== "text" && event.type !== "thought") growing = undefined
    show[event.type]?.(event)
  })
}

find("#connect").addEventListener("submit", (submitted) => {
  submitted.preventDefault()
  const form = new FormData(submitted.target)
  void attempt(async () => {
    address = form.get("address")
    token = undefined
    ;({ token } = await call("/api/auth/login", { password: form.get("password") }))
    // The address of the page names the conversation, so that a reload goes on with it.
    const known = location.hash.slice(1)
    ;({ sessionId } = await call("/api/instances/local/chat/conversations", known === "" ? {} : { sessionId: known }))
    location.hash = sessionId
    log.replaceChildren()
    questions.replaceChildren()
    follow()
    fields.disabled = false
  })
})

find("#message").addEventListener("submit", (submitted) => {
  submitted.preventDefault()
  const { text } = submitted.target.elements
  void attempt(async () => {
    const { queued } = await call("/api/instances/local/chat", { text: text.value, sessionId })
    if (queued) say("It waits for the running turn")
    text.value = ""
  })
})

find("#stop").addEventListener("click", () => {
  void attempt(() => call("/v1/chat/stop", { sessionId }))
})
