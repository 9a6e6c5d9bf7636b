package payments

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/ledger"
)

// RefundState is how far a refund is that an operator asked for.
type RefundState string

// States of a refund. The last two are final.
const (
	RefundAsked  RefundState = "asked" // its money has left the balance; the provider does not know yet
	RefundDone   RefundState = "done"
	RefundFailed RefundState = "failed" // the money is back in the balance
)

// Refund is a part of a top-up that is to go back to the card.
type Refund struct {
	ID        string // also the provider's idempotency key
	Account   string
	TopUp     string
	Payment   string // the provider's name of the payment
	Amount    billing.Money
	State     RefundState
	Code      string // why it failed
	CreatedAt time.Time
	SettledAt *time.Time // nil while it is asked for
}

const selectRefund = `select r.id, r.account_id, r.topup_id, t.payment_id, r.amount_nano, r.state, r.code, r.created_at, r.settled_at
	from refunds r join topups t on t.id = r.topup_id where `

// RequestRefund takes amount, which is part of a top-up of the account, out of the
// paid pot and notes that the provider is to give it back. Never more than that pot
// holds after sessions in progress and what is held for them: ErrInsufficientBalance.
// While a payment is disputed its bank decides: ErrDisputed. ErrInvalid is more than
// is left of the top-up, a second refund of it before the first is settled, and any of a
// top-up that came with the demonstration.
func (s *Store) RequestRefund(ctx context.Context, account, topup string, amount billing.Money) (*Refund, error) {
	if _, err := payment.Cents(amount); err != nil {
		return nil, store.Invalid("the amount must be above 0, in whole cents")
	}
	r := &Refund{Account: account, TopUp: topup, Amount: amount, State: RefundAsked}
	err := s.ledger.Locked(ctx, "request refund", account, func(w *ledger.Tx) error {
		r.ID, r.CreatedAt = store.NewID(store.RefundID, w.Now()), w.Now()
		t, err := lockTopUp(ctx, w, account, topup)
		if err != nil {
			return err
		}
		st, pots := reconciling{w, t, &pgx.Batch{}}, w.Pots()
		promised, err := st.promised(ctx)
		switch {
		case err != nil:
			return err
		case t.Demonstration():
			return store.Invalid("the top-up came with the demonstration: there is no payment behind it to give back")
		case w.Disputed():
			return store.ErrDisputed
		case promised > 0:
			return store.Invalid("another refund of the top-up is not settled yet")
		case amount > t.Paid-t.Refunded:
			return store.Invalid("%s USD are left of the top-up", t.Paid-t.Refunded)
		case amount > pots.PaidLeft()-pots.Held:
			return store.ErrInsufficientBalance
		}
		if err := st.refund(ctx, t.Refunded+amount); err != nil {
			return err
		}
		r.Payment = t.Payment
		if _, err := w.Exec(ctx, `insert into refunds (id, account_id, topup_id, amount_nano, total_nano, state, created_at)
			values ($1, $2, $3, $4, $5, 'asked', $6)`, r.ID, account, topup, amount, t.Refunded, r.CreatedAt); err != nil {
			return err
		}
		return st.save(ctx, "")
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// promised is how much of the top-up will have been refunded with the refund that is
// asked for; 0 without one.
func (s *reconciling) promised(ctx context.Context) (total billing.Money, err error) {
	total, err = store.Scalar[billing.Money](ctx, s, "select total_nano from refunds where account_id = $1 and topup_id = $2 and state = 'asked'",
		s.t.Account, s.t.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return total, err
}

// end stores the final state of a refund of the top-up. From then on the provider's own
// total is what counts.
func (s *reconciling) end(ctx context.Context, r *Refund) error {
	if r == nil {
		return nil
	}
	return store.Do(ctx, s, `update refunds set state = $4, code = $5, settled_at = $6
		where account_id = $1 and topup_id = $2 and id = $3 and state = 'asked'`, s.t.Account, s.t.ID, r.ID, r.State, r.Code, s.Now())
}

// AskedRefunds lists the refunds that the provider does not know, the oldest first. An
// index holds those alone, so asking often costs little however many are settled.
func (s *Store) AskedRefunds(ctx context.Context, provider string) ([]Refund, error) {
	return store.List[Refund](ctx, s.db, "list refunds", selectRefund+"r.state = 'asked' and t.provider = $1 order by r.id limit 100", provider)
}

// Refund returns a refund of the account.
func (s *Store) Refund(ctx context.Context, account, id string) (*Refund, error) {
	return store.First[Refund](ctx, s.db, "read refund", selectRefund+"r.account_id = $1 and r.id = $2", account, id)
}
