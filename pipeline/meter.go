package pipeline

import (
	"context"
	"errors"
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
	var checkpoint, heartbeat time.Time // when they were last tried
	seen := time.Now()                  // when the database last answered
	for {
		now := time.Now()
		soon := false
		select {
		case <-ctx.Done():
			return nil
		case <-m.soon:
			soon = true
		case now = <-tick.C:
		}
		var err error
		if now.Sub(heartbeat) >= heartbeatEvery {
			heartbeat = now
			err = m.beat(ctx, now)
		}
		if errors.Is(err, store.ErrFenced) {
			m.lose()
			return err
		}
		m.permits(ctx, now)
		if soon || now.Sub(checkpoint) >= checkpointEvery {
			checkpoint = now
			err = errors.Join(err, m.checkpoint(ctx, now))
		}
		switch {
		case err == nil:
			seen = now
		case ctx.Err() == nil:
			m.log.Warn("the ledger does not answer", "err", err, "for", now.Sub(seen).Round(time.Second).String())
		}
		if now.Sub(seen) > blindMax {
			m.lose()
		}
	}
}

func (m *Manager) beat(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerPatience)
	defer cancel()
	return m.ledger.Heartbeat(ctx, m.node, now)
}

// lose ends every call because nobody keeps its books any more.
func (m *Manager) lose() {
	for _, s := range m.sessions() {
		s.stop(&media.Ended{Reason: media.Failed, Detail: "node_lost"}, true)
	}
}

// checkpoint stores what every call has used and ends those that may not go on.
func (m *Manager) checkpoint(ctx context.Context, now time.Time) error {
	sessions := m.sessions()
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
	if err != nil {
		return err
	}
	for i, r := range results {
		switch s := sessions[i]; {
		case errors.Is(r.Err, store.ErrFenced), errors.Is(r.Err, store.ErrNotFound):
			s.stop(&media.Ended{Reason: media.Failed, Detail: "node_lost"}, false)
		case r.Err == nil && s.stored.AtFloor(r.Pots):
			s.stop(&media.Ended{Reason: media.BalanceExhausted}, true)
		}
	}
	return nil
}

// permits asks for the line minutes that are about to begin. A refusal ends the
// call within the minute that is paid; no answer is asked for again.
func (m *Manager) permits(ctx context.Context, now time.Time) {
	for _, s := range m.sessions() {
		minute := s.wants(now)
		if minute == 0 {
			continue
		}
		ask, cancel := context.WithTimeout(ctx, ledgerPatience)
		err := m.ledger.LineMinute(ask, s.stored, minute, now)
		cancel()
		switch {
		case err == nil:
			s.granted = minute
		case errors.Is(err, store.ErrInsufficientBalance):
			s.stop(&media.Ended{Reason: media.BalanceExhausted}, true)
		case errors.Is(err, store.ErrFenced):
			s.stop(&media.Ended{Reason: media.Failed, Detail: "node_lost"}, false)
		}
	}
}
