// Package verify proves that the books of package ledger are right. It reads them and moves no
// money.
//
// Whole recomputes balances and prices and compares them with what is known otherwise: how
// long calls lasted, what models used, which card a node had in force. It takes a hundred
// accounts at a time, each on a short snapshot, and notes how far they were in order; Recent
// begins there, and Nightly does that once a night on one of the nodes. What must hold is a
// numbered list of queries, the invariants; bonus credit, the evidence of consent and the
// prices of sessions are gone through in Go.
//
// Read in this order: verify.go, scope.go, invariants.go. The tests are those of package
// ledger, which has books to damage.
package verify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"parley/billing"
	"parley/store"
)

// Database is what a verification needs of the store.
type Database interface {
	// Frozen runs f on one state of the database, for as long as it takes.
	Frozen(ctx context.Context, f func(tx pgx.Tx) error) error
	// Pool is for what is noted of verifications, and for what the database must refuse.
	Pool() *pgxpool.Pool
}

// Violation is one thing that is not as it must be.
type Violation struct {
	Invariant int    // its number in the list that is checked
	Name      string // what must hold
	Subject   string // the account, session, transfer or table
	Detail    string
}

func (v Violation) String() string {
	return fmt.Sprintf("%d %s: %s: %s", v.Invariant, v.Name, v.Subject, v.Detail)
}

// Overdue says that the books are right as they stand, and that something which was
// due has not been done.
func (v Violation) Overdue() bool { return v.Invariant == overdueNumber }

// Report is what a verification found.
type Report struct {
	Whole                         bool  // it looked at all history, not at what is new alone
	Accounts, Sessions, Transfers int64 // that were looked at
	Violations                    []Violation
}

// OK says whether everything holds.
func (r *Report) OK() bool { return len(r.Violations) == 0 }

// Whole recomputes every balance from the ledger's entries and every session's
// price from its counters, compares the counters with what is known of the session
// otherwise, and checks the invariants. Servers may go on working meanwhile. The
// report has at most 100 violations of each invariant, in the order of their numbers.
func Whole(ctx context.Context, db Database) (*Report, error) { return verify(ctx, db, true) }

// Recent is Whole for what has happened since the account was last found in order:
// older transfers, and sessions that had ended, are taken as they were then.
func Recent(ctx context.Context, db Database) (*Report, error) { return verify(ctx, db, false) }

func verify(ctx context.Context, db Database, whole bool) (*Report, error) {
	v := &verification{Report: Report{Whole: whole}, db: db, found: map[int]int{}, cards: map[string]*billing.RateCard{}}
	err := v.run(ctx)
	slices.SortStableFunc(v.Violations, func(a, b Violation) int { return a.Invariant - b.Invariant })
	return &v.Report, store.Fail("verify", err)
}

// verification is one in progress.
type verification struct {
	Report
	db    Database
	total int                          // violations, reported or not
	found map[int]int                  // of each invariant
	cards map[string]*billing.RateCard // by version, as far as they were read; nil: it cannot be
}

// maxViolations of one invariant: enough to see a pattern, not a flood.
const maxViolations = 100

func (v *verification) add(number int, name, subject, format string, args ...any) {
	v.total++
	if v.found[number]++; v.found[number] <= maxViolations {
		v.Violations = append(v.Violations, Violation{number, name, subject, fmt.Sprintf(format, args...)})
	}
}

// portionSize is how many accounts are looked at on one snapshot. Vacuuming waits
// for a snapshot, so none is held for longer than these take.
const portionSize = 100

func (v *verification) run(ctx context.Context) error {
	pool := v.db.Pool()
	began, err := store.Scalar[time.Time](ctx, pool, "select now()")
	if err != nil {
		return err
	}
	if err := v.checkCards(ctx); err != nil {
		return err
	}
	for after := ""; ; {
		accounts, err := store.Rows[string](ctx, pool, "select account_id from wallets where account_id > $1 order by account_id limit $2", after, portionSize)
		if err != nil {
			return err
		}
		if len(accounts) == 0 {
			break
		}
		after = accounts[len(accounts)-1]
		if err := v.some(ctx, accounts); err != nil {
			return err
		}
	}
	if err := v.provoke(ctx); err != nil {
		return err
	}
	return store.Do(ctx, pool, `insert into verifications (began_at, ended_at, whole, accounts, sessions, transfers, violations)
		values ($1, clock_timestamp(), $2, $3, $4, $5, $6)`, began, v.Whole, v.Accounts, v.Sessions, v.Transfers, v.total)
}

// portion is some accounts on one snapshot.
type portion struct {
	*verification
	tx       pgx.Tx
	accounts []string
}

// some checks some accounts on one snapshot, and when all of them are in order notes
// how far they were looked at.
func (v *verification) some(ctx context.Context, accounts []string) error {
	before := v.total
	var reached []mark
	err := v.db.Frozen(ctx, func(tx pgx.Tx) error {
		p := &portion{v, tx, accounts}
		var sessions, transfers int64
		err := tx.QueryRow(ctx, scope+"select (select count(*) from sessions), (select count(*) from new_transfers)", accounts, v.Whole).
			Scan(&sessions, &transfers)
		if err != nil {
			return err
		}
		v.Accounts, v.Sessions, v.Transfers = v.Accounts+int64(len(accounts)), v.Sessions+sessions, v.Transfers+transfers
		for _, list := range [][]invariant{invariants, startInvariants, floorInvariants, numberInvariants, warningInvariants, campaignInvariants,
			evidenceInvariants, spendingInvariants, messageInvariants, overdueInvariants} {
			for _, inv := range list {
				if err := p.check(ctx, inv); err != nil {
					return fmt.Errorf("invariant %d: %w", inv.number, err)
				}
			}
		}
		for _, check := range []func(context.Context) error{p.seals, p.lots, p.prices} {
			if err := check(ctx); err != nil {
				return err
			}
		}
		reached, err = p.marks(ctx)
		return err
	})
	if err != nil || v.total != before {
		return err
	}
	return v.mark(ctx, reached)
}

// check adds what the query of an invariant finds.
func (p *portion) check(ctx context.Context, inv invariant) error {
	found, err := store.Rows[struct{ Subject, Detail string }](ctx, p.tx,
		fmt.Sprintf("%s select * from (%s) v limit %d", scope, inv.sql, maxViolations), p.accounts, p.Whole)
	for _, f := range found {
		p.add(inv.number, inv.name, f.Subject, "%s", f.Detail)
	}
	return err
}
