package export

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"parley/api"
	"parley/store"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func TestGate(t *testing.T) {
	g := newGate(4)
	enter := func(account string, want bool) func() {
		t.Helper()
		leave, ok := g.enter(account)
		if ok != want {
			t.Fatalf("%s: %v", account, ok)
		}
		return leave
	}
	a := enter("a", true)
	enter("a", true)
	enter("a", false)
	enter("b", true)
	enter("b", false) // the last place is for others
	c1 := enter("c", true)
	enter("d", false)
	c1()
	a()
	c := enter("c", true)
	c()
	enter("a", true)
	if g.all != 3 || len(g.running) != 2 {
		t.Errorf("%+v", &g)
	}
}

// TestExportThatFails: what cannot be read to its end is an error to read.
func TestExportThatFails(t *testing.T) {
	d := New(storetest.New(t))
	export := func(rows [][]string, fault error) (status int, body string, readErr error) {
		t.Helper()
		asked := 0
		table := Table{"test", []string{"a", "b"}, func(context.Context, *store.Statement) ([][]string, bool, error) {
			if asked++; asked > len(rows) {
				return nil, false, fault
			}
			return rows[asked-1 : asked], true, nil
		}}
		server := httptest.NewServer(api.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error { return d.Send(w, r, table) }))
		defer server.Close()
		resp, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(got), err
	}
	rows := [][]string{{"1", "x,y"}, {"2", "z"}}
	if status, body, err := export(rows, nil); status != 200 || body != "a,b\r\n1,\"x,y\"\r\n2,z\r\n" || err != nil {
		t.Errorf("%d %q %v", status, body, err)
	}
	if status, body, err := export(nil, nil); status != 200 || body != "a,b\r\n" || err != nil {
		t.Errorf("%d %q %v", status, body, err)
	}
	if status, _, err := export(nil, store.ErrUnavailable); status != 503 || err != nil {
		t.Errorf("%d %v", status, err)
	}
	if status, _, err := export(rows, store.ErrUnavailable); status != 503 || err != nil {
		t.Errorf("%d %v", status, err)
	}
	for range perAccount {
		d.files.enter("")
	}
	if status, body, _ := export(rows, nil); status != api.ProblemOf(api.ErrBusy).Status || body[0] != '{' {
		t.Errorf("%d %s", status, body)
	}
}

// TestWords: what a spreadsheet would compute does not begin a cell, and comes back as
// it was written.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "asked": "asked", "=1+1": "'=1+1", "+34": "'+34", "-1": "'-1", "@x": "'@x", "'": "''", "'tis": "''tis", "'=1": "''=1", "ñ=": "ñ=",
		"\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1", "\uff1d1": "'\uff1d1", "\uff20x": "'\uff20x",
	} {
		if got := Words(text); got != want || PlainWords(got) != text {
			t.Errorf("%q becomes %q and then %q", text, got, PlainWords(got))
		}
	}
}

// TestExportToWhoDoesNotRead: it holds neither a transaction nor the place of a table that is read.
func TestExportToWhoDoesNotRead(t *testing.T) {
	address := storetest.URL(t)
	d := New(storetest.Open(t, address))
	const pieces = 48 // MiB, more than sockets take
	asked := 0
	table := Table{"test", []string{"a"}, func(context.Context, *store.Statement) ([][]string, bool, error) {
		asked++
		return [][]string{{strings.Repeat("x", 1<<20)}}, asked < pieces, nil
	}}
	sent := make(chan struct{})
	server := httptest.NewServer(api.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		defer close(sent)
		return d.Send(w, r, table)
	}))
	defer server.Close()
	resp, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // nothing of it is read
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	open := 0
	err = conn.QueryRow(t.Context(), "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null and backend_type = 'client backend'").Scan(&open)
	if err != nil || open != 0 {
		t.Errorf("%d transactions are open, %v", open, err)
	}
	d.reads.mu.Lock()
	reads := d.reads.all
	d.reads.mu.Unlock()
	if reads != 0 {
		t.Errorf("%d tables are being read", reads)
	}
	select {
	case <-sent:
		t.Error("all was sent: the table is too short for this test")
	default:
	}
}
