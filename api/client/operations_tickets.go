// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"net/http"

	"parley/api/wire"
)

// CreateSessionTicket: Make a ticket for one agent's conversations.
// A session ticket may be given to strangers. It opens conversations with one agent of the account, over `/ws/agent`,
// and nothing else: every other route answers 403 `auth.ticket_not_allowed`. `agent_id` need not be sent with it, and
// another agent's is refused. What the client sends of voice, language, prompt and tools is ignored.
//
// When it has started `max_sessions` conversations, the next is refused with `auth.time_limited`, on the socket in an
// error message followed by close code 1008. A conversation that the client gives up before `prompt_set` does not
// count. At `max_duration_seconds` the agent says goodbye and ends the conversation, and so it does when the
// conversation has cost `max_cost`, or the model would have to read more than the rest of that pays for; `end_detail`
// is `ticket_cost` then.
func (c *Client) CreateSessionTicket(ctx context.Context, body NewSessionTicket) (*MintedForAgent, error) {
	return ask[MintedForAgent](ctx, c, http.MethodPost, c.address("v1", "session-tickets"), body)
}

// MintedForAgent: An object of the service's HTTP API.
type MintedForAgent struct {
	// The agent that it opens.
	AgentID string `json:"agent_id"`
	// Whole seconds until it expires.
	ExpiresIn int64 `json:"expires_in"`
	// What each conversation may cost, in US dollars, whole cents; absent: no bound but the balance and limits of
	// spending.
	MaxCost float64 `json:"max_cost,omitempty"`
	// How long each may last; absent when only the agent's settings bound it.
	MaxDurationSeconds int64 `json:"max_duration_seconds,omitempty"`
	// How many conversations it may start.
	MaxSessions int64 `json:"max_sessions"`
	// The credential: letters, digits, _ and - only.
	Ticket string `json:"ticket"`
}

// NewSessionTicket: An object of the service's HTTP API.
type NewSessionTicket struct {
	// An agent of the account.
	AgentID string `json:"agent_id"`
	// What each conversation may cost, in US dollars, whole cents; absent: no bound but the balance and limits of
	// spending.
	MaxCost float64 `json:"max_cost,omitempty"`
	// How long each may last; without it as long as the agent's settings say.
	MaxDurationSeconds int64 `json:"max_duration_seconds,omitempty"`
	// How many conversations it may start.
	MaxSessions int64         `json:"max_sessions,omitempty"`
	Metadata    wire.Metadata `json:"metadata,omitempty"`
	// How long conversations may be started with it.
	TTLSeconds int64 `json:"ttl_seconds,omitempty"`
	// Values of the variables that the agent's settings name, for each conversation: what the page sends does not change
	// them.
	Variables map[string]string `json:"variables,omitempty"`
}

// CreateScopedTicket: Make a ticket for some routes.
// Makes a ticket that opens only the groups of routes in `scope`, for `expires_in` seconds: `conversations`
// (`/ws/agent`, `/webrtc/agent`), `synthesis` (`/ws/tts`, `/ws`, `/tts/*`, `/api/tts/*`), `recognition` (`/ws/stt`,
// `/stt/*`), `denoising` (`/denoise`), `calls` (`/callcenter/*` that dials, follows and hangs up calls, and queues
// them in bulk) and `numbers` (`/callcenter/numbers*`, `/callcenter/agents`). `/mcp` belongs to `synthesis`, `calls`
// and `numbers`: each of its tools opens what the route opens that it asks. Every other route that needs a credential
// answers 403 `auth.ticket_not_allowed`. Without `scope` it opens what a ticket of `/ws-ticket` opens.
//
// It takes an API key only. A ticket that is made from this one by `/ws-ticket` opens the same and ends with it.
func (c *Client) CreateScopedTicket(ctx context.Context, body NewTicket) (*MintedScoped, error) {
	return ask[MintedScoped](ctx, c, http.MethodPost, c.address("v1", "tickets"), body)
}

// MintedScoped: An object of the service's HTTP API.
type MintedScoped struct {
	// Whole seconds until it expires.
	ExpiresIn int64 `json:"expires_in"`
	// The groups of routes that it opens; absent: all that tickets open.
	Scope []string `json:"scope,omitempty"`
	// The credential: letters, digits, _ and - only.
	Ticket string `json:"ticket"`
}

// NewTicket: An object of the service's HTTP API.
type NewTicket struct {
	// How long it is good, in seconds.
	ExpiresIn int64 `json:"expires_in,omitempty"`
	// The groups of routes that it opens.
	Scope []string `json:"scope,omitempty"`
}

// CreateTicket: Make a ticket for a browser.
// A ticket opens what an API key opens, except management (`/v1/*`), for ten minutes and as often as you like. Send it
// as a key is sent; in browsers, whose WebSocket and EventSource cannot set headers, as `api_key` in the query. Make
// tickets on your own server, for people who have signed in there: the key stays there.
//
// The credential must come in a header. A ticket may be sent instead of a key: the new one ends when the old one does.
// Conversations and streams that are open when a ticket expires go on. Revoking the key ends its tickets. A body is
// not needed and not read.
func (c *Client) CreateTicket(ctx context.Context) (*wire.Minted, error) {
	return ask[wire.Minted](ctx, c, http.MethodPost, c.address("ws-ticket"), nil)
}
