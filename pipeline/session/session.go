package session

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"parley/billing"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline"
	"parley/pipeline/tool"
	"parley/store"
)

// Session is an admitted call with its bill: what it has used, what was said. Its
// methods may be called from any goroutine.
type Session struct {
	m      *Manager
	stored *store.Session // nil until the store has it
	work   *Work          // nil: it is a conversation
	meter  billing.Meter
	// lineOnly has no agent in it, which would be charged by the minute.
	lineOnly bool
	urgent   atomic.Bool // a checkpoint is wanted before its time
	broke    atomic.Bool // it was told that the balance is used up
	end      sync.Once
	// halt ends with the first stop, which is its cause.
	halt context.Context
	cut  context.CancelCauseFunc

	// Of the manager's Run alone.
	seq     int64
	booked  time.Time // when its books were stored last
	granted int64     // line minutes permitted

	mu        sync.Mutex
	call      *pipeline.Call
	stopped   *media.Ended // the end that was asked for first; nil: none was
	status    CallStatus
	updateSeq uint64
	started   time.Time // when its clock started, by this process's; zero before
	ended     time.Time // and when it stopped; it does not change any more
	// The same by the clock that all nodes have in common, for the books.
	startedAt, endedAt time.Time
	talk               store.Conversation
	said               int // bytes of its transcript
	turns              []turnRecord
	log                callLog
	purse              purse
	meters             map[string]tool.Meter // of the functions that cost something, by name
	replay             func() []byte         // what the call can be conducted again from; nil: nothing is kept
}

// ID is the session's and the call's identifier.
func (s *Session) ID() string { return s.stored.ID }

// Account is whose it is.
func (s *Session) Account() string { return s.stored.Account }

// Key is the account's key that asked for it, itself or by its ticket; empty: none did.
func (s *Session) Key() string { return s.stored.Key }

// Begin starts the session's clock: a web session's configuration is complete, a
// telephone call is answered. Before it nothing is owed.
func (s *Session) Begin() { s.BeginAt(time.Now()) }

// BeginAt is Begin for a session whose clock has run since at.
func (s *Session) BeginAt(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started.IsZero() {
		return
	}
	s.started, s.startedAt = at, s.m.stamp(at)
	s.advance(CallConnected)
	if s.stored.Terms.Kind.Phone() {
		// Somebody has been rung up, or has got through: the books know it before
		// this node can die.
		s.urgent.Store(true)
		s.m.checkpointSoon()
	}
}

// stopMeter stops the session's clock: what follows of the call costs nothing.
func (s *Session) stopMeter(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.IsZero() {
		s.ended, s.endedAt = now, s.m.stamp(now)
	}
}

// usage is what the session has used up to now, and when its clock started.
func (s *Session) usage(now time.Time) (startedAt time.Time, u billing.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u = s.meter.Usage()
	if s.started.IsZero() || s.work != nil {
		return s.startedAt, u
	}
	if !s.ended.IsZero() {
		now = s.ended
	}
	ms := max(0, now.Sub(s.started).Milliseconds())
	if !s.lineOnly {
		u[billing.AgentTime] = ms
	}
	if s.stored.Terms.Kind.Phone() {
		u[billing.LineTime] = ms
	}
	return s.startedAt, u
}

// wants is the line minute to ask permission for now; 0 when there is none.
func (s *Session) wants(now time.Time) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stored.Terms.Kind.Phone() || s.started.IsZero() || !s.ended.IsZero() {
		return 0
	}
	minute := int64((now.Sub(s.started)+permitAhead)/time.Minute) + 1
	if minute <= max(1, s.granted) {
		return 0
	}
	return max(1, s.granted) + 1
}

// Bind has the session keep the books of the call that is made from cfg: it sees every
// event before cfg.Observe, is asked before the model is, and stops the meter when the
// call is hung up.
func (s *Session) Bind(cfg *pipeline.Config) {
	next := cfg.Observe
	cfg.Observe = func(e pipeline.Event) {
		s.Observe(e)
		if next != nil {
			next(e)
		}
	}
	cfg.LLM = &payingModel{cfg.LLM, s}
	cfg.OnHangup = s.stopMeter
}

// Offers says which functions the session's call may run, for what they cost.
func (s *Session) Offers(functions []tool.Function) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meters = map[string]tool.Meter{}
	for _, f := range functions {
		if f.Meter != tool.Free {
			s.meters[f.Spec.Name] = f.Meter
		}
	}
}

// ran counts what a function cost that has done its work.
func (s *Session) ran(name string) {
	s.mu.Lock()
	m := s.meters[name]
	s.mu.Unlock()
	switch m {
	case tool.Searched:
		s.meter.Add(billing.WebSearches, 1)
	case tool.CRM:
		s.meter.Raise(billing.CRMCalls, 1)
	default:
		return
	}
	s.urgent.Store(true)
	s.m.checkpointSoon()
}

// Replayed says where to find, when the call is over, what it can be conducted again from.
// It is stored with the conversation.
func (s *Session) Replayed(from func() []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replay = from
}

func (s *Session) Observe(e pipeline.Event) {
	switch e.Kind {
	case pipeline.ToolEnded:
		if e.Text == "ok" {
			s.ran(e.Call.Name)
		}
	case pipeline.Used:
		t := e.Usage.Tokens
		kind := billing.Reply
		if e.Usage.Speculative() {
			kind = billing.Speculative
		}
		s.meter.AddTokens(kind, t.In, t.Out)
		s.urgent.Store(true)
		s.m.checkpointSoon()
		s.note(func() {
			if len(s.talk.Generations) < maxGenerations {
				s.talk.Generations = append(s.talk.Generations, store.Generation{Gen: e.Usage.Generation, Turn: e.Turn, Kind: e.Usage.Kind,
					Outcome: string(e.Usage.Outcome), InTokens: int64(t.In), OutTokens: int64(t.Out), Source: string(t.Source), Engine: e.Usage.Engine})
			}
		})
	case pipeline.UserLine, pipeline.AgentLine:
		s.note(func() { s.addLine(&e) })
	case pipeline.UserLineAgain:
		s.note(func() { s.replaceUser(&e) })
	case pipeline.Served:
		s.note(func() { s.served(e.Stage, e.Text) })
	case pipeline.Answered:
		s.note(func() {
			s.talk.AnsweredBy = e.Text
			s.log.add(store.CallEvent{AnsweredBy: e.Text})
			s.publish(CallUpdate{AnsweredBy: e.Text})
		})
	case pipeline.Timed:
		s.note(func() {
			if len(s.turns) < maxTranscript {
				s.turns = append(s.turns, recordOf(&e))
			}
		})
	}
}

func (s *Session) note(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Conduct runs the prepared call, whose Config the session was bound to, on leg and ends the session with it. Begin must
// have been called. The clock stops when the call is hung up, by either side, not
// when the last of its goodbyes is through.
func (s *Session) Conduct(call *pipeline.Call, leg media.Leg) (ended media.Ended) {
	ended = *isolate.Internal
	defer func() { s.End(ended) }() // whatever happens
	s.mu.Lock()
	s.call = call
	stopped := s.stopped
	s.mu.Unlock()
	if stopped != nil {
		call.Cancel(stopped)
	}
	return call.Run(leg)
}

// thrifty tells the call whether anything is left of the balance.
func (s *Session) thrifty(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.call != nil {
		s.call.Thrifty(on)
	}
}

// Stop cuts the call off. It never blocks.
func (s *Session) Stop(why media.Ended) { s.stop(&why, false) }

// Fail is Stop for a call one of whose goroutines panicked.
func (s *Session) Fail(error) { s.Stop(*isolate.Internal) }

// stop ends the call. Without goodbye, or when there is no conversation yet, it
// is cut off.
func (s *Session) stop(why *media.Ended, goodbye bool) {
	if s.work != nil {
		s.work.stop(why)
		return
	}
	s.mu.Lock()
	call := s.call
	if s.stopped == nil {
		s.stopped = why
		s.cut(why)
	}
	s.mu.Unlock()
	switch {
	case call == nil:
	case goodbye:
		call.Stop(why.Reason, why.Detail, true)
	default:
		call.Cancel(why)
	}
}

func (s *Session) conversation() store.Conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	talk, log := s.talk, s.log.CallLog
	talk.Log = &log
	if s.replay != nil {
		talk.Replay = s.replay()
	}
	if turns, err := json.Marshal(s.turns); err == nil && s.turns != nil {
		talk.Turns = turns
	}
	return talk
}
