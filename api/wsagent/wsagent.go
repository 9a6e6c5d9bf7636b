// Package wsagent is the voice agent over one WebSocket: PCM both ways and JSON
// messages about it, as the published clients speak them. A connection is
// authenticated before the upgrade, configured by messages in any order, and then
// a media.Leg for whoever conducts the conversation.
package wsagent

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"parley/api"
	sockets "parley/api/socket"
	"parley/inference"
)

// Agents starts conversations.
type Agents interface {
	// Admit lets the principal's conversation start, or refuses. An empty agentID
	// means that the client brings its own prompt.
	Admit(ctx context.Context, p api.Principal, agentID string) (Conversation, error)
}

// Conversation is one admitted conversation: either Converse is called, once, or
// Cancel. The other methods may be called from any goroutine from just before
// Converse is called until long after it has returned, and may wait for it to get
// ready.
type Conversation interface {
	// Converse holds the conversation on leg until it ends. It sends prompt_set
	// when the engines are ready.
	Converse(ctx context.Context, c Change, leg *Leg)
	// Cancel gives up a conversation that never began: it costs nothing.
	Cancel()

	Type(text string)
	Interrupt()
	ToolResult(id, result string)
	// Update changes the agent from its next reply on.
	Update(c Change)
}

// Change is what a client may set, at the beginning and later. A nil field was
// not mentioned.
type Change struct {
	Voice, Language, Prompt *string
	Tools                   []inference.Tool // replaces the earlier list
	ToolsSet                bool
}

// The opening of a conversation: there is no message that ends the configuration,
// so it is over after a quiet gap, or with the first audio after a prompt.
const (
	quietGap   = 200 * time.Millisecond
	setupMax   = time.Second
	firstAudio = int(RateIn) / 50 // samples: 20 ms
)

// Handler serves agent sockets. Mount adds it to an API, which finds out who
// connects before the upgrade.
type Handler struct {
	Agents Agents
	Log    *slog.Logger   // nil: nothing is logged
	Limits *ConnectLimits // nil: none
	// Open counts the sockets of accounts, with those of other kinds; nil: nobody does.
	Open *sockets.Limits
}

// upgrader takes connections from any site: there are no cookies here, a page
// needs a credential to connect.
var upgrader = websocket.Upgrader{
	HandshakeTimeout: 5 * time.Second,
	CheckOrigin:      func(*http.Request) bool { return true },
	Error: func(w http.ResponseWriter, _ *http.Request, _ int, _ error) {
		api.WriteError(w, api.Detail(api.ErrBadRequest, "this address takes WebSocket connections"))
	},
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
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // answered by the upgrader
	}
	s := &session{sock: newSocket(conn), opened: time.Now(), fixed: p.Ticket != nil && p.Ticket.Agent != "", setup: make(chan struct{}, 1), begun: make(chan struct{})}
	s.leg = newLeg(s.sock)
	h.serve(context.WithoutCancel(r.Context()), s, p, r.URL.Query().Get("agent_id"))
	if h.Log != nil {
		h.Log.Debug("agent socket closed", "account", p.Account, "ms", time.Since(s.opened).Milliseconds(), "fault", s.sock.fault,
			"filled_frames", s.leg.filled, "dropped_samples", s.leg.in.dropped.Load())
	}
}

// session is one connection.
type session struct {
	sock   *socket
	leg    *Leg
	opened time.Time
	fixed  bool          // the client may not change the agent: it has a session ticket
	setup  chan struct{} // a configuration frame, or audio, has arrived
	begun  chan struct{} // closed when live is set

	mu       sync.Mutex
	asked    Change
	live     Conversation // once it converses
	prompted bool         // a prompt has come
	spoke    bool         // and audio after it
}

// serve holds the conversation and returns when nothing of it is left. The reader
// and the writer end with the socket.
func (h *Handler) serve(ctx context.Context, s *session, p api.Principal, agentID string) {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer s.sock.lost(nil)
	wg.Go(s.sock.write)
	wg.Go(func() { s.sock.read(s.text, s.audio) })

	s.sock.send(message{Type: "server_rates", Playback: int(RateOut), Input: int(RateIn)})
	lasted := time.Duration(0)
	if talk, err := h.Agents.Admit(ctx, p, agentID); err != nil {
		s.sock.error(err, "")
		s.sock.close(refusal(err))
	} else {
		s.hold(ctx, talk)
		lasted = time.Since(s.opened)
	}
	if h.Limits != nil {
		h.Limits.Ended(p, lasted)
	}
}

// hold waits for the configuration and converses.
func (s *session) hold(ctx context.Context, talk Conversation) {
	if !s.configured() {
		talk.Cancel()
		return
	}
	s.mu.Lock()
	asked := s.asked
	s.live = talk
	s.mu.Unlock()
	close(s.begun)
	talk.Converse(ctx, asked, s.leg)
	// A conversation that has run has said goodbye already.
	s.sock.close(codeServerError, "the conversation could not be started")
}

// refusal is the close code and sentence for a conversation that is not admitted.
// Clients connect again after every code but the policy one.
func refusal(err error) (code int, why string) {
	p := api.ProblemOf(err)
	switch {
	case errors.Is(err, api.ErrDraining):
		return codeGoingAway, p.Message
	case p.Status == http.StatusServiceUnavailable:
		return codeTryLater, p.Message
	case p.Status >= 500:
		return codeServerError, p.Message
	}
	return codePolicy, p.Message
}

// configured waits for the configuration to be complete; false when the client
// has gone before.
func (s *session) configured() bool {
	limit := time.NewTimer(setupMax - time.Since(s.opened))
	defer limit.Stop()
	quiet := time.NewTimer(setupMax)
	defer quiet.Stop()
	for done := false; !done; {
		select {
		case <-s.sock.gone:
			return false
		case <-limit.C:
			done = true
		case <-quiet.C:
			done = true
		case <-s.setup:
			s.mu.Lock()
			done = s.spoke
			s.mu.Unlock()
			quiet.Reset(quietGap)
		}
	}
	return !s.sock.over()
}

// audio takes a binary frame of the client. It runs on the reader.
func (s *session) audio(p []byte) {
	s.leg.in.write(p, time.Now().UnixNano())
	s.mu.Lock()
	first := s.live == nil && s.prompted && !s.spoke && s.leg.in.len() >= firstAudio
	s.spoke = s.spoke || first
	s.mu.Unlock()
	if first {
		s.changed()
	}
}

// changed wakes the wait for the configuration.
func (s *session) changed() {
	select {
	case s.setup <- struct{}{}:
	default:
	}
}
