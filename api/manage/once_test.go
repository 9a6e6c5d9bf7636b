package manage_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"parley/api/wire"
	"parley/store"
	"parley/store/storetest"
)

// TestRequestsAreDoneOnce: what is sent again with its Idempotency-Key is answered as the first time, and done once.
func TestRequestsAreDoneOnce(t *testing.T) {
	o := open(t)
	send := func(who owner, key, path, body string) reply {
		return o.As(who, "POST", path, body, "Idempotency-Key", key)
	}
	first := send(o.A, "agent-1", "/v1/agents", `{"name":"Second"}`)
	o.Want("the first time", first, 201, "")
	again := send(o.A, "agent-1", "/v1/agents", `{"name":"Second"}`)
	if again.Status != 201 || string(again.Body) != string(first.Body) || again.Header.Get("Content-Type") != "application/json" {
		t.Errorf("again: %d %s", again.Status, again.Body)
	}
	if tag := again.Header.Get("ETag"); tag != `"1"` || tag != first.Header.Get("ETag") {
		t.Errorf("again, its version is %s, and was %s", tag, first.Header.Get("ETag"))
	}
	o.Want("another request", send(o.A, "agent-1", "/v1/agents", `{"name":"Third"}`), 409, "request.idempotency_conflict")
	o.Want("a refused one", send(o.A, "agent-2", "/v1/agents", `{"name":"forbidden"}`), 400, "validation.invalid_request_format")
	o.Want("its mended form", send(o.A, "agent-2", "/v1/agents", `{"name":"Fourth"}`), 201, "")
	o.Want("again, with a query", send(o.A, "agent-1", "/v1/agents?api_key=sk_hidden", `{"name":"Second"}`), 201, "")
	var kept int
	o.OK(o.DB.Pool().QueryRow(t.Context(), "select count(*) from idempotent_requests where route like '%hidden%'").Scan(&kept))
	if kept != 0 {
		t.Error("what stands in a query is kept")
	}
	o.Want("somebody else's key of that name", send(o.B, "agent-1", "/v1/agents", `{"name":"Second"}`), 201, "")
	o.Want("a key that is too long", send(o.A, strings.Repeat("k", 256), "/v1/agents", `{"name":"Fifth"}`), 400, "validation.invalid_request_format")
	o.Want("none", o.As(o.A, "POST", "/v1/agents", `{"name":"Sixth"}`), 201, "")
	var list struct{ Data []wire.AgentDefinition }
	o.OK(json.Unmarshal(o.As(o.A, "GET", "/v1/agents", "").Body, &list))
	var names []string
	for _, a := range list.Data {
		names = append(names, a.Name)
	}
	if got := strings.Join(names, " "); got != "Sixth Fourth Second Ana" {
		t.Errorf("the account has %s", got)
	}
}

// TestSecretsAreShownOnce: of an answer with a secret nothing is kept.
func TestSecretsAreShownOnce(t *testing.T) {
	o := open(t)
	send := func() reply { return o.As(o.A, "POST", "/v1/keys", `{"name":"Website"}`, "Idempotency-Key", "key-1") }
	first := send()
	o.Want("the first time", first, 201, "")
	o.Want("again", send(), 409, "request.idempotency_conflict")
	var made wire.CreatedKey
	o.OK(json.Unmarshal(first.Body, &made))
	var kept string
	o.OK(o.DB.Pool().QueryRow(t.Context(), "select convert_from(body, 'utf8') from idempotent_requests where key = 'key-1'").Scan(&kept))
	if kept != "" || made.ID == "" {
		t.Errorf("of %s there is kept %q", made.ID, kept)
	}
}

// TestCutOffRequests: a request whose node died before it answered is not done again.
func TestCutOffRequests(t *testing.T) {
	o := open(t)
	send := func(key string) reply {
		return o.As(o.A, "POST", "/v1/agents", `{"name":"Second"}`, "Idempotency-Key", key)
	}
	begin := func(ctx context.Context, key string) {
		t.Helper()
		k := store.IdempotencyKey{Account: o.A.Account, Route: "POST /v1/agents", Key: key, Hash: sha256.Sum256([]byte(`{"name":"Second"}`))}
		_, err := o.DB.BeginRequest(ctx, &k)
		o.OK(err)
	}
	begin(t.Context(), "in-progress")
	o.Want("while another node works on it", send("in-progress"), 409, "request.idempotency_conflict")
	begin(storetest.At(t.Context(), time.Now().Add(-2*time.Minute)), "cut-off")
	for range 2 {
		r := send("cut-off")
		o.Want("when that node is dead", r, 409, "request.idempotency_conflict")
		if !strings.Contains(string(r.Body), "cut off") || strings.Contains(string(r.Body), `"retryable":true`) {
			t.Errorf("it says %s", r.Body)
		}
	}
}
