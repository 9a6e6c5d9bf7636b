package crm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/pipeline/tool/crm"
	"parley/pipeline/tool/crm/crmtest"
)

const (
	token = "pat-eu1-hunter2"
	ana   = "+34910000001"
)

func connect(t *testing.T, kind, address, key string) crm.CRM {
	t.Helper()
	c, err := crm.New(kind, address, key, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var call = crm.Call{ID: "ses_1", Inbound: true, From: ana, To: "+34911111111", StartedAt: time.UnixMilli(1_700_000_000_123),
	Duration: 61_500 * time.Millisecond, Reason: "user_hangup", Text: "agent: Hello <you>\nuser: Hi"}

func TestHubSpotContact(t *testing.T) {
	h := crmtest.New(t, token)
	h.AddContact(map[string]string{"firstname": "Otto", "phone": "+49 910 000 001", "hs_searchable_calculated_phone_number": "910000001"})
	id := h.AddContact(map[string]string{"firstname": "Ana", "lastname": "Pérez", "company": "Casa", "email": "ana@example.com", "phone": "910 00 00 01",
		"hs_searchable_calculated_phone_number": "910000001"})
	c := connect(t, crm.HubSpot, h.URL, token)
	got, err := c.Contact(t.Context(), ana)
	if err != nil || *got != (crm.Contact{ID: id, Name: "Ana Pérez", Company: "Casa", Email: "ana@example.com", Phone: ana}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := c.Contact(t.Context(), "+34910000002"); !errors.Is(err, crm.ErrNoContact) {
		t.Error(err)
	}
	h.AddContact(map[string]string{"mobilephone": "+34910000002"})
	if got, err := c.Contact(t.Context(), "+34910000002"); err != nil || got.Name != "" {
		t.Errorf("%+v, %v", got, err)
	}
	h.Fail(429)
	if s, ok := errors.AsType[*crm.StatusError](second(c.Contact(t.Context(), ana))); !ok || s.Status != 429 {
		t.Error(s)
	}
	if err := second(connect(t, crm.HubSpot, h.URL, "hunter3").Contact(t.Context(), ana)); err == nil || strings.Contains(err.Error(), "hunter3") {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestHubSpotLog(t *testing.T) {
	h := crmtest.New(t, token)
	c := connect(t, crm.HubSpot, h.URL, token)
	id := h.AddContact(map[string]string{"phone": ana})
	// The answer is lost: the next try finds the call there.
	h.LoseAnswers(1)
	if err := c.Log(t.Context(), call, false); err == nil {
		t.Error("a lost answer counts as one")
	}
	for range 2 {
		if err := c.Log(t.Context(), call, true); err != nil {
			t.Fatal(err)
		}
	}
	calls := h.Calls()
	if len(calls) != 1 {
		t.Fatalf("%d calls", len(calls))
	}
	want := map[string]string{"hs_timestamp": "1700000000123", "hs_call_duration": "61500", "hs_call_from_number": ana, "hs_call_to_number": "+34911111111",
		"hs_call_direction": "INBOUND", "hs_call_status": "COMPLETED", "hs_call_title": "Call with the voice agent",
		"hs_call_body": "agent: Hello &lt;you&gt;<br>user: Hi<br>ses_1"}
	if fmt.Sprint(calls[0].Properties) != fmt.Sprint(want) || fmt.Sprint(calls[0].Contacts) != fmt.Sprint([]string{id}) {
		t.Errorf("%+v", calls[0])
	}
	// Another call of the same moment is another; who called is not known.
	other := call
	other.ID, other.From, other.Reason = "ses_2", "", "failed"
	other.Text = strings.Repeat("\"é\n", 50_000)
	if err := c.Log(t.Context(), other, true); err != nil {
		t.Fatal(err)
	}
	if calls := h.Calls(); len(calls) != 2 || len(calls[1].Properties["hs_call_body"]) > 1<<16 || !strings.HasSuffix(calls[1].Properties["hs_call_body"], "ses_2") || calls[1].Contacts != nil || calls[1].Properties["hs_call_status"] != "FAILED" {
		t.Errorf("%+v", calls)
	}
}

func TestREST(t *testing.T) {
	logged := map[string]map[string]any{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /base/contacts", func(w http.ResponseWriter, r *http.Request) {
		switch r.FormValue("phone") {
		case ana:
			_, _ = w.Write([]byte(`{"contacts":[{"id":"c1","name":"Ana","notes":"VIP"},{"id":"c2"}]}`))
		case "+34910000003":
			_, _ = w.Write([]byte(`{"contacts":[]}`))
		default:
			http.NotFound(w, r)
		}
	})
	mux.HandleFunc("POST /base/calls", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.Header.Get("Authorization") != "Bearer key" {
			t.Errorf("%v %v", err, r.Header)
		}
		logged[r.Header.Get("Idempotency-Key")] = in
		w.WriteHeader(http.StatusCreated)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	c := connect(t, crm.REST, s.URL+"/base", "key")
	if got, err := c.Contact(t.Context(), ana); err != nil || *got != (crm.Contact{ID: "c1", Name: "Ana", Notes: "VIP"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, n := range []string{"+34910000002", "+34910000003"} {
		if err := second(c.Contact(t.Context(), n)); !errors.Is(err, crm.ErrNoContact) {
			t.Errorf("%s: %v", n, err)
		}
	}
	for range 2 {
		if err := c.Log(t.Context(), call, true); err != nil {
			t.Fatal(err)
		}
	}
	in := logged["ses_1"]
	if len(logged) != 1 || in["contact_id"] != "c1" || in["direction"] != "inbound" || in["duration_ms"] != 61500.0 || in["started_at"] != "2023-11-14T22:13:20.123Z" {
		t.Errorf("%v", logged)
	}
}

func TestKinds(t *testing.T) {
	for _, tt := range [][2]string{{"", ""}, {"salesforce", "https://a.example"}, {crm.REST, ""}} {
		if _, err := crm.New(tt[0], tt[1], "", http.DefaultClient); err == nil {
			t.Errorf("%q was taken", tt)
		}
	}
}
