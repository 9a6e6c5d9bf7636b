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
	f.t.Helper()
	f.ok(f.WantCRMNote(f.ctx(), s.Account, s.ID, crmSource, "00-trace"))
}

func (f *fixture) crmCharges(s *ledger.Session) (calls int64, amount billing.Money) {
	f.t.Helper()
	r, err := statement.ReadReceipt(f.ctx(), f.DB, s.Account, s.ID)
	f.ok(err)
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
	acc := f.account(10 * usd)
	s := f.start(acc, inboundES)
	f.noted(s)
	f.noted(s)
	_, err := f.ClaimCRMNote(f.ctx())
	f.is(err, store.ErrNotFound) // it lasts
	f.closeWith(s, billing.Usage{billing.AgentTime: 60_000, billing.LineTime: 60_000})
	before := f.show(acc).Balance()

	n, err := f.ClaimCRMNote(f.ctx())
	f.ok(err)
	if c, err := history.New(f.DB).Call(f.ctx(), n.Account, n.Session); err != nil || c.From != "+34911234567" || c.StartedAt == nil {
		t.Errorf("%+v, %v", c, err)
	}
	if n.Session != s.ID || n.Account != acc || n.Try != 1 || string(n.Source) != string(crmSource) || n.Trace != "00-trace" {
		t.Errorf("%+v", n)
	}
	_, err = f.ClaimCRMNote(f.ctx())
	f.is(err, store.ErrNotFound)
	// Whoever had it died: somebody else gets it later, and knows.
	again, err := f.ClaimCRMNote(f.at(t0.Add(time.Minute)))
	f.ok(err)
	if again.Try != 2 {
		t.Errorf("%+v", again)
	}
	for _, done := range []*aftercall.CRMNote{n, again, again} {
		f.ok(f.CRMNoted(f.at(t0.Add(time.Minute)), done))
	}
	if calls, amount := f.crmCharges(s); calls != 1 || amount != usd/50 || f.show(acc).Balance() != before-amount {
		t.Errorf("%d calls for %s, the balance from %s to %s", calls, amount, before, f.show(acc).Balance())
	}
	_, err = f.ClaimCRMNote(f.at(t0.Add(48 * time.Hour)))
	f.is(err, store.ErrNotFound)
	f.verified()
}

// TestCRMNoteOfCallThatWasLookedUp: it is charged already.
func TestCRMNoteOfCallThatWasLookedUp(t *testing.T) {
	f := setup(t)
	acc := f.account(10 * usd)
	s := f.start(acc, outboundES)
	f.noted(s)
	f.closeWith(s, billing.Usage{billing.AgentTime: 60_000, billing.LineTime: 60_000, billing.CRMCalls: 1})
	n, err := f.ClaimCRMNote(f.ctx())
	f.ok(err)
	f.ok(f.CRMNoted(f.ctx(), n))
	if calls, _ := f.crmCharges(s); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	f.verified()
}

func TestCRMNotesThatAreNotMade(t *testing.T) {
	f := setup(t)
	acc, other := f.account(10*usd), f.account(0)
	unanswered := f.start(acc, inboundES)
	f.noted(unanswered)
	_, err := f.CloseSession(f.ctx(), unanswered, ledger.Closing{Reason: "user_hangup"})
	f.ok(err)
	f.is(f.WantCRMNote(f.ctx(), other, unanswered.ID, crmSource, ""), store.ErrNotFound)
	f.is(f.WantCRMNote(f.ctx(), acc, unanswered.ID, json.RawMessage("7"), ""), store.ErrInvalid)
	_, err = f.ClaimCRMNote(f.ctx())
	f.is(err, store.ErrNotFound)

	hopeless, refused := f.start(acc, inboundES), f.start(acc, inboundES)
	f.noted(refused)
	f.closeWith(refused, billing.Usage{})
	n, err := f.ClaimCRMNote(f.ctx())
	f.ok(err)
	f.ok(f.CRMNoteFailed(f.ctx(), n))
	f.noted(hopeless)
	f.closeWith(hopeless, billing.Usage{})
	tries := 0
	at := t0
	for ; tries < 100; tries++ {
		if _, err := f.ClaimCRMNote(f.at(at)); err != nil {
			f.is(err, store.ErrNotFound)
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
	f.verified()
}

// TestCRMNotesTakeTurns: an account with many calls to be noted, or whose database does not
// answer, leaves those of others their turn.
func TestCRMNotesTakeTurns(t *testing.T) {
	f := setup(t)
	busy, quiet := f.account(100*usd), f.account(10*usd)
	call := func(account string) string {
		s := f.start(account, inboundES)
		f.noted(s)
		f.closeWith(s, billing.Usage{})
		return s.ID
	}
	for range 3 {
		call(busy)
	}
	claim := func(at time.Time, account string) *aftercall.CRMNote {
		t.Helper()
		n, err := f.ClaimCRMNote(f.at(at))
		f.ok(err)
		if n.Account != account {
			t.Fatalf("at %s a call of the other account is noted", at.Sub(t0))
		}
		return n
	}
	none := func(at time.Time) {
		t.Helper()
		_, err := f.ClaimCRMNote(f.at(at))
		f.is(err, store.ErrNotFound)
	}
	first := claim(t0, busy)
	none(t0) // one at a time
	f.ok(f.WantCRMNote(f.ctx(), quiet, f.start(quiet, inboundES).ID, crmSource, ""))
	none(t0) // it lasts
	call(quiet)
	f.ok(f.CRMNoted(f.ctx(), first))
	other := claim(t0, quiet)
	second := claim(t0, busy)
	f.ok(f.CRMNoted(f.ctx(), other))
	// Its database goes away: it is left alone, with all its calls, longer and longer.
	at := t0
	for _, rest := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
		f.ok(f.CRMNoteDelayed(f.at(at), second))
		none(at.Add(rest - time.Second))
		at = at.Add(rest)
		second = claim(at, busy)
	}
	none(at)
	// Whoever had it died: its account waits half a minute.
	call(busy)
	call(busy)
	at = at.Add(30 * time.Second)
	f.ok(f.CRMNoteFailed(f.at(at), claim(at, busy)))
	f.ok(f.CRMNoteDelayed(f.at(at), claim(at, busy))) // it has answered: as the first time
	at = at.Add(30 * time.Second)
	call(quiet)
	claim(at, quiet)
	claim(at, busy)
	f.verified()
}
