package webhook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/ticket"
	"parley/api/webhook"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
	webhookstore "parley/store/webhook"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// office is a server with the routes, and the keys of two accounts.
type office struct {
	*testing.T
	db     *store.DB
	server *httptest.Server
	mu     sync.Mutex
	log    bytes.Buffer
	a, b   string // keys
	of     string // the account of a
}

func (o *office) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log.Write(b)
}

func open(t *testing.T) *office {
	t.Helper()
	o := &office{T: t, db: storetest.New(t)}
	card := billing.DefaultRateCard()
	o.ok(o.db.PutRateCard(t.Context(), card, time.Now()))
	for _, key := range []*string{&o.b, &o.a} {
		acc, err := ledger.New(o.db).CreateAccount(t.Context(), "A", card, time.Now())
		o.ok(err)
		_, *key, err = people.New(o.db).MakeKey(t.Context(), people.NewKey{Account: acc.ID, Name: "first", Role: people.RoleMember})
		o.ok(err)
		o.of = acc.ID
	}
	signer, err1 := ticket.NewSigner("a master secret of a test, long enough")
	vault, err2 := people.NewVault(o.db, "a master key of at least 32 characters")
	o.ok(errors.Join(err1, err2))
	a := api.New(ticket.Keys{Signer: signer, Store: o.db, People: people.New(o.db)})
	webhook.Mount(a, webhookstore.New(o.db, vault), func(address string) error {
		if strings.Contains(address, "10.0.0.1") {
			return errors.New("10.0.0.1 is not on the public Internet")
		}
		return nil
	})
	h := a.Handler(api.Options{Log: slog.New(slog.NewTextHandler(o, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	o.server = httptest.NewServer(apitest.Judged(t, a, h))
	t.Cleanup(o.server.Close)
	return o
}

func (o *office) ok(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

// ask sends a request and wants a status; it returns the answer's body.
func (o *office) ask(key, method, path, body string, status int) (text string, parsed map[string]any) {
	o.Helper()
	r, err := http.NewRequestWithContext(o.Context(), method, o.server.URL+path, strings.NewReader(body))
	o.ok(err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := o.server.Client().Do(r)
	o.ok(err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	o.ok(err)
	if res.StatusCode != status {
		o.Fatalf("%s %s: %d %s, want %d", method, path, res.StatusCode, b, status)
	}
	_ = json.Unmarshal(b, &parsed) // not every answer has a body
	return string(b), parsed
}

// TestWebhooksPage: all of them are answered to who asks for no pages.
func TestWebhooksPage(t *testing.T) {
	o := open(t)
	var want []string
	for i := range 10 {
		_, made := o.ask(o.a, "POST", "/v1/webhooks", fmt.Sprintf(`{"url":"https://example.com/%d"}`, i), 201)
		want = append(want, made["id"].(string))
	}
	slices.Sort(want) // identifiers of one millisecond have no order of their own
	slices.Reverse(want)
	read := func(key, query string) (ids []string, next string) {
		t.Helper()
		_, page := o.ask(key, "GET", "/v1/webhooks"+query, "", 200)
		for _, w := range page["data"].([]any) {
			ids = append(ids, w.(map[string]any)["id"].(string))
		}
		next, more := page["next_cursor"].(string)
		if page["has_more"] != more {
			t.Errorf("%s: %v", query, page)
		}
		return ids, next
	}
	if all, next := read(o.a, ""); !slices.Equal(all, want) || next != "" {
		t.Errorf("%v, then %q", all, next)
	}
	first, next := read(o.a, "?limit=4")
	second, next2 := read(o.a, "?limit=4&cursor="+next)
	third, end := read(o.a, "?limit=4&cursor="+next2)
	if all := slices.Concat(first, second, third); len(first) != 4 || len(second) != 4 || end != "" || !slices.Equal(all, want) {
		t.Errorf("by four: %v, then %q", all, end)
	}
	if others, _ := read(o.b, "?cursor="+next); len(others) != 0 {
		t.Errorf("another account reads on with %v", others)
	}
	o.ask(o.a, "GET", "/v1/webhooks?cursor=%00", "", 400)
	o.ask(o.a, "GET", "/v1/webhooks?limit=0", "", 400)
}

func TestWebhooks(t *testing.T) {
	o := open(t)
	const url = "https://example.com/parley"
	_, made := o.ask(o.a, "POST", "/v1/webhooks", `{"url":"`+url+`","events":["call.ended"],"description":"Bookings"}`, 201)
	secret, path := made["secret"].(string), "/v1/webhooks/"+made["id"].(string)
	if !strings.HasPrefix(secret, "whsec_") || made["enabled"] != true || fmt.Sprint(made["events"]) != "[call.ended]" {
		t.Errorf("%v", made)
	}
	list, _ := o.ask(o.a, "GET", "/v1/webhooks", "", 200)
	one, _ := o.ask(o.a, "GET", path, "", 200)
	changed, _ := o.ask(o.a, "PATCH", path, `{"events":[],"enabled":false}`, 200)
	if !strings.Contains(changed, `"events":[]`) || !strings.Contains(changed, `"disabled_reason":"asked"`) || !strings.Contains(changed, `"description":"Bookings"`) {
		t.Error(changed)
	}
	o.ask(o.a, "POST", path+"/test", "", 400) // it is disabled
	o.ask(o.a, "PATCH", path, `{"enabled":true}`, 200)
	_, rotated := o.ask(o.a, "POST", path+"/rotate", "", 200)
	if rotated["secret"] == secret || rotated["old_secret_until"] == nil {
		t.Error("the secret stays")
	}
	var events []string
	for range 3 {
		_, test := o.ask(o.a, "POST", path+"/test", "", 202)
		events = append(events, test["id"].(string))
	}
	_, page := o.ask(o.a, "GET", path+"/deliveries?limit=2", "", 200)
	if page["has_more"] != true || len(page["data"].([]any)) != 2 {
		t.Errorf("%v", page)
	}
	_, page = o.ask(o.a, "GET", path+"/deliveries?limit=2&cursor="+page["next_cursor"].(string), "", 200)
	if page["has_more"] != false || len(page["data"].([]any)) != 1 {
		t.Errorf("%v", page)
	}
	_, retried := o.ask(o.a, "POST", path+"/deliveries/"+events[0]+"/retry", "", 202)
	if retried["id"] != events[0] || retried["state"] != "pending" {
		t.Errorf("%v", retried)
	}
	o.ask(o.a, "POST", path+"/deliveries/evt_none/retry", "", 404)
	for _, bad := range []string{`{}`, `{"url":"x"}`, `{"url":"https://10.0.0.1/"}`, `{"url":"` + url + `","events":["x"]}`, `{"url":"https://a:b@example.com/"}`} {
		o.ask(o.a, "POST", "/v1/webhooks", bad, 400)
	}
	if text, _ := o.ask(o.a, "PATCH", path, `{"url":"https://10.0.0.1/"}`, 400); !strings.Contains(text, "url: 10.0.0.1 is not on the public Internet") {
		t.Error(text)
	}
	// To another account it is nothing.
	for at, method := range map[string]string{path: "GET", path + "/rotate": "POST", path + "/test": "POST", path + "/deliveries": "GET",
		path + "/deliveries/" + events[0] + "/retry": "POST"} {
		o.ask(o.b, method, at, "", 404)
	}
	o.ask(o.b, "PATCH", path, `{}`, 404)
	o.ask(o.b, "DELETE", path, "", 404)
	if text, _ := o.ask(o.b, "GET", "/v1/webhooks", "", 200); strings.TrimSpace(text) != `{"data":[],"has_more":false,"next_cursor":null}` {
		t.Error(text)
	}
	o.ask(o.a, "DELETE", path, "", 204)
	o.ask(o.a, "GET", path, "", 404)
	o.mu.Lock()
	defer o.mu.Unlock()
	for what, text := range map[string]string{"the log": o.log.String(), "an answer": list + one + changed} {
		if strings.Contains(text, secret[6:]) || strings.Contains(text, "whsec_") {
			t.Errorf("%s holds a secret", what)
		}
	}
}
