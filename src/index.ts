/**
 * What an application imports to embed the agent. Each module is also there by its own path, such as
 * `super-pi/services/Agent`, which loads nothing else.
 */
export * as Agent from "./services/Agent.ts"
export * as Auth from "./services/Auth.ts"
export * as ClientFS from "./services/ClientFS.ts"
export * as Editor from "./services/Editor.ts"
export * as McpManager from "./services/McpManager.ts"
export * as Models from "./services/Models.ts"
export * as PermissionBroker from "./services/PermissionBroker.ts"
export * as SandboxRunner from "./services/SandboxRunner.ts"
export * as SessionStore from "./services/SessionStore.ts"
export * as Settings from "./services/Settings.ts"
export * as Tools from "./services/Tools.ts"
export * as Turn from "./services/Turn.ts"
export * as Frames from "./transports/Frames.ts"
export * as Memory from "./transports/Memory.ts"
export * as Peer from "./transports/Peer.ts"
export * as Stdio from "./transports/Stdio.ts"
