package ledger_test

import (
	"testing"

	"parley/billing"
	"parley/store/ledger"
	"parley/store/ledger/verify"
)

// TestFloorIsVerified: an account may be as far below zero as its sessions need to say
// goodbye, and by whatever was taken from it; what a session used on purpose beyond
// that is noticed.
func TestFloorIsVerified(t *testing.T) {
	f := setup(t)
	minute := price(t, web, billing.Usage{billing.AgentTime: 60_000})
	at := func(left billing.Money) (account string, s *ledger.Session) {
		account = f.NewAccount(0)
		f.Adjust(account, left)
		return account, f.Start(account, web)
	}
	minutes := func(m billing.Money) billing.Usage {
		return billing.Usage{billing.AgentTime: int64(m/minute)*60_000 + 60_000}
	}
	want := func(what, account string) {
		t.Helper()
		var found []verify.Violation
		for _, v := range f.Violations() {
			if v.Invariant == 16 && v.Subject == account {
				found = append(found, v)
			} else if v.Invariant != 16 {
				t.Error(v)
			}
		}
		if noticed := len(found) > 0; noticed != (what == "") {
			t.Errorf("%s: %v", what, found)
		}
	}

	acc, s := at(usd)
	f.CloseWith(s, minutes(3*usd-minute)) // to the floor
	want("at the floor", acc)
	acc, s = at(usd)
	f.CloseWith(s, minutes(3*usd)) // a minute more
	want("a goodbye", acc)

	acc, s = at(usd)
	f.CloseWith(s, billing.Usage{billing.ReplyOut: 10_000_000})
	want("a reply that nobody could stop", acc)

	acc, s = at(usd)
	f.talks(acc, s, 100)
	f.CloseWith(s, billing.Usage{billing.ReplyOut: 10_000_000})
	want("", acc) // all of a hundred replies, and nobody stopped them

	acc, s = at(3 * usd)
	f.MustCheckpoint(s, 1, minutes(3*usd))
	f.Adjust(acc, -9*usd)
	f.CloseWith(s, minutes(4*usd))
	want("money that was taken otherwise", acc)

	acc, s = at(usd)
	other := f.Start(acc, web)
	f.CloseWith(s, minutes(3*usd-minute))
	f.CloseWith(other, minutes(0))
	want("two goodbyes", acc)

	acc, s = at(usd)
	f.Start(acc, web) // which never ends: what it owes is not known, what the other left is
	f.CloseWith(s, minutes(6*usd))
	want("", acc)

	// Before these accounts have anything new, for it is looked at in stretches.
	acc, s = at(usd)
	f.CloseWith(s, minutes(3*usd+2*minute))
	want("", acc)
	f.PayIn(acc, 100*usd, "pi:later"+acc)
	f.CloseWith(f.Start(acc, web), minutes(usd))
	want("", acc)
}
