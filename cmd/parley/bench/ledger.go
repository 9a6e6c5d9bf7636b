package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/verify"
)

// Ledger measures the books: how many checkpoints and sessions a second the store
// takes, with a database that waits for its disk as a server's does.
type Ledger struct {
	// Database is the URL of an empty database, which is filled; empty: a server is
	// started for the measurement.
	Database string
	Length   time.Duration // of each of the measurements
}

// Bars of Ledger, in checkpoints a second that the meter of one node stores: an
// account's ten calls need 2, and a node with 500 needs 100.
const (
	oneWalletBar   = 2000
	manyWalletsBar = 8000
)

// The load: as many wallets as a busy node has accounts, and as many writers as
// a few nodes have connections.
const (
	ledgerWallets  = 200
	ledgerWriters  = 16
	oneWalletNodes = 10
	mostWriters    = 32 // on one wallet
)

// funds is more than a measurement spends.
const funds = 100_000 * billing.USD

// Run measures, verifies the whole ledger and returns the rows.
func (l Ledger) Run(ctx context.Context) (rows []Row, err error) {
	if l.Length <= 0 {
		return nil, fmt.Errorf("no measurement of %s", l.Length)
	}
	db, pool, stop, err := openLedger(ctx, l.Database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	b := &ledgerBench{DB: db, Ledger: ledger.New(db), pool: pool, length: l.Length, card: billing.DefaultRateCard(), floors: map[int]float64{}}
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	for _, measure := range []func(context.Context) ([]Row, error){
		b.bare(1, b.single[:1]), b.meter("10 sessions of one wallet", b.single[:1], 10, oneWalletBar), b.meter("32 sessions of one wallet", b.single[:1], mostWriters, oneWalletBar),
		b.meter("200 wallets", b.many, 1, manyWalletsBar), b.bare(oneWalletNodes, b.single[:1]), b.oneWallet, b.bare(ledgerWriters, b.many), b.manyWallets, b.sessions,
	} {
		some, err := measure(ctx)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	return rows, b.finish(ctx)
}

// ledgerBench is a node with accounts and a session for each.
type ledgerBench struct {
	*store.DB
	*ledger.Ledger
	pool   *pgxpool.Pool // beside the store's, for floors
	length time.Duration
	card   *billing.RateCard
	node   store.Node
	single []*account      // sessions of one wallet
	many   []*account      // one session in each wallet
	floors map[int]float64 // bare commits a second, by how many connections
}

// account is a session in progress, used by one writer at a time.
type account struct {
	ledger.Checkpoint
	id string
}

// next is the session's next report.
func (a *account) next() ledger.Checkpoint {
	a.Seq++
	a.Usage[billing.AgentTime] += 5000
	return a.Checkpoint
}

func (b *ledgerBench) prepare(ctx context.Context) (err error) {
	if err := b.PutRateCard(ctx, b.card); err != nil {
		return err
	}
	if b.node, _, err = b.RegisterNode(ctx, "bench", "127.0.0.1:1"); err != nil {
		return err
	}
	for i := range ledgerWallets + 1 {
		a, err := b.CreateAccount(ctx, "Bench", b.card)
		if err != nil {
			return err
		}
		limit, sessions, list := 2*mostWriters, 1, &b.many
		if i == 0 {
			sessions, list = oneWalletNodes, &b.single
		}
		_, _, err = b.Credit(ctx, ledger.Credit{Account: a.ID, Kind: ledger.Topup, Amount: funds, Key: "bench:" + a.ID, Source: "bench"})
		if err == nil {
			err = b.ChangeAccount(ctx, a.ID, ledger.AccountChange{Concurrency: &limit})
		}
		for range sessions {
			var s *account
			if err == nil {
				s, err = b.start(ctx, a.ID)
			}
			*list = append(*list, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *ledgerBench) start(ctx context.Context, id string) (*account, error) {
	now := time.Now()
	s, err := b.StartSession(ctx, ledger.Start{Node: b.node, Account: id, Terms: billing.Terms{Kind: billing.Web}, Card: b.card})
	return &account{ledger.Checkpoint{Session: s, StartedAt: now}, id}, err
}

func (b *ledgerBench) report(ctx context.Context, a *account) error {
	for c := a.next(); ; time.Sleep(laterWait) {
		r, err := b.Checkpoints(ctx, []ledger.Checkpoint{c})
		switch {
		case err != nil:
			return err
		case !errors.Is(r[0].Err, ledger.ErrLater):
			return r[0].Err
		}
	}
}

// laterWait is between tries to report while another writer has the wallet.
const laterWait = 5 * time.Millisecond

// oneWallet has each writer report for a session of its own, all of one account: as
// many nodes, each with a transaction of its own, waiting for one row.
func (b *ledgerBench) oneWallet(ctx context.Context) ([]Row, error) {
	r, err := b.drive(ctx, len(b.single), func(ctx context.Context, writer, _ int) error { return b.report(ctx, b.single[writer]) })
	return r.rows(group(fmt.Sprintf("ledger, %d nodes, one wallet", len(b.single))), "checkpoints", 0, b.floors[len(b.single)]), err
}

// manyWallets has each writer report for every 16th account in turn.
func (b *ledgerBench) manyWallets(ctx context.Context) ([]Row, error) {
	r, err := b.drive(ctx, ledgerWriters, func(ctx context.Context, writer, n int) error {
		own := (ledgerWallets - writer + ledgerWriters - 1) / ledgerWriters
		return b.report(ctx, b.many[writer+n%own*ledgerWriters])
	})
	return r.rows(group(fmt.Sprintf("ledger, %d nodes, %d wallets", ledgerWriters, ledgerWallets)), "checkpoints", 0, b.floors[ledgerWriters]), err
}

// sessions starts a session, reports once and closes it.
func (b *ledgerBench) sessions(ctx context.Context) ([]Row, error) {
	r, err := b.drive(ctx, ledgerWriters, func(ctx context.Context, writer, n int) error {
		a, err := b.start(ctx, b.many[(writer+n*ledgerWriters)%ledgerWallets].id)
		if err == nil {
			err = b.report(ctx, a)
		}
		if err == nil {
			err = b.close(ctx, a)
		}
		return err
	})
	return r.rows(group(fmt.Sprintf("ledger, start to close, %d writers", ledgerWriters)), "sessions", 0, b.floors[ledgerWriters]), err
}

func (b *ledgerBench) close(ctx context.Context, a *account) error {
	_, err := b.CloseSession(ctx, a.Session, ledger.Closing{Reason: "user_hangup", StartedAt: a.StartedAt, Usage: a.Usage})
	return err
}

// finish closes what is open and verifies the ledger.
func (b *ledgerBench) finish(ctx context.Context) error {
	for _, a := range slices.Concat(b.single, b.many) {
		if err := b.close(ctx, a); err != nil {
			return err
		}
	}
	return addsUp(ctx, b.DB)
}

// addsUp fails unless every invariant of the ledger holds.
func addsUp(ctx context.Context, db *store.DB) error {
	found, err := verify.Whole(ctx, db)
	if err != nil {
		return err
	}
	// The 26th compares with how long a session lasted, and these use faster than time goes by.
	wrong := slices.DeleteFunc(found.Violations, func(v verify.Violation) bool { return v.Invariant == 26 })
	if len(wrong) == 0 {
		return nil
	}
	var text strings.Builder
	for _, v := range wrong[:min(5, len(wrong))] {
		fmt.Fprintf(&text, "\n%s", v)
	}
	return fmt.Errorf("the ledger does not add up: %d violations%s", len(wrong), text.String())
}

// driven is what writers did.
type driven struct {
	took    []time.Duration // each of what they did
	elapsed time.Duration
}

// drive lets writers do the same again and again for the length of a measurement;
// n counts what one has done.
func (b *ledgerBench) drive(ctx context.Context, writers int, do func(ctx context.Context, writer, n int) error) (driven, error) {
	lists, errs := make([][]time.Duration, writers), make([]error, writers)
	var wg sync.WaitGroup
	began := time.Now()
	for w := range writers {
		wg.Go(func() {
			for n := 0; errs[w] == nil && time.Since(began) < b.length; n++ {
				at := time.Now()
				errs[w] = do(ctx, w, n)
				lists[w] = append(lists[w], time.Since(at))
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(began)
	return driven{slices.Concat(lists...), elapsed}, errors.Join(errs...)
}

// rate is how much was done in a second.
func (r driven) rate() float64 { return float64(len(r.took)) / r.elapsed.Seconds() }

// rows are the rate of what was done and how long one time took. A bar or a floor of
// 0 is none.
func (r driven) rows(g group, what string, bar, floor float64) []Row {
	rate := g.row(what, r.rate(), "/s")
	if bar > 0 {
		rate = g.least(what, r.rate(), "/s", bar)
	}
	if floor > 0 {
		rate.Floor = r.rate() / floor
	}
	took := g.latencies("one", r.took, 0, 0)
	return []Row{rate, took[0], took[2]}
}
