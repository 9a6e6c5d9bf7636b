package store

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Hint names what may be there to do. Who waits for it also looks without one, seldom (Look): a hint that
// is lost delays, and one too many makes a node look in vain.
type Hint string

// The hints, beside those of jobs.
const (
	HintRateCard Hint = "rate card" // another one is in force
	HintRows     Hint = "rows"      // a batch has rows that it had not, or goes on
	HintTrunks   Hint = "trunks"    // one of an account has changed
	// HintNodes says that a heartbeat of this process saw other nodes than the last one. It is not for others.
	HintNodes Hint = "nodes"
)

// HintJob says that a job of a kind is in line.
func HintJob(kind string) Hint { return Hint("job " + kind) }

// Hints carries hints within a process, and keeps those that the other nodes have not heard yet. Its methods may be called
// from several goroutines.
type Hints struct {
	mu     sync.Mutex
	waits  map[Hint][]func()
	untold map[Hint]struct{}
	due    chan struct{}
	looks  []Look
}

// NewHints returns hints that nobody waits for.
func NewHints() *Hints {
	return &Hints{waits: map[Hint][]func(){}, untold: map[Hint]struct{}{}, due: make(chan struct{}, 1)}
}

// On has f called with each such hint, of this process or of another. f must not block.
func (h *Hints) On(hint Hint, f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waits[hint] = append(h.waits[hint], f)
}

// Give gives a hint to those in this process who wait for it, and has it told to the others.
func (h *Hints) Give(hint Hint) {
	h.mu.Lock()
	h.untold[hint] = struct{}{}
	h.mu.Unlock()
	select {
	case h.due <- struct{}{}:
	default: // it is known
	}
	h.Hear(hint)
}

// Hear gives a hint that comes from another process.
func (h *Hints) Hear(hint Hint) {
	h.mu.Lock()
	waits := h.waits[hint]
	h.mu.Unlock()
	for _, f := range waits {
		f()
	}
}

// Every calls f with each such hint and once in each period, the first time after one, until ctx ends; with period 0 only with
// hints. It returns nil.
func (h *Hints) Every(ctx context.Context, hint Hint, period time.Duration, f func()) error {
	given := make(chan struct{}, 1)
	h.On(hint, func() {
		select {
		case given <- struct{}{}:
		default: // f begins later than this
		}
	})
	tick := time.Tick(period)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		case <-given:
		}
		f()
	}
}

// Due has a value when there are hints to tell others.
func (h *Hints) Due() <-chan struct{} { return h.due }

// Take returns the hints to tell others, each once, and forgets them.
func (h *Hints) Take() []Hint {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := slices.Sorted(maps.Keys(h.untold))
	clear(h.untold)
	return all
}

// Hints are those of what this process changes in the database, and of the other nodes where it listens to them.
func (db *DB) Hints() *Hints { return db.hints }

// afterCommit is where a connection keeps what follows the commit of its transaction. A connection is reached through
// whatever has been wrapped around the transaction.
const afterCommit = "parley: after commit"

// AfterCommit has f called once the transaction has committed, which DB.Tx began: of another one nothing is known, and f
// is not called.
func AfterCommit(tx pgx.Tx, f func()) {
	if all, ok := tx.Conn().PgConn().CustomData()[afterCommit].(*[]func()); ok {
		*all = append(*all, f)
	}
}

// HintAfter gives a hint once the transaction has committed, as AfterCommit does.
func (db *DB) HintAfter(tx pgx.Tx, hint Hint) { AfterCommit(tx, func() { db.hints.Give(hint) }) }

// follows collects what follows the commit of a transaction that has begun. end forgets it, while the connection is the
// transaction's; later it does nothing.
func follows(tx pgx.Tx) (all *[]func(), end func()) {
	all = new([]func())
	data := tx.Conn().PgConn().CustomData()
	data[afterCommit] = all
	return all, func() {
		if data != nil {
			delete(data, afterCommit)
			data = nil
		}
	}
}
