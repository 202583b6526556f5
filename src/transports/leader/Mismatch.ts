/** What is said when the leader is of another version than the program that reaches it. */
import * as JsonRpc from "../../domain/wire/JsonRpc.ts"
import { compareVersions, type Reply } from "./Handshake.ts"

export interface Mismatch {
  readonly message: string
  /** The line for the editor. */
  readonly notification: string
}

export const mismatchOf = (clientVersion: string, { pid, version }: Reply): Mismatch | undefined => {
  if (clientVersion === version) return undefined
  const message =
    compareVersions(version, clientVersion) < 0
      ? `The leader (pid ${pid}) is version ${version}, older than this program, ${clientVersion}, and is in use: run super-pi leader stop to let the newer one take over`
      : `The leader (pid ${pid}) is version ${version}, and this program is ${clientVersion}: start the agent again in the editor to have the same`
  const params = { clientVersion, leaderVersion: version, message }
  return { message, notification: JsonRpc.encodeNotification("x.ai/leader/version_mismatch", params) }
}
