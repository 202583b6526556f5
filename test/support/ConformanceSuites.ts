/** Protocol version 1 over one transport: every suite, in one order. */
import { signingIn } from "../conformance/Authentication.ts"
import { cancelling } from "../conformance/Cancellation.ts"
import { choosing } from "../conformance/Choices.ts"
import { showingCommands } from "../conformance/Commands.ts"
import { covering } from "../conformance/Coverage.ts"
import { envelope } from "../conformance/Envelope.ts"
import { extending } from "../conformance/Extensions.ts"
import { usingClient } from "../conformance/Files.ts"
import { beingHarnesses } from "../conformance/Harnesses.ts"
import { combining, initializing } from "../conformance/Initialize.ts"
import { comingBack } from "../conformance/Reconnecting.ts"
import { reopeningSessions } from "../conformance/Reopening.ts"
import { usingServers } from "../conformance/Servers.ts"
import { keepingSessions } from "../conformance/Sessions.ts"
import { callingTools } from "../conformance/ToolCalls.ts"
import { sharing } from "../conformance/Sharing.ts"
import { typingCommands } from "../conformance/SlashCommands.ts"
import { framing } from "../conformance/Transport.ts"
import { prompting } from "../conformance/Turn.ts"
import { undoing } from "../conformance/Undo.ts"
import { viewing } from "../conformance/Views.ts"
import type { Transport } from "./Transports.ts"

const suites = [
  framing,
  envelope,
  initializing,
  combining,
  signingIn,
  keepingSessions,
  reopeningSessions,
  prompting,
  cancelling,
  callingTools,
  showingCommands,
  typingCommands,
  usingClient,
  choosing,
  usingServers,
  beingHarnesses,
  extending,
  undoing,
  viewing,
  sharing,
  comingBack,
  covering
]

export const conform = (transport: Transport): void => {
  for (const suite of suites) suite(1, transport)
}
