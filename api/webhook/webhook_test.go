package webhook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/api/ticket"
	"parley/api/webhook"
	"parley/billing"
	"parley/sip/carrier"
	"parley/store"
	"parley/store/ledger"
	"parley/store/messages"
	"parley/store/numbers"
	"parley/store/people"
	"parley/store/storetest"
	webhookstore "parley/store/webhook"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// office is a world with the routes.
type office struct {
	*apitest.World
	mu  sync.Mutex
	log bytes.Buffer
}

func (o *office) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log.Write(b)
}

func open(t *testing.T) *office {
	t.Helper()
	o := &office{World: apitest.Open(t, apitest.Options{})}
	signer, err1 := ticket.NewSigner("a master secret of a test, long enough")
	vault, err2 := people.NewVault(o.DB, "a master key of at least 32 characters")
	o.OK(errors.Join(err1, err2))
	a := api.New(ticket.Keys{Signer: signer, Store: o.DB, People: o.People})
	webhook.Mount(a, o.DB, webhookstore.New(o.DB, vault), func(address string) error {
		if strings.Contains(address, "10.0.0.1") {
			return errors.New("10.0.0.1 is not on the public Internet")
		}
		return nil
	})
	o.Serve(a, api.Options{Log: slog.New(slog.NewTextHandler(o, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	return o
}

// ask sends a request and wants a status; it returns the answer's body.
func (o *office) ask(key, method, path, body string, status int) (text string, parsed map[string]any) {
	o.Helper()
	r := o.As(apitest.Owner{Key: key}, method, path, body)
	if r.Status != status {
		o.Fatalf("%s %s: %d %s, want %d", method, path, r.Status, r.Body, status)
	}
	_ = json.Unmarshal(r.Body, &parsed) // not every answer has a body
	return string(r.Body), parsed
}

// TestWebhooksPage: all of them are answered to who asks for no pages.
func TestWebhooksPage(t *testing.T) {
	o := open(t)
	var want []string
	for i := range 10 {
		_, made := o.ask(o.A.Key, "POST", "/v1/webhooks", fmt.Sprintf(`{"url":"https://example.com/%d"}`, i), 201)
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
	if all, next := read(o.A.Key, ""); !slices.Equal(all, want) || next != "" {
		t.Errorf("%v, then %q", all, next)
	}
	first, next := read(o.A.Key, "?limit=4")
	second, next2 := read(o.A.Key, "?limit=4&cursor="+next)
	third, end := read(o.A.Key, "?limit=4&cursor="+next2)
	if all := slices.Concat(first, second, third); len(first) != 4 || len(second) != 4 || end != "" || !slices.Equal(all, want) {
		t.Errorf("by four: %v, then %q", all, end)
	}
	if others, _ := read(o.B.Key, "?cursor="+next); len(others) != 0 {
		t.Errorf("another account reads on with %v", others)
	}
	o.ask(o.A.Key, "GET", "/v1/webhooks?cursor=%00", "", 400)
	o.ask(o.A.Key, "GET", "/v1/webhooks?limit=0", "", 400)
}

func TestWebhooks(t *testing.T) {
	o := open(t)
	const url = "https://example.com/parley"
	_, made := o.ask(o.A.Key, "POST", "/v1/webhooks", `{"url":"`+url+`","events":["call.ended"],"description":"Bookings"}`, 201)
	secret, path := made["secret"].(string), "/v1/webhooks/"+made["id"].(string)
	if !strings.HasPrefix(secret, "whsec_") || made["enabled"] != true || fmt.Sprint(made["events"]) != "[call.ended]" {
		t.Errorf("%v", made)
	}
	list, _ := o.ask(o.A.Key, "GET", "/v1/webhooks", "", 200)
	one, _ := o.ask(o.A.Key, "GET", path, "", 200)
	changed, _ := o.ask(o.A.Key, "PATCH", path, `{"events":[],"enabled":false}`, 200)
	if !strings.Contains(changed, `"events":[]`) || !strings.Contains(changed, `"disabled_reason":"asked"`) || !strings.Contains(changed, `"description":"Bookings"`) {
		t.Error(changed)
	}
	o.ask(o.A.Key, "POST", path+"/test", "", 400) // it is disabled
	o.ask(o.A.Key, "PATCH", path, `{"enabled":true}`, 200)
	_, rotated := o.ask(o.A.Key, "POST", path+"/rotate", "", 200)
	if rotated["secret"] == secret || rotated["old_secret_until"] == nil {
		t.Error("the secret stays")
	}
	var events []string
	for range 3 {
		_, test := o.ask(o.A.Key, "POST", path+"/test", "", 202)
		events = append(events, test["id"].(string))
	}
	_, page := o.ask(o.A.Key, "GET", path+"/deliveries?limit=2", "", 200)
	if page["has_more"] != true || len(page["data"].([]any)) != 2 {
		t.Errorf("%v", page)
	}
	_, page = o.ask(o.A.Key, "GET", path+"/deliveries?limit=2&cursor="+page["next_cursor"].(string), "", 200)
	if page["has_more"] != false || len(page["data"].([]any)) != 1 {
		t.Errorf("%v", page)
	}
	_, retried := o.ask(o.A.Key, "POST", path+"/deliveries/"+events[0]+"/retry", "", 202)
	if retried["id"] != events[0] || retried["state"] != "pending" {
		t.Errorf("%v", retried)
	}
	o.ask(o.A.Key, "POST", path+"/deliveries/evt_none/retry", "", 404)
	for _, bad := range []string{`{}`, `{"url":"x"}`, `{"url":"https://10.0.0.1/"}`, `{"url":"` + url + `","events":["x"]}`, `{"url":"https://a:b@example.com/"}`} {
		o.ask(o.A.Key, "POST", "/v1/webhooks", bad, 400)
	}
	if text, _ := o.ask(o.A.Key, "PATCH", path, `{"url":"https://10.0.0.1/"}`, 400); !strings.Contains(text, "url: 10.0.0.1 is not on the public Internet") {
		t.Error(text)
	}
	// To another account it is nothing.
	for at, method := range map[string]string{path: "GET", path + "/rotate": "POST", path + "/test": "POST", path + "/deliveries": "GET",
		path + "/deliveries/" + events[0] + "/retry": "POST"} {
		o.ask(o.B.Key, method, at, "", 404)
	}
	o.ask(o.B.Key, "PATCH", path, `{}`, 404)
	o.ask(o.B.Key, "DELETE", path, "", 404)
	if text, _ := o.ask(o.B.Key, "GET", "/v1/webhooks", "", 200); strings.TrimSpace(text) != `{"data":[],"has_more":false,"next_cursor":null}` {
		t.Error(text)
	}
	o.ask(o.A.Key, "DELETE", path, "", 204)
	o.ask(o.A.Key, "GET", path, "", 404)
	o.mu.Lock()
	defer o.mu.Unlock()
	for what, text := range map[string]string{"the log": o.log.String(), "an answer": list + one + changed} {
		if strings.Contains(text, secret[6:]) || strings.Contains(text, "whsec_") {
			t.Errorf("%s holds a secret", what)
		}
	}
}

// TestMessageEvents: an event about a text message has it as the API shows it, of its own account.
func TestMessageEvents(t *testing.T) {
	o := open(t)
	ctx := t.Context()
	const number = "+12125550100"
	node, _, err := o.Ledger.RegisterNode(ctx, "node-0", "127.0.0.1:1")
	o.OK(err)
	_, _, err = o.Ledger.Credit(ctx, ledger.Credit{Account: o.A.Account, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "pi:1", Source: "sim"})
	o.OK(err)
	n, err := numbers.New(o.DB).Order(ctx, numbers.Order{Account: o.A.Account, E164: number, Country: "US", Carrier: "simulated", Card: o.Card})
	o.OK(err)
	_, err = numbers.New(o.DB).Reconcile(ctx, o.A.Account, n.ID, carrier.Ordered{State: carrier.Active, NumberID: "x"})
	o.OK(err)
	texts := messages.New(o.DB)
	o.OK(texts.Receive(ctx, messages.Arrival{Node: node, Carrier: "simulated", Ref: "y", From: "+14155550177", To: number, Text: "Hello", Card: o.Card}))
	list, err := texts.Messages(ctx, o.A.Account, messages.Filter{}, store.Page{})
	o.OK(err)
	due := &webhookstore.DueDelivery{Account: o.A.Account}
	due.Kind, due.About = store.MessageReceived, list[0].ID
	body, err := webhook.Body(ctx, o.DB, due)
	o.OK(err)
	var got struct {
		Type string
		Data struct{ ID, Direction, From, To, Text, Status string }
	}
	o.OK(json.Unmarshal(body, &got))
	if got.Type != "message.received" || got.Data.ID != list[0].ID || got.Data.Direction != "inbound" || got.Data.From != "+14155550177" || got.Data.To != number || got.Data.Text != "Hello" || got.Data.Status != "received" {
		t.Errorf("%s", body)
	}
	due.Account = o.B.Account
	if _, err := webhook.Body(ctx, o.DB, due); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("for another account: %v", err)
	}
}
