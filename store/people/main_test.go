package people_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// t0 is when tests begin.
var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a database with the built-in card, and helpers that end the test when they
// fail.
type fixture struct {
	*people.Store
	db *store.DB
	t  testing.TB
}

func setup(t testing.TB) *fixture {
	t.Helper()
	return prepare(t, storetest.New(t))
}

func prepare(t testing.TB, db *store.DB) *fixture {
	t.Helper()
	f := &fixture{people.New(db), db, t}
	f.ok(db.PutRateCard(f.ctx(), billing.DefaultRateCard()))
	return f
}

// ctx is a context in which it is t0.
func (f *fixture) ctx() context.Context { return storetest.At(f.t.Context(), t0) }

func (f *fixture) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) account() string {
	f.t.Helper()
	a, err := ledger.New(f.db).CreateAccount(f.ctx(), "Test", billing.DefaultRateCard())
	f.ok(err)
	return a.ID
}

func (f *fixture) is(err, want error) {
	f.t.Helper()
	if !errors.Is(err, want) {
		f.t.Errorf("%v; want %v", err, want)
	}
}
