/** A page that talks to an agent: one session, which outlives the connection. */
import { AgentError, connect, ConnectionLost } from "./connection.js"

const find = (selector) => document.querySelector(selector)
const connectForm = find("#connect")
const promptForm = find("#prompt")
const log = find("#log")
const stop = find("#stop")

/** Milliseconds before another try to connect: the first time, and at most. */
const WAIT = { first: 250, most: 10_000 }

/** What the user wrote into the first form. */
let place
let connection
let sessionId
/** How far the agent has told the session: the last `_meta.superPi.entry`. */
let after
/** The user's own message, until something shows that the agent has it. */
let unconfirmed
/** What is shown, by the id of a message or of a tool call. */
const shown = new Map()

const say = (text) => {
  find("#status").textContent = text
}

const setReady = (isReady) => {
  promptForm.elements[0].disabled = !isReady
}

const setWorking = (isWorking) => {
  stop.disabled = !isWorking
  promptForm.querySelector("button").disabled = isWorking
  // A screen reader waits until the message is whole.
  log.ariaBusy = String(isWorking)
  if (isWorking) say("The agent works")
}

const endings = {
  end_turn: "The agent is done",
  cancelled: "Stopped",
  max_tokens: "The answer was cut off: it is as long as the model can make it",
  max_turn_requests: "The agent ended the turn: it took too many steps",
  refusal: "The turn failed"
}

const setDone = (stopReason) => {
  setWorking(false)
  say(endings[stopReason] ?? "The turn has ended")
}

const append = (element) => {
  log.append(element)
  return element
}

/** Runs a change of the log, and stays at its end if that was in sight. */
const following = (change) => {
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40
  change()
  if (isAtEnd) log.scrollTop = log.scrollHeight
}

const makeMessage = (kind) => {
  const element = document.createElement("p")
  element.className = `message ${kind}`
  return append(element)
}

/** Everything that the agent says is text, never HTML. */
const addText = (kind, { content, messageId }) => {
  const text = content.type === "text" ? content.text : `[${content.type}]`
  if (kind === "user" && unconfirmed?.textContent === text) {
    shown.set(messageId, unconfirmed)
    return
  }
  const element = shown.get(messageId) ?? makeMessage(kind)
  shown.set(messageId, element)
  element.append(text)
}

const textOf = (item) => {
  if (item.type === "diff") return `${item.path}\n${item.newText}`
  return item.content?.text ?? `[${item.type}]`
}

const makeTool = () => {
  const element = document.createElement("details")
  element.className = "tool"
  const summary = document.createElement("summary")
  const status = document.createElement("span")
  const title = document.createElement("span")
  summary.append(status, " · ", title)
  const output = document.createElement("pre")
  element.append(summary, output)
  append(element)
  return { element, output, status, title }
}

/** A call is told once, then what changed of it. */
const showTool = ({ content, status, title, toolCallId }) => {
  const tool = shown.get(toolCallId) ?? makeTool()
  shown.set(toolCallId, tool)
  if (title != null) tool.title.textContent = title
  if (status != null) tool.status.textContent = tool.element.dataset.status = status
  if (content != null) tool.output.textContent = content.map(textOf).join("\n")
  return tool
}

const showUpdate = (update) => {
  switch (update.sessionUpdate) {
    case "user_message_chunk":
      return addText("user", update)
    case "agent_message_chunk":
      return addText("agent", update)
    case "agent_thought_chunk":
      return addText("thought", update)
    case "tool_call":
    case "tool_call_update":
      return showTool(update)
  }
}

const onNotification = (method, params) => {
  if (params.sessionId !== sessionId) return
  if (method === "session/update") {
    following(() => showUpdate(params.update))
    const { entry } = params._meta?.superPi ?? {}
    if (entry === undefined) return
    after = entry
    unconfirmed = undefined
  }
  // A turn that another connection began, such as the one before this, ends without an answer here.
  if (method === "_superpi/session/activity") {
    if (params.state === "working") setWorking(true)
    else setDone(params.stopReason)
  }
}

/** A question with a button for each option. It goes when it is answered, here or elsewhere, or nobody waits for it. */
const ask = ({ options, toolCall }, withdrawn) =>
  new Promise((resolve) => {
    const { title } = showTool(toolCall)
    const box = document.createElement("div")
    box.className = "question"
    box.role = "group"
    box.ariaLabel = "Question"
    const text = document.createElement("p")
    text.textContent = `May the agent do this? ${title.textContent}`
    box.append(text)
    const answer = (outcome) => {
      box.remove()
      resolve({ outcome })
    }
    for (const { name, optionId } of options) {
      const button = document.createElement("button")
      button.textContent = name
      button.addEventListener("click", () => answer({ outcome: "selected", optionId }))
      box.append(button)
    }
    withdrawn.addEventListener("abort", () => answer({ outcome: "cancelled" }))
    find("#questions").append(box)
  })

const onRequest = async (method, params, withdrawn) => {
  if (method === "session/request_permission") return ask(params, withdrawn)
  throw new AgentError({ code: -32601, message: "Method not found" })
}

const open = async () => {
  connection = await connect(place.address, place.secret, { onNotification, onRequest })
  await connection.request("initialize", {
    protocolVersion: 1,
    clientInfo: { name: "browser-example", title: "Browser example", version: "1" },
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false }
  })
}

const newSession = async () => {
  const opened = await connection.request("session/new", { cwd: place.folder, mcpServers: [] })
  sessionId = opened.sessionId
}

/** Gets what was missed, and the rest of a turn that still runs. */
const loadSession = async () => {
  const params = { sessionId, cwd: place.folder, mcpServers: [], _meta: { superPi: { after } } }
  try {
    return await connection.request("session/load", params)
  } catch (error) {
    // An agent does not keep a session in which nothing was said.
    if (after !== undefined || !(error instanceof AgentError)) throw error
    await newSession()
    return {}
  }
}

const reopen = async () => {
  await open()
  const { _meta } = await loadSession()
  setReady(true)
  setWorking(_meta?.superPi?.working === true)
  if (!stop.disabled) return
  say("Connected again")
  if (unconfirmed === undefined) return
  promptForm.elements.text.value = unconfirmed.textContent
  unconfirmed.remove()
  unconfirmed = undefined
  say("The connection was lost before your message arrived: send it again")
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Tries until the agent is there again. Fails when another try would not help. */
const comeBack = async () => {
  for (let wait = WAIT.first; ; wait = Math.min(2 * wait, WAIT.most)) {
    setReady(false)
    say("The connection was lost; trying again …")
    await pause(wait)
    try {
      return await reopen()
    } catch (error) {
      connection.close()
      if (!(error instanceof ConnectionLost)) throw error
    }
  }
}

connectForm.addEventListener("submit", async (event) => {
  event.preventDefault()
  place = Object.fromEntries(new FormData(connectForm))
  connectForm.elements[0].disabled = true
  log.replaceChildren()
  shown.clear()
  after = unconfirmed = undefined
  say("Connecting …")
  try {
    await open()
    await newSession()
    setReady(true)
    setWorking(false)
    say("Connected")
    for (;;) {
      await connection.closed
      await comeBack()
    }
  } catch (error) {
    connection?.close()
    setReady(false)
    connectForm.elements[0].disabled = false
    say(error.message)
  }
})

promptForm.addEventListener("submit", async (event) => {
  event.preventDefault()
  const { text } = Object.fromEntries(new FormData(promptForm))
  promptForm.reset()
  following(() => {
    unconfirmed = makeMessage("user")
    unconfirmed.textContent = text
  })
  setWorking(true)
  try {
    const { stopReason } = await connection.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] })
    setDone(stopReason)
  } catch (error) {
    // Who comes back hears how it ended.
    if (error instanceof ConnectionLost) return
    setWorking(false)
    say(error.message)
  }
})

stop.addEventListener("click", () => {
  connection.notify("session/cancel", { sessionId })
  connection.withdrawAll()
})
