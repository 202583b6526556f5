/** A connection to the agent: JSON-RPC 2.0 over a WebSocket, on which both sides may ask. */

/** The agent answered with an error, whose message is for people. */
export class AgentError extends Error {
  constructor({ code, message }) {
    super(message)
    this.code = code
  }
}

/** There is no connection, or there is none any more. It may be worth another try. */
export class ConnectionLost extends Error {}

/** A page cannot set headers on a WebSocket, so the secret goes in the name of a subprotocol, in base64url. */
const secretProtocol = (secret) => {
  const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(secret)))
  return `super-pi.secret.${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`
}

/** A browser does not tell a page why a WebSocket was refused: ordinary requests to the same agent find out. */
const refusalOf = async (address, secret) => {
  const url = (path) => new URL(path, address.replace(/^ws/, "http"))
  try {
    await fetch(url("/health"), { mode: "no-cors" })
  } catch {
    return new ConnectionLost(`Nothing answers at ${address}. Does the agent run there?`)
  }
  try {
    const { status } = await fetch(url("/acp"), { headers: { authorization: `Bearer ${secret}` } })
    if (status === 401) return new Error("The secret is wrong. The agent showed it when it was started.")
    if (status === 429) return new Error("Too many wrong secrets were tried. Wait a little before the next one.")
  } catch {
    const { origin } = location
    return new Error(`The agent refuses this page. Start it with --allow-origin ${origin} if that is wrong.`)
  }
  return new ConnectionLost(`No WebSocket could be opened at ${address}.`)
}

const opened = (socket) =>
  new Promise((resolve) => {
    socket.addEventListener("open", () => resolve(true))
    socket.addEventListener("close", () => resolve(false))
  })

/**
 * Connects. `onNotification(method, params)` is told what the agent tells; `onRequest(method, params, withdrawn)` returns
 * a promise of the result, and `withdrawn` is a signal that nobody waits for it any more.
 */
export const connect = async (address, secret, { onNotification, onRequest }) => {
  const socket = new WebSocket(address, ["acp", secretProtocol(secret)])
  const closed = new Promise((resolve) => socket.addEventListener("close", resolve))
  /** Our requests without answer, and those of the agent. */
  const asked = new Map()
  const open = new Map()
  let count = 0

  const send = (message) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }))
  }

  const withdrawAll = () => {
    for (const controller of open.values()) controller.abort()
  }

  const answer = async ({ id, method, params }) => {
    const controller = new AbortController()
    open.set(id, controller)
    try {
      send({ id, result: await onRequest(method, params, controller.signal) })
    } catch ({ code = -32603, message }) {
      send({ id, error: { code, message } })
    } finally {
      open.delete(id)
    }
  }

  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(data)
    const { error, id, method, params, result } = message
    if (method === "$/cancel_request") open.get(params.requestId)?.abort()
    else if (method !== undefined && id !== undefined) void answer(message)
    else if (method !== undefined) onNotification(method, params)
    else {
      const { reject, resolve } = asked.get(id) ?? {}
      asked.delete(id)
      if (error === undefined) resolve?.(result)
      else reject?.(new AgentError(error))
    }
  })
  socket.addEventListener("close", () => {
    withdrawAll()
    for (const { reject } of asked.values()) reject(new ConnectionLost("The connection was lost."))
  })

  if (!(await opened(socket))) throw await refusalOf(address, secret)
  return {
    /** Waits for the answer; fails with `AgentError` or `ConnectionLost`. */
    request: (method, params) =>
      new Promise((resolve, reject) => {
        if (socket.readyState !== WebSocket.OPEN) throw new ConnectionLost("The connection was lost.")
        const id = count++
        asked.set(id, { resolve, reject })
        send({ id, method, params })
      }),
    notify: (method, params) => send({ method, params }),
    /** Gives up every request of the agent that is still open. */
    withdrawAll,
    /** Done when the connection has ended. */
    closed,
    close: () => socket.close()
  }
}
