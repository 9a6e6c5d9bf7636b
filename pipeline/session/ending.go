package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/store"
	"parley/store/ledger"
)

const (
	// closeRetry and closeMax are how often, and for how long, the end of a session waits
	// for a store that does not take it. Then it is tried in the background, for as long
	// as the process lives; after that others close it at its last checkpoint.
	closeRetry = 500 * time.Millisecond
	closeMax   = time.Minute
	// laterEvery is how often it is tried then.
	laterEvery = 5 * time.Second
	// reconcileEvery is how often the store's live sessions are compared with ours, and
	// orphanAge how old one of them is that nobody here is about to begin.
	reconcileEvery = 30 * time.Second
	orphanAge      = time.Minute
)

// ending is what is still to be stored of a session that is over.
type ending struct {
	s       *Session
	saved   bool // the conversation is stored, or cannot be
	closing ledger.Closing
}

// End stops the session's clock, if it still runs, and closes its books. It returns when
// the store has them, cannot have them, or has not answered for a minute; then they are
// stored in the background. Only the first End counts. One of a session that is yielded waits until
// it is decided whose it is, and does nothing when it is another node's.
func (s *Session) End(e media.Ended) {
	s.end.Do(func() {
		defer s.m.leave(s)
		s.stopMeter(time.Now())
		if !s.isOurs() {
			return
		}
		s.close(e)
	})
}

func (s *Session) close(e media.Ended) {
	if e.Reason == "" {
		e.Reason = media.Failed
	}
	startedAt, usage := s.usage(time.Now())
	end := &ending{s: s, saved: s.work != nil,
		closing: ledger.Closing{Reason: string(e.Reason), Detail: string(e.Detail), StartedAt: startedAt, EndedAt: s.clock.stoppedAt, Usage: usage}}
	for deadline := time.Now().Add(closeMax); ; time.Sleep(closeRetry) {
		err := end.store()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			s.m.log.Error("a session is not closed yet", "session", s.stored.ID, "err", err)
			s.m.closeLater(end)
			return
		}
	}
}

// store stores what is left; nil says that nothing is, or nothing that can be stored.
func (e *ending) store() error {
	s := e.s
	if !e.saved {
		err := s.patiently(func(ctx context.Context) error {
			return s.m.ledger.SaveConversation(ctx, s.stored.Account, s.stored.ID, s.conversation())
		})
		if away(err) {
			return err
		}
		if err != nil {
			s.m.log.Error("the conversation of a session was not stored", "session", s.stored.ID, "err", err)
		}
		e.saved = true
	}
	// Without a conversation too: what is not closed is not charged, and counts as
	// a call in progress.
	s.note(func() { e.closing.Uses = s.uses.stored(&s.stored.Tariff) })
	err := s.patiently(func(ctx context.Context) error {
		_, err := s.m.ledger.CloseSession(ctx, s.stored, e.closing)
		return err
	})
	if undecided(err) {
		return err
	}
	if err != nil {
		s.m.log.Warn("a session was not closed here", "session", s.stored.ID, "err", err)
	}
	s.note(func() { s.advance(CallEnded) })
	return nil
}

func (s *Session) patiently(f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), ledgerPatience)
	defer cancel()
	return f(ctx)
}

// away says that the database did not answer.
func away(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// undecided says that the store has failed, and not refused for good.
func undecided(err error) bool {
	return err != nil && !errors.Is(err, store.ErrFenced) && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrInvalid)
}

// closeLater has an ending stored in the background.
func (m *Manager) closeLater(e *ending) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unclosed = append(m.unclosed, e)
}

// Reconcile makes the store's live sessions of this node those that are here, until ctx
// ends.
func (m *Manager) Reconcile(ctx context.Context) error {
	last := time.Now()
	return isolate.Every(ctx, laterEvery, func() {
		isolate.Do("pipeline/session/reconcile", nil, func() {
			m.closeUnclosed()
			if time.Since(last) < reconcileEvery {
				return
			}
			last = time.Now()
			if err := m.closeOrphans(ctx); err != nil && ctx.Err() == nil {
				m.log.Warn("sessions that nobody has were not looked for", "err", err)
			}
		})
	})
}

// closeUnclosed tries what could not be stored before. A database that is away is asked
// once.
func (m *Manager) closeUnclosed() {
	m.mu.Lock()
	list := m.unclosed
	m.mu.Unlock()
	for _, e := range list {
		err := e.store()
		if away(err) && !store.Locked(err) {
			return
		}
		if err == nil {
			m.mu.Lock()
			m.unclosed = slices.DeleteFunc(slices.Clone(m.unclosed), func(o *ending) bool { return o == e })
			m.mu.Unlock()
		}
	}
}

// closeOrphans closes sessions of this node that it does not know: their start was
// committed without its hearing of it, or an earlier life could not close them.
func (m *Manager) closeOrphans(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reconcileEvery)
	defer cancel()
	live, err := m.ledger.Orphans(ctx, m.node, m.ledger.Now().Add(-orphanAge))
	if err != nil || len(live) == 0 {
		return err
	}
	known := m.known()
	var lost []ledger.Lost
	for _, l := range live {
		if !known[l.ID] {
			lost = append(lost, l)
		}
	}
	lost, err = m.ledger.CloseLost(ctx, lost)
	m.Lost(lost)
	return err
}

// known are the identifiers of sessions that are here, or whose end is.
func (m *Manager) known() map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := make(map[string]bool, len(m.live)+len(m.unclosed))
	for s := range m.live {
		if s.stored != nil {
			known[s.stored.ID] = true
		}
	}
	for _, e := range m.unclosed {
		known[e.s.stored.ID] = true
	}
	return known
}

// Lost logs and counts sessions that were closed for a process that is gone, and has their
// followers look at the store.
func (m *Manager) Lost(lost []ledger.Lost) {
	for _, l := range lost {
		if l.Err != nil {
			m.lostOpen.Add(1)
			m.log.Error("a session without a process could not be closed", "session", l.ID, "err", l.Err)
			continue
		}
		m.lostClosed.Add(1)
		m.log.Warn("a session without a process was closed at its last checkpoint", "session", l.ID)
		if m.watcher != nil {
			m.watcher.OnUpdate(l.Account, l.ID, CallUpdate{Seq: lastUpdate, Status: CallEnded})
		}
	}
}

// LostSessions counts the calls of Lost: sessions that are closed, and attempts to close
// one that failed.
func (m *Manager) LostSessions() (closed, failed uint64) {
	return m.lostClosed.Load(), m.lostOpen.Load()
}
