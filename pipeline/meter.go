package pipeline

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/media"
	"parley/store"
)

// The meter's rhythm. A crash loses what was used since the last checkpoint, in
// the customer's favour; the floor of the balance is noticed as late.
const (
	meterTick       = time.Second
	checkpointEvery = 5 * time.Second
	heartbeatEvery  = 2 * time.Second
	ledgerPatience  = 3 * time.Second
	// blindMax is how long calls go on while the database is away. A database that
	// crashed is back in seconds; beyond this they would be free.
	blindMax = 30 * time.Second
	// permitAhead is how long before its boundary a line minute is asked for: the
	// agent can still say goodbye within the minute that is paid.
	permitAhead = 10 * time.Second
)

// Run meters the calls until ctx ends: cumulative checkpoints, permits for line
// minutes, the node's heartbeat. It returns store.ErrFenced when a younger
// process has taken this node's name; its calls have been hung up then.
func (m *Manager) Run(ctx context.Context) error {
	tick := time.NewTicker(meterTick)
	defer tick.Stop()
	r := rounds{seen: time.Now()}
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
		err := m.round(ctx, &r, now, all)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, store.ErrFenced):
			m.lose(false)
			return err
		case err != nil:
			m.log.Warn("the ledger does not answer", "err", err, "for", now.Sub(r.seen).Round(time.Second).String())
		}
		if now.Sub(r.seen) > blindMax {
			m.lose(true)
		}
	}
}

// rounds remembers when the meter last did what.
type rounds struct {
	heartbeat  time.Time // tried
	checkpoint time.Time // tried
	seen       time.Time // the books of all calls were stored
}

// round does what is due; without all only what cannot wait. The first failure ends
// it: a database that is away is not asked for each call in turn.
func (m *Manager) round(ctx context.Context, r *rounds, now time.Time, all bool) error {
	if !all {
		return m.checkpoint(ctx, m.urgent(), now)
	}
	if now.Sub(r.heartbeat) >= heartbeatEvery {
		r.heartbeat = now
		if err := m.beat(ctx, now); err != nil {
			return err
		}
	}
	if now.Sub(r.checkpoint) >= checkpointEvery {
		r.checkpoint = now
		if err := m.checkpoint(ctx, m.sessions(), now); err != nil {
			return err
		}
		r.seen = now
	}
	return m.permits(ctx, now)
}

func (m *Manager) beat(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerPatience)
	defer cancel()
	return m.ledger.Heartbeat(ctx, m.node, now)
}

// lose ends every call because nobody keeps its books any more.
func (m *Manager) lose(goodbye bool) {
	for _, s := range m.sessions() {
		s.stop(&media.Ended{Reason: media.Failed, Detail: "node_lost"}, goodbye)
	}
}

// urgent are the sessions that have asked for a checkpoint.
func (m *Manager) urgent() []*Session {
	return slices.DeleteFunc(m.sessions(), func(s *Session) bool { return !s.urgent.Swap(false) })
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
	results, err := m.ledger.Checkpoints(ctx, reports, now)
	var broke []string // accounts
	for i, r := range results {
		if r.Err == nil {
			sessions[i].thrifty(r.Pots.Spendable(sessions[i].stored.Terms.Kind.PaidOnly()) < 0)
		}
		switch s := sessions[i]; {
		case errors.Is(r.Err, store.ErrFenced), errors.Is(r.Err, store.ErrNotFound):
			s.stop(&media.Ended{Reason: media.Failed, Detail: "node_lost"}, false)
		case r.Err != nil: // it cannot be stored: nothing more would be paid for
			m.log.Error("the ledger refuses what a session has used", "session", s.stored.ID, "err", r.Err)
			s.stop(&media.Ended{Reason: media.Failed, Detail: "node_lost"}, true)
		case r.Hangup:
			s.stop(hungUpByAPI, false)
		case (r.Disputed || s.stored.AtFloor(r.Pots)) && !s.broke.Swap(true):
			why := &media.Ended{Reason: media.BalanceExhausted}
			if r.Disputed {
				why.Detail = media.Disputed
			}
			s.stop(why, true)
			broke = append(broke, s.stored.Account)
		}
	}
	slices.Sort(broke)
	for _, account := range slices.Compact(broke) {
		m.spread(account)
	}
	return err
}

// permits asks for the line minutes that are about to begin. A refusal ends the
// call within the minute that is paid; when there is no answer the next round asks
// again.
func (m *Manager) permits(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerPatience)
	defer cancel()
	for _, s := range m.sessions() {
		minute := s.wants(now)
		if minute == 0 {
			continue
		}
		switch err := m.ledger.LineMinute(ctx, s.stored, minute, now); {
		case err == nil:
			s.granted = minute
		case errors.Is(err, store.ErrInsufficientBalance):
			s.stop(&media.Ended{Reason: media.BalanceExhausted}, true)
		case errors.Is(err, store.ErrFenced), errors.Is(err, store.ErrNotFound):
			s.stop(&media.Ended{Reason: media.Failed, Detail: "node_lost"}, false)
		default:
			return err
		}
	}
	return nil
}
