package ticket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/people"
)

// lifetime of a ticket; one that is made from another ends with that.
const lifetime = 10 * time.Minute

var routes = api.Managed("Tickets")

// Mount adds the routes that make tickets. variables refuses values of variables that an agent does
// not have; nil: agents have none.
func Mount(a *api.API, s *Signer, db Store, variables func(*store.Agent, map[string]string) error) {
	m := mint{s, db, variables}
	api.Register(a, api.Group{Tag: "Tickets", Access: api.Minting}.Post("/ws-ticket", "create-ticket", "Make a ticket for a browser",
		"A ticket opens what an API key opens, except management (`/v1/*`), for ten minutes and as often as you like. "+
			"Send it as a key is sent; in browsers, whose WebSocket and EventSource cannot set headers, as `api_key` in the query. "+
			"Make tickets on your own server, for people who have signed in there: the key stays there.\n\n"+
			"The credential must come in a header. A ticket may be sent instead of a key: the new one ends when the old one does. "+
			"Conversations and streams that are open when a ticket expires go on. Revoking the key ends its tickets. "+
			"A body is not needed and not read."), m.ticket)
	api.Register(a, routes.Post("/v1/tickets", "create-scoped-ticket", "Make a ticket for some routes",
		"Makes a ticket that opens only the groups of routes in `scope`, for `expires_in` seconds: `conversations` (`/ws/agent`, `/webrtc/agent`), "+
			"`synthesis` (`/ws/tts`, `/ws`, `/tts/*`, `/api/tts/*`), `recognition` (`/ws/stt`, `/stt/*`), `denoising` (`/denoise`), "+
			"`calls` (`/callcenter/*` that dials, follows and hangs up calls, and queues them in bulk) and `numbers` (`/callcenter/numbers*`, `/callcenter/agents`). "+
			"`/mcp` belongs to `synthesis`, `calls` and `numbers`: each of its tools opens what the route opens that it asks. "+
			"Every other route that needs a credential answers 403 `auth.ticket_not_allowed`. Without `scope` it opens what a ticket of `/ws-ticket` opens.\n\n"+
			"It takes an API key only. A ticket that is made from this one by `/ws-ticket` opens the same and ends with it."), m.scopedTicket)
	api.Register(a, routes.Post("/v1/session-tickets", "create-session-ticket", "Make a ticket for one agent's conversations",
		"A session ticket may be given to strangers. It opens conversations with one agent of the account, over `/ws/agent`, "+
			"and nothing else: every other route answers 403 `auth.ticket_not_allowed`. `agent_id` need not be sent with it, and another "+
			"agent's is refused. What the client sends of voice, language, prompt and tools is ignored.\n\n"+
			"When it has started `max_sessions` conversations, the next is refused with `auth.time_limited`, on the socket in an error "+
			"message followed by close code 1008. A conversation that the client gives up before `prompt_set` does not count. "+
			"At `max_duration_seconds` the agent says goodbye and ends the conversation, and so it does when the conversation has cost `max_cost`, or the model "+
			"would have to read more than the rest of that pays for; `end_detail` is `ticket_cost` then.", http.StatusNotFound), m.sessionTicket)
}

type mint struct {
	signer    *Signer
	db        Store
	variables func(*store.Agent, map[string]string) error
}

func (m mint) ticket(ctx context.Context, _ *struct{}) (*api.Secret[wire.Minted], error) {
	return api.NotStored(m.signer.Mint(api.PrincipalOf(ctx), m.db.Now())), nil
}

// Mint makes a ticket for whom p is, which expires with p's own if that is one.
func (s *Signer) Mint(p api.Principal, now time.Time) wire.Minted {
	expires := now.Add(lifetime)
	if parent := p.Ticket; parent != nil && parent.Expires.Before(expires) {
		expires = parent.Expires
	}
	t := &api.Ticket{Expires: expires}
	if p.Ticket != nil {
		t.Scope = p.Ticket.Scope
	}
	p.Ticket = t
	return s.answer(p, now)
}

func (s *Signer) answer(p api.Principal, now time.Time) wire.Minted {
	return wire.Minted{Ticket: s.Sign(p), ExpiresIn: int(p.Ticket.Expires.Sub(now) / time.Second)}
}

// newTicket says what a ticket is to open.
type newTicket struct {
	Scope     []string `json:"scope,omitempty" doc:"The groups of routes that it opens." enum:"conversations,synthesis,recognition,denoising,calls,numbers" minItems:"1" maxItems:"6" example:"[\"synthesis\"]" nullable:"false"`
	ExpiresIn int      `json:"expires_in,omitempty" doc:"How long it is good, in seconds." minimum:"1" maximum:"600" default:"600"`
}

type newTicketInput struct{ Body newTicket }

// mintedScoped is a new ticket with a scope.
type mintedScoped struct {
	wire.Minted
	Scope []string `json:"scope,omitempty" doc:"The groups of routes that it opens; absent: all that tickets open." example:"[\"synthesis\"]"`
}

func (m mint) scopedTicket(ctx context.Context, in *newTicketInput) (*api.Secret[mintedScoped], error) {
	p, now := api.PrincipalOf(ctx), m.db.Now()
	p.Ticket = &api.Ticket{Expires: now.Add(time.Duration(in.Body.ExpiresIn) * time.Second), Scope: api.ScopeOf(in.Body.Scope)}
	return api.NotStored(mintedScoped{m.signer.answer(p, now), p.Ticket.Scope.Names()}), nil
}

// newSessionTicket says what a session ticket is to open.
type newSessionTicket struct {
	AgentID     string `json:"agent_id" doc:"An agent of the account." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0" maxLength:"100"`
	TTL         int    `json:"ttl_seconds,omitempty" doc:"How long conversations may be started with it." minimum:"30" maximum:"600" default:"600"`
	MaxSessions int    `json:"max_sessions,omitempty" doc:"How many conversations it may start." minimum:"1" maximum:"10" default:"1"`
	MaxDuration int    `json:"max_duration_seconds,omitempty" doc:"How long each may last; without it as long as the agent's settings say." minimum:"10" maximum:"7200" example:"300"`
	MaxCost     cost   `json:"max_cost,omitempty"`

	Variables map[string]string `json:"variables,omitempty" doc:"Values of the variables that the agent's settings name, for each conversation: what the page sends does not change them." nullable:"false" example:"{\"name\":\"Ana\"}"`
	// Metadata is of each call.
	Metadata wire.Metadata `json:"metadata,omitempty"`
}

// cost is what a conversation may cost; 0: no bound.
type cost billing.Money

// most is the highest bound that a ticket may set.
const most = 1000 * billing.USD

// UnmarshalJSON implements json.Unmarshaler.
func (c *cost) UnmarshalJSON(b []byte) error { return (*billing.Money)(c).UnmarshalJSON(b) }

// MarshalJSON implements json.Marshaler.
func (c cost) MarshalJSON() ([]byte, error) { return billing.Money(c).MarshalJSON() }

// Schema implements huma.SchemaProvider.
func (cost) Schema(huma.Registry) *huma.Schema {
	low, high := 0.01, float64(most/billing.USD)
	return &huma.Schema{Type: huma.TypeNumber, Minimum: &low, Maximum: &high, Examples: []any{0.5},
		Description: "What each conversation may cost, in US dollars, whole cents; absent: no bound but the balance and limits of spending."}
}

type sessionTicketInput struct{ Body newSessionTicket }

// mintedForAgent is a new session ticket.
type mintedForAgent struct {
	wire.Minted
	AgentID     string `json:"agent_id" doc:"The agent that it opens." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	MaxSessions int    `json:"max_sessions" doc:"How many conversations it may start." example:"1"`
	MaxDuration int    `json:"max_duration_seconds,omitempty" doc:"How long each may last; absent when only the agent's settings bound it." example:"300"`
	MaxCost     cost   `json:"max_cost,omitempty"`
}

func (m mint) sessionTicket(ctx context.Context, in *sessionTicketInput) (*api.Secret[mintedForAgent], error) {
	p, now, ask := api.PrincipalOf(ctx), m.db.Now(), in.Body
	if ask.MaxCost < 0 || billing.Money(ask.MaxCost) > most || billing.Money(ask.MaxCost)%billing.Cent != 0 {
		return nil, api.Bad("max_cost: from 0.01 to 1000 US dollars, whole cents")
	}
	agent, err := m.db.Agent(ctx, p.Account, ask.AgentID)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: %w", api.ErrNoAgent, err)
	}
	if err != nil {
		return nil, err
	}
	if err := m.saidRight(agent, &ask); err != nil {
		return nil, err
	}
	p.Ticket = &api.Ticket{Variables: ask.Variables, Metadata: ask.Metadata, Expires: now.Add(time.Duration(ask.TTL) * time.Second), Agent: agent.ID,
		MaxSessions: ask.MaxSessions, MaxDuration: time.Duration(ask.MaxDuration) * time.Second, MaxCost: billing.Money(ask.MaxCost)}
	return api.NotStored(mintedForAgent{m.signer.answer(p, now), agent.ID, ask.MaxSessions, ask.MaxDuration, ask.MaxCost}), nil
}

// saidRight checks what a ticket is to say of each conversation with an agent.
func (m mint) saidRight(a *store.Agent, ask *newSessionTicket) error {
	switch {
	case len(ask.Variables) == 0:
	case m.variables == nil:
		return api.Bad("variables: the agent has none")
	default:
		if err := m.variables(a, ask.Variables); err != nil {
			return err
		}
	}
	if wrong := ask.Metadata.Check(); wrong != "" {
		return api.Bad("%s", wrong)
	}
	if n := len(said{ask.Variables, ask.Metadata}.text()); n > maxSaid {
		return api.Bad("variables, metadata: together %d bytes as JSON, allowed are %d", n, maxSaid)
	}
	return nil
}

// Store is what tickets need of the store.
type Store interface {
	Now() time.Time // by the database's clock
	Agent(ctx context.Context, account, id string) (*store.Agent, error)
}

// People check the credentials that are no tickets. People.Store implements it.
type People interface {
	Authenticate(ctx context.Context, secret string) (people.Principal, error)
	CheckKey(ctx context.Context, p people.Principal) error
}

// Keys looks up whatever a client may send: tickets here, everything else in the
// store. It implements api.Keys.
type Keys struct {
	Signer *Signer
	Store  Store
	People People
}

// Authenticate implements api.Keys. A ticket is good as long as the key from which
// it was made: that is asked each time, so that a revocation counts at once on
// every node.
func (k Keys) Authenticate(ctx context.Context, secret string) (api.Principal, error) {
	if !strings.HasPrefix(secret, prefix) {
		p, err := k.People.Authenticate(ctx, secret)
		return api.PrincipalFor(p), err
	}
	p, err := k.Signer.Verify(secret, k.Store.Now())
	if err != nil {
		return api.Principal{}, err
	}
	if err := k.People.CheckKey(ctx, people.Principal{Account: p.Account, Key: p.Key}); err != nil {
		return api.Principal{}, err
	}
	return p, nil
}
