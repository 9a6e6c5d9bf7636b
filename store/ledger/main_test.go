package ledger_test

import (
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger/ledgertest"
	"parley/store/storetest"
)

func TestMain(m *testing.M) {
	runNodeIfTold()
	storetest.Main(m)
}

const (
	usd  = billing.USD
	day  = 24 * time.Hour
	mine = "+34911234567"
)

var (
	t0       = ledgertest.T0
	card     = ledgertest.Card
	monthly  = card.NumberPerMonth()
	price    = ledgertest.Price
	together = ledgertest.Together

	web, inboundES, outboundES, tts = ledgertest.Web, ledgertest.InboundES, ledgertest.OutboundES, ledgertest.TTS
)

// fixture is ledgertest's, with what these tests have beside it.
type fixture struct{ *ledgertest.Fixture }

func setup(t testing.TB) *fixture {
	t.Helper()
	return &fixture{ledgertest.New(t)}
}

func prepare(t testing.TB, db *store.DB) *fixture {
	t.Helper()
	return &fixture{ledgertest.Prepare(t, db)}
}
