package livetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// resumeWait is how long the connection that a session is resumed from may take to end.
const resumeWait = 500 * time.Millisecond

// session is one connection.
type session struct {
	server *Server
	wire   *loopbacktest.Socket
	out    *loopbacktest.Queue
	ready  atomic.Bool // setupComplete was sent

	mu        sync.Mutex
	broken    error  // what has ended the connection
	setup     *setup // nil: it has not come
	memory    *memory
	hear      *hearingtest.Hearer // nil: no audio has come
	mime      string              // of the audio
	words     []hearingtest.Word  // of the caller's turn
	voiced    time.Duration       // audio of it
	turn      *turn               // of the model; nil: it is silent
	cancelled map[string]bool     // calls, by their ids
	active    bool                // the caller speaks
	seeding   bool                // the history comes first
	owing     bool                // another turn follows the one in progress
}

// serve serves one connection until it ends.
func serve(server *Server, k *loopbacktest.Socket) {
	s := &session{server: server, wire: k, out: server.Queue(k), cancelled: map[string]bool{}}
	defer s.cut()
	server.Go(s.expire)
	for {
		_, data, err := k.Read()
		if err != nil {
			return
		}
		var p problem
		if errors.As(s.obey(data), &p) {
			server.Violate("%s", p.reason)
			s.end(p)
		}
	}
}

// cut ends the turn in progress with the connection.
func (s *session) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		s.turn.stop()
		s.server.note(func() { s.turn.End = cut })
	}
}

// send queues a message.
func (s *session) send(m map[string]any) { s.out.Add(loopbacktest.Outgoing{Message: m}) }

// content queues a message about what is said.
func (s *session) content(fields map[string]any) { s.send(map[string]any{"serverContent": fields}) }

// end closes the connection after what was said before.
func (s *session) end(p problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = p
	if s.turn != nil {
		s.turn.stop()
	}
	s.out.Add(loopbacktest.Outgoing{Code: p.code, Reason: p.reason})
}

// expire ends the connection when it is too old.
func (s *session) expire() {
	script, ctx := s.server.script, s.wire.Context()
	if !s.server.Wait(ctx, script.Lifetime-script.Notice) {
		return
	}
	s.send(map[string]any{"goAway": map[string]any{"timeLeft": fmt.Sprintf("%gs", script.Notice.Seconds())}})
	if s.server.Wait(ctx, script.Notice) {
		s.end(problem{websocket.ClosePolicyViolation, "Connection aborted because the client failed to close the connection after receiving a GoAway signal."})
	}
}

// obey does what a message asks for; its errors are problems.
func (s *session) obey(data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return nil
	}
	var m message
	if err := strict(data, &m); err != nil {
		return err
	}
	if !one(m.Setup != nil, m.Content != nil, m.Input != nil, m.Results != nil) {
		return invalid("Request contains an invalid argument: not exactly one kind of message.")
	}
	if m.Setup != nil {
		if s.setup != nil {
			return invalid("setup must be the first message and only the first.")
		}
		s.server.Note(func(b *Books) { b.Body = data })
		return s.begin(m.Setup)
	}
	if s.setup == nil {
		return invalid("setup must be the first message and only the first.")
	}
	if !s.ready.Load() {
		s.server.Violate("a message comes before setupComplete")
	}
	switch {
	case m.Content != nil:
		return s.seed(m.Content)
	case m.Results != nil:
		return s.results(m.Results.Results)
	case s.seeding:
		s.server.Violate("realtimeInput comes before the history is complete, and is not heard")
		return nil
	}
	return s.input(m.Input)
}

// begin takes the setup.
func (s *session) begin(set *setup) error {
	if err := set.check(); err != nil {
		return err
	}
	s.memory = &memory{socket: s.wire}
	if err := s.resume(set); err != nil {
		return err
	}
	s.setup, s.seeding = set, set.History.Initial
	s.server.note(func() { s.server.last = s.memory })
	s.out.Add(loopbacktest.Outgoing{Due: time.Now().Add(loopbacktest.Draw(s.server.script.Delays.Setup)), Message: map[string]any{"setupComplete": map[string]any{}},
		Before: func() { s.ready.Store(true) }})
	s.offer()
	return nil
}

// resume goes on with the session of a handle, where the setup has one.
func (s *session) resume(set *setup) error {
	handle := ""
	if set.Resumption == nil || len(set.Resumption.Handle) == 0 {
		return nil
	}
	if json.Unmarshal(set.Resumption.Handle, &handle) != nil {
		return invalid("Invalid value at 'setup.session_resumption.handle'")
	}
	if handle == "" {
		return nil
	}
	var kept *memory
	s.server.note(func() { kept = s.server.handles[handle] })
	if kept == nil {
		return problem{websocket.ClosePolicyViolation, "BidiGenerateContent session not found"}
	}
	if s.server.Wait(kept.socket.Context(), resumeWait) {
		return problem{websocket.CloseInternalServerErr, "Internal error encountered: the session is on another connection."}
	}
	s.server.note(func() { s.memory = kept.copy(s.wire) })
	return nil
}

// seed takes history, and with the end of a turn what is to be answered.
func (s *session) seed(m *clientContent) error {
	if s.setup.third() && (!s.seeding || s.memory.spoke) {
		return invalid("Request contains an invalid argument.")
	}
	for _, c := range m.Turns {
		if err := c.check(); err != nil {
			return err
		}
		role := c.Role
		if role == "" {
			role = "user"
		}
		s.remember(Content{Role: role, Text: c.text()})
	}
	if s.seeding {
		s.seeding = !m.Complete
		return nil
	}
	if s.turn != nil {
		s.interrupt()
	}
	if m.Complete {
		s.answer()
	}
	return nil
}
