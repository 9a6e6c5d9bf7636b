package session

import (
	"context"
	"encoding/json"
	"time"

	"parley/media/isolate"
	"parley/store/history"
)

// Bounds of events on their way to the store. A node waits storeEvery for more to go with one, so
// that it commits ten times a second at most however many calls it has.
const (
	maxEvents  = 4096 // that wait
	maxStored  = 512  // at once
	storeEvery = 100 * time.Millisecond
	storeAgain = time.Second // when the database is away
)

// happens has an event stored as it happens; s.mu is locked. When too many wait, the rest of the call
// is left to its end, with which all is stored.
func (s *Session) happens(e history.Event) {
	if s.stored == nil || s.work != nil || s.history.torn {
		return
	}
	e.At = s.m.ledger.Now().UTC().Truncate(time.Microsecond)
	select {
	case s.m.events <- history.Happened{Account: s.stored.Account, Call: s.stored.ID, No: s.history.events, Event: e}:
		s.history.events++
	default:
		s.history.torn = true
	}
}

// turnHappens is happens for where the time of a turn went.
func (s *Session) turnHappens(t *turnRecord) {
	if t == nil {
		return
	}
	if text, err := json.Marshal(t); err == nil {
		s.happens(history.Event{Turn: text})
	}
}

// RecordEvents stores what happens in calls as it happens, until ctx ends: with a node that dies no
// more is lost than what waits here. While the database is away it waits for it.
func (m *Manager) RecordEvents(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case first := <-m.events:
			isolate.Do("pipeline/session/events", nil, func() { m.recordEvents(ctx, first) })
		}
	}
}

func (m *Manager) recordEvents(ctx context.Context, first history.Happened) {
	if !pause(ctx, storeEvery) {
		return
	}
	batch := []history.Happened{first}
	for len(batch) < maxStored {
		select {
		case e := <-m.events:
			batch = append(batch, e)
			continue
		default:
		}
		break
	}
	for {
		err := m.saveEvents(ctx, batch)
		if err == nil {
			return
		}
		if !away(err) {
			m.log.Warn("what happened in calls is stored with their ends", "events", len(batch), "err", err)
			return
		}
		if !pause(ctx, storeAgain) {
			return
		}
	}
}

func (m *Manager) saveEvents(ctx context.Context, batch []history.Happened) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerPatience)
	defer cancel()
	return m.ledger.SaveEvents(ctx, batch)
}

// pause waits; false says that ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
