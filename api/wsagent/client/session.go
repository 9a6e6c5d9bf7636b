package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// waits are how long a Session waits before it connects again. After the last it gives up; a conversation that lasted
// begins them anew.
var waits = [...]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second}

const lasted = 30 * time.Second

// A conversation that the server keeps is come back to after these waits, the last of them again and again, until it is
// kept no longer.
var backWaits = [...]time.Duration{300 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

const keptFor = 30 * time.Second

// ErrLost says that a Session has no connection at the moment.
var ErrLost = errors.New("the connection is lost")

// EndedError is how the server ended a conversation that was not over.
type EndedError struct{ Closed }

func (e *EndedError) Error() string {
	if e.Reason != "" {
		return e.Reason
	}
	return fmt.Sprintf("the connection ended with code %d", e.Code)
}

// SessionOptions are what each connection of a Session begins with.
type SessionOptions struct {
	Options
	Variables map[string]string // values of the agent's variables
	Metadata  map[string]string // that is kept with the call
	// OnLost is called before a lost connection is tried again. What comes back is the same conversation where an event
	// Granted says so, else a new one. It may be nil.
	OnLost func(Closed)
}

// Session is a conversation that comes back when its connection is lost: the same one within half a minute, else a new one.
// Its methods may be called from any goroutine.
type Session struct {
	base, key, agent string
	o                SessionOptions

	// Of Run.
	token  string    // of the conversation to come back to; empty: there is none
	lostAt time.Time // when its connection was lost
	backs  int       // how often it was tried since
	over   bool      // the server does not have it any more

	mu  sync.Mutex
	now *Client // nil: it is lost
}

// NewSession returns a session with an agent, for the same base, key and agentID as Dial. Nothing is sent before Run.
func NewSession(base, key, agentID string, o SessionOptions) *Session {
	return &Session{base: base, key: key, agent: agentID, o: o, token: o.Resume}
}

// Send says samples at RateIn.
func (s *Session) Send(samples []int16) error {
	return s.do(func(c *Client) error { return c.Send(samples) })
}

// Frame sends v as JSON.
func (s *Session) Frame(v any) error { return s.do(func(c *Client) error { return c.Frame(v) }) }

// SendText types a turn.
func (s *Session) SendText(text string) error {
	return s.do(func(c *Client) error { return c.SendText(text) })
}

// Interrupt stops the agent.
func (s *Session) Interrupt() error { return s.do((*Client).Interrupt) }

// ToolResult answers the function call id.
func (s *Session) ToolResult(id, result string) error {
	return s.do(func(c *Client) error { return c.ToolResult(id, result) })
}

func (s *Session) do(what func(*Client) error) error {
	s.mu.Lock()
	c := s.now
	s.mu.Unlock()
	if c == nil {
		return ErrLost
	}
	return what(c)
}

func (s *Session) use(c *Client) {
	s.mu.Lock()
	s.now = c
	s.mu.Unlock()
}

// Run converses until ctx or the agent ends it, which is no error. It comes back to a conversation whose connection was
// lost. Where there is none any more it begins another one, five times in a row at most, where that may help; else the
// error is a *Refused, an *EndedError, or why there is no server. It is called once.
func (s *Session) Run(ctx context.Context) error {
	for tries := 0; ; tries++ {
		began := time.Now()
		end, err := s.once(ctx)
		if ctx.Err() != nil || err == nil {
			return nil
		}
		if time.Since(began) > lasted {
			tries = 0
		}
		over := s.over
		wait, back := s.back(err)
		switch {
		case back, over:
			tries--
		case tries == len(waits) || !mayMend(err):
			return err
		default:
			wait = waits[tries]
		}
		if s.o.OnLost != nil {
			s.o.OnLost(end)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// back says whether the conversation is to be come back to whose connection has ended by err, and when.
func (s *Session) back(err error) (wait time.Duration, ok bool) {
	ended, closed := errors.AsType[*EndedError](err)
	broke := mayMend(err) && (!closed || ended.Code == websocket.CloseAbnormalClosure)
	if s.token == "" || s.over || !broke || s.backs > 0 && time.Since(s.lostAt) >= keptFor {
		s.token, s.over = "", false
		return 0, false
	}
	if s.backs == 0 {
		s.lostAt = time.Now()
	}
	wait = backWaits[min(s.backs, len(backWaits)-1)]
	s.backs++
	return wait, true
}

// take follows what is said of the conversation itself.
func (s *Session) take(e Event) {
	switch {
	case e.Kind == Granted:
		s.token, s.backs = e.Grant.Token, 0
	case e.Kind == Error && e.Fault.Code == "agent.session_over":
		s.over = true
	}
	if s.o.OnEvent != nil {
		s.o.OnEvent(e)
	}
}

// once has one connection, from its beginning to its end.
func (s *Session) once(ctx context.Context) (Closed, error) {
	o := s.o.Options
	o.OnEvent, o.Resume = s.take, s.token
	c, err := Dial(ctx, s.base, s.key, s.agent, o)
	if err != nil {
		return Closed{Code: websocket.CloseAbnormalClosure, Reason: err.Error()}, err
	}
	s.use(c)
	defer s.use(nil)
	if o.Resume != "" {
		return s.converse(ctx, c)
	}
	_ = c.Control("features", []string{"resume"}) // Run says how the connection ends
	for kind, values := range map[string]map[string]string{"variables": s.o.Variables, "metadata": s.o.Metadata} {
		if len(values) > 0 {
			_ = c.Control(kind, values)
		}
	}
	return s.converse(ctx, c)
}

// converse has a connection to its end.
func (s *Session) converse(ctx context.Context, c *Client) (Closed, error) {
	end := c.Run(ctx)
	if end.Code == websocket.CloseNormalClosure {
		return end, nil
	}
	return end, &EndedError{end}
}

// mayMend says whether connecting again may help: after the same codes as the client for browsers.
func mayMend(err error) bool {
	if e, ok := errors.AsType[*Refused](err); ok {
		return e.Retryable
	}
	if e, ok := errors.AsType[*EndedError](err); ok {
		switch e.Code {
		case websocket.CloseGoingAway, websocket.CloseAbnormalClosure, websocket.CloseInternalServerErr, websocket.CloseServiceRestart,
			websocket.CloseTryAgainLater, 1014: // bad gateway (IANA's registry)
			return true
		}
		return false
	}
	return true // the network
}
