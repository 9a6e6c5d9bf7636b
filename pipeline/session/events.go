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
// is left to its end, with which all is stored but completions.
func (s *Session) happens(e history.Event) {
	e.At = s.m.ledger.Now().UTC().Truncate(time.Microsecond)
	if s.record(history.Happened{No: s.history.events, Event: e}) {
		s.history.events++
	}
}

// record gives an event or a completion to be stored and says whether it was taken; s.mu is locked.
func (s *Session) record(h history.Happened) bool {
	if s.stored == nil || s.work != nil || s.history.torn {
		return false
	}
	if s.custody != kept { // another node may store its events under the same numbers
		s.history.torn = true
		return false
	}
	h.Account, h.Call = s.stored.Account, s.stored.ID
	select {
	case s.m.events <- &h:
		return true
	default:
		s.history.torn = true
		return false
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

// RecordEvents stores what happens in calls as it happens, until ctx ends and what waits then is
// stored: with a node that dies no more is lost than what waits here. While the database is away it
// waits for it.
func (m *Manager) RecordEvents(ctx context.Context) error {
	record := func(first *history.Happened) {
		isolate.Do("pipeline/session/events", nil, func() { m.recordEvents(ctx, first) })
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case first := <-m.events:
			record(first)
		}
	}
	for {
		select {
		case first := <-m.events:
			record(first)
		default:
			return nil
		}
	}
}

func (m *Manager) recordEvents(ctx context.Context, first *history.Happened) {
	pause(ctx, storeEvery)
	batch := []history.Happened{*first}
	for len(batch) < maxStored {
		select {
		case e := <-m.events:
			batch = append(batch, *e)
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
			m.saveEach(ctx, batch)
			return
		}
		if !pause(ctx, storeAgain) {
			return
		}
	}
}

// saveEach stores events one by one, so that one that cannot be stored keeps no other back.
func (m *Manager) saveEach(ctx context.Context, batch []history.Happened) {
	for i := range batch {
		if err := m.saveEvents(ctx, batch[i:i+1]); err != nil {
			m.log.Warn("what happened in a call is not stored before its end", "session", batch[i].Call, "err", err)
		}
	}
}

func (m *Manager) saveEvents(ctx context.Context, batch []history.Happened) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledgerPatience)
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
