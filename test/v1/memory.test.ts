import { conform } from "../support/ConformanceSuites.ts"
import { memory } from "../support/Transports.ts"

conform(memory)
