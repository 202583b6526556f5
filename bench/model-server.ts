/**
 * The model endpoint of the bench, in a process of its own on the loopback interface. What it answers stands in the
 * last text of the user: `say #id` one delta, `stream N #id` so many as fast as they go, `drip #id` one every 10 ms
 * until the client goes away, `read PATH #id` a call of the tool `read` and then one delta. It reports each request to
 * its parent, with the time of the machine's monotonic clock.
 */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { type Body, type Dialect, dialects } from "./Dialects.ts"

export interface Report {
  /** What stands behind `#` in the prompt. */
  readonly id: string
  /** When it had come, and when its answer had been written. In milliseconds, as `now` of the harness counts them. */
  readonly at: number
  readonly endedAt: number
  /** Bytes of the request's body. */
  readonly bytes: number
}

const WRITE = 16_384

const word = (index: number): string => `word${String(index).padStart(5, "0")} `

const answer = (dialect: Dialect, response: ServerResponse, prompt: string, toolResult: boolean): void => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  const [, verb, argument] = /(say|stream|drip|read) ?([^ #]*)/.exec(prompt) ?? []
  if (verb === "read" && !toolResult) {
    response.end(dialect.open + dialect.call("read", { path: argument }) + dialect.close("call"))
    return
  }
  if (verb === "drip") {
    response.write(dialect.open)
    let index = 0
    const timer = setInterval(() => response.write(dialect.delta(word(index++))), 10)
    response.on("close", () => clearInterval(timer))
    return
  }
  const count = verb === "stream" ? Number(argument) : 1
  let text = dialect.open
  for (let index = 0; index < count; index++) {
    text += dialect.delta(word(index))
    if (text.length < WRITE) continue
    response.write(text)
    text = ""
  }
  response.end(text + dialect.close("stop"))
}

const now = (): number => Number(process.hrtime.bigint()) / 1e6

const server = createServer((request, response) => {
  const at = now()
  const dialect = Object.values(dialects).find(({ path }) => path.test(request.url?.replace(/\?.*/, "") ?? ""))
  if (dialect === undefined) {
    response.writeHead(404).end()
    return
  }
  const parts: Array<Buffer> = []
  request.on("data", (part: Buffer) => parts.push(part))
  request.on("end", () => {
    const body = Buffer.concat(parts)
    const { toolResult, user } = dialect.asked(JSON.parse(body.toString()) as Body)
    const prompt = user.at(-1) ?? ""
    answer(dialect, response, prompt, toolResult)
    const report: Report = { id: /#(\w+)/.exec(prompt)?.[1] ?? "", at, endedAt: now(), bytes: body.byteLength }
    process.send?.(report)
  })
})

process.on("disconnect", () => process.exit())
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port))
