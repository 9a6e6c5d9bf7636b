package wallet_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/storetest"
)

// TestEngineTotals: what engines used in calls and in other work is summed up by engine and unit, for whose it is, by when the
// session began; what vendors charge is for operators.
func TestEngineTotals(t *testing.T) {
	o := open(t)
	o.topup(o.A.Account, 100*billing.USD)
	o.topup(o.B.Account, 100*billing.USD)
	cost := 3 * billing.Cent
	spoke := func(n int64) store.EngineUse {
		return store.EngineUse{Stage: "tts", Engine: "sonic", Unit: billing.Characters, Quantity: n, Source: "provider", Cost: &cost}
	}
	heard := store.EngineUse{Stage: "asr", Engine: "flux", Model: "flux-general-en", Own: true, Unit: billing.OpenSeconds, Quantity: 1500, Source: "counted", Price: new(billing.Money)}
	session := func(account string, kind billing.Kind, at time.Time, uses ...store.EngineUse) {
		t.Helper()
		s := o.start(account, "", billing.Terms{Kind: kind}, at)
		_, err := o.Ledger.CloseSession(storetest.At(t.Context(), at.Add(time.Minute)), s, ledger.Closing{Reason: "completed", StartedAt: at, Uses: uses})
		o.OK(err)
	}
	day := began.Add(10 * 24 * time.Hour)
	session(o.A.Account, billing.Web, day, heard, spoke(100))
	session(o.A.Account, billing.TTS, day.Add(time.Hour), spoke(20))
	session(o.A.Account, billing.STT, day.Add(23*time.Hour), heard)
	session(o.A.Account, billing.TTS, day.Add(24*time.Hour), spoke(7))
	session(o.B.Account, billing.TTS, day, spoke(5))

	at := func(t time.Time) string { return t.Format(time.DateOnly) }
	for _, c := range []struct {
		who    owner
		period string
		want   []string
	}{
		{o.A, "from=" + at(day) + "&to=" + at(day.Add(24*time.Hour)), []string{"asr flux account open_seconds 3 in 2", "tts sonic operator characters 120 in 2"}},
		{o.A, "", []string{"asr flux account open_seconds 3 in 2", "tts sonic operator characters 127 in 3"}},
		{o.A, "to=" + at(day), nil},
		{o.B, "", []string{"tts sonic operator characters 5 in 1"}},
	} {
		var list struct{ Data []wire.EngineTotal }
		o.Read(c.who, "/v1/usage/engines?"+c.period, &list)
		var got []string
		for _, u := range list.Data {
			got = append(got, fmt.Sprint(u.Stage, " ", u.Engine, " ", u.KeyOwner, " ", u.Unit, " ", u.Quantity, " in ", u.Sessions))
			if u.Cost != nil || (u.Price != nil) != (u.KeyOwner == "account") {
				t.Errorf("%+v", u)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.period, got, c.want)
		}
	}
	if r := o.get(o.A, "/v1/usage/engines"); !strings.Contains(r.Body, `"from":null,"to":null`) {
		t.Error(r.Body)
	}
	for _, period := range []string{"from=yesterday", "from=2026-04-01&to=2026-03-01"} {
		if r := o.get(o.A, "/v1/usage/engines?"+period); r.Status != http.StatusBadRequest {
			t.Errorf("%s: %d", period, r.Status)
		}
	}
}
