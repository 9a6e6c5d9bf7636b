package node

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/media"
	"parley/pipeline/session"
	"parley/pipeline/tool/crm/crmtest"
	"parley/store"
)

// wants has a call of a new account noted in the database at url, when it is over.
func (o *post) wants(name, url string) (account, call string) {
	o.Helper()
	a, err := o.node.db.CreateAccount(o.Context(), name, o.node.RateCard(), time.Now())
	o.ok(err)
	_, _, err = o.node.db.Credit(o.Context(), store.Credit{Account: a.ID, Kind: store.Topup, Amount: 20 * billing.USD, Key: name, Source: "sim"}, time.Now())
	o.ok(err)
	_, err = o.node.secrets.Put(o.Context(), a.ID, "HUBSPOT", functionSecret, nil)
	o.ok(err)
	session, err := o.node.manager.Admit(o.Context(), session.Admission{Start: store.Start{Account: a.ID, From: "+34600123456", To: deskNumber, Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
	o.ok(err)
	source := json.RawMessage(fmt.Sprintf(`{"provider":"hubspot","url":%q,"api_key":"{{secret.HUBSPOT}}"}`, url))
	o.ok(o.node.db.WantCRMNote(o.Context(), a.ID, session.ID(), source, "", o.node.db.Now()))
	session.Begin()
	session.End(media.Ended{Reason: media.UserHangup})
	return a.ID, session.ID()
}

// copies makes the call of an account into many, which have waited for an hour.
func (o *post) copies(call string, n int) {
	o.Helper()
	conn, err := pgx.Connect(o.Context(), o.url)
	o.ok(err)
	defer conn.Close(o.Context())
	for _, c := range [][3]string{{"sessions", "id", `, 'admission', 1000 + g`}, {"session_usage", "session_id", ""}, {"calls", "session_id", ""},
		{"crm_notes", "session_id", `, 'next_at', now() - interval '1 hour'`}} {
		_, err := conn.Exec(o.Context(), fmt.Sprintf(`insert into %[1]s overriding system value select (jsonb_populate_record(null::%[1]s, to_jsonb(x) || jsonb_build_object('%[2]s', x.%[2]s || g %[3]s))).*
			from %[1]s x, generate_series(1, $2) g where %[2]s = $1`, c[0], c[1], c[2]), call, n)
		o.ok(err)
	}
}

// noting queues a job, as one is queued every ten seconds.
func (o *post) noting() {
	o.Helper()
	conn, err := pgx.Connect(o.Context(), o.url)
	o.ok(err)
	defer conn.Close(o.Context())
	tx, err := conn.Begin(o.Context())
	o.ok(err)
	o.ok(o.node.jobs.Insert(o.Context(), tx, crmNotes{}))
	o.ok(tx.Commit(o.Context()))
}

// TestNotesOfOthersGoOn: thousands of calls of an account, whose customer database never
// answers, do not delay those of another.
func TestNotesOfOthersGoOn(t *testing.T) {
	t.Parallel()
	o := newPost(t, false, true, toLoopback)
	asked, over := make(chan struct{}, 100), make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-over
	}))
	t.Cleanup(silent.Close) // before the node is closed its requests are given up
	t.Cleanup(func() { close(over) })
	stuck, call := o.wants("stuck", silent.URL)
	o.copies(call, 3000)
	o.noting()
	select {
	case <-asked:
	case <-time.After(patience):
		t.Fatal("the silent database is not asked")
	}
	h := crmtest.New(t, functionSecret)
	o.wants("quick", h.URL)
	o.noting()
	o.eventually("the other account's call is noted", func() bool { return len(h.Calls()) == 1 })
	o.wants("another", h.URL)
	o.noting()
	o.eventually("one that comes later, too", func() bool { return len(h.Calls()) == 2 })
	if len(asked) > 0 {
		t.Errorf("%d further calls of %s were noted at the same time", len(asked), stuck)
	}
}
