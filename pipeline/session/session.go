package session

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/media"
	"parley/media/isolate"
	"parley/media/monitor"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/tool"
	"parley/store/history"
	"parley/store/ledger"
)

// Session is an admitted call with its bill: what it has used, what was said. Its
// methods may be called from any goroutine.
type Session struct {
	m      *Manager
	stored *ledger.Session // nil until the store has it
	work   *Work           // nil: it is a conversation
	meter  billing.Meter
	// lineOnly has no agent in it, which would be charged by the minute.
	lineOnly bool
	books    books
	due      atomic.Bool // a checkpoint is wanted before its time
	// exhausted: it says goodbye because nothing is left to pay for it.
	exhausted atomic.Bool
	end       sync.Once
	// asked ends when somebody first asks for the session's end, which is its cause.
	asked context.Context
	ask   context.CancelCauseFunc

	mu      sync.Mutex
	custody custody
	decided chan struct{} // closed when it is decided whether another node has the session; nil: it was never yielded
	leave   func()        // ends the call here without a word; nil: no other node can take the session over
	asks    sync.Once     // who has it
	call    *pipeline.Call
	stopped *media.Ended // the end that was asked for first; nil: none was
	status  CallStatus
	updates uint64 // published
	saying  saying // what followers are shown of it
	clock   clock
	history conversation
	budget  budget
	meters  map[string]tool.Meter // of the functions that cost something, by name
	replay  func() []byte         // what the call can be conducted again from; nil: nothing is kept
	monitor *monitor.Monitor      // of the call's audio; nil: nobody can listen in
	uses    uses
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
	if !s.clock.start(at, s.m.stamp(at)) {
		return
	}
	s.advance(CallConnected)
	if s.stored.Terms.Kind.Phone() {
		// Somebody has been rung up, or has got through: the books know it before
		// this node can die, or they are called again.
		s.due.Store(true)
		wake(s.m.atOnce)
	}
}

// stopMeter stops the session's clock: what follows of the call costs nothing.
func (s *Session) stopMeter(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.stop(now, s.m.stamp(now))
}

// usage is what the session has used up to now, and when its clock started.
func (s *Session) usage(now time.Time) (startedAt time.Time, u billing.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u = s.meter.Usage()
	if ms := s.clock.ran(now).Milliseconds(); s.work == nil {
		if !s.lineOnly {
			u[billing.AgentTime] = s.clock.talked(now).Milliseconds()
		}
		if s.stored.Terms.Kind.Phone() {
			u[billing.LineTime] = ms
		}
	}
	return s.clock.startedAt, u
}

// checkpointSoon asks the meter for a checkpoint of the session within soonEvery. Meanwhile what it has used counts here: see
// payingModel.
func (s *Session) checkpointSoon() {
	s.due.Store(true)
	wake(s.m.soon)
}

// Bind has the session keep the books of the call that is made from cfg: it sees every
// event before cfg.Observe, is asked before the model is, and stops the meter when the
// call is hung up.
func (s *Session) Bind(cfg *pipeline.Config) {
	next := cfg.Observe
	cfg.Observe = func(e event.Event) {
		s.Observe(e)
		if next != nil {
			next(e)
		}
	}
	cfg.LLM, cfg.Meter = s.Pays(cfg.LLM), s.Spent
	cfg.OnHangup = s.stopMeter
}

// Pays is a model that the session pays for, for an agent that takes its call over: the session is asked before it is.
func (s *Session) Pays(llm inference.LLM) inference.LLM { return &payingModel{llm, s} }

// Offers says which functions the session's call may run, for what they cost; also another agent's, which takes the call over.
func (s *Session) Offers(functions []tool.Function) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.meters == nil {
		s.meters = map[string]tool.Meter{}
	}
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
	s.checkpointSoon()
}

// Replayed says where to find, when the call is over, what it can be conducted again from.
// It is stored with the conversation.
func (s *Session) Replayed(from func() []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replay = from
}

// Monitored says by what people listen in on the call.
func (s *Session) Monitored(by *monitor.Monitor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.monitor = by
}

func (s *Session) Observe(e event.Event) {
	switch e.Kind {
	case event.ToolAsked, event.ToolBegun:
		s.note(func() { s.tellFunction(s.history.functionBegun(&e)) })
	case event.ToolEnded:
		if e.Text == "ok" {
			s.ran(e.Call.Name)
		}
		s.note(func() { s.tellFunction(s.history.functionEnded(&e)) })
	case event.Used:
		s.used(&e)
	case event.UserLine, event.AgentLine, event.SupervisorLine:
		s.note(func() {
			if line, kept := s.history.addLine(&e); kept {
				s.happens(history.Event{CallEvent: history.CallEvent{Line: &line}})
				plain := line.Plain()
				s.publish(CallUpdate{Line: &plain})
			}
		})
	case event.AgentPartial:
		s.note(func() { s.speaks(&e) })
	case event.UserLineAgain:
		s.note(func() {
			if change := s.history.replaceUser(&e); change != nil {
				s.happens(*change)
				s.publish(CallUpdate{Corrected: true})
			}
		})
	case event.Served:
		s.note(func() {
			if by := s.history.served(e.Stage, e.Text); by != nil {
				s.happens(history.Event{Served: by})
			}
		})
	case event.Answered:
		s.note(func() {
			s.history.answered(e.Text)
			s.happens(history.Event{CallEvent: history.CallEvent{AnsweredBy: e.Text}})
			s.publish(CallUpdate{AnsweredBy: e.Text})
		})
	case event.Timed:
		s.note(func() { s.turnHappens(s.history.addTurn(&e)) })
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

// noSpeculation says whether the call begins no speculative replies: nothing is left of
// the balance.
func (s *Session) noSpeculation(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.call != nil {
		s.call.NoSpeculation(on)
	}
}

// Stop cuts the call off. It never blocks.
func (s *Session) Stop(why media.Ended) { s.cutOff(&why) }

// Fail is Stop for a call one of whose goroutines panicked.
func (s *Session) Fail(error) { s.cutOff(isolate.Internal) }

// cutOff ends the session at once.
func (s *Session) cutOff(why *media.Ended) {
	if call := s.stopping(why); call != nil {
		call.Cancel(why)
	}
}

// sayGoodbye ends the session after the agent's last words. Where there is no conversation
// yet it ends at once.
func (s *Session) sayGoodbye(why *media.Ended) {
	if call := s.stopping(why); call != nil {
		call.Stop(why.Reason, why.Detail, true)
	}
}

// stopping notes that the session is to end and returns the call to notify; nil: there
// is none yet, or the session is work, which ends by its context.
func (s *Session) stopping(why *media.Ended) *pipeline.Call {
	if s.work != nil {
		s.work.cancel(why)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == nil {
		s.stopped = why
		s.ask(why)
	}
	return s.call
}

// conversation is what is stored of the call.
func (s *Session) conversation() history.Conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	talk := s.history.stored()
	if s.replay != nil {
		talk.Replay = s.replay()
	}
	return talk
}
