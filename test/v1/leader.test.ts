import { conform } from "../support/ConformanceSuites.ts"
import { leader } from "../support/transports/Leader.ts"

conform(leader)
