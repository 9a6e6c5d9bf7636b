package ledger_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/verify"
	"parley/store/storetest"
)

// dialled starts an outbound call with its evidence of consent.
func (f *fixture) dialled(account, agent string) *ledger.Session {
	f.T.Helper()
	r := f.Request(account, outboundES)
	r.Agent = agent
	r.Consent = &ledger.Consent{ToHash: sha256.Sum256([]byte(r.To)), Key: "key_1", IP: "192.0.2.7"}
	s, err := f.StartSession(f.Context(), r)
	f.OK(err)
	return s
}

// TestConsentIsSealed: each row of the evidence follows from the one before, and what
// is taken out, changed or moved is found.
func TestConsentIsSealed(t *testing.T) {
	for name, damage := range map[string]string{
		"":                "",
		"another address": "update consent_audit set ip = '192.0.2.8' where no = 2",
		"another time":    "update consent_audit set at = at + interval '1 s' where no = 3",
		"another number":  "update consent_audit set to_hash = sha256('x') where no = 1",
		"the first gone":  "delete from consent_audit where no = 1",
		"one gone":        "delete from consent_audit where no = 2",
		"one exchanged":   "update consent_audit set agent_id = 'ag_0' where no = 3",
	} {
		url := storetest.URL(t)
		f := prepare(t, storetest.Open(t, url))
		mine, theirs := f.NewAccount(50*usd), f.NewAccount(50*usd)
		a, b := f.NewAgent(mine), f.NewAgent(theirs)
		for range 3 {
			f.dialled(mine, a.ID)
			f.dialled(theirs, b.ID)
		}
		rows, err := f.Consents(f.Context(), mine, 1, 10)
		f.OK(err)
		if len(rows) != 2 || rows[0].No != 2 || rows[0].Key != "key_1" || rows[0].Agent != a.ID || !rows[0].At.Equal(t0) {
			t.Fatalf("after the first: %+v", rows)
		}
		f.Verified()
		if damage == "" {
			continue
		}
		conn, err := pgx.Connect(f.Context(), url)
		f.OK(err)
		_, err = conn.Exec(f.Context(), "alter table consent_audit disable trigger user; "+damage+"; alter table consent_audit enable trigger user")
		f.OK(err)
		f.OK(conn.Close(f.Context()))
		report, err := verify.Whole(f.Context(), f.DB)
		f.OK(err)
		if len(report.Violations) == 0 || report.Violations[0].Invariant != 23 {
			t.Errorf("%s: %v", name, report.Violations)
		}
	}
}

// TestCallRings: the first alerting counts, and is the account's own.
func TestCallRings(t *testing.T) {
	f := setup(t)
	mine, theirs := f.NewAccount(50*usd), f.NewAccount(50*usd)
	s := f.dialled(mine, f.NewAgent(mine).ID)
	f.OK(history.New(f.DB).CallRings(f.Context(), mine, s.ID))
	f.OK(history.New(f.DB).CallRings(f.At(t0.Add(time.Second)), mine, s.ID))
	c, err := history.New(f.DB).Call(f.Context(), mine, s.ID)
	f.OK(err)
	if c.RangAt == nil || !c.RangAt.Equal(t0) {
		t.Errorf("rang at %v", c.RangAt)
	}
	if err := history.New(f.DB).CallRings(f.Context(), theirs, s.ID); err == nil {
		t.Error("somebody else's call rings")
	}
	owner, err := f.CallOwner(f.Context(), mine, s.ID)
	if err != nil || owner != f.Node {
		t.Errorf("the owner is %+v, %v", owner, err)
	}
	if _, err := f.CallOwner(f.Context(), theirs, s.ID); err == nil {
		t.Error("somebody else's call has an owner")
	}
	_, err = f.CloseSession(f.Context(), s, ledger.Closing{Reason: "busy"})
	f.OK(err)
	if owner, err := f.CallOwner(f.Context(), mine, s.ID); err != nil || owner != (store.Node{}) {
		t.Errorf("afterwards the owner is %+v, %v", owner, err)
	}
}
