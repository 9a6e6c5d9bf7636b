package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// graceRetry is how often a month that is unpaid is tried again; money that comes in
// does it at once.
const graceRetry = 24 * time.Hour

// NumberMonths counts the months that ChargeNumbers charged, and the numbers it could not charge.
type NumberMonths struct {
	Charged  int // months, not numbers
	Unpaid   int // numbers that are in grace now
	Released int // numbers that were lost
}

// ChargeNumbers charges the months that have begun by now at the price of a card,
// which must be stored, and takes numbers that were not paid for NumberGraceTime.
// However long ago it was called last, each month is charged or missed for itself. It
// may be called by any number of nodes at any time.
func (l *Ledger) ChargeNumbers(ctx context.Context, card *billing.RateCard) (sum NumberMonths, err error) {
	type key struct{ Account, ID string }
	due, err := store.List[key](ctx, l.db, "find months", `select account_id, id from numbers
		where charge_at <= $1 order by charge_at, id`, l.db.Time(ctx))
	if err != nil {
		return sum, err
	}
	var faults []error
	for _, k := range due {
		err := l.Locked(ctx, "charge number", k.Account, func(w *Tx) error {
			m, err := w.lockMonth(ctx, k.ID, true)
			if errors.Is(err, pgx.ErrNoRows) || err == nil && (m.ChargeAt == nil || m.ChargeAt.After(w.now)) {
				return errSkipLocked
			}
			if err != nil {
				return err
			}
			some, err := w.months(ctx, m, card)
			if err == nil {
				sum.Charged, sum.Unpaid, sum.Released = sum.Charged+some.Charged, sum.Unpaid+some.Unpaid, sum.Released+some.Released
			}
			return err
		})
		if err != nil && !errors.Is(err, errSkipLocked) {
			faults = append(faults, err) // which holds up no other number
		}
		if ctx.Err() != nil || errors.Is(err, store.ErrUnavailable) {
			break
		}
	}
	return sum, errors.Join(faults...)
}

// errSkipLocked: another worker charges the number, or has. The transaction is undone,
// and what lockWallet did in it is left to the next one.
var errSkipLocked = errors.New("the number is another's to charge")

// months charges what it can of a number's months that have begun, the oldest first.
func (w *Tx) months(ctx context.Context, m *month, card *billing.RateCard) (sum NumberMonths, err error) {
	price := card.NumberPerMonth()
	held, err := w.heldForNumbers(ctx)
	if err != nil {
		return sum, err
	}
	b := &pgx.Batch{}
	for !m.NextChargeAt.After(w.now) && w.pays(price, held) {
		if m.State == NumberGrace {
			if err := w.clear(ctx, store.WarnNumberPastDue, m.about()); err != nil {
				return sum, err
			}
		}
		m.charge(b, w, price, card.Version())
		m.State, m.GraceUntil, m.ChargeAt = NumberOwned, nil, m.NextChargeAt
		sum.Charged++
	}
	switch due := *m.NextChargeAt; {
	case due.After(w.now):
	case w.now.Before(due.Add(NumberGraceTime)):
		sum.Unpaid++
		err = w.enterGrace(ctx, m, price)
	default:
		sum.Released++
		err = w.releaseAfterGrace(ctx, m)
	}
	if err != nil {
		return sum, err
	}
	m.save(b)
	return sum, w.conclude(ctx, b)
}

// pays says whether the wallet can pay a month: from what was paid in, above zero.
// Nothing is taken from an account that is disputed or suspended.
func (w *Tx) pays(price, held billing.Money) bool {
	return w.disputes == 0 && !w.suspended && w.pots.PaidLeft()-held >= price
}

// about names the month that is to be paid, in warnings.
func (m *month) about() string { return fmt.Sprintf("%s:%d", m.ID, m.Period+1) }

// enterGrace keeps the number without its month being paid.
func (w *Tx) enterGrace(ctx context.Context, m *month, price billing.Money) error {
	due := *m.NextChargeAt
	until, again := due.Add(NumberGraceTime), w.now.Add(graceRetry)
	if again.After(until) {
		again = until
	}
	m.State, m.GraceUntil, m.ChargeAt = NumberGrace, &until, &again
	balance := w.pots.Balance()
	return w.warn(ctx, store.Warning{Kind: store.WarnNumberPastDue, About: m.about(), Data: store.WarningData{
		Balance: &balance, Amount: &price, NumberID: m.ID, Number: m.E164, DueAt: &due, ReleaseAt: &until}})
}

// releaseAfterGrace takes a number whose grace is over.
func (w *Tx) releaseAfterGrace(ctx context.Context, m *month) error {
	if err := w.clear(ctx, store.WarnNumberPastDue, m.about()); err != nil {
		return err
	}
	about := m.about()
	m.markReleasing(w.now)
	return w.warn(ctx, store.Warning{Kind: store.WarnNumberReleased, About: about, Data: store.WarningData{
		NumberID: m.ID, Number: m.E164, ReleaseAt: &w.now}})
}

// retryMonths has unpaid months tried again, now that there is reason to.
func (w *Tx) retryMonths(b *pgx.Batch) {
	b.Queue("update numbers set charge_at = next_charge_at where account_id = $1 and state = 'grace'", w.account)
}
