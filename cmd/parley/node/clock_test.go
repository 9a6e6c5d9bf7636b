package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"parley/api"
	"parley/billing"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
)

// ahead is how far a machine's clock is before the database's in these tests: by days, so
// that links and sessions would be over, and half a day, so that windows of the day are others.
const ahead = 40*24*time.Hour + 12*time.Hour

func (w *window) get(address, credential string, cookie *http.Cookie, into any) (status int) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), "GET", address, nil)
	w.ok(err)
	return w.answered(req, credential, cookie, into)
}

func (w *window) post(path, credential string, body object, into any) (status int) {
	w.Helper()
	text, err := json.Marshal(body)
	w.ok(err)
	req, err := http.NewRequestWithContext(w.Context(), "POST", w.server.URL+path, bytes.NewReader(text))
	w.ok(err)
	req.Header.Set("Content-Type", "application/json")
	return w.answered(req, credential, nil, into)
}

// answered sends a request, and reads the answer where into is given.
func (w *window) answered(req *http.Request, credential string, cookie *http.Cookie, into any) (status int) {
	w.Helper()
	if credential != "" {
		req.Header.Set("Authorization", "Bearer "+credential)
	}
	if cookie != nil {
		req.AddCookie(cookie)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	w.ok(err)
	defer resp.Body.Close()
	if into != nil {
		w.ok(json.NewDecoder(resp.Body).Decode(into))
	}
	return resp.StatusCode
}

// near fails the test for a time that is not about now, by the database's clock.
func (w *window) near(what string, at time.Time) {
	w.Helper()
	if now := w.node.db.Now(); now.Sub(at).Abs() > time.Hour {
		w.Errorf("%s: %v, and it is %v", what, at, now)
	}
}

// TestTimeIsTheDatabases: a node whose own clock is far ahead decides about tickets,
// sessions, links, money and schedules as every other node does.
func TestTimeIsTheDatabases(t *testing.T) {
	t.Parallel()
	d := deskOn(t, storetest.Shifted(t, -ahead), "PARLEY_PAYMENTS=simulated")
	d.node.DataDir = t.TempDir()
	d.ok(d.node.TakePayments("127.0.0.1:0", "secret"))
	w := windowOf(t, d)
	pages := httptest.NewServer(w.node.Handler())
	defer pages.Close()
	ctx, db, now := t.Context(), w.node.db, w.node.db.Now()
	if apart := time.Since(now); (apart - ahead).Abs() > time.Minute {
		t.Fatalf("the database is %v behind", apart)
	}

	elsewhere := w.node.tickets.Sign(api.Principal{Account: w.who.Account, Key: w.who.Key, Ticket: &api.Ticket{Expires: now.Add(10 * time.Minute)}})
	if status := w.get(w.server.URL+"/callcenter/agents", elsewhere, nil, nil); status != 200 {
		t.Errorf("a ticket of another node is answered %d", status)
	}
	var minted struct{ Ticket string }
	if status := w.post("/ws-ticket", w.key, nil, &minted); status != 200 {
		t.Errorf("a ticket is answered %d", status)
	}
	if p, err := w.node.tickets.Verify(minted.Ticket, now); err != nil {
		t.Errorf("a ticket of this node: %v", err)
	} else {
		w.near("it expires", p.Ticket.Expires)
	}

	user, err := people.New(db).CreateUser(storetest.At(ctx, now), "ana@example.com", people.RoleMember)
	w.ok(err)
	w.ok(people.New(db).AddMember(storetest.At(ctx, now), w.who.Account, user.ID, people.RoleOwner))
	link, err := people.New(db).NewSignInLink(storetest.At(ctx, now), user.ID)
	w.ok(err)
	if status := w.get(pages.URL+"/app/password?token="+link, "", nil, nil); status != 200 {
		t.Errorf("a link to choose a password is answered %d", status)
	}
	session, err := people.New(db).OpenBrowser(storetest.At(ctx, now), user.ID, false)
	w.ok(err)
	if status := w.get(pages.URL+"/app/keys", "", &http.Cookie{Name: "parley", Value: session}, nil); status != 200 {
		t.Errorf("a session is answered %d", status)
	}

	_, _, err = ledger.New(db).Credit(ctx, ledger.Credit{Account: w.who.Account, Kind: ledger.Bonus, Amount: 3 * billing.USD, Key: "promo:1", ExpiresAt: now.Add(24 * time.Hour)})
	w.ok(err)
	var balance struct {
		Lots []struct {
			ExpiresAt time.Time `json:"expires_at"`
		} `json:"bonus_lots"`
	}
	if status := w.get(w.server.URL+"/v1/balance", w.key, nil, &balance); status != 200 || len(balance.Lots) == 0 || balance.Lots[0].ExpiresAt.Before(now) {
		t.Errorf("credit of a day: %d %+v", status, balance)
	}
	if _, err := ledger.New(db).ExpireLots(ctx); err != nil {
		t.Error(err)
	}
	var topup struct {
		CreatedAt time.Time `json:"created_at"`
	}
	owner, money, err := people.New(db).FirstKey(storetest.At(ctx, now), w.who.Account, "owner's", "")
	w.ok(err)
	w.near("a key", owner.CreatedAt)
	if status := w.post("/v1/topups", money, object{"amount": 25}, &topup); status/100 != 2 {
		t.Errorf("a top-up is answered %d", status)
	}
	w.near("a top-up", topup.CreatedAt)
	w.batch(now)
	w.verified()
}

// batch dials a row that is due, by day where the database is, and leaves the one that is
// not due for an hour.
func (w *window) batch(now time.Time) {
	w.Helper()
	w.running()
	zone := fmt.Sprintf("Etc/GMT%+d", now.Hour()-12) // it is noon there: these names have the opposite sign
	status, b, p := w.create(w.wish(object{"on_machine": "hangup", "call_window": object{"start": "09:00", "end": "16:00", "timezone": zone}, "rows": []object{
		{"to": "+12025550103"}, {"to": "+12025550102", "scheduled_at": now.Add(time.Hour).Format(time.RFC3339)}}}))
	if status != 200 {
		w.Fatalf("%d %+v", status, p)
	}
	w.near("a batch", b.CreatedAt)
	eventually(w.T, "the row that is due is dialled", func() bool {
		time.Sleep(50 * time.Millisecond) // within the rate
		status, got, _ := w.ask(w.key, "GET", "/callcenter/bulk-dial/"+b.ID, nil)
		if status == 200 {
			b = got
		}
		return b.Rows[0].EndedAt != nil
	})
	if r := b.Rows[1]; r.Status != "pending" || r.CallID != nil {
		w.Errorf("the row of later is %+v", r)
	}
	w.near("the call", *b.Rows[0].EndedAt)
}
