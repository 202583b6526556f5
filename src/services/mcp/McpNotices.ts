/** What a person is told of MCP servers, each change once, and only what concerns the tools that the model has. */
import type { Notice } from "../../domain/Event.ts"
import type { McpStatus } from "../McpManager.ts"

/** What was told of a server last; nothing at first. */
export type Told = "late" | "waiting" | "failed" | undefined

export interface Change {
  readonly told: Told
  readonly notice: Notice | undefined
}

const warning = (title: string, description: string): Notice => ({
  _tag: "Notice",
  severity: "warning",
  title,
  description
})

const sentence = (problem: string | undefined): string => (problem === undefined ? "" : `It ${problem}. `)

/** `wasReady`: it had been connected before. */
export const changeOf = (status: McpStatus, told: Told, wasReady: boolean): Change => {
  const { name, problem, state, tools } = status
  const server = `The MCP server "${name}"`
  switch (state) {
    case "ready":
      return {
        told: undefined,
        notice:
          told === undefined
            ? undefined
            : {
                _tag: "Notice",
                severity: "info",
                title: `${server} is ready now`,
                description: `Its tools are there from now on: ${tools.length}.`
              }
      }
    case "connecting":
      return told !== undefined
        ? { told, notice: undefined }
        : {
            told: "late",
            notice: warning(
              `${server} is not ready yet`,
              "The turn goes on without its tools; they come as soon as it is ready."
            )
          }
    case "waiting":
      return told === "waiting"
        ? { told, notice: undefined }
        : {
            told: "waiting",
            notice: warning(
              `${server} ${wasReady ? "was lost" : "cannot be used"}`,
              `${sentence(problem)}The session goes on; connecting to it is tried again.`
            )
          }
    case "failed":
      return told === "failed"
        ? { told, notice: undefined }
        : {
            told: "failed",
            notice: warning(
              `${server} cannot be used`,
              `${sentence(problem)}The session goes on without its tools; correct the server's settings and open the session again.`
            )
          }
  }
}

/** A server whose tools are not all used. */
export const leftOut = (name: string, what: string): Notice =>
  warning(
    `Not all tools of the MCP server "${name}" are used`,
    `Of the MCP server "${name}", ${what}. Have it offer fewer or smaller ones.`
  )

/** A server that always has other tools. */
export const restless = (name: string, most: number): Notice =>
  warning(
    `The MCP server "${name}" changes its tools too often`,
    `It had more than ${most} different ones in this session. Those that it has are kept as they are; open the session again for others.`
  )

/** A server that is tolerated, and should be told to those who make it. */
export const garbage = (name: string, line: string): Notice =>
  warning(
    `The MCP server "${name}" writes to its standard output what is no message`,
    `That is left out, such as: ${line}. Have it write to standard error instead.`
  )
