package ledger_test

import (
	"encoding/json"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/statement"
)

var crmSource = json.RawMessage(`{"provider": "hubspot"}`)

func (f *fixture) noted(s *ledger.Session) {
	f.T.Helper()
	f.OK(f.WantCRMNote(f.Context(), s.Account, s.ID, crmSource, "00-trace"))
}

func (f *fixture) crmCharges(s *ledger.Session) (calls int64, amount billing.Money) {
	f.T.Helper()
	r, err := statement.ReadReceipt(f.Context(), f.DB, s.Account, s.ID)
	f.OK(err)
	for _, u := range r.Lines {
		if u.Component == billing.CRMCalls.String() {
			calls += u.Quantity
			amount += u.Amount
		}
	}
	return calls, amount
}

// TestCRMNotes: a call is noted when it is over, by one claimant at a time, and charged
// once.
func TestCRMNotes(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	s := f.Start(acc, inboundES)
	f.noted(s)
	f.noted(s)
	_, err := f.ClaimCRMNote(f.Context())
	f.Is(err, store.ErrNotFound) // it lasts
	f.CloseWith(s, billing.Usage{billing.AgentTime: 60_000, billing.LineTime: 60_000})
	before := f.Show(acc).Balance()

	n, err := f.ClaimCRMNote(f.Context())
	f.OK(err)
	if c, err := history.New(f.DB).Call(f.Context(), n.Account, n.Session); err != nil || c.From != "+34911234567" || c.StartedAt == nil {
		t.Errorf("%+v, %v", c, err)
	}
	if n.Session != s.ID || n.Account != acc || n.Try != 1 || string(n.Source) != string(crmSource) || n.Trace != "00-trace" {
		t.Errorf("%+v", n)
	}
	_, err = f.ClaimCRMNote(f.Context())
	f.Is(err, store.ErrNotFound)
	// Whoever had it died: somebody else gets it later, and knows.
	again, err := f.ClaimCRMNote(f.At(t0.Add(time.Minute)))
	f.OK(err)
	if again.Try != 2 {
		t.Errorf("%+v", again)
	}
	for _, done := range []*aftercall.CRMNote{n, again, again} {
		f.OK(f.CRMNoted(f.At(t0.Add(time.Minute)), done))
	}
	if calls, amount := f.crmCharges(s); calls != 1 || amount != usd/50 || f.Show(acc).Balance() != before-amount {
		t.Errorf("%d calls for %s, the balance from %s to %s", calls, amount, before, f.Show(acc).Balance())
	}
	_, err = f.ClaimCRMNote(f.At(t0.Add(48 * time.Hour)))
	f.Is(err, store.ErrNotFound)
	f.Verified()
}

// TestCRMNoteOfCallThatWasLookedUp: it is charged already.
func TestCRMNoteOfCallThatWasLookedUp(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	s := f.Start(acc, outboundES)
	f.noted(s)
	f.CloseWith(s, billing.Usage{billing.AgentTime: 60_000, billing.LineTime: 60_000, billing.CRMCalls: 1})
	n, err := f.ClaimCRMNote(f.Context())
	f.OK(err)
	f.OK(f.CRMNoted(f.Context(), n))
	if calls, _ := f.crmCharges(s); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	f.Verified()
}

func TestCRMNotesThatAreNotMade(t *testing.T) {
	f := setup(t)
	acc, other := f.NewAccount(10*usd), f.NewAccount(0)
	unanswered := f.Start(acc, inboundES)
	f.noted(unanswered)
	_, err := f.CloseSession(f.Context(), unanswered, ledger.Closing{Reason: "user_hangup"})
	f.OK(err)
	f.Is(f.WantCRMNote(f.Context(), other, unanswered.ID, crmSource, ""), store.ErrNotFound)
	f.Is(f.WantCRMNote(f.Context(), acc, unanswered.ID, json.RawMessage("7"), ""), store.ErrInvalid)
	_, err = f.ClaimCRMNote(f.Context())
	f.Is(err, store.ErrNotFound)

	hopeless, refused := f.Start(acc, inboundES), f.Start(acc, inboundES)
	f.noted(refused)
	f.CloseWith(refused, billing.Usage{})
	n, err := f.ClaimCRMNote(f.Context())
	f.OK(err)
	f.OK(f.CRMNoteFailed(f.Context(), n))
	f.noted(hopeless)
	f.CloseWith(hopeless, billing.Usage{})
	tries := 0
	at := t0
	for ; tries < 100; tries++ {
		if _, err := f.ClaimCRMNote(f.At(at)); err != nil {
			f.Is(err, store.ErrNotFound)
			break
		}
		at = at.Add(time.Hour)
	}
	if tries != 30 {
		t.Errorf("tried %d times", tries)
	}
	for _, s := range []*ledger.Session{unanswered, refused, hopeless} {
		if calls, _ := f.crmCharges(s); calls != 0 {
			t.Errorf("%d calls", calls)
		}
	}
	f.Verified()
}

// TestCRMNotesTakeTurns: an account with many calls to be noted, or whose database does not
// answer, leaves those of others their turn.
func TestCRMNotesTakeTurns(t *testing.T) {
	f := setup(t)
	busy, quiet := f.NewAccount(100*usd), f.NewAccount(10*usd)
	call := func(account string) string {
		s := f.Start(account, inboundES)
		f.noted(s)
		f.CloseWith(s, billing.Usage{})
		return s.ID
	}
	for range 3 {
		call(busy)
	}
	claim := func(at time.Time, account string) *aftercall.CRMNote {
		t.Helper()
		n, err := f.ClaimCRMNote(f.At(at))
		f.OK(err)
		if n.Account != account {
			t.Fatalf("at %s a call of the other account is noted", at.Sub(t0))
		}
		return n
	}
	none := func(at time.Time) {
		t.Helper()
		_, err := f.ClaimCRMNote(f.At(at))
		f.Is(err, store.ErrNotFound)
	}
	first := claim(t0, busy)
	none(t0) // one at a time
	f.OK(f.WantCRMNote(f.Context(), quiet, f.Start(quiet, inboundES).ID, crmSource, ""))
	none(t0) // it lasts
	call(quiet)
	f.OK(f.CRMNoted(f.Context(), first))
	other := claim(t0, quiet)
	second := claim(t0, busy)
	f.OK(f.CRMNoted(f.Context(), other))
	// Its database goes away: it is left alone, with all its calls, longer and longer.
	at := t0
	for _, rest := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
		f.OK(f.CRMNoteDelayed(f.At(at), second))
		none(at.Add(rest - time.Second))
		at = at.Add(rest)
		second = claim(at, busy)
	}
	none(at)
	// Whoever had it died: its account waits half a minute.
	call(busy)
	call(busy)
	at = at.Add(30 * time.Second)
	f.OK(f.CRMNoteFailed(f.At(at), claim(at, busy)))
	f.OK(f.CRMNoteDelayed(f.At(at), claim(at, busy))) // it has answered: as the first time
	at = at.Add(30 * time.Second)
	call(quiet)
	claim(at, quiet)
	claim(at, busy)
	f.Verified()
}
