/** What clients over a network may do, in a sentence for whoever starts the agent. */
import type { ExecutionMode } from "../domain/permission/ExecutionMode.ts"

export interface RemoteAccess {
  /** The highest mode that they can choose. */
  readonly ceiling: ExecutionMode
  /** Whether the command line has `--always-approve`. */
  readonly alwaysApprove: boolean
  /** What they have to know. */
  readonly key: "secret" | "token"
}

export const describe = ({ alwaysApprove, ceiling, key }: RemoteAccess): string => {
  if (ceiling === "always-approve") {
    return alwaysApprove
      ? `Because of --always-approve, whoever knows the ${key} can run anything as this user, without being asked`
      : `By remote.execution_mode_ceiling, whoever knows the ${key} can choose to run anything without being asked`
  }
  const held = alwaysApprove ? "; --always-approve does not go beyond remote.execution_mode_ceiling" : ""
  return `Sessions go up to the mode ${ceiling}${held}`
}
