package ledger

import (
	"context"
	"strings"
	"time"

	"parley/billing"

	"parley/store"
)

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

// The ledger account and the component that months of numbers are posted to.
const (
	MonthComponent = "number"
	MonthRevenue   = revenue + MonthComponent
)

// customers says whether a ledger account is one of the customer's pots.
func customers(account string) bool { return account == PotPaid || account == potBonus }

// Balance is what an account has, and what of it expires.
type Balance struct {
	Account
	Lots []Lot // soonest expiry first; they add up to Pots.BonusLeft
	// LowMark is the balance below which it is called low, and LowSince since when it
	// has been; nil while it is not.
	LowMark  billing.Money
	LowSince *time.Time
	Warnings []store.Warning // of what still is so, newest first; a hundred at most
}

// Lot is credit with an end.
type Lot struct {
	Left      billing.Money // sessions in progress counted; above 0
	Granted   billing.Money
	ExpiresAt time.Time
}

// Balance returns an account's wallet at now. Credit that has expired by then is
// expired first, so none of it is shown.
func (l *Ledger) Balance(ctx context.Context, account string) (*Balance, error) {
	now := l.db.Time(ctx)
	for expired := false; ; expired = true {
		b, err := l.readBalance(ctx, account, now)
		if err != nil {
			return nil, err
		}
		if expired || len(b.Lots) == 0 || now.Before(b.Lots[0].ExpiresAt) {
			b.drawLots()
			return b, nil
		}
		if err := l.applyThresholds(ctx, account); err != nil {
			return nil, err
		}
	}
}

func (l *Ledger) readBalance(ctx context.Context, account string, now time.Time) (*Balance, error) {
	var b Balance
	err := l.db.Statement(ctx, account, func(s *store.Statement) error {
		found, err := store.Row[Account](ctx, s.Tx, selectAccount+"a.id = $1", s.Account())
		if err != nil {
			return err
		}
		b.Account = *found
		b.Lots, err = store.Rows[Lot](ctx, s.Tx, `select remaining_nano, granted_nano, expires_at
			from credit_lots where account_id = $1 and remaining_nano > 0 order by expires_at, id`, s.Account())
		if err != nil {
			return err
		}
		var own *billing.Money
		if err := s.Tx.QueryRow(ctx, "select low_since, recharge_below_nano from wallets where account_id = $1", s.Account()).Scan(&b.LowSince, &own); err != nil {
			return err
		}
		if b.LowMark, err = l.lowMark(ctx, s.Tx, own); err != nil {
			return err
		}
		b.Warnings, err = s.WarningsAt(ctx, now)
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
