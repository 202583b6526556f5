/** Protocol version 1. */
import { Initialize } from "../../domain/wire/v1/AgentMethods.ts"
import { capabilitiesOf, describe } from "./v1/Initialize.ts"
import { makeEditor } from "./v1/Editor.ts"
import { makeRoutes } from "./v1/Routes.ts"
import * as Version from "./Version.ts"

export const v1: Version.Version = Version.make({
  version: 1,
  initialize: Initialize,
  capabilities: (params) => capabilitiesOf(params.clientCapabilities),
  editor: makeEditor,
  describe,
  routes: makeRoutes
})
