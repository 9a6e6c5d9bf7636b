// Package wsagent is the voice agent over one WebSocket: PCM both ways and JSON
// messages about it, as the published clients speak them. A connection is
// authenticated before the upgrade, configured by messages in any order, and then
// a media.Leg for the conductor of the conversation. Where a client can come back, the
// leg outlives the connection (Resumption).
package wsagent

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	sockets "parley/api/socket"
	"parley/api/talk"
	"parley/media/isolate"
)

// firstAudio is how many samples, 20 ms, end a configuration.
const firstAudio = int(RateIn) / 50

// Handler serves agent sockets. Mount adds it to an API, which finds out who
// connects before the upgrade.
type Handler struct {
	Agents talk.Agents
	Log    *slog.Logger        // nil: nothing is logged
	Limits *talk.ConnectLimits // nil: none
	// Open counts the sockets of accounts, with those of other kinds; nil: they are not counted.
	Open *sockets.Limits
	// Resume has clients come back; nil: a conversation ends with its connection.
	Resume *Resumption
}

// ServeHTTP upgrades and serves one conversation. It returns when it has ended.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := api.PrincipalOf(r.Context())
	if h.Limits != nil && !h.Limits.Allow(p) {
		api.WriteError(w, api.ErrBackOff)
		return
	}
	if tokenOf(r) != "" {
		h.resume(w, r, p)
		return
	}
	if h.Open != nil {
		if !h.Open.Open(p.Account) {
			api.WriteError(w, sockets.ErrTooMany)
			return
		}
		defer h.Open.Closed(p.Account)
	}
	sock, err := sockets.Open(w, r, queueSize, writeWait, "")
	if err != nil {
		return // the client has its answer
	}
	frames := sockets.NewFrames(sock, bufferPool, bufferSize)
	s := newSession(frames, p)
	sock.Run(s.incoming(frames), func(ctx context.Context) {
		h.serve(context.WithoutCancel(ctx), s, r.URL.Query().Get("agent_id"))
	})
	if h.Log != nil {
		api.LogOf(r.Context(), h.Log).Debug("agent socket closed", "account", p.Account, "ms", time.Since(s.opened).Milliseconds(), "fault", s.leg.line.sock.Load().Fault(),
			"filled_frames", s.leg.Filled(), "dropped_samples", s.leg.Dropped())
	}
}

// session is one conversation.
type session struct {
	*talk.Session
	leg    *Leg
	opened time.Time
	by     api.Principal // who has begun it
	call   string        // once it is admitted

	reading sync.Mutex // by the reader of one socket at a time
}

func newSession(sock *sockets.Frames, p api.Principal) *session {
	leg := newLeg(sock)
	s := &session{Session: talk.NewSession(leg.Client, p, sock.Gone()), leg: leg, opened: time.Now(), by: p}
	s.Fault = sock.Fault
	return s
}

// incoming takes the messages of a socket, as long as it is the client's latest.
func (s *session) incoming(sock *sockets.Frames) sockets.Incoming {
	begins := true
	of := func(take func([]byte)) func([]byte) {
		return func(p []byte) {
			s.reading.Lock()
			defer s.reading.Unlock()
			if s.leg.line.sock.Load() != sock {
				return
			}
			if begins {
				begins = false
				s.leg.Anew()
			}
			take(p)
		}
	}
	return sockets.Incoming{Text: of(s.Text), Binary: of(s.audio), MaxText: maxMessage, MaxBinary: maxMessage}
}

// serve holds the conversation and returns when it has ended.
func (h *Handler) serve(ctx context.Context, s *session, agentID string) {
	s.leg.Rates(RateOut, RateIn)
	lasted := time.Duration(0)
	if conversation, err := h.Agents.Admit(ctx, s.by, agentID); err != nil {
		api.Refused(ctx, err)
		s.leg.Error(err, "")
		s.leg.line.sock.Load().Close(sockets.Refusal(err))
	} else {
		if s.call = conversation.ID(); h.Resume != nil {
			s.leg.line.grant = func() (call, token string) { return s.call, h.Resume.token(s) }
			h.Resume.enter(s)
			defer h.Resume.leave(s)
		}
		failed := func(error) { conversation.Fail() }
		isolate.Do("api/wsagent/conversation", failed, func() { s.Hold(ctx, s.opened, conversation, s.leg) })
		// A conversation that has run has said goodbye already.
		s.leg.line.finish(true)
		s.leg.line.sock.Load().Close(sockets.ServerError, "the conversation could not be started")
		lasted = time.Since(s.opened)
	}
	if h.Limits != nil {
		h.Limits.Ended(s.by, lasted)
	}
}

// audio takes a binary frame of the client. It runs on the reader.
func (s *session) audio(p []byte) {
	s.leg.Receive(p, time.Now())
	s.Heard(s.leg.Waiting() >= firstAudio)
}

// Path is where agent sockets connect.
const Path = "/ws/agent"

// Mount adds the agent socket to an API.
func Mount(a *api.API, h *Handler) {
	a.Handle(api.Route{Access: api.Conversation, Scope: api.Conversations, Elsewhere: h.elsewhere, Operation: huma.Operation{
		Method: http.MethodGet, Path: Path, OperationID: "talk-to-agent", Tags: []string{"Agents"},
		Summary: "Talk with an agent over a WebSocket",
		Description: "The client sends the caller's voice as binary frames (Int16 little endian, 16 kHz, mono) and JSON messages; " +
			"it receives the agent's voice (44.1 kHz) and JSON messages about the conversation. A refusal after the upgrade is " +
			"one error message and close code 1008. A client with the feature `resume` comes back to its conversation within 30 s after its connection was lost.",
		Parameters: []*huma.Param{{Name: "agent_id", In: "query", Description: "The agent. Without it the client sends a prompt; a session ticket has its own.",
			Schema: &huma.Schema{Type: "string"}, Example: "ag_01"},
			{Name: "resume", In: "query", Description: "The token of the message `session`: the conversation that it was sent in goes on.",
				Schema: &huma.Schema{Type: "string"}}},
		Responses: api.Answer(http.StatusSwitchingProtocols, "The conversation", ""),
		Errors:    []int{http.StatusBadRequest},
	}}, h)
}
