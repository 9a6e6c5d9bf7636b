package store

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
)

// Statement is one moment of an account's books. What its methods return belongs
// together, however much is written meanwhile. It is for one goroutine, and only
// inside the function that it was given to.
type Statement struct {
	tx      pgx.Tx
	account string
}

// Statement has read look at the account's books. It holds a connection until read
// returns; the database ends it when read does something else for 30 s.
func (db *DB) Statement(ctx context.Context, account string, read func(*Statement) error) error {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return Fail("read statement", pgx.BeginTxFunc(ctx, db.pool, snapshot, func(tx pgx.Tx) error {
		return read(&Statement{tx, account})
	}))
}

// Account is whose books they are.
func (s *Statement) Account() string { return s.account }

// RowsOf collects all rows of a query of the statement.
func RowsOf[T any](ctx context.Context, s *Statement, row pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	return Rows(ctx, s.tx, row, sql, args...)
}

// Range is the time from From until just before To; a zero time is no bound.
type Range struct{ From, To time.Time }

// bounds are both as times that the database compares.
func (r Range) bounds() (from, to time.Time) {
	if r.To.IsZero() {
		r.To = time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	return r.From, r.To
}

// LedgerPage is a part of an account's ledger, newest first.
type LedgerPage struct {
	Range
	Kind   TransferKind // empty: all
	Before int64        // below this sequence number; 0: from the newest
	Limit  int          // at most this many; above 0
}

// Ledger returns transfers of the account.
func (s *Statement) Ledger(ctx context.Context, p LedgerPage) ([]Transfer, error) {
	from, to := p.bounds()
	return RowsOf(ctx, s, pgx.RowToStructByPos[Transfer], `select seq, kind, debit, credit, amount_nano,
		balance_after_nano, session_id, price_version, created_at from ledger_transfers
		where account_id = $1 and created_at >= $2 and created_at < $3 and ($4 = '' or kind = $4) and ($5 = 0 or seq < $5)
		order by seq desc limit $6`, s.account, from, to, string(p.Kind), p.Before, p.Limit)
}

// Change is what the transfer added to its account's balance.
func (t *Transfer) Change() billing.Money {
	var sum billing.Money
	if customers(t.Credit) {
		sum += t.Amount
	}
	if customers(t.Debit) {
		sum -= t.Amount
	}
	return sum
}

// Pot is the customer's side of the transfer: "paid" or "bonus".
func (t *Transfer) Pot() string {
	if customers(t.Credit) {
		return t.Credit
	}
	return t.Debit
}

// Component is the name of the billing.Component that was paid, or "number" for a
// month of a number, also where it was given back; empty when the transfer is not for
// usage.
func (t *Transfer) Component() string {
	if t.Kind != UsageKind {
		return ""
	}
	for _, account := range []string{t.Credit, t.Debit} {
		if name, ok := strings.CutPrefix(account, revenue); ok {
			return name
		}
	}
	return ""
}

// revenue is how the ledger accounts that usage goes to begin.
const revenue = "revenue:"

// customers says whether a ledger account is one of the customer's pots.
func customers(account string) bool { return account == potPaid || account == potBonus }

// Balance is what an account has, and what of it expires.
type Balance struct {
	Account
	Lots []Lot // soonest expiry first; they add up to Pots.BonusLeft
	// LowMark is the balance below which it is called low, and LowSince since when it
	// has been; nil while it is not.
	LowMark  billing.Money
	LowSince *time.Time
	Warnings []Warning // of what still is so, newest first; a hundred at most
}

// Lot is credit with an end.
type Lot struct {
	Left      billing.Money // sessions in progress counted; above 0
	Granted   billing.Money
	ExpiresAt time.Time
}

// Balance returns an account's wallet at now. Credit that has expired by then is
// expired first, so none of it is shown.
func (db *DB) Balance(ctx context.Context, account string, now time.Time) (*Balance, error) {
	for expired := false; ; expired = true {
		b, err := db.readBalance(ctx, account, now)
		if err != nil {
			return nil, err
		}
		if expired || len(b.Lots) == 0 || now.Before(b.Lots[0].ExpiresAt) {
			b.drawLots()
			return b, nil
		}
		if err := db.applyThresholds(ctx, account, now); err != nil {
			return nil, err
		}
	}
}

func (db *DB) readBalance(ctx context.Context, account string, now time.Time) (*Balance, error) {
	var b Balance
	err := db.Statement(ctx, account, func(s *Statement) error {
		found, err := RowsOf(ctx, s, scanAccount, selectAccount+"a.id = $1", s.account)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return ErrNotFound
		}
		b.Account = found[0]
		b.Lots, err = RowsOf(ctx, s, pgx.RowToStructByPos[Lot], `select remaining_nano, granted_nano, expires_at
			from credit_lots where account_id = $1 and remaining_nano > 0 order by expires_at, id`, s.account)
		if err != nil {
			return err
		}
		var own *billing.Money
		if err := s.tx.QueryRow(ctx, "select low_since, recharge_below_nano from wallets where account_id = $1", s.account).Scan(&b.LowSince, &own); err != nil {
			return err
		}
		if b.LowMark, err = db.lowMark(ctx, s.tx, own); err != nil {
			return err
		}
		b.Warnings, err = s.holding(ctx, now)
		return err
	})
	return &b, err
}

// drawLots takes from the lots what sessions in progress have used, in the order in
// which a posting will.
func (b *Balance) drawLots() {
	used := b.Pots.AccruedAny
	left := b.Lots[:0]
	for _, l := range b.Lots {
		take := min(used, l.Left)
		used -= take
		if l.Left -= take; l.Left > 0 {
			left = append(left, l)
		}
	}
	b.Lots = left
}

// Limit is how many sessions the account may have at once by the rules of a card.
func (a *Account) Limit(rules billing.Wallet) int {
	return (&wallet{override: a.Concurrency, firstTopup: a.FirstTopupAt}).limit(rules)
}
