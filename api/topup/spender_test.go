package topup_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
	"parley/store/ledger"
	"parley/store/payments"
	"parley/store/people"
	"parley/store/storetest"
)

// TestRechargeIsForOwners: a key without the mark reads how automatic recharge stands and
// changes nothing.
func TestRechargeIsForOwners(t *testing.T) {
	o := open(t)
	o.carded(o.A)
	_, secret, err := o.People.MakeKey(t.Context(), people.NewKey{Account: o.A.Account, Name: "website", Role: people.RoleMember})
	o.OK(err)
	member := owner{Account: o.A.Account, Key: secret}
	for _, method := range []string{"PUT", "PATCH"} {
		for _, body := range []string{`{"enabled":true,"threshold":1000000,"amount":500,"monthly_cap":1000000}`, `{"enabled":false}`, `{}`} {
			if status, text := o.setting(member, method, body); status != http.StatusForbidden || !strings.Contains(text, `"auth.role_not_allowed"`) {
				t.Errorf("%s %s: %d %s", method, body, status, text)
			}
		}
	}
	if status, text := o.setting(member, "GET", ""); status != http.StatusOK || o.recharge(text).Enabled {
		t.Errorf("%d %s", status, text)
	}
}

// TestRechargeIsBounded: whatever is set, a charge is at most what the operator says, and
// there is no second one soon after.
func TestRechargeIsBounded(t *testing.T) {
	o := open(t)
	stop := o.work(o.pays)
	o.carded(o.A)
	if status, text := o.setting(o.A, "PUT", `{"enabled":true,"threshold":1000000,"amount":500.01,"monthly_cap":1000000}`); status != http.StatusBadRequest ||
		!strings.Contains(text, "500") {
		t.Errorf("%d %s", status, text)
	}
	// Settings of a time when more was allowed.
	_, err := payments.New(o.DB).SetRecharge(t.Context(), o.A.Account, o.pays.Name(), payments.DefaultRecharge(card), func(r *payments.Recharge) error {
		*r = payments.Recharge{Enabled: true, Threshold: 1_000_000 * usd, Amount: 2000 * usd, MonthlyCap: 1_000_000 * usd}
		return nil
	})
	o.OK(err)
	was := o.settled(o.A)
	for range 3 { // as a node does every half minute
		_, err := payments.New(o.DB).SweepRecharges(t.Context(), nothingLost(t))
		o.OK(err)
	}
	now := o.settled(o.A)
	if was.Charged != 500*usd || now.Charged != was.Charged || now.RetryAt == nil || time.Until(*now.RetryAt) < ledger.RechargePause-time.Minute {
		t.Errorf("%+v, then %+v", was, now)
	}
	// A top-up by hand does not end this wait.
	o.carded(o.A)
	if now = o.settled(o.A); now.Charged != 500*usd || now.RetryAt == nil {
		t.Errorf("after a top-up by hand: %+v", now)
	}
	stop()
	_, err = payments.New(o.DB).SweepRecharges(storetest.At(t.Context(), time.Now().Add(ledger.RechargePause+time.Second)), nothingLost(t))
	o.OK(err)
	if _, text := o.setting(o.A, "GET", ""); o.recharge(text).InProgress == nil {
		t.Errorf("nothing is charged after the wait: %s", text)
	}
}

// nothingLost is for a sweep that should find no attempt without an outcome.
func nothingLost(t *testing.T) store.Enqueue {
	return func(_ context.Context, _ pgx.Tx, _, attempt string) error {
		t.Errorf("attempt %s was lost", attempt)
		return nil
	}
}
