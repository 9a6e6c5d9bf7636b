package store

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
)

// Account is a customer with its wallet.
type Account struct {
	ID        string
	Name      string
	CreatedAt time.Time

	Pots         billing.Pots
	Live         int        // sessions in progress
	Concurrency  *int       // the operator's own limit; nil: the rate card's
	OpenDisputes int        // disputed payments
	Suspended    bool       // by the operator: no new sessions
	FirstTopupAt *time.Time // nil before the first top-up
}

// Balance is what the account has, sessions in progress counted, before holds.
func (a *Account) Balance() billing.Money { return a.Pots.Balance() }

// CreateAccount makes an account with the welcome credit of the card in force,
// which must be stored (PutRateCard).
func (db *DB) CreateAccount(ctx context.Context, name string, card *billing.RateCard, now time.Time) (*Account, error) {
	if strings.TrimSpace(name) == "" {
		return nil, invalid("an account needs a name")
	}
	a := &Account{ID: newID(accountID, now), Name: name, CreatedAt: now}
	rules := card.Wallet()
	err := db.tx(ctx, "create account", func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue("insert into accounts (id, name, created_at) values ($1, $2, $3)", a.ID, name, now)
		b.Queue("insert into wallets (account_id) values ($1)", a.ID)
		w := &wallet{account: a.ID}
		if rules.SignupBonus > 0 {
			t := transfer{idem: "welcome:" + a.ID, debit: "promo", credit: potBonus, amount: rules.SignupBonus, kind: Welcome}
			b.Queue(insertTransfer, w.apply(t, now)...)
			w.grantLot(b, t, now.AddDate(0, 0, rules.SignupBonusDays), now)
			w.save(b)
		}
		a.Pots = w.pots
		return send(ctx, tx, b)
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

const selectAccount = `select a.id, a.name, a.created_at, w.paid_nano, w.bonus_nano, w.accrued_any_nano, w.accrued_paid_nano,
	w.held_nano, w.live_sessions, w.concurrency_override, w.open_disputes, w.suspended, w.first_topup_at
	from accounts a join wallets w on w.account_id = a.id where `

func scanAccount(row pgx.CollectableRow) (Account, error) {
	var a Account
	p := &a.Pots
	err := row.Scan(&a.ID, &a.Name, &a.CreatedAt, &p.Paid, &p.Bonus, &p.AccruedAny, &p.AccruedPaid,
		&p.Held, &a.Live, &a.Concurrency, &a.OpenDisputes, &a.Suspended, &a.FirstTopupAt)
	return a, err
}

// Account returns an account. Credit that has expired counts until ExpireLots or
// the account's next transaction settles it.
func (db *DB) Account(ctx context.Context, id string) (*Account, error) {
	return first(ctx, db, "read account", scanAccount, selectAccount+"a.id = $1", id)
}

// Accounts lists accounts, newest first.
func (db *DB) Accounts(ctx context.Context, p Page) ([]Account, error) {
	where, args := p.clause("a.id", nil)
	return list(ctx, db, "list accounts", scanAccount, selectAccount+"true"+where, args...)
}

// AccountChange is what an operator changes; nil leaves a value alone.
type AccountChange struct {
	Concurrency *int // 1 to 100000; 0 goes back to the rate card's
	Suspended   *bool
}

// ChangeAccount applies an operator's change.
func (db *DB) ChangeAccount(ctx context.Context, id string, c AccountChange, now time.Time) error {
	if c.Concurrency != nil && (*c.Concurrency < 0 || *c.Concurrency > 100_000) {
		return invalid("concurrency must be from 1 to 100000, or 0 for the rate card's")
	}
	return db.tx(ctx, "change account", func(tx pgx.Tx) error {
		w, err := db.lockWallet(ctx, tx, id, now)
		if err != nil {
			return err
		}
		if c.Concurrency != nil {
			w.override = c.Concurrency
			if *c.Concurrency == 0 {
				w.override = nil
			}
		}
		if c.Suspended != nil {
			w.suspended = *c.Suspended
		}
		b := &pgx.Batch{}
		w.save(b)
		return send(ctx, tx, b)
	})
}

// OpenDispute records that the payment ref of the account is disputed: until it is
// resolved, no session starts. Opening an open one again changes nothing.
func (db *DB) OpenDispute(ctx context.Context, account, ref string, now time.Time) error {
	return db.tx(ctx, "open dispute", func(tx pgx.Tx) error {
		w, err := db.lockWallet(ctx, tx, account, now)
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `insert into disputes (account_id, ref, opened_at, opened_after) values ($1, $2, $3, $4)
			on conflict do nothing`, account, ref, now, w.admissions)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		w.disputes++
		b := &pgx.Batch{}
		w.save(b)
		return send(ctx, tx, b)
	})
}

// ResolveDispute closes the open dispute ref, or with an empty ref all of the
// account's. Without one it changes nothing.
func (db *DB) ResolveDispute(ctx context.Context, account, ref string, now time.Time) error {
	return db.tx(ctx, "resolve dispute", func(tx pgx.Tx) error {
		w, err := db.lockWallet(ctx, tx, account, now)
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `update disputes set resolved_at = $3, resolved_after = $4
			where account_id = $1 and resolved_at is null and ($2 = '' or ref = $2)`, account, ref, now, w.admissions)
		if err != nil {
			return err
		}
		w.disputes -= int(tag.RowsAffected())
		b := &pgx.Batch{}
		w.save(b)
		return send(ctx, tx, b)
	})
}
