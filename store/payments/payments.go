package payments

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/ledger"
)

// Transfers of payments that went back.
const (
	RefundKind  ledger.TransferKind = "refund"  // to the card, or back from it when that failed
	DisputeKind ledger.TransferKind = "dispute" // withdrawn by the bank, or returned by it
)

// PaymentRead is a payment as it was read at a provider.
type PaymentRead struct {
	Provider string // its Name
	// Version is from NextReadVersion, taken before Payment was read.
	Version int64
	Payment payment.Payment
	// Event led to the read; the zero Event when none did.
	Event payment.Event
	// Refund is one that was asked for and has come to its end, with its State and
	// Code; Version was taken after that. nil when there is none.
	Refund *Refund
}

// NextReadVersion is the version of the next read of a payment. Take it before reading: the
// highest version counts, in whatever order reads are applied, and every change is
// followed by an event and therefore by a read.
func (s *Store) NextReadVersion(ctx context.Context) (n int64, err error) {
	return store.Value[int64](ctx, s.db, "number a read", "select nextval('payment_looks')")
}

// EventApplied says whether the provider's event has been applied.
func (s *Store) EventApplied(ctx context.Context, provider, event string) (applied bool, err error) {
	return store.Value[bool](ctx, s.db, "read event", "select exists (select from payment_events where provider = $1 and event_id = $2)", provider, event)
}

// ReconcilePayment applies what the provider says to the ledger, and applies the
// event, once. The money goes to the account of the top-up that the payment names, or
// whose attempt at a recharge has its key; ErrNotFound when there is none such, or it
// is another account's. ErrStaleRead: read
// again, for the Refund ends with what is read after it.
func (s *Store) ReconcilePayment(ctx context.Context, read PaymentRead) (*TopUp, error) {
	var t *TopUp
	err := s.ledger.Locked(ctx, "reconcile payment", read.Payment.Account, func(w *ledger.Tx) error {
		topup, err := store.Scalar[string](ctx, w, `select id from topups where provider = $2 and account_id = $3 and id = case when $1 <> '' then $1
			else (select topup_id from recharge_attempts where id = $4) end`,
			read.Payment.TopUp, read.Provider, read.Payment.Account, read.Payment.Key)
		if err != nil {
			return err
		}
		if t, err = lockTopUp(ctx, w, read.Payment.Account, topup); err != nil {
			return err
		}
		if t.Payment != "" && t.Payment != read.Payment.ID {
			// One page takes one payment. Loud, for a customer may have paid twice.
			return fmt.Errorf("top-up %s was paid by %s and now by %s too", t.ID, t.Payment, read.Payment.ID)
		}
		fresh, err := read.dedupe(ctx, w, t)
		if err != nil {
			return err
		}
		st := reconciling{w, t, &pgx.Batch{}}
		if read.Refund != nil && read.Version <= t.ReadVersion {
			return store.ErrStaleRead
		}
		if err := st.end(ctx, read.Refund); err != nil {
			return err
		}
		if read.Version > t.ReadVersion {
			t.ReadVersion = read.Version
			err = st.reconcile(ctx, read.Payment)
			if err == nil && t.Automatic {
				err = st.recharged(ctx, rechargeFailureOf(read.Payment.Code), read.Payment.Code)
			}
		}
		if err == nil && fresh && read.Event.Dispute.Ref != "" {
			err = st.dispute(ctx, read.Event)
		}
		if err == nil {
			err = st.save(ctx, read.Payment.Customer)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// lockTopUp reads a top-up; its wallet is locked.
func lockTopUp(ctx context.Context, tx pgx.Tx, account, id string) (*TopUp, error) {
	return store.Row[TopUp](ctx, tx, "select "+topupColumns+" from topups where account_id = $1 and id = $2 for update", account, id)
}

// dedupe records the event in the inbox; fresh is false when it was there. Events are never
// deleted: each counts once, however late a provider repeats it.
func (s *PaymentRead) dedupe(ctx context.Context, w *ledger.Tx, t *TopUp) (fresh bool, err error) {
	if s.Event.ID == "" {
		return false, nil
	}
	tag, err := w.Exec(ctx, `insert into payment_events (provider, event_id, account_id, topup_id, kind, received_at)
		values ($1, $2, $3, $4, $5, $6) on conflict do nothing`, s.Provider, s.Event.ID, t.Account, t.ID, s.Event.Kind, w.Now())
	return tag.RowsAffected() == 1, err
}

// reconciling is a payment while its account's wallet is locked.
type reconciling struct {
	*ledger.Tx
	t *TopUp
	b *pgx.Batch // what save sends
}

// reconcile applies the state that the provider said to the top-up.
func (s *reconciling) reconcile(ctx context.Context, p payment.Payment) error {
	switch p.State {
	case payment.Succeeded:
		if s.t.State != TopUpSucceeded {
			if err := s.succeed(ctx, p); err != nil {
				return err
			}
		}
		promised, err := s.promised(ctx)
		if err != nil {
			return err
		}
		return s.refund(ctx, max(p.Refunded, promised))
	case payment.Failed:
		s.endTopUp(TopUpFailed)
	case payment.Canceled:
		s.endTopUp(TopUpCanceled)
	default:
		if s.t.State == TopUpCreated {
			s.t.State = TopUpPending
		}
	}
	return nil
}

// endTopUp ends a top-up that is open.
func (s *reconciling) endTopUp(state TopUpState) {
	if s.t.State.Open() {
		now := s.Now()
		s.t.State, s.t.SettledAt = state, &now
	}
}

// succeed credits what was received. The key in the ledger is a second net: a
// payment that an operator credited by hand under it is not credited again.
func (s *reconciling) succeed(ctx context.Context, p payment.Payment) error {
	if p.ID == "" {
		return fmt.Errorf("top-up %s: a payment without a name has succeeded", s.t.ID)
	}
	c := ledger.Credit{Kind: ledger.Topup, Amount: p.Amount, Key: "pi:" + p.ID, Source: s.t.Provider}
	if err := s.Credit(ctx, s.b, c); err != nil {
		return err
	}
	now := s.Now()
	s.t.State, s.t.Payment, s.t.Paid, s.t.SettledAt = TopUpSucceeded, p.ID, p.Amount, &now
	return s.cardPaid(ctx)
}

// refund posts the difference between what went back to the card so far and what
// was posted of it; a refund that failed comes back. The pot may go below zero when
// it was made at the provider: the money has gone. RequestRefund does not let it.
func (s *reconciling) refund(ctx context.Context, total billing.Money) error {
	total = max(0, min(total, s.t.Paid))
	change := total - s.t.Refunded
	if change == 0 {
		return nil
	}
	s.t.RefundNo++
	p := ledger.Posting{Key: fmt.Sprintf("re:%s:%d", s.t.Payment, s.t.RefundNo), Debit: ledger.PotPaid, Credit: "refunds", Amount: change, Kind: RefundKind}
	if change < 0 {
		p.Debit, p.Credit, p.Amount = p.Credit, p.Debit, -change
	}
	s.t.Refunded = total
	s.Post(s.b, p)
	if change < 0 {
		return nil
	}
	return s.rechargeRefunded(ctx)
}

// save writes the top-up and the wallet.
func (s *reconciling) save(ctx context.Context, customer string) error {
	if err := saveCustomer(ctx, s.Tx, s.t.Account, s.t.Provider, customer); err != nil {
		return err
	}
	s.b.Queue(`update topups set state = $3, payment_id = nullif($4, ''), paid_nano = $5, refunded_nano = $6, refund_no = $7, looked = $8, settled_at = $9
		where account_id = $1 and id = $2`, s.t.Account, s.t.ID, s.t.State, s.t.Payment, s.t.Paid, s.t.Refunded, s.t.RefundNo, s.t.ReadVersion, s.t.SettledAt)
	return s.Conclude(ctx, s.b)
}
