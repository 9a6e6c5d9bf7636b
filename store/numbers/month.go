package numbers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// graceRetry is how often a month that is unpaid is tried again; when money comes in, the
// ledger has it tried at once.
const graceRetry = 24 * time.Hour

// Months counts the months that Charge charged, and the numbers it could not charge.
type Months struct {
	Charged  int // months, not numbers
	Unpaid   int // numbers that are in grace now
	Released int // numbers that were lost
}

// MonthsDue is the condition, of SQL, in which $1 is the time, under which Charge has something to do.
const MonthsDue = "exists (select from numbers where charge_at <= $1)"

// Charge charges the months that have begun by now at the price of a card,
// which must be stored, and takes numbers that were not paid for GraceTime.
// However long ago it was called last, each month is charged or missed for itself. It
// may be called by any number of nodes at any time.
func (s *Store) Charge(ctx context.Context, card *billing.RateCard) (sum Months, err error) {
	type key struct{ Account, ID string }
	due, err := store.List[key](ctx, s.db, "find months", `select account_id, id from numbers
		where charge_at <= $1 order by charge_at, id`, s.db.Time(ctx))
	if err != nil {
		return sum, err
	}
	var faults []error
	for _, k := range due {
		err := s.ledger.Locked(ctx, "charge number", k.Account, func(w *ledger.Tx) error {
			m, err := lockMonth(ctx, w, k.Account, k.ID, true)
			if errors.Is(err, pgx.ErrNoRows) || err == nil && (m.ChargeAt == nil || m.ChargeAt.After(w.Now())) {
				return errSkipLocked
			}
			if err != nil {
				return err
			}
			some, err := m.catchUp(ctx, w, card)
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
// and what locking the wallet did in it is left to the next one.
var errSkipLocked = errors.New("the number is another's to charge")

// catchUp charges what it can of the months that have begun, the oldest first.
func (m *month) catchUp(ctx context.Context, w *ledger.Tx, card *billing.RateCard) (sum Months, err error) {
	price := card.NumberPerMonth()
	held, err := heldForMonths(ctx, w, m.Account)
	if err != nil {
		return sum, err
	}
	b := &pgx.Batch{}
	for !m.NextChargeAt.After(w.Now()) && pays(w, price, held) {
		if m.State == Grace {
			if err := w.ClearWarnings(ctx, store.WarnNumberPastDue, m.about()); err != nil {
				return sum, err
			}
		}
		m.charge(b, w, price, card.Version())
		m.State, m.GraceUntil, m.ChargeAt = Owned, nil, m.NextChargeAt
		sum.Charged++
	}
	switch due := *m.NextChargeAt; {
	case due.After(w.Now()):
	case w.Now().Before(due.Add(GraceTime)):
		sum.Unpaid++
		err = m.enterGrace(ctx, w, price)
	default:
		sum.Released++
		err = m.releaseAfterGrace(ctx, w)
	}
	if err != nil {
		return sum, err
	}
	m.save(b)
	return sum, w.Conclude(ctx, b)
}

// pays says whether the wallet can pay a month: from what was paid in, above zero.
// Nothing is taken from an account that is disputed or suspended.
func pays(w *ledger.Tx, price, held billing.Money) bool {
	return w.Frozen() == nil && w.Pots().PaidLeft()-held >= price
}

// about names the month that is to be paid, in warnings.
func (m *month) about() string { return fmt.Sprintf("%s:%d", m.ID, m.Period+1) }

// enterGrace keeps the number without its month being paid.
func (m *month) enterGrace(ctx context.Context, w *ledger.Tx, price billing.Money) error {
	due := *m.NextChargeAt
	until, again := due.Add(GraceTime), w.Now().Add(graceRetry)
	if again.After(until) {
		again = until
	}
	m.State, m.GraceUntil, m.ChargeAt = Grace, &until, &again
	balance := w.Pots().Balance()
	return w.Warn(ctx, store.Warning{Kind: store.WarnNumberPastDue, About: m.about(), Data: store.WarningData{
		Balance: &balance, Amount: &price, NumberID: m.ID, Number: m.E164, DueAt: &due, ReleaseAt: &until}})
}

// releaseAfterGrace takes a number whose grace is over.
func (m *month) releaseAfterGrace(ctx context.Context, w *ledger.Tx) error {
	if err := w.ClearWarnings(ctx, store.WarnNumberPastDue, m.about()); err != nil {
		return err
	}
	about, now := m.about(), w.Now()
	m.markReleasing(now)
	return w.Warn(ctx, store.Warning{Kind: store.WarnNumberReleased, About: about, Data: store.WarningData{
		NumberID: m.ID, Number: m.E164, ReleaseAt: &now}})
}
