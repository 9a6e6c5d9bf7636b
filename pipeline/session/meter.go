package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/store"
)

// The meter's rhythm. A crash loses what was used since the last checkpoint, in
// the customer's favour; the floor of the balance is noticed as late.
const (
	meterTick       = time.Second
	checkpointEvery = 5 * time.Second
	ledgerPatience  = 3 * time.Second
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
	var last time.Time // when a checkpoint of all was tried
	for {
		all := true
		select {
		case <-ctx.Done():
			return nil
		case <-m.soon:
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

// round does what is due; without all only what cannot wait. The first failure ends
// it: a database that is away is not asked for each call in turn.
func (m *Manager) round(ctx context.Context, last *time.Time, now time.Time, all bool) error {
	sessions := m.sessions()
	if !all || now.Sub(*last) < checkpointEvery {
		sessions = slices.DeleteFunc(sessions, func(s *Session) bool { return !s.urgent.Swap(false) })
	} else {
		*last = now
	}
	if err := m.checkpoint(ctx, sessions, now); err != nil || !all {
		return err
	}
	return m.permits(ctx, now)
}

// endBlind ends the calls whose books have not been stored for too long.
func (m *Manager) endBlind(now time.Time) {
	for _, s := range m.sessions() {
		if now.Sub(s.booked) > blindMax {
			s.stop(&media.Ended{Reason: media.Failed, Detail: nodeLost}, true)
		}
	}
}

// checkpoint stores what calls have used and ends those that may not go on.
func (m *Manager) checkpoint(ctx context.Context, sessions []*Session, now time.Time) error {
	if len(sessions) == 0 {
		return nil
	}
	reports := make([]store.Checkpoint, len(sessions))
	for i, s := range sessions {
		started, usage := s.usage(now)
		s.seq++
		reports[i] = store.Checkpoint{Session: s.stored, Seq: s.seq, StartedAt: started, Usage: usage}
	}
	ctx, cancel := context.WithTimeout(ctx, ledgerPatience)
	defer cancel()
	results, err := m.ledger.Checkpoints(ctx, reports, m.ledger.Now())
	if results != nil && err != nil { // what was reported is stored
		m.log.Warn("what follows from a checkpoint was left to the next", "err", err)
		err = nil
	}
	var broke []string // accounts
	for i, r := range results {
		if r.Later {
			sessions[i].urgent.Store(true)
			continue
		}
		if r.Err == nil {
			sessions[i].booked = now
			sessions[i].book(&results[i], sessions[i].cost(reports[i].Usage))
			sessions[i].thrifty(r.Pots.Spendable(sessions[i].stored.Terms.Kind.PaidOnly()) < 0)
		}
		switch s := sessions[i]; {
		case errors.Is(r.Err, store.ErrFenced), errors.Is(r.Err, store.ErrNotFound):
			s.stop(&media.Ended{Reason: media.Failed, Detail: nodeLost}, false)
		case r.Err != nil: // it cannot be stored: nothing more would be paid for
			m.log.Error("the ledger refuses what a session has used", "session", s.stored.ID, "err", r.Err)
			s.stop(&media.Ended{Reason: media.Failed, Detail: nodeLost}, true)
		case r.Hangup:
			s.stop(hungUpByAPI, false)
		case r.Suspended && !s.broke.Swap(true):
			s.stop(&media.Ended{Reason: media.APIHangup, Detail: media.Suspended}, true)
			broke = append(broke, s.stored.Account)
		case (r.Disputed || s.stored.AtFloor(r.Pots) || spentUp(r)) && !s.broke.Swap(true):
			why := &media.Ended{Reason: media.BalanceExhausted}
			switch {
			case r.Disputed:
				why.Detail = media.Disputed
			case !s.stored.AtFloor(r.Pots):
				why.Detail = media.Spending
			}
			s.stop(why, true)
			broke = append(broke, s.stored.Account)
		case s.overTicket(s.cost(reports[i].Usage)) && !s.broke.Swap(true):
			s.stop(&media.Ended{Reason: media.BalanceExhausted, Detail: media.TicketSpent}, true)
		}
	}
	slices.Sort(broke)
	for _, account := range slices.Compact(broke) {
		m.spread(account)
	}
	return err
}

// spentUp says whether a limit of spending that binds the session is reached.
func spentUp(r store.CheckpointResult) bool { return r.Room != nil && *r.Room <= 0 }

// permits asks for the line minutes that are about to begin. A refusal ends the
// call within the minute that is paid; when there is no answer the next round asks
// again. An account that somebody has locked holds up no other.
func (m *Manager) permits(ctx context.Context, now time.Time) error {
	locked := map[string]bool{}
	for _, s := range m.sessions() {
		minute := s.wants(now)
		if minute == 0 || locked[s.stored.Account] {
			continue
		}
		asking, cancel := context.WithTimeout(ctx, ledgerPatience)
		err := m.ledger.LineMinute(asking, s.stored, minute, m.ledger.Now())
		cancel()
		switch {
		case err == nil:
			s.granted = minute
		case errors.Is(err, store.ErrInsufficientBalance):
			s.stop(&media.Ended{Reason: media.BalanceExhausted}, true)
		case errors.Is(err, store.ErrSpending):
			s.stop(&media.Ended{Reason: media.BalanceExhausted, Detail: media.Spending}, true)
		case errors.Is(err, store.ErrFenced), errors.Is(err, store.ErrNotFound):
			s.stop(&media.Ended{Reason: media.Failed, Detail: nodeLost}, false)
		case store.Locked(err):
			locked[s.stored.Account] = true
		default:
			return err
		}
	}
	return nil
}
