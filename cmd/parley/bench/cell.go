package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/reply"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/ledger"
)

// Cell measures whether the books keep up with the telephone calls of many nodes on one database: calls start, have completions,
// ask for line minutes and end as often as real ones do, through the meter of each node, and without media.
type Cell struct {
	Database string        // as of Ledger
	Calls    int           // at a time, over all nodes
	Nodes    int           // each with a meter of its own
	Length   time.Duration // of the measurement, once all calls have come

	lasts, settles time.Duration // each call, and how long the measurement waits for them; 0: callLasts and callsSettle
}

// The load of a cell.
const (
	callLasts      = 3 * time.Minute
	turnEvery      = 8 * time.Second
	callsOfAccount = 20 // at a time
	// comers is how many calls come at once until all are there, or end when the measurement does.
	comers = 16
	// callsSettle is how long the books may take for the line minutes of calls that come as if they had lasted for minutes.
	callsSettle = 15 * time.Second
)

// Bars of Cell. A checkpoint that a call waits for twice as long as the meter's rhythm has fallen behind.
const (
	keptUp       = 0.95 // of what comes in a second
	cellPatience = 500  // ms, for a start and an end
	cellRound    = 1000 // ms, for a round of a node's meter
	checkpointed = 5    // s, the meter's rhythm
)

// cell is the calls at work.
type cell struct {
	Cell
	db       *store.DB
	kept     *cellBooks
	card     *billing.RateCard
	meters   []*session.Manager
	accounts []string
	gate     chan struct{} // of comers
}

// Run measures, verifies the whole ledger and returns the rows.
func (c Cell) Run(ctx context.Context) (rows []Row, err error) {
	if c.Length <= 0 || c.Calls <= 0 || c.Nodes <= 0 {
		return nil, fmt.Errorf("no measurement of %d calls on %d nodes for %s", c.Calls, c.Nodes, c.Length)
	}
	if c.lasts == 0 {
		c.lasts, c.settles = callLasts, callsSettle
	}
	db, pool, stop, err := openLedger(ctx, c.Database)
	if err != nil {
		return nil, err
	}
	pool.Close()
	defer func() { err = errors.Join(err, stop()) }()
	x := &cell{Cell: c, db: db, kept: newCellBooks(db), card: billing.DefaultRateCard(), gate: make(chan struct{}, comers)}
	if err := x.prepare(ctx); err != nil {
		return nil, err
	}
	if err := x.run(ctx); err != nil {
		return nil, err
	}
	return x.kept.rows(&x.Cell), addsUp(ctx, db)
}

// prepare makes the accounts and the nodes.
func (c *cell) prepare(ctx context.Context) error {
	if err := c.db.PutRateCard(ctx, c.card); err != nil {
		return err
	}
	for range 1 + (c.Calls-1)/callsOfAccount {
		a, err := c.kept.CreateAccount(ctx, "Bench", c.card)
		if err != nil {
			return err
		}
		limit := 2 * callsOfAccount
		_, _, err = c.kept.Credit(ctx, ledger.Credit{Account: a.ID, Kind: ledger.Topup, Amount: funds, Key: "bench:" + a.ID, Source: "bench"})
		if err == nil {
			err = c.kept.ChangeAccount(ctx, a.ID, ledger.AccountChange{Concurrency: &limit})
		}
		if err != nil {
			return err
		}
		c.accounts = append(c.accounts, a.ID)
	}
	for i := range c.Nodes {
		n, _, err := c.kept.RegisterNode(ctx, fmt.Sprint("bench-", i), "127.0.0.1:1")
		if err != nil {
			return err
		}
		c.meters = append(c.meters, session.NewManager(c.kept, n, func() *billing.RateCard { return c.card }, 0, slog.New(slog.DiscardHandler)))
	}
	return nil
}

// run has all calls come, measures, and has them end.
func (c *cell) run(ctx context.Context) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	for _, m := range c.meters {
		for _, part := range []func(context.Context) error{m.Run, m.Heartbeats, m.RecordEvents} {
			defer begin(func(ctx context.Context) { fail(part(ctx)) })()
		}
	}
	var calls, came sync.WaitGroup
	came.Add(c.Calls)
	talking, hangUp := context.WithCancel(context.Background())
	defer calls.Wait()
	defer hangUp()
	for i := range c.Calls {
		calls.Go(func() {
			if err := c.calls(talking, i, came.Done); err != nil {
				fail(err)
			}
		})
	}
	came.Wait()
	pause(ctx, c.settles)
	c.kept.measure(true)
	pause(ctx, c.Length)
	c.kept.measure(false)
	return context.Cause(ctx)
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// calls are those of one line, one after the other until ctx ends; the first has lasted for a while when it comes.
func (c *cell) calls(ctx context.Context, line int, came func()) error {
	m, account := c.meters[line%len(c.meters)], c.accounts[line%len(c.accounts)]
	rng := rand.New(rand.NewPCG(uint64(line), 1))
	age := time.Duration(rng.Int64N(int64(c.lasts)))
	c.gate <- struct{}{}
	s, err := c.call(m, account, age)
	<-c.gate
	came()
	for err == nil {
		c.talk(ctx, s, c.lasts-age, time.Duration(rng.Int64N(int64(turnEvery))))
		if ctx.Err() != nil {
			c.gate <- struct{}{}
			s.End(media.Ended{Reason: media.UserHangup})
			<-c.gate
			return nil
		}
		s.End(media.Ended{Reason: media.UserHangup})
		age = 0
		s, err = c.call(m, account, age)
	}
	return err
}

// call lets a call start that was answered so long ago.
func (c *cell) call(m *session.Manager, account string, age time.Duration) (*session.Session, error) {
	s, err := m.Admit(context.Background(), session.Admission{Start: ledger.Start{Account: account, Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}, From: "+34911234567", To: "+34911234500"}})
	if err == nil {
		at := time.Now().Add(-age)
		c.kept.answered(s.ID(), at)
		s.BeginAt(at)
	}
	return s, err
}

// talk has a completion at each turn, for as long as the call lasts.
func (c *cell) talk(ctx context.Context, s *session.Session, lasts, first time.Duration) {
	end, turn := time.NewTimer(lasts), time.NewTimer(first)
	defer end.Stop()
	defer turn.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-end.C:
			return
		case <-turn.C:
			s.Observe(event.Event{Kind: event.Used, Usage: reply.Usage{Kind: "reply", Outcome: reply.Committed,
				Tokens: inference.Usage{In: 500, Out: 50, Source: inference.UsageProvider}}})
			turn.Reset(turnEvery)
		}
	}
}
