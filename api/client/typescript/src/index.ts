// Client of Parley, a real-time voice server: its HTTP API, and conversations with agents.
import { AgentSession, type SessionOptions } from "../voice/session.js";
import type { Parley } from "./api.js";

export * from "./api.js";
export { Page, ParleyError, type Asked, type Changed, type ClientOptions, type Repeated, type ServerEvent } from "./requests.js";
export { AgentSession, type AgentMessage, type SessionEvents, type SessionOptions, type SessionState } from "../voice/session.js";

/**
 * A conversation of a program: its server is the client's, and each connection has a ticket of its own, so that no key
 * stands in the address of a socket. Where the platform has no WebSocket (Node.js before 22), bring one.
 */
export function converse(client: Parley, options: Omit<SessionOptions, "ticket" | "server">): AgentSession {
  return new AgentSession({ ...options, server: client.baseUrl, ticket: async () => (await client.createTicket()).ticket });
}
