package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Violation is one thing that is not as it must be.
type Violation struct {
	Invariant int    // its number in the list that Verify checks
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
	total                         int         // of them, reported or not
	found                         map[int]int // of each invariant
}

// OK says whether everything holds.
func (r *Report) OK() bool { return len(r.Violations) == 0 }

// maxViolations of one invariant: enough to see a pattern, not a flood.
const maxViolations = 100

func (r *Report) add(number int, name, subject, format string, args ...any) {
	r.total++
	if r.found[number]++; r.found[number] <= maxViolations {
		r.Violations = append(r.Violations, Violation{number, name, subject, fmt.Sprintf(format, args...)})
	}
}

// Verify recomputes every balance from the ledger's entries and every session's
// price from its counters, compares the counters with what is known of the session
// otherwise, and checks the invariants. Servers may go on working meanwhile. The
// report has at most 100 violations of each invariant, in the order of their numbers.
func (l *Ledger) Verify(ctx context.Context) (*Report, error) { return l.verify(ctx, true) }

// VerifyNew is Verify for what has happened since the account was last found in order:
// older transfers, and sessions that had ended, are taken as they were then.
func (l *Ledger) VerifyNew(ctx context.Context) (*Report, error) { return l.verify(ctx, false) }

// verifyAccounts is how many accounts are looked at on one snapshot. Vacuuming waits
// for a snapshot, so none is held for longer than these take.
const verifyAccounts = 100

func (l *Ledger) verify(ctx context.Context, whole bool) (*Report, error) {
	r := &Report{Whole: whole, found: map[int]int{}}
	var began time.Time
	err := l.db.One(ctx, "verify", "select now()", nil, &began)
	if err == nil {
		err = l.verifyCards(ctx, r)
	}
	for after := ""; err == nil; {
		var accounts []string
		accounts, err = store.List(ctx, l.db, "verify", pgx.RowTo[string],
			"select account_id from wallets where account_id > $1 order by account_id limit $2", after, verifyAccounts)
		if err != nil || len(accounts) == 0 {
			break
		}
		after = accounts[len(accounts)-1]
		err = l.verifySome(ctx, r, accounts)
	}
	if err == nil {
		err = l.provoke(ctx, r)
	}
	slices.SortStableFunc(r.Violations, func(a, b Violation) int { return a.Invariant - b.Invariant })
	if err == nil {
		_, err = l.db.Pool().Exec(ctx, `insert into verifications (began_at, ended_at, whole, accounts, sessions, transfers, violations)
			values ($1, clock_timestamp(), $2, $3, $4, $5, $6)`, began, whole, r.Accounts, r.Sessions, r.Transfers, r.total)
	}
	return r, store.Fail("verify", err)
}

// scope puts the accounts $1 in the place of all: what follows it sees them alone, and of
// sessions those that are new since the account was last found in order, or $2 all, or
// that something was posted to since. All transfers of the accounts are ledger_transfers,
// the new ones new_transfers. What the account had then is base.
const scope = `with base as materialized (
	select w.account_id, coalesce(v.seq, 0) as seq, coalesce(v.paid_nano, 0) as paid_nano, coalesce(v.bonus_nano, 0) as bonus_nano,
		coalesce(v.admission, 0) as admission, coalesce(v.lots, '{}') as lots, coalesce(v.consent_no, 0) as consent_no, v.consent_seal
	from wallets w left join verified v on v.account_id = w.account_id and not $2::boolean where w.account_id = any($1::text[])),
all_transfers as not materialized (select * from ledger_transfers),
all_sessions as not materialized (select * from sessions),
all_numbers as not materialized (select * from numbers),
all_usage as not materialized (select * from session_usage),
ledger_transfers as not materialized (select * from all_transfers where account_id = any($1)),
new_transfers as not materialized (select t.* from all_transfers t join base b on b.account_id = t.account_id and t.seq > b.seq),
sessions as not materialized (
	select s.* from all_sessions s join base b on b.account_id = s.account_id and s.admission > b.admission
	union all select s.* from all_sessions s join base b on b.account_id = s.account_id and s.admission <= b.admission
		where s.id in (select session_id from new_transfers where session_id is not null)),
overlapping as not materialized (
	select * from sessions
	union all select s.* from all_sessions s join base b on b.account_id = s.account_id and s.admission <= b.admission
		join (select f.account_id, min(f.opened_at) as since from all_sessions f join base b on b.account_id = f.account_id and f.admission > b.admission
			group by 1) f on f.account_id = s.account_id and s.ended_at >= f.since - interval '1 minute'
		where s.id not in (select session_id from new_transfers where session_id is not null)),
session_usage as not materialized (select u.* from session_usage u join overlapping s on s.id = u.session_id),
usage_records as not materialized (select r.* from usage_records r join overlapping s on s.id = r.session_id),
wallets as not materialized (select * from wallets where account_id = any($1)),
credit_lots as not materialized (select * from credit_lots where account_id = any($1)),
disputes as not materialized (select * from disputes where account_id = any($1)),
topups as not materialized (select * from topups where account_id = any($1)),
refunds as not materialized (select * from refunds where account_id = any($1)),
recharges as not materialized (select * from recharges where account_id = any($1)),
recharge_attempts as not materialized (select * from recharge_attempts where account_id = any($1)),
tts_tasks as not materialized (select * from tts_tasks where account_id = any($1)),
numbers as not materialized (select * from numbers where account_id = any($1)),
number_charges as not materialized (select * from number_charges where account_id = any($1)),
warnings as not materialized (select * from warnings where account_id = any($1)),
campaign_rows as not materialized (select r.* from campaign_rows r
	where r.account_id = any($1) and (r.session_id is null or r.session_id in (select id from sessions)))
`

// verifySome checks some accounts on one snapshot, and when all of them are in order notes
// how far they were looked at.
func (l *Ledger) verifySome(ctx context.Context, r *Report, accounts []string) error {
	before := r.total
	var reached []mark
	err := l.db.Frozen(ctx, func(tx pgx.Tx) error {
		var sessions, transfers int64
		err := tx.QueryRow(ctx, scope+"select (select count(*) from sessions), (select count(*) from new_transfers)", accounts, r.Whole).
			Scan(&sessions, &transfers)
		if err != nil {
			return err
		}
		r.Accounts, r.Sessions, r.Transfers = r.Accounts+int64(len(accounts)), r.Sessions+sessions, r.Transfers+transfers
		all := slices.Concat(invariants, startInvariants, floorInvariants, numberInvariants, warningInvariants, campaignInvariants,
			evidenceInvariants, spendingInvariants, overdueInvariants)
		for _, inv := range all {
			if err := r.query(ctx, tx, inv, accounts); err != nil {
				return err
			}
		}
		for _, check := range []func(context.Context, pgx.Tx, *Report, []string) error{verifySeals, verifyLots, l.recompute} {
			if err := check(ctx, tx, r, accounts); err != nil {
				return err
			}
		}
		reached, err = marks(ctx, tx, accounts)
		return err
	})
	if err != nil || r.total != before {
		return err
	}
	return l.mark(ctx, reached)
}

func (r *Report) query(ctx context.Context, tx pgx.Tx, inv invariant, accounts []string) error {
	rows, err := tx.Query(ctx, fmt.Sprintf("%s select * from (%s) v limit %d", scope, inv.sql, maxViolations), accounts, r.Whole)
	if err != nil {
		return fmt.Errorf("invariant %d: %w", inv.number, err)
	}
	var subject, detail string
	_, err = pgx.ForEachRow(rows, []any{&subject, &detail}, func() error {
		r.add(inv.number, inv.name, subject, "%s", detail)
		return nil
	})
	if err != nil {
		return fmt.Errorf("invariant %d: %w", inv.number, err)
	}
	return nil
}

// mark is how far an account was found in order: its transfers up to seq, with what was in
// the pots and the lots then, its sessions up to admission, all closed, and its evidence
// of consent.
type mark struct {
	Account          string
	Seq, Paid, Bonus int64
	Admission        int64
	Lots             []byte // remaining nano-dollars by identifier, JSON
	ConsentNo        int64
	ConsentSeal      []byte
}

func marks(ctx context.Context, tx pgx.Tx, accounts []string) ([]mark, error) {
	rows, err := tx.Query(ctx, `select w.account_id, w.last_seq, w.paid_nano, w.bonus_nano,
			coalesce((select min(s.admission) - 1 from sessions s where s.account_id = w.account_id and s.state = 'live'), w.admissions),
			coalesce((select jsonb_object_agg(l.id, l.remaining_nano) from credit_lots l where l.account_id = w.account_id and l.remaining_nano > 0), '{}'),
			coalesce(c.no, 0), c.seal
		from wallets w left join lateral (select no, seal from consent_audit a where a.account_id = w.account_id order by no desc limit 1) c on true
		where w.account_id = any($1)`, accounts)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[mark])
}

func (l *Ledger) mark(ctx context.Context, reached []mark) error {
	b := &pgx.Batch{}
	for _, m := range reached {
		b.Queue(`insert into verified as v (account_id, seq, paid_nano, bonus_nano, admission, lots, consent_no, consent_seal)
			values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (account_id) do update set seq = $2, paid_nano = $3, bonus_nano = $4,
				admission = $5, lots = $6, consent_no = $7, consent_seal = $8 where v.seq <= $2`,
			m.Account, m.Seq, m.Paid, m.Bonus, m.Admission, m.Lots, m.ConsentNo, m.ConsentSeal)
	}
	return l.db.Pool().SendBatch(ctx, b).Close()
}

// Verification is one that was made.
type Verification struct {
	EndedAt    time.Time
	Violations int
}

// LastVerification is the latest; nil: there was none.
func (l *Ledger) LastVerification(ctx context.Context) (*Verification, error) {
	last, err := store.First(ctx, l.db, "read the last verification", pgx.RowToStructByPos[Verification],
		"select ended_at, violations from verifications order by id desc limit 1")
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return last, err
}

// verifyLock is the advisory lock of who verifies by VerifyNightly.
const verifyLock = 0x7061726c65790001

// VerifyNightly does VerifyNew between one and five o'clock UTC, once, or when a day has
// passed without. The report is nil when none is due, or another process makes it.
func (l *Ledger) VerifyNightly(ctx context.Context) (r *Report, err error) {
	conn, err := l.db.Pool().Acquire(ctx)
	if err != nil {
		return nil, store.Fail("verify", err)
	}
	defer conn.Release()
	var mine bool
	if err := conn.QueryRow(ctx, "select pg_try_advisory_lock($1)", int64(verifyLock)).Scan(&mine); err != nil || !mine {
		return nil, store.Fail("verify", err)
	}
	defer func() { // a connection that this fails on is gone, and the lock with it
		_, _ = conn.Exec(context.WithoutCancel(ctx), "select pg_advisory_unlock($1)", int64(verifyLock))
	}()
	var due bool
	err = conn.QueryRow(ctx, `select not exists (select from verifications where ended_at > now() - interval '26 hours'
		and (ended_at > now() - interval '18 hours' or extract(hour from now() at time zone 'UTC') not between 1 and 4))`).Scan(&due)
	if err != nil || !due {
		return nil, store.Fail("verify", err)
	}
	return l.VerifyNew(ctx)
}
