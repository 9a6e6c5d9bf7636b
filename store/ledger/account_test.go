package ledger_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/storetest"
)

func TestAccounts(t *testing.T) {
	f := setup(t)
	first := f.NewAccount(0)
	a := f.Show(first)
	if a.Name != "Test" || !a.CreatedAt.Equal(t0) || a.Balance() != 5*usd || a.Live != 0 || a.Concurrency != nil || a.Suspended {
		t.Errorf("%+v", a)
	}
	if _, err := f.CreateAccount(f.Context(), " ", card); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("an account without a name: %v", err)
	}
	if _, err := f.Account(f.Context(), "acc_x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown account: %v", err)
	}
	if _, err := f.Account(f.Context(), "\xff"); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("bytes that are no text: %v", err)
	}
	for _, n := range []int{-1, 100_001} {
		if err := f.ChangeAccount(f.Context(), first, ledger.AccountChange{Concurrency: &n}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("concurrency %d: %v", n, err)
		}
	}
	seven, none := 7, 0
	f.OK(f.ChangeAccount(f.Context(), first, ledger.AccountChange{Concurrency: &seven}))
	if got := f.Show(first).Concurrency; got == nil || *got != 7 {
		t.Errorf("concurrency %v", got)
	}
	f.OK(f.ChangeAccount(f.Context(), first, ledger.AccountChange{Concurrency: &none}))
	if got := f.Show(first).Concurrency; got != nil {
		t.Errorf("concurrency %v; want the card's", *got)
	}
	f.NewAccount(0)
	if all, err := f.Accounts(f.Context(), store.Page{}); err != nil || len(all) != 2 {
		t.Errorf("%d accounts, %v", len(all), err)
	}
	f.Verified()
}

func TestDisputesCountOnce(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	for _, c := range []struct {
		open bool
		ref  string
		want int
	}{{true, "a", 1}, {true, "a", 1}, {true, "b", 2}, {false, "a", 1}, {false, "a", 1}, {true, "a", 2}, {false, "", 0}, {false, "", 0}} {
		if c.open {
			f.OK(f.OpenDispute(f.Context(), acc, c.ref))
		} else {
			f.OK(f.ResolveDispute(f.Context(), acc, c.ref))
		}
		if got := f.Show(acc).OpenDisputes; got != c.want {
			t.Errorf("%+v: %d open", c, got)
		}
	}
	f.Verified()
}

// A card without a welcome credit gives none.
func TestNoWelcomeCredit(t *testing.T) {
	f := setup(t)
	none := cardWith(t, map[string]string{"version: 2026-01-15.1": "version: 2026-02-01.1", "signup_bonus: 5": "signup_bonus: 0"})
	f.OK(f.PutRateCard(f.Context(), none))
	a, err := f.CreateAccount(f.Context(), "Frugal", none)
	f.OK(err)
	f.Want(a.ID, billing.Pots{})
	f.Verified()
}

func TestMigrateFromNothingByTwo(t *testing.T) {
	url := storetest.URL(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "drop schema public cascade; create schema public"); err != nil {
		t.Fatal(err)
	}
	db := storetest.Open(t, url)
	together(2, func(int) {
		if err := db.Migrate(t.Context()); err != nil {
			t.Error(err)
		}
	})
	prepare(t, db).NewAccount(usd)
}
