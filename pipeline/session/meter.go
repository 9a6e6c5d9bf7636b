package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/billing"
	"parley/media"
	"parley/media/isolate"
	"parley/store"
	"parley/store/ledger"
)

// The meter's rhythm. A crash loses what was used since the last checkpoint, in
// the customer's favour; the floor of the balance is noticed as late.
const (
	meterTick       = time.Second
	checkpointEvery = 5 * time.Second
	// soonEvery is how often checkpoints that sessions ask for before their time are stored: a busy node has hundreds of
	// completions a second. A crash, and the floor, cost so much more at most.
	soonEvery      = time.Second
	ledgerPatience = 3 * time.Second
	// blindMax is how long a call goes on whose books are not stored. A database that
	// crashed is back in seconds; beyond this it would be free.
	blindMax = 30 * time.Second
	// permitAhead is how long before its boundary a line minute is asked for: the
	// agent can still say goodbye within the minute that is paid.
	permitAhead = 10 * time.Second
)

// Run meters the calls until ctx ends: cumulative checkpoints and permits for line
// minutes. Heartbeats, WatchLease and Reconcile run beside it.
func (m *Manager) Run(ctx context.Context) error {
	tick := time.NewTicker(meterTick)
	defer tick.Stop()
	var last time.Time          // when a checkpoint of all was tried
	var rested <-chan time.Time // until then nobody's wish for a checkpoint soon is heard
	soon := m.soon
	for {
		all := true
		select {
		case <-ctx.Done():
			return nil
		case <-rested:
			soon, rested = m.soon, nil
			continue
		case <-soon:
			all = false
			soon, rested = nil, time.After(soonEvery)
		case <-m.atOnce:
			all = false
		case <-tick.C:
		}
		now := time.Now()
		err := error(isolate.Internal)
		isolate.Do("pipeline/session/books", nil, func() { err = m.round(ctx, &last, now, all) })
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			m.log.Warn("the ledger does not answer", "err", err)
		}
		m.endBlind(now)
	}
}

// round does what is due; without all only the checkpoints that were asked for. The first failure
// ends it: a database that is away is not asked for each call in turn.
func (m *Manager) round(ctx context.Context, last *time.Time, now time.Time, all bool) error {
	if all && now.Sub(*last) < checkpointEvery {
		return m.permits(ctx, now)
	}
	select {
	case <-m.soon: // who asked before this is in the round
	default:
	}
	sessions := m.sessions()
	due := slices.DeleteFunc(slices.Clone(sessions), func(s *Session) bool { return !s.due.Swap(false) }) // a round of all has them, too
	if !all {
		return m.checkpoint(ctx, due, now)
	}
	*last = now
	if err := m.checkpoint(ctx, sessions, now); err != nil {
		return err
	}
	return m.permits(ctx, now)
}

// endBlind ends the calls whose books have not been stored for too long.
func (m *Manager) endBlind(now time.Time) {
	for _, s := range m.sessions() {
		if now.Sub(s.books.stored) > blindMax {
			s.sayGoodbye(endNodeLost)
		}
	}
}

// checkpoint stores what calls have used and ends those that may not go on.
func (m *Manager) checkpoint(ctx context.Context, sessions []*Session, now time.Time) error {
	if len(sessions) == 0 {
		return nil
	}
	reports := make([]ledger.Checkpoint, len(sessions))
	for i, s := range sessions {
		started, usage := s.usage(now)
		s.books.seq++
		reports[i] = ledger.Checkpoint{Session: s.stored, Seq: s.books.seq, StartedAt: started, Usage: usage}
	}
	ctx, cancel := context.WithTimeout(ctx, ledgerPatience)
	defer cancel()
	results, err := m.ledger.Checkpoints(ctx, reports)
	if results != nil && err != nil { // what was reported is stored
		m.log.Warn("what follows from a checkpoint was left to the next", "err", err)
		err = nil
	}
	var exhausted []string // accounts
	for i := range results {
		if s := sessions[i]; m.apply(s, &results[i], reports[i].Usage, now) {
			exhausted = append(exhausted, s.stored.Account)
		}
	}
	slices.Sort(exhausted)
	for _, account := range slices.Compact(exhausted) {
		m.spread(account)
	}
	return err
}

// apply takes the result of a checkpoint of used, which may end the session. It says whether
// the session has now found that its account can pay for none.
func (m *Manager) apply(s *Session, r *ledger.CheckpointResult, used billing.Usage, now time.Time) bool {
	switch {
	case !s.isKept(): // it was yielded meanwhile
		return false
	case errors.Is(r.Err, ledger.ErrLater):
		s.checkpointSoon()
		return false
	case errors.Is(r.Err, store.ErrFenced), errors.Is(r.Err, store.ErrNotFound):
		s.loseTo(endNodeLost)
		return false
	case r.Err != nil: // it cannot be stored: nothing more would be paid for
		m.log.Error("the ledger refuses what a session has used", "session", s.stored.ID, "err", r.Err)
		s.sayGoodbye(endNodeLost)
		return false
	}
	cost := s.cost(used)
	s.books.stored = now
	s.book(r, cost)
	s.noSpeculation(r.Pots.Spendable(s.stored.Terms.Kind.PaidOnly()) < 0)
	if r.Hangup {
		s.cutOff(hungUpByAPI)
		return false
	}
	why, account := s.exhaustion(r, cost)
	if why == nil || s.exhausted.Swap(true) {
		return false
	}
	s.sayGoodbye(why)
	return account
}

// exhaustion is why the session may not go on by a checkpoint at which it had cost so much;
// nil: it may. account says that the reason is its account's.
func (s *Session) exhaustion(r *ledger.CheckpointResult, cost billing.Money) (why *media.Ended, account bool) {
	switch {
	case r.Freeze == ledger.Suspended:
		return &media.Ended{Reason: media.APIHangup, Detail: media.Suspended}, true
	case r.Freeze == ledger.Disputed:
		return &media.Ended{Reason: media.BalanceExhausted, Detail: media.Disputed}, true
	case s.stored.AtFloor(r.Pots):
		return &media.Ended{Reason: media.BalanceExhausted}, true
	case r.Room != nil && *r.Room <= 0: // a limit of spending that binds the session is reached
		return &media.Ended{Reason: media.BalanceExhausted, Detail: media.Spending}, true
	case s.budget.ticket > 0 && cost >= s.budget.ticket:
		return &media.Ended{Reason: media.BalanceExhausted, Detail: media.TicketSpent}, false
	}
	return nil, false
}

// books is what the manager's Run alone knows of a session.
type books struct {
	seq       int64     // of the last checkpoint
	stored    time.Time // when one was stored last
	permitted int64     // line minutes
}

// nextMinute is the line minute to ask permission for now; 0: there is none.
func (s *Session) nextMinute(now time.Time) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stored.Terms.Kind.Phone() || !s.clock.running() {
		return 0
	}
	minute := int64((now.Sub(s.clock.started)+permitAhead)/time.Minute) + 1
	if minute <= max(1, s.books.permitted) {
		return 0
	}
	return max(1, s.books.permitted) + 1
}

// permits asks for the line minutes that are about to begin, of all calls at once. A refusal ends
// the call within the minute that is paid; when there is no answer the next round asks again.
func (m *Manager) permits(ctx context.Context, now time.Time) error {
	var asking []*Session
	var minutes []ledger.Minute
	for _, s := range m.sessions() {
		if n := s.nextMinute(now); n > 0 {
			asking, minutes = append(asking, s), append(minutes, ledger.Minute{Session: s.stored, Number: n})
		}
	}
	if len(minutes) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, ledgerPatience)
	defer cancel()
	answers, err := m.ledger.LineMinutes(ctx, minutes)
	for i, answer := range answers {
		err = errors.Join(err, asking[i].permitted(minutes[i].Number, answer))
	}
	return err
}

// permitted takes the answer to a line minute. An error that it returns says nothing about the call.
func (s *Session) permitted(minute int64, answer error) error {
	switch {
	case !s.isKept(): // it was yielded meanwhile
	case answer == nil:
		s.books.permitted = minute
	case errors.Is(answer, store.ErrInsufficientBalance):
		s.sayGoodbye(&media.Ended{Reason: media.BalanceExhausted})
	case errors.Is(answer, store.ErrSpending):
		s.sayGoodbye(&media.Ended{Reason: media.BalanceExhausted, Detail: media.Spending})
	case errors.Is(answer, store.ErrFenced), errors.Is(answer, store.ErrNotFound):
		s.loseTo(endNodeLost)
	case !errors.Is(answer, ledger.ErrLater):
		return answer
	}
	return nil
}
