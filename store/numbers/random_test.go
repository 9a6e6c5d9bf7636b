package numbers_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"parley/billing"
	"parley/sip/carrier"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/numbers"
)

// TestNumbersAtRandom lets accounts and a carrier do whatever comes to their minds over
// a year, in jumps of up to three weeks, and verifies the books on the way.
func TestNumbersAtRandom(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := setup(t)
			r := rand.New(rand.NewPCG(seed, 2026))
			accounts := []string{f.NewAccount(30 * usd), f.NewAccount(12 * usd), f.NewAccount(60 * usd)}
			var all []*numbers.Number
			lost := map[string]bool{} // for good
			at := t0
			for i := range 250 {
				acc := accounts[r.IntN(len(accounts))]
				var n *numbers.Number
				if len(all) > 0 {
					n = all[r.IntN(len(all))]
				}
				switch what := r.IntN(16); {
				case what < 3:
					got, err := f.Order(acc, fmt.Sprintf("+3491100%04d", r.IntN(12)), at)
					if err == nil {
						all = append(all, got)
					}
				case n == nil:
				case what < 7:
					state := []carrier.State{carrier.Pending, carrier.Active, carrier.Active, carrier.Failed}[r.IntN(4)]
					f.CarrierSays(n, state, at)
				case what < 8:
					if err := f.Numbers.Release(f.At(at), n.Account, n.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
						t.Fatal(err)
					}
				case what < 9:
					f.OK(f.Numbers.FinishRelease(f.Context(), n.ID))
				case what < 10:
					_, _, err := f.Credit(f.At(at), ledger.Credit{Account: acc, Kind: ledger.Topup, Amount: billing.Money(r.IntN(12)+1) * usd, Key: fmt.Sprint("r:", seed, i), Source: "sim"})
					f.OK(err)
				case what < 11:
					f.OK(f.OpenDispute(f.At(at), acc, "pi_r"))
				case what < 12:
					f.OK(f.ResolveDispute(f.At(at), acc, ""))
				case what < 13:
					s, err := f.StartSession(f.At(at), f.Request(acc, ledgertest.OutboundES))
					if err == nil {
						f.CloseWith(s, billing.Usage{billing.AgentTime: r.Int64N(900_000), billing.LineTime: r.Int64N(900_000)})
					}
				default:
					at = at.Add(time.Duration(r.Int64N(int64(21 * day)))).Truncate(time.Microsecond)
					f.Months(at)
				}
				if n != nil {
					switch gone := f.state(n) == "lost"; {
					case gone && f.routes(n):
						t.Fatalf("%s is lost and answered", n.ID)
					case !gone && lost[n.ID]:
						t.Fatalf("%s has come back", n.ID)
					case gone:
						lost[n.ID] = true
					}
				}
				if i%50 == 49 {
					f.Verified()
				}
			}
			t.Logf("%d numbers, %d lost, until %s", len(all), len(lost), at.Format(time.DateOnly))
		})
	}
}
