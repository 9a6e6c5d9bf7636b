package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// cellBooks is the store of the nodes of a cell: it notes how long it takes, and how far it is behind.
type cellBooks struct {
	*store.DB
	*ledger.Ledger
	*history.Store

	mu          sync.Mutex
	since       time.Time // the measurement began; zero: it does not run
	lasted      time.Duration
	starts      done
	ends        done
	reports     done
	minutes     done
	began       map[string]time.Time // calls that go on
	stored      map[string]time.Time // when each was in the books last
	longest     time.Duration        // that a call was not
	unpermitted int                  // minutes that began before they were permitted
}

// done is what was done in a measurement.
type done struct {
	count int
	took  []time.Duration // of each statement
}

func newCellBooks(db *store.DB) *cellBooks {
	return &cellBooks{DB: db, Ledger: ledger.New(db), Store: history.New(db), began: map[string]time.Time{}, stored: map[string]time.Time{}}
}

// measure begins the measurement, or ends it.
func (b *cellBooks) measure(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if on {
		b.since = time.Now()
		return
	}
	b.lasted = time.Since(b.since)
	for _, at := range b.stored {
		b.longest = max(b.longest, time.Since(at))
	}
	b.since = time.Time{}
}

// note adds what began at a time, b.mu being locked, if the measurement runs.
func (b *cellBooks) note(d *done, began time.Time, count int) {
	if !b.since.IsZero() {
		d.count += count
		d.took = append(d.took, time.Since(began))
	}
}

// answered says when a call was.
func (b *cellBooks) answered(call string, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.began[call], b.stored[call] = at, time.Now()
}

// StartSession implements session.Books.
func (b *cellBooks) StartSession(ctx context.Context, s ledger.Start) (*ledger.Session, error) {
	began := time.Now()
	out, err := b.Ledger.StartSession(ctx, s)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.note(&b.starts, began, 1)
	}
	return out, err
}

// CloseSession implements session.Books.
func (b *cellBooks) CloseSession(ctx context.Context, s *ledger.Session, c ledger.Closing) (billing.Money, error) {
	began := time.Now()
	cost, err := b.Ledger.CloseSession(ctx, s, c)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.note(&b.ends, began, 1)
		delete(b.stored, s.ID)
		delete(b.began, s.ID)
	}
	return cost, err
}

// Checkpoints implements session.Books.
func (b *cellBooks) Checkpoints(ctx context.Context, cs []ledger.Checkpoint) ([]ledger.CheckpointResult, error) {
	began := time.Now()
	results, err := b.Ledger.Checkpoints(ctx, cs)
	b.mu.Lock()
	defer b.mu.Unlock()
	count := 0
	for i := range results {
		last, goesOn := b.stored[cs[i].Session.ID]
		if results[i].Err != nil || !goesOn {
			continue
		}
		count++
		if !b.since.IsZero() {
			b.longest = max(b.longest, time.Since(last))
		}
		b.stored[cs[i].Session.ID] = time.Now()
	}
	b.note(&b.reports, began, count)
	return results, err
}

// LineMinutes implements session.Books.
func (b *cellBooks) LineMinutes(ctx context.Context, ms []ledger.Minute) ([]error, error) {
	began := time.Now()
	answers, err := b.Ledger.LineMinutes(ctx, ms)
	b.mu.Lock()
	defer b.mu.Unlock()
	count := 0
	for i := range answers {
		if answers[i] != nil {
			continue
		}
		count++
		at, goesOn := b.began[ms[i].Session.ID]
		begins := at.Add(time.Duration(ms[i].Number-1) * time.Minute)
		if goesOn && !b.since.IsZero() && begins.After(b.since) && time.Now().After(begins) {
			b.unpermitted++
		}
	}
	b.note(&b.minutes, began, count)
	return answers, err
}

// rows are what was measured of a cell.
func (b *cellBooks) rows(c *Cell) (rows []Row) {
	g := group(fmt.Sprintf("books of %d calls on %d nodes", c.Calls, c.Nodes))
	for _, x := range []struct {
		name, one string
		*done
		every float64 // s, that each call has one in
		bar   float64 // ms
	}{
		{"starts", "a start", &b.starts, c.lasts.Seconds(), cellPatience},
		{"ends", "an end", &b.ends, c.lasts.Seconds(), cellPatience},
		{"checkpoints", "a round of checkpoints", &b.reports, checkpointed, cellRound},
		{"line minutes", "a round of line minutes", &b.minutes, 60, cellRound},
	} {
		took := g.latencies(x.one, x.took, 0, x.bar)
		rows = append(rows, g.least(x.name, float64(x.count)/b.lasted.Seconds(), "/s", keptUp*float64(c.Calls)/x.every), took[0], took[2])
	}
	return append(rows, g.most("longest without a checkpoint", b.longest.Seconds(), "s", 2*checkpointed), g.most("minutes begun before they were permitted", float64(b.unpermitted), "", 0))
}
