import { conform } from "../support/ConformanceSuites.ts"
import { stdio } from "../support/Transports.ts"

conform(stdio)
