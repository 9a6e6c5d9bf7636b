package session

import (
	"context"
	"errors"
	"hash/maphash"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// A call moves to another node with its session: this node yields it (Yield) and, when the other has it, releases it (Release), or
// else reclaims it (Reclaim). The other expects it (Manager.Expect), adopts it (Adopt) and keeps it (Keep), or gives it up (GiveUp).

// custody says whose a session is.
type custody int

const (
	kept     custody = iota // this node's
	yielded                 // another node may have it
	expected                // this node may get it
	released                // another node's
)

// ErrBusy says that a session cannot be yielded: it ends, or is no conversation of an agent.
var ErrBusy = errors.New("session: it cannot go on elsewhere now")

// Moved is what another node needs to go on with a session, beside what the store has. It stays a value as JSON, and has what was
// said.
type Moved struct {
	From      store.Node
	Status    CallStatus
	StartedAt time.Time     // answered, by the database's clock
	Free      time.Duration `json:",omitempty"` // since then, that the agent was away
	Updates   uint64        // that followers were sent
	Used      billing.Usage
	Uses      []movedUse
	Budget    movedBudget
	History   movedHistory
}

type movedUse struct {
	Engine   Engine
	Unit     billing.Unit
	Source   inference.UsageSource
	Quantity int64
}

type movedBudget struct {
	Ticket, Left, Booked billing.Money
	Daily                *billing.Money
}

type movedHistory struct {
	Talk            history.Conversation // without its log
	Bytes           int
	Turns           []turnRecord
	Events          int
	Torn            bool
	Completions     int
	CompletionBytes int
	FunctionBytes   int
	Log             history.CallLog
	LogBytes        int
}

// Yield readies the session for another node, which adopts it with what Yield returns. Until Reclaim or Release its books and what
// happens in it are no business of this node. ErrBusy changes nothing.
func (s *Session) Yield() (*Moved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.movable() {
		return nil, ErrBusy
	}
	s.custody, s.decided = yielded, make(chan struct{})
	m, h := s.moved(), &s.history
	m.History = movedHistory{Talk: h.talk, Bytes: h.bytes, Turns: h.turns, Events: h.events, Torn: h.torn, Completions: h.asked.count,
		CompletionBytes: h.asked.bytes, FunctionBytes: h.functionBytes, Log: h.log.CallLog, LogBytes: h.log.bytes}
	return m, nil
}

// movable says whether another node could go on with the session; s.mu is locked.
func (s *Session) movable() bool {
	return s.custody == kept && s.stopped == nil && s.work == nil && !s.lineOnly && s.clock.running()
}

// moved is what another node needs of the session, but for what was said; s.mu is locked.
func (s *Session) moved() *Moved {
	m := &Moved{From: s.m.node, Status: s.status, StartedAt: s.clock.startedAt, Free: s.clock.free, Updates: s.updates, Used: s.meter.Usage(),
		Budget: movedBudget{s.budget.ticket, s.budget.left, s.budget.booked, s.budget.daily}}
	for of, n := range s.uses.sums {
		m.Uses = append(m.Uses, movedUse{s.uses.by[of.engine], of.unit, of.source, n})
	}
	return m
}

// Reclaim goes on with a session that no other node has adopted.
func (s *Session) Reclaim() {
	s.note(func() {
		if s.custody == yielded {
			s.custody = kept
			close(s.decided)
			s.checkpointSoon()
		}
	})
}

// Release leaves the session to the node that has adopted it. End then has no effect on its books.
func (s *Session) Release() {
	s.note(func() {
		if s.custody == yielded {
			s.custody = released
			close(s.decided)
		}
	})
}

// isKept says whether the session is this node's.
func (s *Session) isKept() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.custody == kept
}

// isOurs says whether this node has the session, once that is decided.
func (s *Session) isOurs() bool {
	s.mu.Lock()
	undecided := s.decided
	s.mu.Unlock()
	if undecided != nil {
		<-undecided
	}
	return s.isKept()
}

// Released says whether the session is another node's, which has adopted it.
func (s *Session) Released() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.custody == released
}

// Expect makes room for an open session of the account that another node has. It must be adopted and kept, or given up.
// ErrDraining, ErrFull, or the store's refusal.
func (m *Manager) Expect(ctx context.Context, account, id string) (*Session, error) {
	stored, err := m.ledger.OpenSession(ctx, account, id, m.node)
	if err != nil {
		return nil, err
	}
	s := &Session{m: m, stored: stored, custody: expected}
	s.asked, s.ask = context.WithCancelCause(context.Background())
	s.history.log.now = m.ledger.Now
	s.history.asked.seed = maphash.MakeSeed()
	s.books.stored = time.Now()
	if err := m.enter(s); err != nil {
		return nil, err
	}
	return s, nil
}

// Adopt makes the session this node's, in the books and here. From then on the former node cannot store anything of it. The
// session is metered when it is kept. store.ErrFenced: another node has it, or it is over.
func (s *Session) Adopt(ctx context.Context, from *Moved) error {
	progress, err := s.m.ledger.AdoptSession(ctx, s.stored, from.From)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.adopt(from, progress)
	return nil
}

// adopt takes over what is known of the session, whose books are this node's; s.mu is locked.
func (s *Session) adopt(from *Moved, progress ledger.Progress) {
	now, shared := time.Now(), s.m.ledger.Now()
	s.books = books{seq: progress.Seq, stored: now, permitted: progress.Permitted}
	s.status, s.updates = from.Status, from.Updates
	s.clock.start(now.Add(from.StartedAt.Sub(shared)), from.StartedAt)
	s.clock.free = from.Free
	for c, n := range from.Used {
		s.meter.Add(billing.Component(c), n)
	}
	b := &from.Budget
	s.budget = budget{ticket: b.Ticket, left: b.Left, booked: b.Booked, daily: b.Daily}
	for _, u := range from.Uses {
		s.uses.count(u.Engine, u.Unit, u.Source, u.Quantity)
	}
	h := &from.History
	s.history.talk, s.history.bytes, s.history.turns, s.history.events, s.history.torn = h.Talk, h.Bytes, h.Turns, h.Events, h.Torn
	s.history.asked.count, s.history.asked.bytes, s.history.functionBytes = h.Completions, h.CompletionBytes, h.FunctionBytes
	s.history.log.CallLog, s.history.log.bytes = h.Log, h.LogBytes
}

// Keep goes on with a session that was adopted, and whose call is here.
func (s *Session) Keep() {
	s.back()
	s.note(func() { s.custody = kept })
	s.checkpointSoon()
}

// GiveUp ends the expectation of a session. One that was adopted goes back to the node that had it; an error says that it does not.
func (s *Session) GiveUp(ctx context.Context, adopted *Moved) (err error) {
	s.end.Do(func() {
		defer s.m.leave(s)
		if adopted != nil {
			back := *s.stored
			back.Node = adopted.From
			_, err = s.m.ledger.AdoptSession(ctx, &back, s.m.node)
		}
	})
	return err
}
