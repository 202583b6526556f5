/** Which conversation a request belongs to. */
import * as Context from "effect/Context"

/**
 * An id that the requests of one conversation have in common and no other has. Providers that share what they computed of
 * a prompt by such a key find it again. Absent: there is none.
 */
export const Conversation = Context.Reference<string | undefined>("super-pi/Conversation", {
  defaultValue: () => undefined
})
