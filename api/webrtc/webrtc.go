// Package webrtc is the voice agent over WebRTC, begun as WHIP (RFC 9725): one POST of an
// offer is answered with ours, and from then on sound and messages pass between the two.
// The messages are those of the agent socket, on the data channel "events".
//
// The conversation behind it is that of package talk. What a close frame says on the agent
// socket is a last message here, closed; refusals are the answer to the POST. The charged time
// starts at the connection, though it is entered when the engines are ready: a session that
// never connects costs nothing. With a loopback HTTP address the UDP port is on loopback, too,
// unless a public address is set: then a proxy stands before HTTP, and nothing before UDP.
package webrtc

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"parley/api"
	sockets "parley/api/socket"
	"parley/api/talk"
	"parley/media/isolate"
	media "parley/media/webrtc"
)

// connectWait is how long a client may take from our answer to its connection; nothing is
// charged for it.
const connectWait = 30 * time.Second

// firstFrame is how long the client of a stored agent, which need not say anything, may
// take from its connection to its first message: the channel opens right after it.
const firstFrame = 300 * time.Millisecond

// Options of New.
type Options struct {
	Agents talk.Agents
	Log    *slog.Logger        // nil: nothing is logged
	Limits *talk.ConnectLimits // nil: none
	// Open counts the connections of accounts, with sockets of all kinds; nil: nobody does.
	Open *sockets.Limits
	// Relays helps clients behind address translators; nil: there are none.
	Relays *Relays
	// Node is the epoch of this server in its cluster, and Peers are the others, which sessions belong to; nil: there are none.
	Node  int64
	Peers api.Peers
}

// Handler serves sessions. Mount adds it to an API. It may be used from several
// goroutines.
type Handler struct {
	Options
	work sync.WaitGroup
	port atomic.Pointer[media.Server]

	mu       sync.Mutex
	sessions map[string]*session
	stopping chan struct{} // closed when nobody may wait for a connection any more
	stopped  bool
}

// New returns a handler without sessions. Close ends those that it gets.
func New(o Options) *Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Handler{Options: o, sessions: map[string]*session{}, stopping: make(chan struct{})}
}

// Listen gives the handler the port of its sessions, which it closes. Before that all are
// refused.
func (h *Handler) Listen(s *media.Server) { h.port.Store(s) }

// Listening says whether there is a port.
func (h *Handler) Listening() bool { return h.port.Load() != nil }

// session is one client's.
type session struct {
	id    string
	owner api.Principal
	talk  *talk.Session
	leg   *Leg
}

// offered takes an offer: who may talk is admitted before anything is made of it.
func (h *Handler) offered(w http.ResponseWriter, r *http.Request) error {
	p := api.PrincipalOf(r.Context())
	offer, agent, err := h.read(r)
	if err != nil {
		return err
	}
	if h.Limits != nil && !h.Limits.Allow(p) {
		return api.ErrBackOff
	}
	if h.Open != nil && !h.Open.Open(p.Account) {
		return sockets.ErrTooMany
	}
	s, answer, conversation, err := h.begin(r.Context(), p, offer, agent)
	if err != nil {
		h.left(p, 0)
		return err
	}
	ctx := context.WithoutCancel(r.Context())
	asked := time.Now()
	// It ends with the session; Close waits for it.
	isolate.Go("api/webrtc/session", func(error) { conversation.Fail() }, func() { h.serve(ctx, s, conversation) },
		func() { h.over(ctx, s, asked) }, h.work.Done)
	h.Relays.tell(w.Header(), s.id, asked.Add(relayLife(p)))
	w.Header().Set("Content-Type", typeSDP)
	w.Header().Set("Location", Path+"/"+s.id)
	w.Header().Set("ETag", etag(s.leg.Tag()))
	w.Header().Set("Accept-Patch", typeFragment)
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(answer)) // who has gone is noticed by the connection that never comes
	return nil
}

// left gives back what a client of p took, after it has lasted for d.
func (h *Handler) left(p api.Principal, d time.Duration) {
	if h.Open != nil {
		h.Open.Closed(p.Account)
	}
	if h.Limits != nil {
		h.Limits.Ended(p, d)
	}
}

// begin admits a conversation and answers its offer. The handler's work has one more of
// them unless it fails.
func (h *Handler) begin(ctx context.Context, p api.Principal, offer media.Offer, agent string) (s *session, answer string, c talk.Conversation, err error) {
	port := h.port.Load()
	if port == nil {
		return nil, "", nil, api.ErrDraining
	}
	admitted, err := h.Agents.Admit(ctx, p, agent)
	if err != nil {
		return nil, "", nil, err
	}
	entered := false
	defer func() {
		switch {
		case entered:
		case err != nil:
			admitted.Cancel()
		default:
			admitted.Fail() // a panic
		}
	}()
	made := &session{id: h.newID(), owner: p}
	complete := make(chan struct{}) // closed when made is
	line, answer, err := port.Answer(ctx, offer, func(b []byte) { <-complete; made.talk.Text(b) })
	if errors.Is(err, media.ErrOffer) {
		return nil, "", nil, api.Bad("%v", err)
	} else if err != nil {
		api.LogOf(ctx, h.Log).Warn("an offer could not be answered", "err", err)
		return nil, "", nil, api.ErrSessionStart
	}
	made.leg = newLeg(line)
	made.talk = talk.NewSession(made.leg.Client, p, line.Gone())
	made.talk.Fault = line.Fault
	if agent != "" || p.Ticket != nil && p.Ticket.Agent != "" {
		made.talk.Patience = firstFrame
	}
	close(complete)
	if err = h.enter(made); err != nil {
		_ = line.Close()
		return nil, "", nil, err
	}
	entered = true
	return made, answer, admitted, nil
}

// newID is the identifier of a session: a secret, and the epoch of its server.
func (h *Handler) newID() string { return "rtc_" + rand.Text() + "_" + strconv.FormatInt(h.Node, 36) }

// forward sends a request on to the server that has its session, and says whether that is another one.
func (h *Handler) forward(w http.ResponseWriter, r *http.Request) bool {
	_, epoch, _ := strings.Cut(strings.TrimPrefix(r.PathValue("id"), "rtc_"), "_")
	n, err := strconv.ParseInt(epoch, 36, 64)
	return err == nil && n != h.Node && h.Peers != nil && h.Peers.Forward(w, r, n)
}

// enter takes a session in.
func (h *Handler) enter(s *session) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return api.ErrDraining
	}
	h.sessions[s.id] = s
	h.work.Add(1)
	return nil
}

// serve waits for the connection and converses.
func (h *Handler) serve(ctx context.Context, s *session, c talk.Conversation) {
	if s.connected(h.stopping) {
		s.leg.started = time.Now()
		s.talk.Hold(ctx, s.leg.started, c, s.leg)
	} else {
		s.talk.Abandon(c)
	}
}

// over takes a session out that was asked for at asked, and returns when nothing is left of it.
func (h *Handler) over(ctx context.Context, s *session, asked time.Time) {
	h.mu.Lock()
	delete(h.sessions, s.id)
	h.mu.Unlock()
	s.leg.finish()
	h.left(s.owner, time.Since(asked))
	stats := s.leg.Stats()
	api.LogOf(ctx, h.Log).Debug("WebRTC session closed", "account", s.owner.Account, "ms", time.Since(asked).Milliseconds(), "received", stats.Received,
		"lost", stats.Lost, "late", stats.Late, "sent", stats.Sent, "remote_lost", stats.RemoteLost, "rtt_ms", stats.RTT.Milliseconds())
}

// connected waits for the client's connection; false when it does not come.
func (s *session) connected(stopping <-chan struct{}) bool {
	t := time.NewTimer(connectWait)
	defer t.Stop()
	select {
	case <-s.leg.Connected():
		return true
	case <-s.leg.Gone():
	case <-stopping:
	case <-t.C:
	}
	return false
}

// find is a session of the principal's: its creator may change it, and with the
// account's key all of its.
func (h *Handler) find(p api.Principal, id string) (*session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[id]
	if s == nil || s.owner.Account != p.Account || p.Ticket != nil && p.Ticket.Agent != "" && p.Credential() != s.owner.Credential() {
		return nil, api.Detail(api.ErrNotFound, "there is no such session")
	}
	return s, nil
}

// Drain gives up sessions that are not connected yet. The others end with their
// conversations.
func (h *Handler) Drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.stopped {
		h.stopped = true
		close(h.stopping)
	}
}

// Close ends all sessions, waits for them, and gives the port back.
func (h *Handler) Close() error {
	h.Drain()
	h.mu.Lock()
	for _, s := range h.sessions {
		s.leg.Hangup()
	}
	h.mu.Unlock()
	h.work.Wait()
	if port := h.port.Load(); port != nil {
		return port.Close()
	}
	return nil
}
