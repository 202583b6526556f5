import { conform } from "../support/ConformanceSuites.ts"
import { http2 } from "../support/transports/Http.ts"

conform(http2)
