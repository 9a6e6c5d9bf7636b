package duplex

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"parley/inference"
	"parley/inference/remote"
	"parley/media/isolate"
)

const (
	// chunk is the audio of a message, in samples at 16 kHz: 40 ms. A message has a second at most.
	chunk    = 16000 / 25
	maxChunk = 16000
	// maxAudio is the caller's audio that waits for a vendor that does not take any yet; the oldest gives way.
	maxAudio = 15 * 16000
	// maxRequests may wait for it, too. A call makes a few a second; more end the session.
	maxRequests = 256
	// maxEvents is how many events nobody has taken: minutes of audio. Until then the vendor's messages wait.
	maxEvents = 1000
)

var errClosed = errors.New("session closed")

// session is one session. Only run touches what is not under the lock.
type session struct {
	client *remote.Client
	ctx    context.Context
	cancel context.CancelCauseFunc
	socket *remote.Socket
	conn   Connection
	config inference.RealtimeConfig
	events chan inference.RealtimeEvent
	done   chan struct{}
	wake   chan struct{} // holds one: there is something to send

	incoming chan incoming
	begun    bool
	queue    []inference.RealtimeEvent // that nobody has taken
	over     bool                      // nothing is added to it
	spare    []int16                   // what audio was in

	mu       sync.Mutex
	audio    []int16 // not sent
	requests []request
	failure  error
}

// request is one of the call's: something to do, or nil and another prompt and tools.
type request struct {
	do     func(Connection)
	prompt string
	tools  []inference.Tool
}

// incoming is a message of the vendor's, or why there are no more.
type incoming struct {
	data []byte
	err  error
}

func open(ctx context.Context, e *Engine, c inference.RealtimeConfig) (*session, error) {
	leave, err := e.client.Enter(ctx)
	if err != nil {
		return nil, err
	}
	socket, err := e.client.Dial(ctx, e.vendor.Path())
	if err != nil {
		leave()
		return nil, err
	}
	s := &session{client: e.client, config: c, socket: socket, events: make(chan inference.RealtimeEvent), done: make(chan struct{}), wake: make(chan struct{}, 1),
		incoming: make(chan incoming)}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.conn = e.vendor.Connect(s)
	isolate.Go("inference/duplex/reader", s.cancel, s.read, func() { close(s.incoming) })
	isolate.Go("inference/duplex/session", s.cancel, func() { s.run(e.vendor.Lasts()) }, func() { s.cancel(errClosed) }, socket.Close, s.drain, leave,
		func() { close(s.events) }, func() { close(s.done) })
	return s, nil
}

// read passes on what the vendor says until the socket ends.
func (s *session) read() {
	for {
		data, _, err := s.socket.Read()
		if err == io.EOF {
			err = s.client.Fault(inference.ErrFailed, errors.New("the server has ended the session"))
		}
		select {
		case s.incoming <- incoming{data, err}:
		case <-s.ctx.Done(): // only the end of the socket is waited for
		}
		if err != nil {
			return
		}
	}
}

// drain waits for the end of read.
func (s *session) drain() {
	for range s.incoming {
	}
}

// run speaks and hears until the session ends, or its fault was delivered.
func (s *session) run(lasts time.Duration) {
	due := time.NewTimer(0)
	defer due.Stop()
	var expires <-chan time.Time
	if lasts > 0 {
		expires = time.After(lasts)
	}
	for !s.over || len(s.queue) > 0 {
		in := s.incoming
		if s.over || len(s.queue) >= maxEvents {
			in = nil
		}
		if !s.over {
			s.say()
			wait, err := s.conn.Due(time.Now())
			s.fail(err)
			due.Reset(wait)
		}
		var out chan<- inference.RealtimeEvent
		var first inference.RealtimeEvent
		if len(s.queue) > 0 {
			out, first = s.events, s.queue[0]
		}
		select {
		case out <- first:
			s.queue = s.queue[1:]
		case m, more := <-in:
			if !more {
				return // a panic
			}
			if m.err == nil {
				m.err = s.conn.Read(m.data)
			}
			s.fail(m.err)
		case <-s.wake:
		case <-due.C:
		case <-expires:
			s.Emit(inference.RealtimeEvent{Kind: inference.RealtimeExpires})
		case <-s.ctx.Done():
			return
		}
	}
}

// say sends what waits, in its order.
func (s *session) say() {
	s.begin()
	s.mu.Lock()
	audio, requests, failure := s.audio, s.requests, s.failure
	if failure != nil || len(requests) == 0 && len(audio) < chunk || !s.begun || !s.conn.Ready() {
		s.mu.Unlock()
		s.fail(failure)
		return
	}
	s.audio, s.spare, s.requests = s.spare[:0], audio, nil
	s.mu.Unlock()
	for len(audio) > 0 {
		n := min(len(audio), maxChunk)
		s.conn.Audio(audio[:n])
		audio = audio[n:]
	}
	for _, r := range requests {
		if r.do == nil {
			s.conn.Update(r.prompt, r.tools)
		} else {
			r.do(s.conn)
		}
	}
}

// begin begins the session once there is something to say.
func (s *session) begin() {
	if s.begun {
		return
	}
	s.mu.Lock()
	for len(s.requests) > 0 && s.requests[0].do == nil {
		s.config.Prompt, s.config.Tools = s.requests[0].prompt, s.requests[0].tools
		s.requests = s.requests[1:]
	}
	s.begun = len(s.requests) > 0 || len(s.audio) >= chunk
	s.mu.Unlock()
	if s.begun {
		s.conn.Begin(s.config, s.before())
	}
}

// before ends the session that this one follows, and returns the vendor's name for it, by which this one goes on from there;
// empty: it does not.
func (s *session) before() string {
	old, ok := s.config.After.(*session)
	if !ok {
		return ""
	}
	s.config.After = nil
	old.Close()
	return old.conn.Handle()
}

// fail makes the session's fault its last event.
func (s *session) fail(err error) {
	if err != nil {
		s.Emit(inference.RealtimeEvent{Err: err})
		s.over = true
	}
}

// Send implements Line.
func (s *session) Send(message any) {
	b, err := json.Marshal(message)
	if err != nil { // parameters of a tool that are not JSON
		s.fail(s.client.Fault(inference.ErrRefused, errors.New("the request cannot be made")))
		return
	}
	s.socket.Send(b)
}

// Emit implements Line.
func (s *session) Emit(e inference.RealtimeEvent) {
	if !s.over {
		s.queue = append(s.queue, e)
	}
}

// Write implements inference.Session.
func (s *session) Write(samples []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	if over := len(s.audio) + len(samples) - maxAudio; over > 0 {
		s.audio = append(s.audio[:0], s.audio[min(over, len(s.audio)):]...)
	}
	if s.audio = append(s.audio, samples...); len(s.audio) >= chunk {
		s.rouse()
	}
}

// ask queues something to do.
func (s *session) ask(do func(Connection)) { s.request(request{do: do}) }

func (s *session) request(r request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return
	case len(s.requests) == maxRequests:
		s.failure = s.client.Fault(inference.ErrFailed, remote.ErrSlow)
	default:
		s.requests = append(s.requests, r)
	}
	s.rouse()
}

func (s *session) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Commit implements inference.Session.
func (s *session) Commit() { s.ask(Connection.Commit) }

// Reply implements inference.Session.
func (s *session) Reply(instructions string) {
	s.ask(func(c Connection) { c.Reply(instructions) })
}

// Interrupt implements inference.Session.
func (s *session) Interrupt(item string) { s.ask(func(c Connection) { c.Interrupt(item) }) }

// Truncate implements inference.Session.
func (s *session) Truncate(item string, heard time.Duration) {
	s.ask(func(c Connection) { c.Truncate(item, heard) })
}

// ToolResult implements inference.Session.
func (s *session) ToolResult(id, output string) {
	s.ask(func(c Connection) { c.ToolResult(id, output) })
}

// Update implements inference.Session.
func (s *session) Update(prompt string, tools []inference.Tool) {
	s.request(request{prompt: prompt, tools: tools})
}

// Events implements inference.Session.
func (s *session) Events() <-chan inference.RealtimeEvent { return s.events }

// Close implements inference.Session.
func (s *session) Close() {
	s.cancel(errClosed)
	<-s.done
}
