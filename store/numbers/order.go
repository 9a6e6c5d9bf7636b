package numbers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/sip/carrier"
	"parley/store"
	"parley/store/ledger"
)

// GraceTime is how long a number whose month is unpaid is kept, from the day
// the month began.
const GraceTime = 30 * 24 * time.Hour

// orderPatience is how long the process that ordered a number is left alone with it
// before others ask the carrier for the state of the order.
const orderPatience = 2 * time.Minute

// Order asks for a number of a carrier.
type Order struct {
	Account string
	E164    string
	Country string // ISO code, where it was searched for
	Agent   string // the account's; empty: none answers
	Carrier string // its Name
	// Monthly and Upfront are what the carrier asks; they are kept and not charged.
	Monthly, Upfront billing.Money
	Card             *billing.RateCard     // in force now; it must be stored
	Once             *store.IdempotencyKey // nil: the request had no key
}

// Order takes a number out of circulation and holds its first month from what
// was paid in: welcome credit and overdraft pay no numbers. The number returned is
// ordering; the caller turns to the carrier with its OrderRef, and then to
// Reconcile. It refuses in this order: ErrNotFound (no such agent), ErrNumberTaken,
// ErrSuspended, ErrDisputed, ErrTopupRequired, ErrInsufficientBalance.
func (s *Store) Order(ctx context.Context, o Order) (*Number, error) {
	if o.Carrier == "" {
		return nil, store.Invalid("a number is ordered of a carrier")
	}
	var id string
	price := o.Card.NumberPerMonth()
	err := s.ledger.Locked(ctx, "order number", o.Account, func(w *ledger.Tx) error {
		id = store.NewID(store.NumberID, w.Now())
		held, err := heldForMonths(ctx, w, o.Account)
		if err != nil {
			return err
		}
		tag, err := w.Exec(ctx, `insert into numbers (id, account_id, e164, country, agent_id, state, created_at, carrier, order_ref,
				monthly_nano, upfront_nano, price_version, held_nano, anchor_at, try_at)
			select $1, $2, $3, $4, nullif($5, ''), 'ordering', $6, $7, $1, $8, $9, $10, $11, $6, $12
			where $5 = '' or exists (select from agents where account_id = $2 and id = $5)`,
			id, o.Account, o.E164, o.Country, o.Agent, w.Now(), o.Carrier, o.Monthly, o.Upfront, o.Card.Version(), price, w.Now().Add(orderPatience))
		switch {
		case taken(err):
			return store.ErrNumberTaken
		case err != nil:
			return err
		case tag.RowsAffected() == 0:
			return fmt.Errorf("agent: %w", store.ErrNotFound)
		}
		if err := mayBuy(w, price, held, o.Card.Wallet()); err != nil {
			return err
		}
		w.Hold(price)
		b := &pgx.Batch{}
		o.Once.Begin(b, id)
		return w.Conclude(ctx, b)
	})
	if err != nil {
		return nil, err
	}
	if o.Once != nil {
		o.Once.Subject = id
	}
	return s.Number(context.WithoutCancel(ctx), o.Account, id) // it is held, even if the request has ended
}

// heldForMonths is what of the wallet's holds is for first months. Those of calls
// and of work are left out where months are paid: they may end in overdraft, months
// may not.
func heldForMonths(ctx context.Context, w *ledger.Tx, account string) (held billing.Money, err error) {
	return store.Scalar[billing.Money](ctx, w, "select coalesce(sum(held_nano), 0)::bigint from numbers where account_id = $1 and held_nano > 0", account)
}

// mayBuy is the whole decision whether an account may buy a number.
func mayBuy(w *ledger.Tx, price, held billing.Money, rules billing.Wallet) error {
	if err := w.Frozen(); err != nil {
		return err
	}
	switch pots := w.Pots(); {
	case !w.ToppedUp():
		return store.ErrTopupRequired
	case pots.Balance() < rules.MinSessionStart, pots.PaidLeft()-held < price:
		return store.ErrInsufficientBalance
	}
	return nil
}

// month is a bought number's row while it and its wallet are locked.
type month struct {
	Number
	Held        billing.Money
	Version     string // of the card that the first month is charged by
	Anchor      time.Time
	Period      int
	ChargeAt    *time.Time
	ActivatedAt *time.Time
	ReleasedAt  *time.Time
	TryAt       *time.Time
	Tries       int
}

// lockMonth reads a bought number of the locked wallet's account, in whatever state;
// pgx.ErrNoRows when there is none such, or with skip when another transaction has it.
func lockMonth(ctx context.Context, w *ledger.Tx, account, id string, skip bool) (*month, error) {
	lock := " for update"
	if skip {
		lock += " skip locked"
	}
	return store.Row[month](ctx, w,
		"select "+columns+`, held_nano, price_version, anchor_at, period_no, charge_at, activated_at, released_at, try_at, tries
		from numbers where account_id = $1 and id = $2 and carrier <> ''`+lock, account, id)
}

func (m *month) save(b *pgx.Batch) {
	b.Queue(`update numbers set agent_id = $3, state = $4, carrier_id = nullif($5, ''), routed = $6, next_charge_at = $7, grace_until = $8,
			held_nano = $9, period_no = $10, charge_at = $11, activated_at = $12, released_at = $13, try_at = $14, tries = $15
		where account_id = $1 and id = $2`, m.Account, m.ID, m.AgentID, m.State, m.CarrierID, m.Routed, m.NextChargeAt, m.GraceUntil,
		m.Held, m.Period, m.ChargeAt, m.ActivatedAt, m.ReleasedAt, m.TryAt, m.Tries)
}

// charge posts the next month at a price of a card.
func (m *month) charge(b *pgx.Batch, w *ledger.Tx, price billing.Money, version string) {
	due := billing.Month(m.Anchor, m.Period)
	m.Period++
	if price > 0 {
		w.Post(b, ledger.Posting{Key: m.key(), Debit: ledger.PotPaid, Credit: ledger.MonthRevenue, Amount: price, Kind: ledger.UsageKind, PriceVersion: &version})
	}
	b.Queue(`insert into number_charges (number_id, period_no, account_id, due_at, charged_at, amount_nano, price_version)
		values ($1, $2, $3, $4, $5, $6, $7)`, m.ID, m.Period, m.Account, due, w.Now(), price, version)
	next := billing.Month(m.Anchor, m.Period)
	m.NextChargeAt = &next
}

// key is that of the last month charged, in the ledger.
func (m *month) key() string { return fmt.Sprintf("num:%s:%d", m.ID, m.Period) }

// refund gives the first month back: the number never came.
func (m *month) refund(ctx context.Context, b *pgx.Batch, w *ledger.Tx) error {
	price, err := store.Scalar[billing.Money](ctx, w, `update number_charges set refunded_at = $3 where account_id = $1 and number_id = $2 and period_no = 1
		returning amount_nano`, m.Account, m.ID, w.Now())
	if err == nil && price > 0 {
		w.Post(b, ledger.Posting{Key: m.key() + ":back", Debit: ledger.MonthRevenue, Credit: ledger.PotPaid, Amount: price, Kind: ledger.UsageKind, PriceVersion: &m.Version})
	}
	return err
}

// Reconcile applies what the carrier says of an order, and returns the number.
// An order that stands is charged, once; one that failed costs nothing: what was held
// is let go, what was charged is given back. An order that is done stays so; one that
// failed and stands after all, because the process that placed it was slow, is the account's no
// more, and its number is releasing, for nothing. ErrNotFound: the account has no such
// order. ErrNumberTaken: it stands, and its number is in use by another order.
func (s *Store) Reconcile(ctx context.Context, account, id string, o carrier.Ordered) (*Number, error) {
	var n Number
	err := s.ledger.Locked(ctx, "reconcile number", account, func(w *ledger.Tx) error {
		m, err := lockMonth(ctx, w, account, id, false)
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		switch {
		case m.ActivatedAt != nil:
		case m.State == Released:
			m.late(o, w.Now())
			m.save(b)
		default:
			if err := m.reconcile(ctx, b, w, o); err != nil {
				return err
			}
			m.save(b)
		}
		n = m.Number
		return w.Conclude(ctx, b)
	})
	if taken(err) {
		err = fmt.Errorf("reconcile number: %w", store.ErrNumberTaken)
	}
	return &n, err
}

var errCarrierState = errors.New("the carrier says nothing about the order")

func (m *month) reconcile(ctx context.Context, b *pgx.Batch, w *ledger.Tx, o carrier.Ordered) error {
	price, now := m.Held, w.Now()
	w.Hold(-m.Held)
	m.Held = 0
	switch o.State {
	case carrier.Failed:
		if m.Period > 0 {
			if err := m.refund(ctx, b, w); err != nil {
				return err
			}
		}
		m.markReleasing(now)
		m.State = Released
		m.lookAgain(now)
		return nil
	case carrier.Pending, carrier.Active:
	default:
		return errCarrierState
	}
	if m.Period == 0 {
		m.charge(b, w, price, m.Version)
	}
	if o.State == carrier.Active {
		m.ActivatedAt, m.CarrierID, m.TryAt, m.Tries = &now, o.NumberID, &now, 0 // it is to be routed, or released
	}
	switch {
	case m.State == Releasing:
		m.NextChargeAt = nil
	case o.State == carrier.Active:
		m.State, m.ChargeAt = Owned, m.NextChargeAt
	case m.State == Ordering:
		m.State = Ordered
	}
	return nil
}

// How long an order that has failed is looked at, and at first how often: the process that
// placed it may have been stopped for a while.
const (
	failedLook   = 10 * time.Minute
	failedLooks  = 24 * time.Hour
	standingLook = time.Hour // while it stands and its number has not come
)

// lookAgain has the carrier asked once more about an order that has failed, when as much
// time has gone by as since then.
func (m *month) lookAgain(now time.Time) {
	m.TryAt, m.Tries = nil, 0
	if age := now.Sub(*m.ReleasedAt); age < failedLooks {
		at := now.Add(max(failedLook, age))
		m.TryAt = &at
	}
}

// late takes what the carrier says of an order that has failed.
func (m *month) late(o carrier.Ordered, now time.Time) {
	switch o.State {
	case carrier.Active:
		m.State, m.ActivatedAt, m.CarrierID, m.TryAt, m.Tries = Releasing, &now, o.NumberID, &now, 0
	case carrier.Pending:
		at := now.Add(standingLook)
		m.TryAt, m.Tries = &at, 0
	default:
		m.lookAgain(now)
	}
}

// markReleasing takes the number from the account; what the carrier has to do comes after.
func (m *month) markReleasing(now time.Time) {
	m.State, m.AgentID, m.AgentName = Releasing, nil, nil
	m.GraceUntil, m.ChargeAt, m.NextChargeAt = nil, nil, nil
	if m.Period > 0 { // else its order may be on its way, and is left alone for its time
		m.TryAt, m.Tries = &now, 0
	}
	if m.ReleasedAt == nil {
		m.ReleasedAt = &now
	}
}
