package session

import (
	"context"
	"encoding/json"
	"time"

	"parley/billing"
	"parley/media"
	"parley/media/isolate"
	"parley/store/history"
)

// A session whose node has died goes on at another: that one has what Progress returned, which was stored while the node lived, and
// takes the session over (Manager.Expect, TakeOver, Keep). A node that was taken for dead and is not keeps silent (Muted), and ends
// its part of the session without a word.

// Progress is what another node needs to take the session over, but for what was said, which is stored as it happens. The session goes
// on here. ErrBusy: it cannot go on elsewhere now.
func (s *Session) Progress() (*Moved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.movable() {
		return nil, ErrBusy
	}
	return s.moved(), nil
}

// Happened is how many events of the session were to be stored so far: it grows whenever the conversation is further.
func (s *Session) Happened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.events
}

// Rescuable says that other nodes can take the session over when this one is taken for dead. Then leave ends its call here, without a
// word to the far end.
func (s *Session) Rescuable(leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave = leave
}

// rescuable says whether other nodes can take the session over.
func (s *Session) rescuable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leave != nil
}

// Muted says that nothing may be heard of the session's agent here, from any goroutine and at once: other nodes may take the session over,
// or have.
func (s *Session) Muted() bool { return s.m.lease.muted() }

// TakeOver makes the session of a node that is dead this node's, in the books and here, with what is stored of it, and returns what was
// said. The agent's time begins again when the session is kept. store.ErrFenced: another node has it, or it is over.
func (s *Session) TakeOver(ctx context.Context, from *Moved) (said history.Conversation, err error) {
	progress, err := s.m.ledger.AdoptSession(ctx, s.stored, from.From)
	if err != nil {
		return said, err
	}
	used, err := s.m.ledger.Used(ctx, s.stored)
	if err != nil {
		return said, err
	}
	past, err := s.m.ledger.Unfinished(ctx, s.stored.Account, s.stored.ID)
	if err != nil {
		return said, err
	}
	for c, n := range used {
		from.Used[c] = max(from.Used[c], n)
	}
	from.Updates += lostUpdates
	from.History = historyOf(&past)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.adopt(from, progress)
	now := time.Now()
	s.clock.free = max(0, s.clock.ran(now)-time.Duration(used[billing.AgentTime])*time.Millisecond)
	s.clock.away = now
	return past.Conversation, nil
}

// back has the agent's time run again. How long it did not is evidence beside the bill.
func (s *Session) back() {
	var away time.Duration
	s.note(func() { away = s.clock.back(time.Now()) })
	if away == 0 {
		return
	}
	err := s.patiently(func(ctx context.Context) error { return s.m.ledger.NoteAway(ctx, s.stored, away) })
	if err != nil {
		s.m.log.Error("it is not stored for how long an agent was away", "session", s.stored.ID, "away", away, "err", err)
	}
}

// lostUpdates is more updates than a node can have published after it stored how far a session was.
const lostUpdates = 1 << 16

// historyOf is what is stored of a conversation in progress, as its session keeps it.
func historyOf(past *history.Unfinished) movedHistory {
	h := movedHistory{Talk: past.Conversation, Events: past.Events, Completions: past.Completions}
	if log := past.Conversation.Log; log != nil {
		h.Log = *log
		for i := range log.Events {
			h.LogBytes += sizeOf(&log.Events[i])
		}
	}
	h.Talk.Log, h.Talk.Turns = nil, nil
	_ = json.Unmarshal(past.Turns, &h.Turns) // turns that cannot be read are not shown
	for i := range h.Talk.Transcript {
		h.Bytes += lineBytes(&h.Talk.Transcript[i])
	}
	for i := range h.Talk.Functions {
		h.FunctionBytes += functionBytes(&h.Talk.Functions[i])
	}
	return h
}

// holderEvery and holderPatience are how often, and for how long, a node that was taken for dead asks who has a session of it.
const (
	holderEvery    = 500 * time.Millisecond
	holderPatience = 20 * time.Second
)

// loseTo ends the session, which this node has no more. Where another one has taken it over, the far end hears nothing of that.
func (s *Session) loseTo(why *media.Ended) {
	s.mu.Lock()
	leave := s.leave
	s.mu.Unlock()
	if leave == nil {
		s.cutOff(why)
		return
	}
	s.asks.Do(func() {
		isolate.Go("pipeline/session/holder", func(error) { s.cutOff(why) }, func() { s.leaveOrEnd(leave, why) })
	})
}

// leaveOrEnd waits until it is known who has the session.
func (s *Session) leaveOrEnd(leave func(), why *media.Ended) {
	ctx, cancel := context.WithTimeout(context.Background(), holderPatience)
	defer cancel()
	for {
		holder, live, err := s.m.ledger.Holder(ctx, s.stored.Account, s.stored.ID)
		switch {
		case err == nil && holder != s.m.node:
			s.m.log.Warn("another node has a call of this one, which leaves it", "session", s.stored.ID, "node", holder.ID)
			s.note(func() { s.custody = released })
			s.ask(why)
			leave()
			return
		case err == nil && !live, !pause(ctx, holderEvery): // it was closed as lost, or nobody takes it
			s.cutOff(why)
			return
		}
	}
}
