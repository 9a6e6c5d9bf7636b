// Package mediastream takes telephone calls that a carrier brings over a WebSocket of its own, in place of SIP: Twilio's Media
// Streams, Telnyx's media streaming, Vonage's WebSocket endpoints.
//
// The carrier asks over HTTP what to do with a call, and waits meanwhile: the caller hears it ring. Handler.Take answers, refuses or
// redirects it (Call), and the carrier gets a document of its own that says so. With an answer that has the address of a
// socket, good for this call and once, which the carrier opens: it is the leg of the call (Leg). When we close the socket the carrier
// asks again: the call is over, or goes to another number (onward.go).
//
//	carrier ─ question, signed ─▶ ask ─▶ Handler.Take ─▶ Call.Answer ─▶ document ─▶ carrier
//	carrier ─ socket ───────────▶ stream ─▶ Leg ◀───────────┘
//	carrier ─ question, signed ─▶ next ◀─ Leg.Transfer
//
// No carrier has a message by which we press keys on its call.
//
// What a carrier writes is its dialect: twilio.go, telnyx.go, vonage.go name the pages that say it. Neither route is of the
// interface for programs: the owner of a number enters the address at the carrier.
package mediastream

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	sockets "parley/api/socket"
	"parley/media/isolate"
	"parley/store"
)

// Where carriers ask, and where they bring the audio.
const (
	Path   = "/hooks/streams/"
	socket = Path + "audio/"
)

// Trunk is the line of an account to a carrier.
type Trunk struct {
	ID, Account string
	Carrier     string // whose dialect it speaks
	Secret      string // by which the carrier signs its questions
}

// Handler answers carriers. All fields but Peers are set.
type Handler struct {
	// Trunk is the one with an identifier; store.ErrNotFound: no carrier brings calls so on it.
	Trunk func(ctx context.Context, id string) (*Trunk, error)
	// Take takes or rejects a call, and returns when it is over.
	Take func(ctx context.Context, c *Call)
	// Base is the address of this server for carriers, without a final slash; empty: that at which they ask.
	Base  string
	Peers api.Peers // other servers at which a socket may come in; nil: there are none
	Epoch int64     // of this server among them
	Now   func() time.Time
	Log   *slog.Logger

	mu    sync.Mutex
	calls map[string]*Call // that were asked about and are not over, by their token
	known map[string]bool  // the same, by trunk and identifier
}

// maxQuestion bounds a question, in bytes.
const maxQuestion = 64 << 10

// Mount adds the routes.
func Mount(a *api.API, h *Handler) {
	h.calls, h.known = map[string]*Call{}, map[string]bool{}
	a.Handle(api.Route{Access: api.Public, OwnPagesOnly: true, Operation: huma.Operation{
		Method: http.MethodPost, Path: Path + "{id}", OperationID: "ask-about-call", Hidden: true, MaxBodyBytes: maxQuestion,
	}}, api.HandlerFunc(h.ask))
	a.Handle(api.Route{Access: api.Public, OwnPagesOnly: true, Operation: huma.Operation{
		Method: http.MethodPost, Path: Path + "{id}/{token}", OperationID: "ask-what-comes-next", Hidden: true, MaxBodyBytes: maxQuestion,
	}}, api.HandlerFunc(h.next))
	a.Handle(api.Route{Access: api.Public, OwnPagesOnly: true, Operation: huma.Operation{
		Method: http.MethodGet, Path: socket + "{token}", OperationID: "bring-call", Hidden: true,
	}}, api.HandlerFunc(h.stream))
}

// question is a request of a trunk's carrier.
func (h *Handler) question(r *http.Request, trunk *Trunk, body []byte) *question {
	return &question{header: r.Header, body: body, secret: trunk.Secret, now: h.Now(), vouched: api.IsVouched(r.Context()),
		addresses: []string{h.origin(r) + r.URL.RequestURI(), "https://" + r.Host + r.URL.RequestURI()}}
}

// origin is the address of this server as a request has it.
func (h *Handler) origin(r *http.Request) string {
	switch {
	case h.Base != "":
		return h.Base
	case r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https":
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// wait gives a call a token for its socket. false: it was asked about before, and is not over.
func (h *Handler) wait(c *Call) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known[c.name()] {
		return false
	}
	c.token = strconv.FormatInt(h.Epoch, 10) + "-" + rand.Text()
	h.calls[c.token], h.known[c.name()] = c, true
	return true
}

// claim gives out the call of a token, once; nil: there is none that waits for a socket.
func (h *Handler) claim(token string) *Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.calls[token]
	if c == nil || c.claimed {
		return nil
	}
	c.claimed = true
	return c
}

// forget ends the life of a call.
func (h *Handler) forget(c *Call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.calls, c.token)
	delete(h.known, c.name())
}

// stream takes the socket of a call.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request) error {
	token := r.PathValue("token")
	if epoch, err := strconv.ParseInt(before(token), 10, 64); err == nil && h.Peers != nil && h.Peers.Forward(w, r, epoch) {
		return nil
	}
	c := h.claim(token)
	if c == nil {
		return store.ErrNotFound
	}
	defer close(c.gone)
	sock, err := sockets.Open(w, r, queueSize, writeWait, "")
	if err != nil {
		return nil // the client has its answer
	}
	leg := newLeg(sock, c.dialect, c.Asked.ID, &c.onward)
	sock.Run(sockets.Incoming{Text: leg.text, Binary: leg.binary, MaxText: maxMessage, MaxBinary: maxMessage}, func(ctx context.Context) {
		isolate.Do("api/mediastream/socket", nil, func() { c.carry(ctx, leg) })
	})
	api.LogOf(r.Context(), h.Log).Debug("a carrier's stream has ended", "trunk", c.trunk.ID, "call", c.Asked.ID, "fault", leg.sock.Fault(),
		"filled_frames", leg.Filled(), "dropped_samples", leg.Dropped())
	return nil
}

func before(token string) string {
	epoch, _, _ := strings.Cut(token, "-")
	return epoch
}
