import { conform } from "../support/ConformanceSuites.ts"
import { http1 } from "../support/transports/Http.ts"

conform(http1)
