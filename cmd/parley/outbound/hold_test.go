package outbound

import (
	"log/slog"
	"slices"
	"testing"

	"parley/billing"
	"parley/media"
	"parley/media/hold"
	"parley/pipeline/agent"
	"parley/store/ledger"
	"parley/store/sounds"
	"parley/store/storetest"
)

// TestHold: callers hear what the setting says; a sound that the account has not, or not any more, is the ringing tone, and one that is
// deleted while it plays goes on.
func TestHold(t *testing.T) {
	db := storetest.New(t)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(db.PutRateCard(t.Context(), billing.DefaultRateCard()))
	mine, err := ledger.New(db).CreateAccount(t.Context(), "A", db.RateCard())
	ok(err)
	other, err := ledger.New(db).CreateAccount(t.Context(), "B", db.RateCard())
	ok(err)
	x := &Transfers{Sounds: sounds.New(db), Log: slog.New(slog.DiscardHandler)}
	loud := make([]int16, 3200) // 200 ms
	for i := range loud {
		loud[i] = int16(8000 * (i / 8 % 2))
	}
	waltz, err := x.Sounds.Add(t.Context(), mine.ID, "Waltz", hold.Encode(loud))
	ok(err)
	music, ringing := agent.HoldMusic, agent.HoldRinging
	if x.holds(mine.ID, nil) != nil || x.holds(mine.ID, &ringing) != nil {
		t.Error("there is something else than the ringing tone")
	}
	sounds := func(account, setting string) *hold.Player {
		return x.holds(account, &setting)(t.Context(), media.Rate8k)
	}
	audible := func(p *hold.Player) bool {
		heard := false
		for range 50 {
			heard = slices.Max(p.Next().Samples) > 1000
		}
		return heard
	}
	if sounds(mine.ID, music) == nil || sounds(other.ID, waltz.ID) != nil || sounds(mine.ID, "snd_none") != nil {
		t.Error("there is no music, or a sound of another account or of none")
	}
	plays := sounds(mine.ID, waltz.ID)
	if plays == nil || !audible(plays) {
		t.Fatal("the sound is not heard")
	}
	ok(x.Sounds.Delete(t.Context(), mine.ID, waltz.ID))
	if !audible(plays) || sounds(mine.ID, waltz.ID) != nil {
		t.Error("a sound that was deleted stops where it plays, or begins where it does not")
	}
}
