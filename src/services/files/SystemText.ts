/** What the system said about a failed call, such as `ENOSPC: no space left on device, write`. */
import type { PlatformError } from "effect/PlatformError"

export const systemText = ({ message, reason }: PlatformError): string =>
  reason.cause instanceof Error ? reason.cause.message : message
