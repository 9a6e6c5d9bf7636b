// Package wsagent is the voice agent over one WebSocket: PCM both ways and JSON
// messages about it, as the published clients speak them. A connection is
// authenticated before the upgrade, configured by messages in any order, and then
// a media.Leg for whoever conducts the conversation.
package wsagent

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

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
	// Open counts the sockets of accounts, with those of other kinds; nil: nobody does.
	Open *sockets.Limits
}

// upgrader takes connections from any site: there are no cookies here, a page
// needs a credential to connect.
var upgrader = websocket.Upgrader{
	HandshakeTimeout: 5 * time.Second,
	CheckOrigin:      func(*http.Request) bool { return true },
	Error: func(w http.ResponseWriter, _ *http.Request, _ int, _ error) {
		api.WriteError(w, api.Bad("this address takes WebSocket connections"))
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
	s := newSession(newSocket(conn), p)
	h.serve(context.WithoutCancel(r.Context()), s, p, r.URL.Query().Get("agent_id"))
	if h.Log != nil {
		h.Log.Debug("agent socket closed", "account", p.Account, "ms", time.Since(s.opened).Milliseconds(), "fault", s.sock.fault,
			"filled_frames", s.leg.filled, "dropped_samples", s.leg.in.dropped.Load())
	}
}

// session is one connection.
type session struct {
	*talk.Session
	sock   *socket
	leg    *Leg
	opened time.Time
}

func newSession(sock *socket, p api.Principal) *session {
	leg := newLeg(sock)
	s := &session{Session: talk.NewSession(leg.Client, p, sock.gone), sock: sock, leg: leg, opened: time.Now()}
	s.Fault = func() error { return sock.fault }
	return s
}

// serve holds the conversation and returns when nothing of it is left. The reader
// and the writer end with the socket.
func (h *Handler) serve(ctx context.Context, s *session, p api.Principal, agentID string) {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer s.sock.lost(nil)
	wg.Add(2)
	isolate.Go("api/wsagent/writer", s.sock.lost, s.sock.write, s.sock.shut, wg.Done)
	isolate.Go("api/wsagent/reader", s.sock.lost, func() { s.sock.read(s.Text, s.audio) }, func() { close(s.sock.deaf) }, wg.Done)

	s.leg.Rates(RateOut, RateIn)
	lasted := time.Duration(0)
	if conversation, err := h.Agents.Admit(ctx, p, agentID); err != nil {
		api.Refused(ctx, err)
		s.leg.Error(err, "")
		s.sock.close(talk.Refusal(err))
	} else {
		failed := func(error) { conversation.Fail() }
		isolate.Do("api/wsagent/conversation", failed, func() { s.Hold(ctx, s.opened, conversation, s.leg) })
		// A conversation that has run has said goodbye already.
		s.sock.close(talk.CodeServerError, "the conversation could not be started")
		lasted = time.Since(s.opened)
	}
	if h.Limits != nil {
		h.Limits.Ended(p, lasted)
	}
}

// audio takes a binary frame of the client. It runs on the reader.
func (s *session) audio(p []byte) {
	s.leg.in.write(p, time.Now().UnixNano())
	s.Heard(s.leg.in.len() >= firstAudio)
}
