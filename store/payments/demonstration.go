package payments

import (
	"context"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/ledger"
)

// demonstrationTopUp is the provider of top-ups that came with the demonstration, and the ledger account
// that their money comes from. No payment provider has this name, so nobody is asked about such a top-up,
// and it saves no card.
const demonstrationTopUp = "demonstration"

// Demonstration says that it came with the demonstration: there is no payment behind it.
func (t *TopUp) Demonstration() bool { return t.Provider == demonstrationTopUp }

// TopUpDemonstration gives the account of the demonstration its balance, once: a top-up that
// has succeeded without a payment.
func (s *Store) TopUpDemonstration(ctx context.Context, account string, amount billing.Money) error {
	return s.ledger.Locked(ctx, "top up the demonstration", account, func(w *ledger.Tx) error { // which has others wait who do the same
		there, err := store.Scalar[bool](ctx, w, `select exists (select from topups where account_id = $1 and provider = $2)
			or exists (select from ledger_transfers where account_id = $1 and idem = 'demo:topup')`, // of older versions
			account, demonstrationTopUp)
		if err != nil || there {
			return err
		}
		t := &TopUp{ID: store.NewID(store.TopUpID, w.Now()), Account: account, Provider: demonstrationTopUp, Amount: amount, State: TopUpCreated, CreatedAt: w.Now()}
		if err := t.insert(ctx, w); err != nil {
			return err
		}
		st := reconciling{w, t, &pgx.Batch{}}
		// By the payment's name the ledger and the row are compared; this one is ours.
		if err := st.succeed(ctx, payment.Payment{ID: t.ID, Amount: amount}); err != nil {
			return err
		}
		return st.save(ctx, "")
	})
}
