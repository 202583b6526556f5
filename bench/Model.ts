/** The model endpoint of the bench as its parent sees it. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { Report } from "./model-server.ts"
import { within } from "./Process.ts"

export interface Model {
  /** Where it listens, without a path. */
  readonly url: string
  /** The requests of the prompt that was marked with `#id`, once there are `count` of them. */
  readonly requests: (id: string, count: number) => Promise<ReadonlyArray<Report>>
  readonly stop: () => void
}

export const startModel = async (): Promise<Model> => {
  const child = fork(join(import.meta.dirname, "model-server.ts"), { stdio: "inherit" })
  process.on("exit", () => child.kill("SIGKILL"))
  const [port] = (await within(once(child, "message"), "the start of the model")) as [number]
  const reports = new Map<string, Array<Report>>()
  let told = Promise.withResolvers<void>()
  child.on("message", (report: Report) => {
    reports.set(report.id, [...(reports.get(report.id) ?? []), report])
    told.resolve()
    told = Promise.withResolvers()
  })
  const requests = async (id: string, count: number): Promise<ReadonlyArray<Report>> => {
    while ((reports.get(id)?.length ?? 0) < count)
      await within(told.promise, `a request to the model for #${id}`, 5_000)
    return reports.get(id) ?? []
  }
  return { url: `http://127.0.0.1:${port}`, requests, stop: () => child.kill() }
}
