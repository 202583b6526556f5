/** Protocol version 1 over every transport. */
import { signingIn } from "./conformance/Authentication.ts"
import { cancelling } from "./conformance/Cancellation.ts"
import { choosing } from "./conformance/Choices.ts"
import { covering } from "./conformance/Coverage.ts"
import { envelope } from "./conformance/Envelope.ts"
import { extending } from "./conformance/Extensions.ts"
import { usingClient } from "./conformance/Files.ts"
import { combining, initializing } from "./conformance/Initialize.ts"
import { usingServers } from "./conformance/Servers.ts"
import { reopeningSessions } from "./conformance/Reopening.ts"
import { keepingSessions } from "./conformance/Sessions.ts"
import { callingTools } from "./conformance/ToolCalls.ts"
import { framing } from "./conformance/Transport.ts"
import { prompting } from "./conformance/Turn.ts"
import { memory, stdio } from "./support/Transports.ts"

for (const transport of [memory, stdio]) {
  for (const suite of [
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
    usingClient,
    choosing,
    usingServers,
    extending,
    covering
  ]) {
    suite(1, transport)
  }
}
