package session

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"parley/billing"
	"parley/media"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// Ledger is what the manager needs of the store.
type Ledger interface {
	Books
	Lease
	History
}

// History keeps what was said in calls.
type History interface {
	SaveConversation(ctx context.Context, account, id string, c history.Conversation) error
	SaveEvents(ctx context.Context, events []history.Happened) error
	Unfinished(ctx context.Context, account, id string) (history.Unfinished, error)
}

// Books keep what sessions cost.
type Books interface {
	StartSession(ctx context.Context, s ledger.Start) (*ledger.Session, error)
	OpenSession(ctx context.Context, account, id string, me store.Node) (*ledger.Session, error)
	AdoptSession(ctx context.Context, s *ledger.Session, from store.Node) (ledger.Progress, error)
	Used(ctx context.Context, s *ledger.Session) (billing.Usage, error)
	NoteAway(ctx context.Context, s *ledger.Session, away time.Duration) error
	Holder(ctx context.Context, account, id string) (n store.Node, live bool, err error)
	Checkpoints(ctx context.Context, cs []ledger.Checkpoint) ([]ledger.CheckpointResult, error)
	LineMinutes(ctx context.Context, ms []ledger.Minute) ([]error, error)
	CloseSession(ctx context.Context, s *ledger.Session, c ledger.Closing) (billing.Money, error)
	Orphans(ctx context.Context, n store.Node, before time.Time) ([]ledger.Lost, error)
	CloseLost(ctx context.Context, lost []ledger.Lost) ([]ledger.Lost, error)
}

// Lease keeps the node's name and reads the time that all nodes have in common.
type Lease interface {
	Heartbeat(ctx context.Context, n store.Node) error
	Drains() bool // as the last heartbeat has read it
	Now() time.Time
}

// Why the manager admits no call, besides what the store refuses with.
var (
	ErrDraining = errors.New("session: the node takes no new calls")
	ErrFull     = errors.New("session: the node has as many calls as it can carry")
)

// Manager owns the calls of this node: it admits them, meters them and drains
// them. Its methods may be called from any goroutine.
type Manager struct {
	ledger  Ledger
	node    store.Node
	card    func() *billing.RateCard // the one in force
	max     int
	log     *slog.Logger
	soon    chan struct{} // a checkpoint is wanted before its time, within soonEvery
	atOnce  chan struct{} // and now
	busy    func() bool   // nil: never
	others  Announcer     // nil: there is nobody to tell
	watcher Watcher       // nil: nobody watches
	onDrain func()        // nil: nobody asks
	lease   lease

	events chan *history.Happened // that are to be stored

	lostClosed, lostOpen atomic.Uint64 // see LostSessions

	mu       sync.Mutex
	live     map[*Session]struct{}
	calls    int       // those that are not work
	unclosed []*ending // sessions that have left and whose books are open
	draining bool
	last     *media.Ended  // why every call is being ended; nil while they are not
	empty    chan struct{} // closed when draining and no call is left
}

// NewManager returns a manager for this life of the node. max bounds its calls; 0
// means no bound.
func NewManager(ledger Ledger, node store.Node, card func() *billing.RateCard, max int, log *slog.Logger) *Manager {
	return &Manager{ledger: ledger, node: node, card: card, max: max, log: log,
		soon: make(chan struct{}, 1), atOnce: make(chan struct{}, 1), live: map[*Session]struct{}{}, empty: make(chan struct{}), events: make(chan *history.Happened, maxEvents), lease: lease{born: time.Now()}}
}

// Refuse names what says that the node is too busy for another call, from any goroutine
// and at once. Call it before Run and Admit.
func (m *Manager) Refuse(busy func() bool) { m.busy = busy }

// OnDrain names what is called when somebody asks for the node to drain; it must not block. Call it before Heartbeats.
func (m *Manager) OnDrain(f func()) { m.onDrain = sync.OnceFunc(f) }

// Admission asks for a call. The manager sets Node and Card of Start.
type Admission struct {
	ledger.Start
	// LineOnly says that no agent talks in it: its line is charged, and nothing else.
	LineOnly bool
	// MaxCost is what the conversation may cost; 0: no bound of its own.
	MaxCost billing.Money
}

// Admit lets a call start, or refuses with ErrDraining, ErrFull or the store's
// refusal. An admitted session must be ended with Conduct or End.
func (m *Manager) Admit(ctx context.Context, a Admission) (*Session, error) {
	s := &Session{m: m, lineOnly: a.LineOnly, status: CallDialing, budget: budget{ticket: a.MaxCost}}
	s.asked, s.ask = context.WithCancelCause(context.Background())
	if a.Terms.Kind == billing.Inbound {
		s.status = CallRinging
	}
	s.history.log = newCallLog(s.status, m.ledger.Now)
	s.history.asked.seed = maphash.MakeSeed()
	if err := m.enter(s); err != nil {
		return nil, err
	}
	if err := m.open(ctx, s, a.Start); err != nil {
		return nil, err
	}
	return s, nil
}

// startTries is how often a session asks for its books while others have the wallet, which is for store.LockTimeout each
// time. Sessions of one account begin one after the other, and a caller can wait for a moment.
const startTries = 3

// open opens the books of a session that has entered.
func (m *Manager) open(ctx context.Context, s *Session, start ledger.Start) error {
	start.Node, start.Card = m.node, m.card()
	stored, err := m.ledger.StartSession(ctx, start)
	for n := 1; n < startTries && stored == nil && store.Locked(err) && ctx.Err() == nil; n++ {
		stored, err = m.ledger.StartSession(ctx, start)
	}
	if err != nil {
		m.leave(s)
		if stored != nil { // it may have started
			s.stored = stored
			m.closeLater(&ending{s: s, saved: true, closing: ledger.Closing{Reason: string(media.Failed), Detail: nodeLost}})
		}
		return err
	}
	m.mu.Lock()
	s.stored, s.books.stored = stored, time.Now()
	last := m.last
	m.mu.Unlock()
	s.note(func() { s.happens(history.Event{CallEvent: history.CallEvent{Status: string(s.status)}}) })
	s.book(&ledger.CheckpointResult{Pots: stored.Pots}, 0)
	if last != nil {
		s.cutOff(last) // it was on its way in when all others were notified
	}
	return nil
}

// Room says why this node would not admit a call now, ErrDraining or ErrFull, before anything is
// done for it; nil: it has room.
func (m *Manager) Room() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.room(nil)
}

func (m *Manager) room(w *Work) error {
	switch {
	case m.draining:
		return ErrDraining
	case w == nil && (m.max > 0 && m.calls >= m.max || m.busy != nil && m.busy()):
		return ErrFull
	}
	return nil
}

func (m *Manager) enter(s *Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.room(s.work); err != nil {
		return err
	}
	m.live[s] = struct{}{}
	if s.work == nil {
		m.calls++
	}
	return nil
}

// leave takes a session off the list, once.
func (m *Manager) leave(s *Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, s)
	if s.work == nil {
		m.calls--
	}
	if m.draining && len(m.live) == 0 {
		close(m.empty) // nobody enters any more
	}
}

// Live is how many calls there are.
func (m *Manager) Live() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// sessions are the calls, and the work, that the store knows as this node's.
func (m *Manager) sessions() []*Session {
	m.mu.Lock()
	list := make([]*Session, 0, len(m.live))
	for s := range m.live {
		if s.stored != nil {
			list = append(list, s)
		}
	}
	m.mu.Unlock()
	return slices.DeleteFunc(list, func(s *Session) bool { return !s.isKept() })
}

// Bounds of a drain whose time is up: for calls that say goodbye, and
// then for the books of those that were cut off.
const (
	goodbyePatience = 10 * time.Second
	closePatience   = 5 * time.Second
)

// Draining says whether Drain has been called.
func (m *Manager) Draining() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.draining
}

// StopAdmitting refuses new calls from now on, with ErrDraining.
func (m *Manager) StopAdmitting() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.draining {
		return
	}
	m.draining = true
	if len(m.live) == 0 {
		close(m.empty)
	}
}

// Drain refuses new calls and returns when none is left. When ctx ends
// first the agents say goodbye; what has not ended 10 s later is cut off, and an
// error says so.
func (m *Manager) Drain(ctx context.Context) error {
	m.StopAdmitting()
	select {
	case <-m.empty:
		return nil
	case <-ctx.Done():
	}
	why := &media.Ended{Reason: media.APIHangup, Detail: media.Drained}
	m.mu.Lock()
	m.last = why
	m.mu.Unlock()
	if m.endAll(func(s *Session) { s.sayGoodbye(why) }, goodbyePatience) || m.endAll(func(s *Session) { s.cutOff(why) }, closePatience) {
		return nil
	}
	return fmt.Errorf("%d calls were not closed: %w", len(m.sessions()), why)
}

// endAll ends every call and says whether none is left when patience is over.
func (m *Manager) endAll(end func(*Session), patience time.Duration) bool {
	for _, s := range m.sessions() {
		end(s)
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

// wake wakes the meter by one of its channels, for a checkpoint of the sessions that are due.
func wake(meter chan<- struct{}) {
	select {
	case meter <- struct{}{}:
	default: // it is on its way
	}
}
