package ledger_test

import (
	"errors"
	"testing"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// expecting asks for synthesis whose length is known.
func (f *fixture) expecting(account string, chars int64) ledger.Start {
	s := f.Request(account, tts)
	s.Expect[billing.TTSChars] = chars
	return s
}

// What work will cost is set aside when it starts, becomes usage as it is used,
// and what was not needed is given back.
func TestExpectedWorkIsHeld(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	all := price(t, tts, billing.Usage{billing.TTSChars: 1000})
	part := price(t, tts, billing.Usage{billing.TTSChars: 400})
	s, err := f.StartSession(f.Context(), f.expecting(acc, 1000))
	f.OK(err)
	f.Want(acc, billing.Pots{Bonus: 5 * usd, Held: all})
	f.Verified()
	used := billing.Usage{billing.TTSChars: 400}
	f.MustCheckpoint(s, 1, used)
	f.Want(acc, billing.Pots{Bonus: 5 * usd, AccruedAny: part, Held: all - part})
	f.MustCheckpoint(s, 1, billing.Usage{billing.TTSChars: 900}) // repeated number: late
	f.MustCheckpoint(s, 2, used)
	f.Want(acc, billing.Pots{Bonus: 5 * usd, AccruedAny: part, Held: all - part})
	f.Verified()
	f.MustCheckpoint(s, 3, billing.Usage{billing.TTSChars: 2000}) // more than was expected
	f.Want(acc, billing.Pots{Bonus: 5 * usd, AccruedAny: 2 * all})
	f.Verified()
	if cost := f.CloseWith(s, billing.Usage{billing.TTSChars: 2000}); cost != 2*all {
		t.Errorf("it cost %s", cost)
	}
	f.Want(acc, billing.Pots{Bonus: 5*usd - 2*all})

	s, err = f.StartSession(f.Context(), f.expecting(acc, 1000))
	f.OK(err)
	if cost := f.CloseWith(s, billing.Usage{}); cost != 0 {
		t.Errorf("what was not done cost %s", cost)
	}
	f.Want(acc, billing.Pots{Bonus: 5*usd - 2*all})
	f.Verified()
}

// Work starts only when all of it stays above the overdraft floor, counting what
// others have set aside.
func TestExpectedWorkMustBeCovered(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	chars := int64(1_000_000) * int64(7*usd) / int64(price(t, tts, billing.Usage{billing.TTSChars: 1_000_000}))
	if _, err := f.StartSession(f.Context(), f.expecting(acc, chars+1)); !errors.Is(err, store.ErrInsufficientBalance) {
		t.Errorf("more than the balance and the overdraft: %v", err)
	}
	_, err := f.StartSession(f.Context(), f.expecting(acc, chars-10))
	f.OK(err)
	if _, err := f.StartSession(f.Context(), f.expecting(acc, 11)); !errors.Is(err, store.ErrInsufficientBalance) {
		t.Errorf("what another has set aside: %v", err)
	}
	f.Verified()
}
