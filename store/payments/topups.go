// Package payments keeps what customers pay: top-ups, refunds and disputes as a payment provider
// tells of them, and the automatic recharge of a saved card.
//
// A provider's word about a payment is read as a whole, numbered, and applied once, the highest
// number last (Store.ReconcilePayment). Its money is posted by ledger.Tx, in the transaction that
// changes the top-up. What changes a top-up, a refund, a dispute or an attempt at a recharge locks the
// wallet first and then their rows; the page of a top-up is noted, and rows that were left behind are
// found, with a lock of those alone. The ledger makes an attempt at a recharge where a balance falls.
package payments

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/ledger"
)

// TopUpState is how far a top-up is.
type TopUpState string

// States of a top-up. Failed and canceled ones may still succeed, when the
// provider says so later; one that succeeded stays so.
const (
	TopUpCreated   TopUpState = "created" // without a page yet
	TopUpPending   TopUpState = "pending" // waits for the customer or the bank
	TopUpSucceeded TopUpState = "succeeded"
	TopUpFailed    TopUpState = "failed"
	TopUpCanceled  TopUpState = "canceled"
)

// Open says whether the provider may have news of it.
func (s TopUpState) Open() bool { return s == TopUpCreated || s == TopUpPending }

// TopUp is a customer's payment into the balance, from the wish on.
type TopUp struct {
	ID       string
	Account  string
	Provider string        // its Name
	Amount   billing.Money // asked for
	State    TopUpState
	Checkout string // the provider's name of the page; empty while there is none
	URL      string // where to pay; empty likewise
	Payment  string // the provider's name of the payment; empty before it succeeded
	// Automatic ones charge a saved card, and have no page.
	Automatic bool
	Paid      billing.Money
	Refunded  billing.Money // of Paid

	CreatedAt time.Time
	SettledAt *time.Time // nil while it is open

	RefundNo    int   // of the last change of Refunded
	ReadVersion int64 // of the payment that was applied last
}

// Store keeps payments. Several goroutines may use it.
type Store struct {
	db     *store.DB
	ledger *ledger.Ledger
}

// New returns a Store in a database.
func New(db *store.DB) *Store { return &Store{db, ledger.New(db)} }

// MaxTopUps is how many top-ups an account may begin in an hour: each makes a page
// at the provider.
const MaxTopUps = 20

const topupColumns = `id, account_id, provider, amount_nano, state, checkout_id, url, coalesce(payment_id, ''), automatic, paid_nano,
	refunded_nano, created_at, settled_at, refund_no, looked`

// CreateTopUp notes the wish to pay amount. It refuses accounts that are suspended
// or disputed, and more than MaxTopUps an hour with ErrTopUps.
func (s *Store) CreateTopUp(ctx context.Context, account, provider string, amount billing.Money) (*TopUp, error) {
	if amount <= 0 || amount > ledger.MaxCredit {
		return nil, store.Invalid("the amount must be above 0 and within %s", ledger.MaxCredit)
	}
	t := &TopUp{Account: account, Provider: provider, Amount: amount, State: TopUpCreated}
	err := s.ledger.Locked(ctx, "create top-up", account, func(w *ledger.Tx) error { // also so that two do not count each other out
		t.ID, t.CreatedAt = store.NewID(store.TopUpID, w.Now()), w.Now()
		if err := w.Frozen(); err != nil {
			return err
		}
		lately, err := store.Scalar[int](ctx, w,
			"select count(*) from topups where account_id = $1 and created_at > $2 and not automatic", account, w.Now().Add(-time.Hour))
		if err != nil {
			return err
		}
		if lately >= MaxTopUps {
			return store.ErrTopUps
		}
		if err := t.insert(ctx, w); err != nil {
			return err
		}
		return w.Save(ctx, &pgx.Batch{}) // locking it may have expired credit
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// insert writes a top-up that was just created.
func (t *TopUp) insert(ctx context.Context, tx pgx.Tx) error {
	return store.Do(ctx, tx, `insert into topups (id, account_id, provider, amount_nano, state, created_at)
		values ($1, $2, $3, $4, 'created', $5)`, t.ID, t.Account, t.Provider, t.Amount, t.CreatedAt)
}

// OpenTopUp notes the page that the provider made for a top-up.
func (s *Store) OpenTopUp(ctx context.Context, account, id string, page payment.Checkout) (*TopUp, error) {
	var found *TopUp
	err := s.db.Tx(ctx, "open top-up", func(tx pgx.Tx) (err error) {
		if found, err = store.Row[TopUp](ctx, tx, `update topups set checkout_id = $3, url = $4, state = case state when 'created' then 'pending' else state end
			where account_id = $1 and id = $2 returning `+topupColumns, account, id, page.ID, page.URL); err != nil {
			return err
		}
		return saveCustomer(ctx, tx, account, found.Provider, page.Customer)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// saveCustomer keeps what the provider calls the account; empty changes nothing.
func saveCustomer(ctx context.Context, tx pgx.Tx, account, provider, customer string) error {
	if customer == "" {
		return nil
	}
	return store.Do(ctx, tx, `insert into provider_customers (account_id, provider, customer) values ($1, $2, $3)
		on conflict (account_id, provider) do update set customer = excluded.customer`, account, provider, customer)
}

// Customer is what the provider calls the account, or ErrNotFound.
func (s *Store) Customer(ctx context.Context, account, provider string) (customer string, err error) {
	return store.Value[string](ctx, s.db, "read customer",
		"select customer from provider_customers where account_id = $1 and provider = $2", account, provider)
}

// TopUp returns a top-up of the account.
func (s *Store) TopUp(ctx context.Context, account, id string) (*TopUp, error) {
	return store.First[TopUp](ctx, s.db, "read top-up", "select "+topupColumns+" from topups where account_id = $1 and id = $2", account, id)
}

// TopUps lists the account's top-ups, newest first.
func (s *Store) TopUps(ctx context.Context, account string, p store.Page) ([]TopUp, error) {
	return store.ListPage[TopUp](ctx, s.db, "list top-ups", p, "id", "select "+topupColumns+" from topups where account_id = $1", account)
}
