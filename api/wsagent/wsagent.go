// Package wsagent is the voice agent over one WebSocket: PCM both ways and JSON
// messages about it, as the published clients speak them. A connection is
// authenticated before the upgrade, configured by messages in any order, and then
// a media.Leg for the conductor of the conversation.
package wsagent

import (
	"context"
	"log/slog"
	"net/http"
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
}

// ServeHTTP upgrades and serves one conversation. It returns when it has ended.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := api.PrincipalOf(r.Context())
	if h.Limits != nil && !h.Limits.Allow(p) {
		api.WriteError(w, api.ErrBackOff)
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
	s := newSession(sockets.NewFrames(sock, bufferPool, bufferSize), p)
	sock.Run(sockets.Incoming{Text: s.Text, Binary: s.audio, MaxText: maxMessage, MaxBinary: maxMessage}, func(ctx context.Context) {
		h.serve(context.WithoutCancel(ctx), s, p, r.URL.Query().Get("agent_id"))
	})
	if h.Log != nil {
		api.LogOf(r.Context(), h.Log).Debug("agent socket closed", "account", p.Account, "ms", time.Since(s.opened).Milliseconds(), "fault", s.sock.Fault(),
			"filled_frames", s.leg.Filled(), "dropped_samples", s.leg.Dropped())
	}
}

// session is one connection.
type session struct {
	*talk.Session
	sock   *sockets.Frames
	leg    *Leg
	opened time.Time
}

func newSession(sock *sockets.Frames, p api.Principal) *session {
	leg := newLeg(sock)
	s := &session{Session: talk.NewSession(leg.Client, p, sock.Gone()), sock: sock, leg: leg, opened: time.Now()}
	s.Fault = sock.Fault
	return s
}

// serve holds the conversation and returns when it has ended.
func (h *Handler) serve(ctx context.Context, s *session, p api.Principal, agentID string) {
	s.leg.Rates(RateOut, RateIn)
	lasted := time.Duration(0)
	if conversation, err := h.Agents.Admit(ctx, p, agentID); err != nil {
		api.Refused(ctx, err)
		s.leg.Error(err, "")
		s.sock.Close(sockets.Refusal(err))
	} else {
		failed := func(error) { conversation.Fail() }
		isolate.Do("api/wsagent/conversation", failed, func() { s.Hold(ctx, s.opened, conversation, s.leg) })
		// A conversation that has run has said goodbye already.
		s.sock.Close(sockets.ServerError, "the conversation could not be started")
		lasted = time.Since(s.opened)
	}
	if h.Limits != nil {
		h.Limits.Ended(p, lasted)
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
	a.Handle(api.Route{Access: api.Conversation, Scope: api.Conversations, Operation: huma.Operation{
		Method: http.MethodGet, Path: Path, OperationID: "talk-to-agent", Tags: []string{"Agents"},
		Summary: "Talk with an agent over a WebSocket",
		Description: "The client sends the caller's voice as binary frames (Int16 little endian, 16 kHz, mono) and JSON messages; " +
			"it receives the agent's voice (44.1 kHz) and JSON messages about the conversation. A refusal after the upgrade is " +
			"one error message and close code 1008.",
		Parameters: []*huma.Param{{Name: "agent_id", In: "query", Description: "The agent. Without it the client sends a prompt; a session ticket has its own.",
			Schema: &huma.Schema{Type: "string"}, Example: "ag_01"}},
		Responses: api.Answer(http.StatusSwitchingProtocols, "The conversation", ""),
		Errors:    []int{http.StatusBadRequest},
	}}, h)
}
