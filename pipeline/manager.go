package pipeline

import (
	"context"
	"errors"
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
	m.mu.Unlock()
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

func (m *Manager) leave(s *Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, s)
	if m.draining && len(m.live) == 0 {
		close(m.empty)
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

// goodbyePatience is how long calls that were told to say goodbye may take.
const goodbyePatience = 10 * time.Second

// Drain refuses new calls at once and returns when none is left. When ctx ends
// first the agents say goodbye; what has not ended 10 s later is cut off.
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
	return m.stopAll(&media.Ended{Reason: media.APIHangup, Detail: "drain"})
}

// stopAll ends every call with a goodbye and waits for that, within bounds.
func (m *Manager) stopAll(why *media.Ended) error {
	for _, s := range m.sessions() {
		s.stop(why, true)
	}
	t := time.NewTimer(goodbyePatience)
	defer t.Stop()
	select {
	case <-m.empty:
		return nil
	case <-t.C:
	}
	for _, s := range m.sessions() {
		s.stop(why, false)
	}
	return why
}

// checkpointSoon asks the meter for a checkpoint now: tokens were used.
func (m *Manager) checkpointSoon() {
	select {
	case m.soon <- struct{}{}:
	default: // one is on its way
	}
}
