import { afterAll } from "vitest"
import { conform } from "../support/ConformanceSuites.ts"
import { relay, stopRelay } from "../support/transports/Relay.ts"

afterAll(stopRelay)

conform(relay)
