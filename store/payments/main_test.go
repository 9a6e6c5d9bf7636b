package payments_test

import (
	"testing"

	"parley/billing"
	"parley/store/ledger/ledgertest"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

const usd = billing.USD

var (
	t0 = ledgertest.T0
	on = ledgertest.On
)

// fixture is ledgertest's, with what these tests have beside it.
type fixture struct{ *ledgertest.Fixture }

func setup(t testing.TB) *fixture {
	t.Helper()
	return &fixture{ledgertest.New(t)}
}
