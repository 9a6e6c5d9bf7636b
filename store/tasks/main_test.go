package tasks_test

import (
	"testing"

	"parley/billing"
	"parley/store/ledger/ledgertest"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

const usd = billing.USD

var t0 = ledgertest.T0

func setup(t testing.TB) *ledgertest.Fixture {
	t.Helper()
	return ledgertest.New(t)
}
