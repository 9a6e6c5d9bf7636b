// Package talk is what conversations with agents share, whatever carries them: the JSON
// messages both ways, the configuration that clients send in any order, who may change
// what, and how often one may try. A WebSocket or a data channel carries the messages, and
// a media.Leg the sound.
package talk

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"parley/api"
	"parley/api/tts"
	"parley/inference"
	"parley/media"
	"parley/media/isolate"
)

// Agents starts conversations.
type Agents interface {
	// Admit lets the principal's conversation start, or refuses. An empty agentID
	// means that the client brings its own prompt.
	Admit(ctx context.Context, p api.Principal, agentID string) (Conversation, error)
}

// Conversation is one admitted conversation: either Converse is called, once, or
// Cancel or Fail. Fail may also follow a Converse that has panicked. The other methods may be called from any goroutine from just before
// Converse is called until long after it has returned, and may wait for it to get
// ready.
type Conversation interface {
	// ID names its call.
	ID() string
	// Converse holds the conversation on leg until it ends. It sends prompt_set
	// when the engines are ready.
	Converse(ctx context.Context, c Change, leg Leg)
	// Cancel gives up a conversation that never began: it costs nothing.
	Cancel()
	// Fail is Cancel for one that cannot begin, or go on, because of a panic.
	Fail()

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
	// Variables are values of a stored agent's, and Metadata is of the call. Both are set at the beginning alone.
	Variables, Metadata map[string]string
}

// Leg is the audio of one conversation and the messages that go with it, in one order. Its
// methods belong to the conductor, except that Error may be called from any goroutine.
type Leg interface {
	media.Leg
	// Transport names how the leg is carried, as metrics do: web for a WebSocket, webrtc.
	Transport() string
	Status(status string, generation int)
	Transcript(role, text string)
	Correction(role, text, replaces string)
	Caption(role, text string)
	ToolCall(c inference.ToolCall, generation int)
	WantsVisemes() bool
	Visemes(v []tts.Viseme, generation int)
	WantsInsight() bool
	Insight(name string, generation int, data any)
	Error(err error, detail string)
}

// The opening of a conversation: there is no message that ends the configuration,
// so it is over after a quiet gap, or with the first audio after a prompt.
const (
	quietGap = 200 * time.Millisecond
	setupMax = time.Second
)

// Session is one client's conversation: what it sends, from before it begins to after its
// end. Text and Heard belong to the reader of what the client sends.
type Session struct {
	// Patience is how long a client may take to its first frame of configuration; 0: a
	// second. Set it before Hold.
	Patience time.Duration
	// Fault says why the client has gone, once it has; nil: it is not known. Set it before Hold.
	Fault func() error

	client *Client
	gone   <-chan struct{}
	fixed  bool          // the client may not change the agent: it has a session ticket
	setup  chan struct{} // a configuration frame, or audio, has arrived
	begun  chan struct{} // closed when live is set
	pace   *rate.Limiter // of typed turns

	mu       sync.Mutex
	asked    Change
	live     Conversation // once it converses
	prompted bool         // a prompt has come
	spoke    bool         // and audio after it
}

// NewSession returns the session of a client that p has let in. gone is closed when the
// client has gone.
func NewSession(c *Client, p api.Principal, gone <-chan struct{}) *Session {
	return &Session{client: c, gone: gone, fixed: p.Ticket != nil && p.Ticket.Agent != "",
		setup: make(chan struct{}, 1), begun: make(chan struct{}),
		pace: rate.NewLimiter(rate.Every(typedEvery), typedBurst)}
}

// Hold waits for the configuration, a second from opened at most, and converses. When
// the client goes before, the conversation is cancelled.
func (s *Session) Hold(ctx context.Context, opened time.Time, talk Conversation, leg Leg) {
	if !s.configured(opened) {
		s.Abandon(talk)
		return
	}
	s.mu.Lock()
	asked := s.asked
	s.live = talk
	s.mu.Unlock()
	close(s.begun)
	talk.Converse(ctx, asked, leg)
}

// Abandon gives up a conversation whose client has gone before it began.
func (s *Session) Abandon(talk Conversation) {
	if s.Fault != nil && errors.Is(s.Fault(), isolate.Internal) {
		talk.Fail()
		return
	}
	talk.Cancel()
}

// configured waits for the configuration to be complete; false when the client
// has gone before.
func (s *Session) configured(opened time.Time) bool {
	limit := time.NewTimer(setupMax - time.Since(opened))
	defer limit.Stop()
	if s.Patience == 0 {
		s.Patience = setupMax
	}
	quiet := time.NewTimer(s.Patience)
	defer quiet.Stop()
	for done := false; !done; {
		select {
		case <-s.gone:
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
	return !s.over()
}

func (s *Session) over() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

// Heard says whether the first 20 ms of audio are waiting, which end the configuration
// when a prompt came before them.
func (s *Session) Heard(complete bool) {
	s.mu.Lock()
	first := s.live == nil && s.prompted && !s.spoke && complete
	s.spoke = s.spoke || first
	s.mu.Unlock()
	if first {
		s.changed()
	}
}

// changed wakes the wait for the configuration.
func (s *Session) changed() {
	select {
	case s.setup <- struct{}{}:
	default:
	}
}

// Some clients connect again for ever, every two seconds, however they were
// answered. What counts are connections that were refused or ended within
// shortLived of their opening: shortMax a minute for one credential.
const (
	shortLived = 5 * time.Second
	shortMax   = 10
)

// ConnectLimits keeps clients that reconnect in a loop out. It is safe for use
// from several goroutines; its memory is bounded, and who is forgotten may try
// again. The nodes of a cluster count together.
type ConnectLimits struct {
	short *api.Buckets
}

// NewConnectLimits returns limits of which nothing is used up; shared is nil where there are no other nodes.
func NewConnectLimits(shared *api.SharedLimits) *ConnectLimits {
	return &ConnectLimits{short: shared.Buckets(api.ShortConnections, time.Minute/shortMax, shortMax)}
}

// Allow says whether the credential may connect now.
func (c *ConnectLimits) Allow(p api.Principal) bool { return c.short.Left(p.Credential()) }

// Ended notes a connection of the credential that has lasted for d; a refused one
// has lasted for 0.
func (c *ConnectLimits) Ended(p api.Principal, d time.Duration) {
	if d < shortLived {
		c.short.Take(p.Credential())
	}
}
