import { conform } from "../support/ConformanceSuites.ts"
import { webSocket } from "../support/transports/WebSocket.ts"

conform(webSocket)
