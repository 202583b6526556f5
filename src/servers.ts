/**
 * The agent for clients that come over a network, as layers: an application adds those that it wants. Apart from
 * `super-pi` itself, so that nobody loads an HTTP server who has none.
 */

/** ACP over WebSocket and Streamable HTTP, on a port of its own. */
export * as AcpServer from "./transports/http/AcpServer.ts"
/** Streamable HTTP as the handler of a request, for a server that the application has already. */
export * as StreamableHttp from "./transports/http/StreamableHttp.ts"
/** Conversations over plain HTTP, on a port of their own. */
export * as InboxServer from "./transports/inbox/InboxServer.ts"
/** ACP through a relay, which the agent calls. */
export * as RelayedAgent from "./transports/relay/RelayedAgent.ts"
/** The relay itself, where agents and their clients meet. */
export * as Relay from "./transports/relay/Relay.ts"
