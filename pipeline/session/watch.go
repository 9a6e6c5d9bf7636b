package session

import (
	"context"
	"math"
	"strings"
	"time"

	"parley/media"
	"parley/pipeline/event"
	"parley/store/history"
)

// CallStatus is how far a call is. It only goes forward.
type CallStatus string

// States of a call. A call that comes in begins as ringing, one over a WebSocket as
// dialing.
const (
	CallDialing   CallStatus = "dialing"
	CallRinging   CallStatus = "ringing"
	CallConnected CallStatus = "connected"
	CallEnded     CallStatus = "ended"
)

// CallSnapshot is the state of a call.
type CallSnapshot struct {
	Seq        uint64                   `json:"seq"` // of the last update that it contains
	Status     CallStatus               `json:"status"`
	StartedAt  time.Time                `json:"started_at"`            // answered, by the database's clock; zero before
	EndedAt    time.Time                `json:"ended_at"`              // zero before
	AnsweredBy string                   `json:"answered_by,omitempty"` // human, machine, screening or unknown; empty: not known, or nobody asked
	Transcript []history.TranscriptLine `json:"transcript"`            // without the times of words
}

// Duration is how long the call has been answered.
func (s *CallSnapshot) Duration(now time.Time) time.Duration {
	return (&clock{started: s.StartedAt, stopped: s.EndedAt}).ran(now)
}

// CallUpdate is one change of a call.
type CallUpdate struct {
	// Seq counts the call's updates from 1. A follower who finds a gap takes another snapshot.
	Seq uint64 `json:"seq"`
	// Status is set when it has changed. CallEnded is the last update, and comes
	// when the store has the end.
	Status CallStatus `json:"status,omitempty"`
	// StartedAt is as in CallSnapshot.
	StartedAt time.Time `json:"started_at,omitzero"`
	// AnsweredBy is as in CallSnapshot, and set when it has become known or has changed.
	AnsweredBy string                  `json:"answered_by,omitempty"`
	Line       *history.TranscriptLine `json:"line,omitempty"`      // one that was added
	Corrected  bool                    `json:"corrected,omitempty"` // an earlier line has changed: take another snapshot
	Function   *history.FunctionCall   `json:"function,omitempty"`  // one that was called, or has its result
	// Speaking is what the agent has begun to say of a reply so far; a Line follows with what was heard of it, or none. It
	// changes nothing that snapshots have: Seq is that of the update before it, and a follower that loses it needs no other snapshot.
	Speaking *history.TranscriptLine `json:"speaking,omitempty"`
}

// lastUpdate is the Seq of an update that follows all that a follower has seen.
const lastUpdate = math.MaxUint64

// Watcher receives the updates of calls.
type Watcher interface {
	// OnUpdate is called in the order of u.Seq. It must not block; an update that it loses is a gap.
	OnUpdate(account, call string, u CallUpdate)
}

// Watch sets the watcher. Call it before Run and Admit.
func (m *Manager) Watch(w Watcher) { m.watcher = w }

// Snapshot shows a call of the account that is on this node.
func (m *Manager) Snapshot(account, id string) (CallSnapshot, bool) {
	if s := m.find(account, id); s != nil {
		return s.snapshot(), true
	}
	return CallSnapshot{}, false
}

func (s *Session) snapshot() CallSnapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := make([]history.TranscriptLine, len(s.history.talk.Transcript))
	for i, l := range s.history.talk.Transcript {
		lines[i] = l.Plain()
	}
	// What is at its end is still connected, as its bill is still open.
	return CallSnapshot{Seq: s.updates, Status: s.status, StartedAt: s.clock.startedAt, EndedAt: s.clock.stoppedAt, AnsweredBy: s.history.talk.AnsweredBy, Transcript: lines}
}

// Ring says that the callee is being alerted. The first time counts.
func (s *Session) Ring() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(CallRinging)
}

// order of the states.
var order = map[CallStatus]int{CallDialing: 1, CallRinging: 2, CallConnected: 3, CallEnded: 4}

// advance moves the call's status, never back; s.mu is locked.
func (s *Session) advance(to CallStatus) {
	if order[to] > order[s.status] {
		s.status = to
		if s.work == nil && to != CallEnded { // of the end the books know
			s.history.log.add(history.CallEvent{Status: string(to)})
			s.happens(history.Event{CallEvent: history.CallEvent{Status: string(to)}})
		}
		s.publish(CallUpdate{Status: to})
	}
}

// publish hands an update on; s.mu is locked, which keeps them in order.
func (s *Session) publish(u CallUpdate) {
	s.updates++
	if s.m.watcher == nil || s.work != nil || s.custody != kept {
		return
	}
	u.Seq, u.StartedAt = s.updates, s.clock.startedAt
	s.m.watcher.OnUpdate(s.stored.Account, s.stored.ID, u)
}

// maxSaying bounds what followers are shown of a reply while it is spoken, in bytes.
const maxSaying = 4 << 10

// saying is what the agent has begun to say of a reply.
type saying struct {
	generation int
	line       history.TranscriptLine
}

// speaks shows followers that the agent begins a sentence, with those before it of the same reply; s.mu is locked.
func (s *Session) speaks(e *event.Event) {
	if s.m.watcher == nil || s.work != nil || s.stored == nil {
		return
	}
	if was := &s.saying; was.line.Text == "" || was.generation != e.Generation {
		*was = saying{e.Generation, history.TranscriptLine{Role: "agent", Text: e.Text, AtMS: e.At.Milliseconds()}}
	} else if len(was.line.Text)+len(e.Text) < maxSaying {
		was.line.Text = strings.TrimSpace(was.line.Text) + " " + strings.TrimSpace(e.Text)
	}
	line := s.saying.line
	s.m.watcher.OnUpdate(s.stored.Account, s.stored.ID, CallUpdate{Seq: s.updates, StartedAt: s.clock.startedAt, Speaking: &line})
}

// Until returns a context that ends with parent, with cancel, and when somebody asks for
// the call's end, which is its cause then.
func (s *Session) Until(parent context.Context) (ctx context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(parent)
	release := context.AfterFunc(s.asked, func() { end(context.Cause(s.asked)) })
	return ctx, func() {
		release()
		end(nil)
	}
}

// Why is the end that was asked for; nil when none was.
func (s *Session) Why() *media.Ended {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}
