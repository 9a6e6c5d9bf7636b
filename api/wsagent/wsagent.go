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
	"parley/inference"
	"parley/media"
)

// Agents starts conversations.
type Agents interface {
	// Admit lets the principal's conversation start, or refuses. An empty agentID
	// means that the client brings its own prompt.
	Admit(ctx context.Context, p api.Principal, agentID string) (Conversation, error)
}

// Conversation is one admitted conversation. After Converse has been called the
// other methods may be called from any goroutine; before, Cancel may.
type Conversation interface {
	// Converse holds the conversation on leg until it ends. It sends prompt_set
	// when the engines are ready. It is called once, unless Cancel is.
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
	firstFrame = 2 * 320 // bytes: 20 ms
)

// Handler serves agent sockets.
type Handler struct {
	Keys   api.Keys
	Agents Agents
	Log    *slog.Logger
	// Limit says whether a principal may connect now; nil: always.
	Limit func(api.Principal) Limiter
}

// Limiter counts connections that were refused or ended at once.
type Limiter interface {
	Allow() bool
	// Count notes one that did.
	Count()
}

// shortLived is how soon after opening the end of a conversation counts against
// the connect limit.
const shortLived = 5 * time.Second

// upgrader takes connections from any site: there are no cookies here, a page
// needs a credential to connect.
var upgrader = websocket.Upgrader{
	HandshakeTimeout: 5 * time.Second,
	CheckOrigin:      func(*http.Request) bool { return true },
	Error: func(w http.ResponseWriter, _ *http.Request, _ int, _ error) {
		api.WriteError(w, api.ErrBadRequest)
	},
}

// ServeHTTP upgrades and serves one conversation. It returns when it has ended.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, err := api.Authenticate(h.Keys, r)
	if err != nil {
		api.WriteError(w, err)
		return
	}
	var limit Limiter
	if h.Limit != nil {
		if limit = h.Limit(p); !limit.Allow() {
			api.WriteError(w, api.ErrRateLimited)
			return
		}
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // answered by the upgrader
	}
	opened := time.Now()
	s := &session{sock: newSocket(conn), setup: make(chan struct{}, 1)}
	s.leg = newLeg(s.sock, opened)
	s.leg.in.odd = -1
	h.serve(context.WithoutCancel(r.Context()), s, p, r.URL.Query().Get("agent_id"))
	if limit != nil && time.Since(opened) < shortLived {
		limit.Count()
	}
}

// session is one connection.
type session struct {
	sock  *socket
	leg   *Leg
	setup chan struct{} // a configuration frame, or audio, has arrived

	mu       sync.Mutex
	asked    Change
	live     Conversation // once it converses
	prompted bool         // a prompt has come
	spoke    bool         // and audio after it
}

func (h *Handler) serve(ctx context.Context, s *session, p api.Principal, agentID string) {
	var wg sync.WaitGroup
	wg.Go(s.sock.write)
	wg.Go(func() { s.sock.read(s.text, s.audio) })
	defer wg.Wait()

	s.sock.send(message{Type: "server_rates", Playback: int(RateOut), Input: int(RateIn)})
	talk, err := h.Agents.Admit(ctx, p, agentID)
	if err != nil {
		s.sock.error(err, "")
		s.sock.close(codePolicy, api.ProblemOf(err).Message)
		return
	}
	if !s.configured() {
		talk.Cancel()
		return
	}
	s.mu.Lock()
	asked := s.asked
	s.live = talk
	s.mu.Unlock()
	s.leg.begin()
	talk.Converse(ctx, asked, s.leg)
	s.sock.lost(nil)
}

// configured waits for the configuration to be complete; false when the client
// has gone before.
func (s *session) configured() bool {
	limit := time.NewTimer(setupMax)
	defer limit.Stop()
	quiet := time.NewTimer(setupMax)
	defer quiet.Stop()
	for {
		select {
		case <-s.sock.gone:
			return false
		case <-limit.C:
			return true
		case <-quiet.C:
			return true
		case <-s.setup:
			s.mu.Lock()
			spoke := s.spoke
			s.mu.Unlock()
			if spoke {
				return true
			}
			quiet.Reset(quietGap)
		}
	}
}

// begin starts the leg's clock: audio that came during the configuration waits
// in the buffer.
func (l *Leg) begin() {
	now := time.Now()
	l.start, l.end = now, now
	l.pacer = media.NewPacer(now.Add(media.FrameDuration))
}

// audio takes a binary frame of the client. It runs on the reader.
func (s *session) audio(p []byte) {
	s.leg.in.write(p, time.Now().UnixNano())
	s.mu.Lock()
	begun := s.live == nil && s.prompted && !s.spoke && s.leg.in.len() >= firstFrame/2
	s.spoke = s.spoke || begun
	s.mu.Unlock()
	if begun {
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
