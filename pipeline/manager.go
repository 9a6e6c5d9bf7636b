package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"parley/billing"
	"parley/media"
	"parley/store"
)

// Ledger is what the manager needs of the store.
type Ledger interface {
	StartSession(ctx context.Context, s store.Start, now time.Time) (*store.Session, error)
	Checkpoints(ctx context.Context, cs []store.Checkpoint, now time.Time) ([]store.CheckpointResult, error)
	LineMinute(ctx context.Context, s *store.Session, minute int64, now time.Time) error
	CloseSession(ctx context.Context, s *store.Session, c store.Closing, now time.Time) (billing.Money, error)
	SaveConversation(ctx context.Context, account, id string, c store.Conversation) error
	Heartbeat(ctx context.Context, n store.Node, now time.Time) error
}

// Why the manager admits no call, besides what the store refuses with.
var (
	ErrDraining = errors.New("pipeline: the node takes no new calls")
	ErrFull     = errors.New("pipeline: the node has as many calls as it may")
)

// Manager owns the calls of this node: it admits them, meters them and drains
// them. Its methods may be called from any goroutine.
type Manager struct {
	ledger Ledger
	node   store.Node
	card   func() *billing.RateCard // the one in force
	max    int
	log    *slog.Logger
	soon   chan struct{} // a checkpoint is wanted before its time

	mu       sync.Mutex
	live     map[*Session]struct{}
	draining bool
	last     *media.Ended  // why every call is being ended; nil while they are not
	empty    chan struct{} // closed when draining and no call is left
}

// NewManager returns a manager for this life of the node. max bounds its calls; 0
// means no bound.
func NewManager(ledger Ledger, node store.Node, card func() *billing.RateCard, max int, log *slog.Logger) *Manager {
	return &Manager{ledger: ledger, node: node, card: card, max: max, log: log,
		soon: make(chan struct{}, 1), live: map[*Session]struct{}{}, empty: make(chan struct{})}
}

// Admission asks for a call.
type Admission struct {
	Account string
	Agent   string // of the account; empty when the client brings its own prompt
	Terms   billing.Terms
	From    string
	To      string
}

// Admit lets a call start, or refuses with ErrDraining, ErrFull or the store's
// refusal. An admitted session must be ended with Conduct or End.
func (m *Manager) Admit(ctx context.Context, a Admission) (*Session, error) {
	s := &Session{m: m}
	if err := m.enter(s); err != nil {
		return nil, err
	}
	stored, err := m.ledger.StartSession(ctx, store.Start{Node: m.node, Account: a.Account, Terms: a.Terms,
		Card: m.card(), Agent: a.Agent, From: a.From, To: a.To}, time.Now())
	if err != nil {
		m.leave(s)
		return nil, err
	}
	m.mu.Lock()
	s.stored = stored
	last := m.last
	m.mu.Unlock()
	if last != nil {
		s.stop(last, false) // it was on its way in when all others were told
	}
	return s, nil
}

func (m *Manager) enter(s *Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.draining:
		return ErrDraining
	case m.max > 0 && len(m.live) >= m.max:
		return ErrFull
	}
	m.live[s] = struct{}{}
	return nil
}

// leave takes a session off the list, once.
func (m *Manager) leave(s *Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, s)
	if m.draining && len(m.live) == 0 {
		close(m.empty) // nobody enters any more
	}
}

// Live is how many calls there are.
func (m *Manager) Live() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.live)
}

// sessions are the calls that the store knows.
func (m *Manager) sessions() []*Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]*Session, 0, len(m.live))
	for s := range m.live {
		if s.stored != nil {
			list = append(list, s)
		}
	}
	return list
}

// Bounds of a drain whose time is up: for calls that were told to say goodbye, and
// then for the books of those that were cut off.
const (
	goodbyePatience = 10 * time.Second
	closePatience   = 5 * time.Second
)

// Drain refuses new calls at once and returns when none is left. When ctx ends
// first the agents say goodbye; what has not ended 10 s later is cut off, and an
// error says so.
func (m *Manager) Drain(ctx context.Context) error {
	m.mu.Lock()
	if !m.draining {
		m.draining = true
		if len(m.live) == 0 {
			close(m.empty)
		}
	}
	m.mu.Unlock()
	select {
	case <-m.empty:
		return nil
	case <-ctx.Done():
	}
	why := &media.Ended{Reason: media.APIHangup, Detail: "drain"}
	m.mu.Lock()
	m.last = why
	m.mu.Unlock()
	for _, goodbye := range []bool{true, false} {
		if m.stopAll(why, goodbye) {
			return nil
		}
	}
	return fmt.Errorf("%d calls were not closed: %w", m.Live(), why)
}

// stopAll ends every call and waits within bounds; it says whether none is left.
func (m *Manager) stopAll(why *media.Ended, goodbye bool) bool {
	patience := closePatience
	if goodbye {
		patience = goodbyePatience
	}
	for _, s := range m.sessions() {
		s.stop(why, goodbye)
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-m.empty:
		return true
	case <-t.C:
		return false
	}
}

// checkpointSoon asks the meter for a checkpoint of what asked for it.
func (m *Manager) checkpointSoon() {
	select {
	case m.soon <- struct{}{}:
	default: // one is on its way
	}
}
