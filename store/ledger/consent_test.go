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
	f.t.Helper()
	r := f.request(account, outboundES)
	r.Agent = agent
	r.Consent = &ledger.Consent{ToHash: sha256.Sum256([]byte(r.To)), Key: "key_1", IP: "192.0.2.7"}
	s, err := f.StartSession(f.ctx(), r)
	f.ok(err)
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
		mine, theirs := f.account(50*usd), f.account(50*usd)
		a, b := f.agent(mine), f.agent(theirs)
		for range 3 {
			f.dialled(mine, a.ID)
			f.dialled(theirs, b.ID)
		}
		rows, err := f.Consents(f.ctx(), mine, 1, 10)
		f.ok(err)
		if len(rows) != 2 || rows[0].No != 2 || rows[0].Key != "key_1" || rows[0].Agent != a.ID || !rows[0].At.Equal(t0) {
			t.Fatalf("after the first: %+v", rows)
		}
		f.verified()
		if damage == "" {
			continue
		}
		conn, err := pgx.Connect(f.ctx(), url)
		f.ok(err)
		_, err = conn.Exec(f.ctx(), "alter table consent_audit disable trigger user; "+damage+"; alter table consent_audit enable trigger user")
		f.ok(err)
		f.ok(conn.Close(f.ctx()))
		report, err := verify.Whole(f.ctx(), f.DB)
		f.ok(err)
		if len(report.Violations) == 0 || report.Violations[0].Invariant != 23 {
			t.Errorf("%s: %v", name, report.Violations)
		}
	}
}

// TestCallRings: the first alerting counts, and is the account's own.
func TestCallRings(t *testing.T) {
	f := setup(t)
	mine, theirs := f.account(50*usd), f.account(50*usd)
	s := f.dialled(mine, f.agent(mine).ID)
	f.ok(history.New(f.DB).CallRings(f.ctx(), mine, s.ID))
	f.ok(history.New(f.DB).CallRings(f.at(t0.Add(time.Second)), mine, s.ID))
	c, err := history.New(f.DB).Call(f.ctx(), mine, s.ID)
	f.ok(err)
	if c.RangAt == nil || !c.RangAt.Equal(t0) {
		t.Errorf("rang at %v", c.RangAt)
	}
	if err := history.New(f.DB).CallRings(f.ctx(), theirs, s.ID); err == nil {
		t.Error("somebody else's call rings")
	}
	owner, err := f.CallOwner(f.ctx(), mine, s.ID)
	if err != nil || owner != f.node {
		t.Errorf("the owner is %+v, %v", owner, err)
	}
	if _, err := f.CallOwner(f.ctx(), theirs, s.ID); err == nil {
		t.Error("somebody else's call has an owner")
	}
	_, err = f.CloseSession(f.ctx(), s, ledger.Closing{Reason: "busy"})
	f.ok(err)
	if owner, err := f.CallOwner(f.ctx(), mine, s.ID); err != nil || owner != (store.Node{}) {
		t.Errorf("afterwards the owner is %+v, %v", owner, err)
	}
}
