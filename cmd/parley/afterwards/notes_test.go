package afterwards

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/pipeline/tool"
	"parley/pipeline/tool/crm/crmtest"
	"parley/store/aftercall"
	"parley/store/history"
	"parley/store/jobs"
	"parley/store/ledger"
	"parley/store/people"
)

// patience only bounds a hang; nothing here asserts how long something takes.
const patience = 20 * time.Second

const secret = "pat-hunter2-hunter2"

// office is a desk whose jobs run, with customer databases on loopback.
type office struct {
	*desk
	vault *people.Vault
	queue *jobs.Queue
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{desk: newDesk(t)}
	var err error
	o.vault, err = people.NewVault(o.db, "a master secret of a test, long enough")
	o.ok(err)
	guard, err := tool.NewGuard([]string{"127.0.0.0/8"}, nil)
	o.ok(err)
	o.work.Databases = tool.New(tool.Config{Guard: guard, Log: o.work.Log, Secrets: func(ctx context.Context, account string, names []string) (map[string]tool.Secret, error) {
		values, err := o.vault.Values(ctx, account, names)
		out := map[string]tool.Secret{}
		for name, v := range values {
			out[name] = tool.Secret(v)
		}
		return out, err
	}})
	o.queue = jobs.New(o.work.Log)
	o.work.Handle(o.queue)
	o.ok(o.queue.Open(t.Context(), o.url))
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.queue.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		o.queue.Close()
	})
	return o
}

// wants has a call of a new account noted in the database at url, when it is over.
func (o *office) wants(name, url string) (account, call string) {
	o.Helper()
	account = o.customer(name)
	_, err := o.vault.Put(o.Context(), account, "HUBSPOT", secret, nil)
	o.ok(err)
	now := o.db.Now()
	s, err := ledger.New(o.db).StartSession(o.Context(), ledger.Start{Node: o.life, Account: account, Card: o.db.RateCard(), From: "+34600123456", To: "+34911234567",
		Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}})
	o.ok(err)
	source := json.RawMessage(fmt.Sprintf(`{"provider":"hubspot","url":%q,"api_key":"{{secret.HUBSPOT}}"}`, url))
	o.ok(aftercall.New(o.db).WantCRMNote(o.Context(), account, s.ID, source, ""))
	o.ok(history.New(o.db).SaveConversation(o.Context(), account, s.ID, history.Conversation{}))
	_, err = ledger.New(o.db).CloseSession(o.Context(), s, ledger.Closing{Reason: "user_hangup", StartedAt: now})
	o.ok(err)
	return account, s.ID
}

// copies makes the call of an account into many, which have waited for an hour.
func (o *office) copies(call string, n int) {
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
func (o *office) noting() {
	o.Helper()
	conn, err := pgx.Connect(o.Context(), o.url)
	o.ok(err)
	defer conn.Close(o.Context())
	tx, err := conn.Begin(o.Context())
	o.ok(err)
	o.ok(o.queue.Insert(o.Context(), tx, crmNotes{}))
	o.ok(tx.Commit(o.Context()))
}

// TestNotesOfOthersGoOn: thousands of calls of an account, whose customer database never
// answers, do not delay those of another.
func TestNotesOfOthersGoOn(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
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
	h := crmtest.New(t, secret)
	o.wants("quick", h.URL)
	o.noting()
	eventually(t, "the other account's call is noted", func() bool { return len(h.Calls()) == 1 })
	o.wants("another", h.URL)
	o.noting()
	eventually(t, "one that comes later, too", func() bool { return len(h.Calls()) == 2 })
	if len(asked) > 0 {
		t.Errorf("%d further calls of %s were noted at the same time", len(asked), stuck)
	}
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what, "does not happen")
		}
	}
}
