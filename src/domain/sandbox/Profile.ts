/** How closely commands are confined. A profile is enforced by the system or not at all: `SandboxRunner` says which. */
import * as Schema from "effect/Schema"

/**
 * From open to closed. `off` confines nothing; `workspace` lets commands write the workspace only; `read-only` lets them
 * write nothing and keeps them off the network; `strict` lets them see and write the workspace only, without network.
 */
export const SandboxProfile = Schema.Literals(["off", "workspace", "read-only", "strict"])
export type SandboxProfile = typeof SandboxProfile.Type

const order = SandboxProfile.literals

export const stricter = (one: SandboxProfile, other: SandboxProfile): SandboxProfile =>
  order.indexOf(one) < order.indexOf(other) ? other : one
