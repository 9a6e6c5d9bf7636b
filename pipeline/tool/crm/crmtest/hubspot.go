// Package crmtest is a fake HubSpot for tests: contacts and calls with the part of its
// documented API that we use, strict about what it is sent.
package crmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// HubSpot is the fake. Its methods may be called from any goroutine.
type HubSpot struct {
	URL string

	token string
	mu    sync.Mutex
	kept  map[string][]Object // by kind: contacts and calls
	asked int
	// fail answers the next requests with these statuses; lose stores and then breaks the
	// connection.
	fail []int
	lose int
}

// Object is a record.
type Object struct {
	ID         string
	Properties map[string]string
	Contacts   []string // those that a call is associated with
	Trace      string   // the traceparent header of the request that created a call
}

// known are the properties that a kind of record has.
var known = map[string][]string{
	"contacts": {"firstname", "lastname", "company", "email", "phone", "mobilephone", "hs_searchable_calculated_phone_number", "hs_searchable_calculated_mobile_number"},
	"calls":    {"hs_timestamp", "hs_call_title", "hs_call_body", "hs_call_duration", "hs_call_from_number", "hs_call_to_number", "hs_call_direction", "hs_call_status"},
}

// New starts a fake that takes one access token; it ends with the test.
func New(t testing.TB, token string) *HubSpot {
	h := &HubSpot{token: token, kept: map[string][]Object{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /crm/v3/objects/{kind}/search", h.search)
	mux.HandleFunc("POST /crm/v3/objects/calls", h.create)
	s := httptest.NewServer(h.guarded(mux))
	t.Cleanup(s.Close)
	h.URL = s.URL
	return h
}

// AddContact stores a contact and returns its identifier.
func (h *HubSpot) AddContact(properties map[string]string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.add("contacts", Object{Properties: properties})
}

// Calls returns the calls that were created.
func (h *HubSpot) Calls() []Object {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.kept["calls"])
}

// Requests counts the requests that came, whatever their answer.
func (h *HubSpot) Requests() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

// Fail answers the next requests with statuses, one each.
func (h *HubSpot) Fail(statuses ...int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fail = append(h.fail, statuses...)
}

// LoseAnswers stores the next n calls that are created and does not answer.
func (h *HubSpot) LoseAnswers(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lose = n
}

func (h *HubSpot) add(kind string, o Object) string {
	o.ID = fmt.Sprint(len(h.kept["contacts"])+len(h.kept["calls"])+1) + "01"
	h.kept[kind] = append(h.kept[kind], o)
	return o.ID
}

func (h *HubSpot) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.asked++
		switch {
		case r.Header.Get("Authorization") != "Bearer "+h.token:
			refuse(w, http.StatusUnauthorized, "INVALID_AUTHENTICATION", "token "+r.Header.Get("Authorization"))
		case len(h.fail) > 0:
			status := h.fail[0]
			h.fail = h.fail[1:]
			refuse(w, status, "FAKE", "as the test wants")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func refuse(w http.ResponseWriter, status int, category, message string) {
	answer(w, status, map[string]string{"status": "error", "category": category, "message": message})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the test notices
}

// search implements POST /crm/v3/objects/{kind}/search: one of the groups must hold,
// with all of its filters.
func (h *HubSpot) search(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Groups []struct {
			Filters []struct {
				Property string `json:"propertyName"`
				Operator string `json:"operator"`
				Value    string `json:"value"`
			} `json:"filters"`
		} `json:"filterGroups"`
		Properties []string `json:"properties"`
		Limit      int      `json:"limit"`
	}
	kind := r.PathValue("kind")
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Groups) == 0 || len(q.Groups) > 5 || q.Limit < 1 || q.Limit > 200 || known[kind] == nil {
		refuse(w, http.StatusBadRequest, "VALIDATION_ERROR", "the search")
		return
	}
	found := []map[string]any{}
	for _, o := range h.kept[kind] {
		matches := false
		for _, g := range q.Groups {
			all := len(g.Filters) > 0
			for _, f := range g.Filters {
				if f.Operator != "EQ" || !slices.Contains(known[kind], f.Property) {
					refuse(w, http.StatusBadRequest, "VALIDATION_ERROR", "the filter of "+f.Property)
					return
				}
				all = all && o.Properties[f.Property] == f.Value
			}
			matches = matches || all
		}
		if !matches || len(found) == q.Limit {
			continue
		}
		properties := map[string]any{"hs_object_id": o.ID}
		for _, p := range q.Properties {
			properties[p] = nil // HubSpot writes null for what is empty
			if v, ok := o.Properties[p]; ok {
				properties[p] = v
			}
		}
		found = append(found, map[string]any{"id": o.ID, "properties": properties, "archived": false})
	}
	answer(w, http.StatusOK, map[string]any{"total": len(found), "results": found})
}

// create implements POST /crm/v3/objects/calls.
func (h *HubSpot) create(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Properties   map[string]string `json:"properties"`
		Associations []struct {
			To struct {
				ID string `json:"id"`
			} `json:"to"`
			Types []struct {
				Category string `json:"associationCategory"`
				ID       int    `json:"associationTypeId"`
			} `json:"types"`
		} `json:"associations"`
	}
	wrong := func(what string) { refuse(w, http.StatusBadRequest, "VALIDATION_ERROR", what) }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		wrong("the body")
		return
	}
	for name := range in.Properties {
		if !slices.Contains(known["calls"], name) {
			wrong("the property " + name)
			return
		}
	}
	at, err := strconv.ParseInt(in.Properties["hs_timestamp"], 10, 64)
	if err != nil || at < 1_000_000_000_000 || !slices.Contains([]string{"INBOUND", "OUTBOUND"}, in.Properties["hs_call_direction"]) {
		wrong("hs_timestamp in milliseconds and hs_call_direction are needed")
		return
	}
	o := Object{Properties: in.Properties, Trace: r.Header.Get("Traceparent")}
	for _, a := range in.Associations {
		known := slices.ContainsFunc(h.kept["contacts"], func(c Object) bool { return c.ID == a.To.ID })
		if !known || len(a.Types) != 1 || a.Types[0].Category != "HUBSPOT_DEFINED" || a.Types[0].ID != 194 {
			wrong("the association")
			return
		}
		o.Contacts = append(o.Contacts, a.To.ID)
	}
	id := h.add("calls", o)
	if h.lose > 0 {
		h.lose--
		panic(http.ErrAbortHandler)
	}
	answer(w, http.StatusCreated, map[string]any{"id": id, "properties": in.Properties, "archived": false})
}
