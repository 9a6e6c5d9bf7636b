package requests_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/api/requests"
	"parley/api/ticket"
	"parley/api/wire"
	store "parley/store/requests"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// TestLog: the log of an account has each request with its key, the answer, and a command that sends the request again. It
// has no credentials, no requests of other accounts, and none without a credential.
func TestLog(t *testing.T) {
	o := apitest.Open(t, apitest.Options{Agent: "Ana"})
	s := store.New(o.DB)
	log := requests.NewLog(s, slog.New(slog.DiscardHandler))
	signer, err := ticket.NewSigner("a master secret of a test, long enough")
	o.OK(err)
	a := api.New(ticket.Keys{Signer: signer, Store: o.DB, People: o.People})
	requests.Mount(a, s)
	ticket.Mount(a, signer, o.DB, nil)
	over := make(chan struct{}, 100) // a request is over after its client has the answer
	o.Serve(a, api.Options{Seen: func(r api.Seen) { log.Take(r); over <- struct{}{} }})
	const at = "/v1/session-tickets"
	first := o.As(o.A, "POST", at+"?api_key=sk_other&x=1", `{"agent_id":"`+o.A.Agent+`","metadata":{"said":"it's","secret":"s3cret"}}`, "X-Request-Id", "mine")
	second := o.As(o.A, "POST", at, strings.Repeat("x", 5000), "Content-Type", "text/plain")
	third := o.As(o.A, "POST", at, `{"agent_id":"`+o.B.Agent+`","metadata":{"a":"`+strings.Repeat("x", 5000)+`"}}`)
	o.As(apitest.Owner{}, "POST", at, "{}")
	for range 3 {
		<-over
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	o.OK(log.Run(ctx)) // it writes what waits

	var list struct{ Data []wire.RequestSummary }
	r := o.As(o.A, "GET", "/v1/requests", "")
	o.OK(json.Unmarshal(r.Body, &list))
	if len(list.Data) != 3 || list.Data[0].ID != third.Header.Get("X-Request-Id") || list.Data[1].ID != second.Header.Get("X-Request-Id") {
		t.Fatalf("%s", r.Body)
	}
	if bad := list.Data[1]; bad.Status != 415 || bad.Code == nil || *bad.Code != "request.unsupported_media_type" || bad.Route != at || bad.Target != at || bad.Key != o.A.KeyID || bad.BytesOut == 0 {
		t.Errorf("%+v", bad)
	}
	var one wire.RequestDetail
	read := func(id string) string {
		t.Helper()
		one = wire.RequestDetail{}
		r := o.As(o.A, "GET", "/v1/requests/"+id, "")
		o.OK(json.Unmarshal(r.Body, &one))
		return string(r.Body)
	}
	text := read(first.Header.Get("X-Request-Id"))
	want := `curl -g -X POST "$PARLEY_URL"'` + at + `?api_key=…&x=1' -H "Authorization: Bearer $PARLEY_API_KEY" -H 'Content-Type: application/json' -d '{"agent_id":"` + o.A.Agent +
		`","metadata":{"said":"it'\''s","secret":"…"}}'`
	if one.Curl != want || *one.Client != "mine" || one.BodyCut || one.Status != 200 || one.KeyName == nil || strings.Contains(text, "s3cret") || strings.Contains(text, "sk_") {
		t.Errorf("%s", text)
	}
	if read(second.Header.Get("X-Request-Id")); one.Body != nil || one.BodyCut {
		t.Errorf("what is no JSON: %+v", one)
	}
	if read(third.Header.Get("X-Request-Id")); one.Body == nil || len(*one.Body) > 5000 || !one.BodyCut {
		t.Errorf("a long one: %+v", one)
	}
	for query, want := range map[string]int{"outcome=refused&from=2026-01-01": 2, "outcome=done": 1, "outcome=failed": 0, "code=request.unsupported_media_type": 1, "method=GET": 0, "key_id=" + o.B.KeyID: 0, "route=" + at: 3} {
		o.OK(json.Unmarshal(o.As(o.A, "GET", "/v1/requests?"+query, "").Body, &list))
		if len(list.Data) != want {
			t.Errorf("%s: %d, want %d", query, len(list.Data), want)
		}
	}
	if r := o.As(o.B, "GET", "/v1/requests/"+first.Header.Get("X-Request-Id"), ""); r.Status != 404 {
		t.Errorf("another's: %d", r.Status)
	}
	o.OK(json.Unmarshal(o.As(o.B, "GET", "/v1/requests", "").Body, &list))
	if len(list.Data) != 0 {
		t.Errorf("another's: %+v", list.Data)
	}
}

// TestFullLog: nobody waits for the log, and what it has no room for is counted.
func TestFullLog(t *testing.T) {
	log := requests.NewLog(nil, slog.New(slog.DiscardHandler))
	for range 5000 {
		log.Take(api.Seen{})
	}
	if log.Dropped() != 5000-4096 {
		t.Errorf("%d were dropped", log.Dropped())
	}
}

// TestFollowersAreNotInTheLog: who asks again and again for what is new does not fill the log, unless the answer is an error.
func TestFollowersAreNotInTheLog(t *testing.T) {
	take := func(r api.Seen) uint64 {
		log := requests.NewLog(nil, slog.New(slog.DiscardHandler))
		for range 4097 {
			log.Take(r)
		}
		return log.Dropped()
	}
	for _, tt := range []struct {
		seen api.Seen
		kept bool
	}{
		{api.Seen{Method: "GET", Route: "/v1/calls", Query: "limit=100&follow=true", Status: 200}, false},
		{api.Seen{Method: "GET", Route: "/v1/requests", Query: "follow=true", Status: 200}, false},
		{api.Seen{Method: "POST", Route: "/v1/webhooks/{id}/deliveries/take", Query: "wait=20", Status: 200}, false},
		{api.Seen{Method: "GET", Route: "/v1/requests", Query: "follow=true", Status: 403}, true},
		{api.Seen{Method: "GET", Route: "/v1/calls", Query: "follow=false", Status: 200}, true},
		{api.Seen{Method: "GET", Route: "/v1/agents", Query: "follow=true", Status: 200}, true},
	} {
		if kept := take(tt.seen) > 0; kept != tt.kept {
			t.Errorf("%+v is kept: %t", tt.seen, kept)
		}
	}
}
