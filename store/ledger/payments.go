package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/billing/payment"

	"parley/store"
)

// Transfers of payments that went back.
const (
	RefundKind  TransferKind = "refund"  // to the card, or back from it when that failed
	DisputeKind TransferKind = "dispute" // withdrawn by the bank, or returned by it
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
func (l *Ledger) NextReadVersion(ctx context.Context) (n int64, err error) {
	return store.Value[int64](ctx, l.db, "number a read", "select nextval('payment_looks')")
}

// EventApplied says whether the provider's event has been applied.
func (l *Ledger) EventApplied(ctx context.Context, provider, event string) (applied bool, err error) {
	return store.Value[bool](ctx, l.db, "read event", "select exists (select from payment_events where provider = $1 and event_id = $2)", provider, event)
}

// ReconcilePayment applies what the provider says to the ledger, and applies the
// event, once. The money goes to the account of the top-up that the payment names, or
// whose attempt at a recharge has its key; ErrNotFound when there is none such, or it
// is another account's. ErrStaleRead: read
// again, for the Refund ends with what is read after it.
func (l *Ledger) ReconcilePayment(ctx context.Context, s PaymentRead) (*TopUp, error) {
	var t *TopUp
	err := l.db.Tx(ctx, "reconcile payment", func(tx pgx.Tx) error {
		var account, topup string
		err := tx.QueryRow(ctx, `select account_id, id from topups where provider = $2 and account_id = $3 and id = case when $1 <> '' then $1
			else (select topup_id from recharge_attempts where id = $4) end`,
			s.Payment.TopUp, s.Provider, s.Payment.Account, s.Payment.Key).Scan(&account, &topup)
		if err != nil {
			return err
		}
		w, err := l.lock(ctx, tx, account)
		if err != nil {
			return err
		}
		if t, err = lockTopUp(ctx, tx, account, topup); err != nil {
			return err
		}
		if t.Payment != "" && t.Payment != s.Payment.ID {
			// One page takes one payment. Loud, for a customer may have paid twice.
			return fmt.Errorf("top-up %s was paid by %s and now by %s too", t.ID, t.Payment, s.Payment.ID)
		}
		fresh, err := s.dedupe(ctx, w, t)
		if err != nil {
			return err
		}
		st := reconciling{w, t}
		if s.Refund != nil && s.Version <= t.ReadVersion {
			return store.ErrStaleRead
		}
		if err := st.end(ctx, s.Refund); err != nil {
			return err
		}
		if s.Version > t.ReadVersion {
			t.ReadVersion = s.Version
			err = st.reconcile(ctx, s.Payment)
			if err == nil && t.Automatic {
				err = st.recharged(ctx, rechargeFailureOf(s.Payment.Code), s.Payment.Code)
			}
		}
		if err == nil && fresh && s.Event.Dispute.Ref != "" {
			err = st.dispute(ctx, s.Event)
		}
		if err == nil {
			err = st.save(ctx, s.Payment.Customer)
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
func (s *PaymentRead) dedupe(ctx context.Context, w *Tx, t *TopUp) (fresh bool, err error) {
	if s.Event.ID == "" {
		return false, nil
	}
	tag, err := w.Exec(ctx, `insert into payment_events (provider, event_id, account_id, topup_id, kind, received_at)
		values ($1, $2, $3, $4, $5, $6) on conflict do nothing`, s.Provider, s.Event.ID, t.Account, t.ID, s.Event.Kind, w.now)
	return tag.RowsAffected() == 1, err
}

// reconciling is a payment while its account's wallet is locked.
type reconciling struct {
	*Tx
	t *TopUp
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
		s.t.State, s.t.SettledAt = state, &s.now
	}
}

// succeed credits what was received. The key in the ledger is a second net: a
// payment that an operator credited by hand under it is not credited again.
func (s *reconciling) succeed(ctx context.Context, p payment.Payment) error {
	if p.ID == "" {
		return fmt.Errorf("top-up %s: a payment without a name has succeeded", s.t.ID)
	}
	c := Credit{Account: s.t.Account, Kind: Topup, Amount: p.Amount, Key: "pi:" + p.ID, Source: s.t.Provider}
	credit, err := c.transfer(s.now)
	if err != nil {
		return err
	}
	there, err := store.Scalar[bool](ctx, s, "select exists (select from ledger_transfers where idem = $1)", c.Key)
	if err != nil {
		return err
	}
	if there {
		err = sameCredit(ctx, s.Tx, s.t.Account, credit)
	} else {
		_, err = s.Exec(ctx, insertTransfer, s.apply(credit)...)
	}
	if s.firstTopup == nil {
		s.firstTopup = &s.now
	}
	s.t.State, s.t.Payment, s.t.Paid, s.t.SettledAt = TopUpSucceeded, p.ID, p.Amount, &s.now
	if err != nil {
		return err
	}
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
	t := transfer{idem: fmt.Sprintf("re:%s:%d", s.t.Payment, s.t.RefundNo), debit: potPaid, credit: "refunds", amount: change, kind: RefundKind}
	if change < 0 {
		t.debit, t.credit, t.amount = t.credit, t.debit, -change
	}
	s.t.Refunded = total
	if _, err := s.Exec(ctx, insertTransfer, s.apply(t)...); err != nil || change < 0 {
		return err
	}
	return s.rechargeRefunded(ctx)
}

// save writes the top-up and the wallet.
func (s *reconciling) save(ctx context.Context, customer string) error {
	if err := saveCustomer(ctx, s.Tx, s.t.Account, s.t.Provider, customer); err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`update topups set state = $3, payment_id = nullif($4, ''), paid_nano = $5, refunded_nano = $6, refund_no = $7, looked = $8, settled_at = $9
		where account_id = $1 and id = $2`, s.t.Account, s.t.ID, s.t.State, s.t.Payment, s.t.Paid, s.t.Refunded, s.t.RefundNo, s.t.ReadVersion, s.t.SettledAt)
	return s.conclude(ctx, b)
}
