package apitest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"parley/api"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/verify"
	"parley/store/people"
	"parley/store/storetest"
)

// World is a database of a test's own with the standard rate card and two accounts, and once
// Serve is called a server whose answers are judged. Its package's TestMain must be storetest's.
type World struct {
	*testing.T
	Database string // its address
	DB       *store.DB
	Ledger   *ledger.Ledger
	People   *people.Store
	Card     *billing.RateCard
	A, B     Owner
	Server   *httptest.Server

	options Options
	sent    atomic.Uint32
}

// Owner is an account with one of everything.
type Owner struct{ Account, Key, KeyID, Agent string }

// Options of a world.
type Options struct {
	Began  time.Time     // when accounts are made; zero: now
	Paid   billing.Money // what A and B have topped up
	Agent  string        // the name of agents; empty: "Ana of A", and so on
	Owners bool          // keys are owners', with the mark money; else they are members'
}

// Open makes a database with its accounts.
func Open(t *testing.T, o Options) *World {
	t.Helper()
	w := &World{T: t, Database: storetest.URL(t), Card: billing.DefaultRateCard(), options: o}
	if o.Began.IsZero() {
		w.options.Began = time.Now()
	}
	w.DB = storetest.Open(t, w.Database)
	w.Ledger, w.People = ledger.New(w.DB), people.New(w.DB)
	w.OK(w.DB.PutRateCard(storetest.At(t.Context(), w.options.Began), w.Card))
	w.A, w.B = w.Owner("A", o.Paid), w.Owner("B", o.Paid)
	return w
}

// Owner makes an account that has topped up, with a key and an agent.
func (w *World) Owner(name string, paid billing.Money) Owner {
	w.Helper()
	at := w.options.Began
	ctx := storetest.At(w.Context(), at)
	account, err := w.Ledger.CreateAccount(ctx, name, w.Card)
	w.OK(err)
	if paid > 0 {
		_, _, err := w.Ledger.Credit(ctx, ledger.Credit{Account: account.ID, Kind: ledger.Topup, Amount: paid, Key: "pi:" + account.ID, Source: "sim"})
		w.OK(err)
	}
	made := people.NewKey{Account: account.ID, Name: "first", Role: people.RoleMember}
	if w.options.Owners {
		made.Role, made.Money = people.RoleOwner, true
	}
	key, secret, err := w.People.MakeKey(ctx, made)
	w.OK(err)
	agent := store.Agent{Name: "Ana of " + name, Voice: "F1", Language: "es"}
	if w.options.Agent != "" {
		agent.Name = w.options.Agent
	}
	a, err := w.DB.CreateAgent(ctx, account.ID, agent)
	w.OK(err)
	return Owner{account.ID, secret, key.ID, a.ID}
}

// Serve serves the routes until the test ends. It trusts this machine as a proxy.
func (w *World) Serve(a *api.API, edge api.Options) {
	w.Helper()
	edge.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	w.Server = httptest.NewServer(Judged(w.T, a, a.Handler(edge)))
	w.Cleanup(w.Server.Close)
}

// OK ends the test with an error.
func (w *World) OK(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// Reply is an answer as it came.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

var requestName = regexp.MustCompile("req_[0-9a-v]{26}")

// Anonymous is the text of an answer without the name of its request, which no other answer has.
func Anonymous(text string) string { return requestName.ReplaceAllString(text, "") }

// Anonymous is the answer without what no other has: the name of its request and when it was given.
func (r Reply) Anonymous() Reply {
	r.Header = r.Header.Clone()
	r.Header.Del(api.RequestHeader)
	r.Header.Del("Date")
	r.Body = requestName.ReplaceAll(r.Body, nil)
	return r
}

// Send makes a request; header are names and values in turn. Each comes from an address of its
// own, since addresses from which attempts fail too often are barred.
func (w *World) Send(method, target, body string, header ...string) Reply {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.Server.URL+target, bytes.NewReader([]byte(body)))
	w.OK(err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("X-Forwarded-For", netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, w.sent.Add(1)))).String())
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := w.Server.Client().Do(r)
	w.OK(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	w.OK(err)
	return Reply{res.StatusCode, res.Header, text}
}

// As makes a request with a key.
func (w *World) As(who Owner, method, target, body string, header ...string) Reply {
	w.Helper()
	return w.Send(method, target, body, append(header, "Authorization", "Bearer "+who.Key)...)
}

// Want checks a status and, of an error, its code.
func (w *World) Want(what string, r Reply, status int, code string) {
	w.Helper()
	var p struct{ Code string }
	_ = json.Unmarshal(r.Body, &p) // not every answer has a body
	if r.Status != status || p.Code != code {
		w.Errorf("%s: %d %.300s, want %d %s", what, r.Status, r.Body, status, code)
	}
}

// Read gets what is at target, which must be there, into v. It returns the text of it.
func (w *World) Read(who Owner, target string, v any) string {
	w.Helper()
	r := w.As(who, http.MethodGet, target, "")
	if r.Status != http.StatusOK {
		w.Fatalf("%s: %d %s", target, r.Status, r.Body)
	}
	if err := json.Unmarshal(r.Body, v); err != nil {
		w.Fatalf("%s: %v in %s", target, err, r.Body)
	}
	return string(r.Body)
}

// Verified wants all invariants of the ledger, but for those that the test breaks on purpose.
func (w *World) Verified(but ...int) {
	w.Helper()
	r, err := verify.Whole(context.WithoutCancel(w.Context()), w.DB)
	w.OK(err)
	for _, v := range r.Violations {
		if !slices.Contains(but, v.Invariant) {
			w.Error(v)
		}
	}
}
