package operator_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/operator"
	"parley/api/ticket"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// desk is a server with the routes, an operator with a key, and an account with one.
type desk struct {
	*testing.T
	db      *store.DB
	signer  *ticket.Signer
	url     string
	user    string // the operator
	key     string // theirs
	account string
	owner   string // a key of the account, with the role owner
	ownerID string
	halted  []string // accounts whose sessions were told to look
}

func open(t *testing.T) *desk {
	t.Helper()
	d := &desk{T: t, db: storetest.New(t)}
	ctx, now, card := t.Context(), time.Now(), billing.DefaultRateCard()
	d.ok(d.db.PutRateCard(ctx, card))
	u, err := people.New(d.db).CreateUser(storetest.At(ctx, now), "op@example.com", people.RoleOperator)
	d.ok(err)
	_, d.key, err = people.New(d.db).CreateOperatorKey(storetest.At(ctx, now), u.ID, "x")
	d.ok(err)
	a, err := ledger.New(d.db).CreateAccount(ctx, "Casa Lola", card)
	d.ok(err)
	k, secret, err := people.New(d.db).FirstKey(storetest.At(ctx, now), a.ID, "x", "")
	d.ok(err)
	d.user, d.account, d.owner, d.ownerID = u.ID, a.ID, secret, k.ID
	d.signer, err = ticket.NewSigner("a master secret of a test, long enough")
	d.ok(err)
	routes := api.New(ticket.Keys{Signer: d.signer, Store: d.db, People: people.New(d.db)})
	ticket.Mount(routes, d.signer, d.db, nil)
	routes.Remember(d.db)
	operator.Mount(routes, d.db, func() *billing.RateCard { return card }, func(account string) { d.halted = append(d.halted, account) })
	server := httptest.NewServer(apitest.Judged(t, routes, routes.Handler(api.Options{})))
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

func (d *desk) ok(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// ask makes a request with a credential and returns the answer's status and body.
func (d *desk) ask(credential, method, path, body string) (int, string) {
	d.Helper()
	return d.askOnce(credential, "", method, path, body)
}

// askOnce is ask with an Idempotency-Key, unless that is empty.
func (d *desk) askOnce(credential, key, method, path, body string) (int, string) {
	d.Helper()
	r, err := http.NewRequestWithContext(d.Context(), method, d.url+path, strings.NewReader(body))
	d.ok(err)
	r.Header.Set("Authorization", "Bearer "+credential)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	res, err := http.DefaultClient.Do(r)
	d.ok(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	d.ok(err)
	return res.StatusCode, string(text)
}

// one is the account as an answer shows it.
type one struct {
	ID, Name, Email string
	Concurrency     *int
	Standard        int `json:"standard_concurrency"`
	Disputes        int `json:"open_disputes"`
	Suspended       bool
	Days            int    `json:"recording_days"`
	Talks           *int   `json:"conversation_days"`
	Key             string `json:"api_key"`
	Balance         json.Number
	Members         []struct{ Email, Role string }
	Code, Detail    string
}

func (d *desk) read(status int, text string, want int) (a one) {
	d.Helper()
	if status != want {
		d.Fatalf("%d %s, want %d", status, text, want)
	}
	d.ok(json.Unmarshal([]byte(text), &a))
	return a
}

const all = "/v1/operator/accounts"

// TestAccountsAreMadeOnce: a request that is sent again with its Idempotency-Key makes no second account, and what it was answered with,
// which may have a key, is not kept. Keys of operators are their own.
func TestAccountsAreMadeOnce(t *testing.T) {
	d := open(t)
	send := func(credential, name string, want int) one {
		t.Helper()
		status, text := d.askOnce(credential, "make-1", "POST", all, `{"name":"`+name+`","create_key":true}`)
		return d.read(status, text, want)
	}
	if made := send(d.key, "Ana", 201); made.Name != "Ana" || made.Key == "" {
		t.Errorf("made: %+v", made)
	}
	if again := send(d.key, "Ana", 409); again.Code != "request.idempotency_conflict" || again.Key != "" {
		t.Errorf("again: %+v", again)
	}
	if other := send(d.key, "Eva", 409); other.Code != "request.idempotency_conflict" {
		t.Errorf("another request: %+v", other)
	}
	u, err := people.New(d.db).CreateUser(t.Context(), "second@example.com", people.RoleOperator)
	d.ok(err)
	_, key, err := people.New(d.db).CreateOperatorKey(t.Context(), u.ID, "x")
	d.ok(err)
	send(key, "Ana", 201)
	var accounts int
	var kept string
	d.ok(d.db.Pool().QueryRow(t.Context(), "select count(*) from accounts").Scan(&accounts))
	d.ok(d.db.Pool().QueryRow(t.Context(), "select string_agg(convert_from(body, 'utf8'), '') from idempotent_requests").Scan(&kept))
	if accounts != 3 || kept != "" { // with the desk's
		t.Errorf("there are %d accounts, and of the answers is kept %q", accounts, kept)
	}
}

// TestAccounts is an operator's work.
func TestAccounts(t *testing.T) {
	d := open(t)
	send := func(want int, method, path, body string) one {
		t.Helper()
		status, text := d.ask(d.key, method, path, body)
		return d.read(status, text, want)
	}
	made := send(201, "POST", all, `{"name":"Ana","create_key":true}`)
	if made.Name != "Ana" || len(made.Members) != 1 || made.Members[0].Email != "op@example.com" || made.Members[0].Role != "owner" || made.Balance != "5" || made.Standard == 0 {
		t.Errorf("made: %+v", made)
	}
	if p, err := people.New(d.db).Authenticate(t.Context(), made.Key); err != nil || p.Account != made.ID || !p.Owner || p.Operator {
		t.Errorf("its key is %+v, %v", p, err)
	}
	if keyless := send(201, "POST", all, `{"name":"Eva"}`); keyless.Key != "" {
		t.Error("a key that nobody asked for")
	}
	d.ok(ledger.New(d.db).OpenDispute(t.Context(), d.account, "pi_1"))
	at := all + "/" + d.account
	if a := send(200, "GET", at, ""); a.Disputes != 1 || a.Name != "Casa Lola" || len(a.Members) != 0 {
		t.Errorf("read: %+v", a)
	}
	if a := send(200, "POST", at+"/resolve-disputes", ""); a.Disputes != 0 {
		t.Errorf("resolved: %+v", a)
	}
	a := send(200, "PATCH", at, `{"suspended":true,"concurrency":7,"email":"lola@example.com","recording_days":3,"conversation_days":90}`)
	if !a.Suspended || a.Concurrency == nil || *a.Concurrency != 7 || a.Email != "lola@example.com" || a.Days != 3 || a.Talks == nil || *a.Talks != 90 {
		t.Errorf("changed: %+v", a)
	}
	if len(d.halted) != 1 || d.halted[0] != d.account {
		t.Errorf("the sessions of %v were told", d.halted)
	}
	if a = send(200, "PATCH", at, `{"suspended":false,"concurrency":0,"conversation_days":0}`); a.Suspended || a.Concurrency != nil || a.Talks != nil || a.Email != "lola@example.com" {
		t.Errorf("changed back: %+v", a)
	}
	limit := func() *billing.Money {
		l, err := ledger.New(d.db).SpendingLimit(t.Context(), d.account, d.account)
		d.ok(err)
		return l.Limit
	}
	send(200, "PATCH", at, `{"daily_limit":12.5}`)
	send(200, "PATCH", at, `{"concurrency":0}`)
	if l := limit(); l == nil || *l != 1250*billing.Cent {
		t.Errorf("the limit of a day is %v", l)
	}
	if send(200, "PATCH", at, `{"daily_limit":null}`); limit() != nil {
		t.Errorf("the limit of a day is still %v", limit())
	}
	for _, body := range []string{`{"daily_limit":-1}`, `{"daily_limit":"much"}`, `{"concurrency":-1}`, `{"concurrency":100001}`, `{"email":"nobody"}`, `{"recording_days":0}`, `{"conversation_days":-1}`, `{"conversation_days":3651}`, `{"suspended":"yes"}`} {
		send(400, "PATCH", at, body)
	}
	for _, body := range []string{`{}`, `{"name":""}`, `{"name":"  "}`, `{"name":"a\u0000"}`, `{"name":"` + strings.Repeat("é", 101) + `"}`} {
		send(400, "POST", all, body)
	}
	for method, path := range map[string]string{"GET": all + "/acc_none", "PATCH": all + "/%00", "POST": all + "/acc_none/resolve-disputes"} {
		body := map[string]string{"PATCH": `{"suspended":true}`}[method]
		if a := send(404, method, path, body); a.Code != "request.not_found" {
			t.Errorf("%s %s: %+v", method, path, a)
		}
	}
}

// TestPages: the list goes on where the page before ended.
func TestPages(t *testing.T) {
	d := open(t)
	for i := range 3 {
		d.ask(d.key, "POST", all, fmt.Sprintf(`{"name":"%d"}`, i))
	}
	var names []string
	query := "?limit=3"
	for range 2 {
		_, text := d.ask(d.key, "GET", all+query, "")
		var page struct {
			Data []struct{ Name string }
			More bool    `json:"has_more"`
			Next *string `json:"next_cursor"`
		}
		d.ok(json.Unmarshal([]byte(text), &page))
		for _, a := range page.Data {
			names = append(names, a.Name)
		}
		if page.More != (page.Next != nil) {
			t.Errorf("%s", text)
		}
		if page.Next != nil {
			query = "?limit=3&cursor=" + *page.Next
		}
	}
	if got := strings.Join(names, " "); got != "2 1 0 Casa Lola" {
		t.Errorf("the list is %s", got)
	}
	if status, _ := d.ask(d.key, "GET", all+"?cursor=%00", ""); status != 400 {
		t.Errorf("a cursor that is none: %d", status)
	}
}

// TestRefusals: whoever is no operator learns nothing, not even which accounts there are,
// and an operator's key opens nothing of an account.
func TestRefusals(t *testing.T) {
	d := open(t)
	tick := func(tk api.Ticket) string {
		tk.Expires = time.Now().Add(time.Minute)
		return d.signer.Sign(api.Principal{Account: d.account, Key: d.ownerID, Owner: true, Operator: true, Ticket: &tk})
	}
	for _, c := range []struct {
		what, credential string
		status           int
		code             string
	}{
		{"the account's own key", d.owner, 404, "request.not_found"},
		{"a ticket", tick(api.Ticket{}), 403, "auth.ticket_not_allowed"},
		{"a session ticket", tick(api.Ticket{Agent: "ag_1"}), 403, "auth.ticket_not_allowed"},
	} {
		for _, r := range []struct{ method, path, body string }{
			{"GET", all, ""}, {"POST", all, `{"name":"x"}`}, {"POST", all, `{`}, {"GET", all + "/%s", ""}, {"PATCH", all + "/%s", `{"suspended":true}`},
			{"PATCH", all + "/%s", `{"concurrency":-5}`}, {"POST", all + "/%s/resolve-disputes", ""},
		} {
			there, nothing := strings.ReplaceAll(r.path, "%s", d.account), strings.ReplaceAll(r.path, "%s", "acc_00000000000000000000000000")
			status, text := d.ask(c.credential, r.method, there, r.body)
			status2, text2 := d.ask(c.credential, r.method, nothing, r.body)
			if status != c.status || !strings.Contains(text, `"`+c.code+`"`) || status2 != status || apitest.Anonymous(text2) != apitest.Anonymous(text) {
				t.Errorf("%s, %s %s: %d %s; of nothing %d %s", c.what, r.method, r.path, status, text, status2, text2)
			}
		}
	}
	if a, err := ledger.New(d.db).Account(t.Context(), d.account); err != nil || a.Suspended {
		t.Errorf("the account was touched: %+v, %v", a, err)
	}
	if status, text := d.ask("op_x", "GET", all, ""); status != 401 || !strings.Contains(text, "auth.invalid_key") {
		t.Errorf("a key that nobody has: %d %s", status, text)
	}
	for path, body := range map[string]string{"/ws-ticket": "", "/v1/session-tickets": `{"agent_id":"ag_1"}`} {
		if status, text := d.ask(d.key, "POST", path, body); status != 403 || !strings.Contains(text, "auth.role_not_allowed") {
			t.Errorf("an operator's key at %s: %d %s", path, status, text)
		}
	}
}

// TestKeyEnds: an operator's key ends when it is revoked.
func TestKeyEnds(t *testing.T) {
	d := open(t)
	keys, err := people.New(d.db).OperatorKeys(t.Context(), d.user, store.Page{})
	d.ok(err)
	if status, _ := d.ask(d.key, "GET", all, ""); status != 200 {
		t.Fatalf("while it is good: %d", status)
	}
	d.ok(people.New(d.db).RevokeOperatorKey(t.Context(), d.user, keys[0].ID))
	if status, text := d.ask(d.key, "GET", all, ""); status != 401 || !strings.Contains(text, "auth.invalid_key") {
		t.Errorf("revoked: %d %s", status, text)
	}
}
