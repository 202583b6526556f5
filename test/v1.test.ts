import { signingIn } from "./conformance/Authentication.ts"
import { cancelling } from "./conformance/Cancellation.ts"
import { envelope } from "./conformance/Envelope.ts"
import { combining, initializing } from "./conformance/Initialize.ts"
import { keepingSessions } from "./conformance/Sessions.ts"
import { framing } from "./conformance/Transport.ts"
import { prompting } from "./conformance/Turn.ts"
import { memory, stdio } from "./support/Transports.ts"

for (const transport of [memory, stdio]) {
  framing(1, transport)
  envelope(1, transport)
  initializing(1, transport)
  combining(1, transport)
  signingIn(1, transport)
  keepingSessions(1, transport)
  prompting(1, transport)
  cancelling(1, transport)
}
