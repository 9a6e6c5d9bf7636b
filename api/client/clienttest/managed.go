package clienttest

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Bodies are those of requests that changed what the account has, but for agents, in the order in which they came.
func (s *Server) Bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// managed adds the routes of numbers, lists, keys, secrets, evidence and webhooks. The account has one of each, and what is
// made answers as it was asked for.
func (s *Server) managed(mux *http.ServeMux) {
	m := things{s, mux}
	m.numbers()
	m.trunks()
	m.listed()
	m.messages()
	m.keys()
	m.evidence()
	m.webhooks()
}

// things are what an account has, as routes.
type things struct {
	*Server
	*http.ServeMux
}

// page is a list on one page.
func page(entries ...any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"data": entries, "has_more": false, "next_cursor": nil})
	}
}

// changed answers with a thing as it is after what was sent.
func (m things) changed(status int, of func(r *http.Request, in map[string]any) map[string]any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m.Server.mu.Lock()
		m.bodies = append(m.bodies, string(body))
		m.Server.mu.Unlock()
		var in map[string]any
		_ = json.Unmarshal(body, &in) // what is no object has nothing
		answer(w, status, of(r, in))
	}
}

// gone adds the route that deletes a thing, unless it is nobody's.
func (m things) gone(path string) {
	m.HandleFunc("DELETE "+path, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "nobody") {
			answer(w, 404, Problem{404, "request.not_found", "There is no such thing.", false, ""})
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

func (m things) numbers() {
	number := func(agent any) map[string]any {
		return map[string]any{"id": "num_1", "phone_number": "+34911234567", "country_code": "ES", "agent_id": agent, "agent_name": agent, "status": "active",
			"monthly_price": 5.25, "purchased_at": submitted, "next_charge_at": nil}
	}
	m.HandleFunc("GET /callcenter/numbers", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"numbers": []any{number("ag_one")}})
	})
	m.HandleFunc("GET /callcenter/numbers/search", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"numbers": []any{map[string]any{"phone_number": "+34910000009", "monthly_cost": 1, "upfront_cost": 0, "country_code": "ES",
			"region": "", "locality": "Madrid", "number_type": "local", "features": []string{"voice"}}}, "page": 1, "page_size": 15, "has_more": true})
	})
	m.HandleFunc("POST /callcenter/numbers", m.changed(http.StatusOK, func(r *http.Request, in map[string]any) map[string]any {
		n := number(in["agent_id"])
		n["phone_number"] = in["phone_number"]
		return n
	}))
	m.HandleFunc("POST /callcenter/numbers/{id}/assign", m.changed(http.StatusOK, func(_ *http.Request, in map[string]any) map[string]any { return number(in["agent_id"]) }))
	m.HandleFunc("GET /callcenter/numbers/{id}/rules", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"closed": map[string]any{"message": "Closed."}, "schedule": map[string]any{"monday": []string{"09:00-14:00"}}})
	})
	m.HandleFunc("PUT /callcenter/numbers/{id}/rules", m.changed(http.StatusOK, func(_ *http.Request, in map[string]any) map[string]any { return in }))
	m.HandleFunc("POST /callcenter/numbers/{id}/try", m.changed(http.StatusOK, func(*http.Request, map[string]any) map[string]any {
		return map[string]any{"number_id": "num_1", "phone_number": "+34911234567", "at": submitted, "open": false, "action": "message", "message": "Closed.", "reasons": []string{"It is Friday.", "Friday: closed."}}
	}))
	m.HandleFunc("DELETE /callcenter/numbers/{id}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, map[string]any{"id": r.PathValue("id"), "phone_number": "+34911234567", "released": true})
	})
}

func (m things) listed() {
	listed := func(number, reason any) map[string]any {
		return map[string]any{"number": number, "reason": reason, "source": "api", "call_id": nil, "since": submitted}
	}
	m.HandleFunc("GET /v1/do-not-call", page(listed("+34612345678", "wrote to us")))
	m.HandleFunc("POST /v1/do-not-call", m.changed(http.StatusOK, func(_ *http.Request, in map[string]any) map[string]any { return listed(in["number"], in["reason"]) }))
	m.HandleFunc("GET /v1/do-not-call/{number}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("number") != "+34612345678" {
			answer(w, 404, Problem{404, "request.not_found", "There is no such thing.", false, ""})
			return
		}
		answer(w, http.StatusOK, listed(r.PathValue("number"), "wrote to us"))
	})
	m.gone("/v1/do-not-call/{number}")
	m.HandleFunc("POST /v1/do-not-call.csv", m.changed(http.StatusOK, func(*http.Request, map[string]any) map[string]any { return map[string]any{"added": 2, "known": 1} }))
	for _, name := range []string{"do-not-call", "consents"} {
		m.HandleFunc("GET /v1/"+name+".csv", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/csv")
			_, _ = io.WriteString(w, "table,"+name+"\r\n") // the client has gone
		})
	}
}

func (m things) keys() {
	key := func(name, role, money any) map[string]any {
		return map[string]any{"id": "key_1", "role": role, "money": money, "listen": false, "speak": false, "name": name, "last4": "x7Qa", "created_at": submitted, "created_by": nil, "created_by_email": nil,
			"last_used_at": nil, "revoked_at": nil}
	}
	m.HandleFunc("GET /v1/keys", page(key("website", "member", false)))
	m.HandleFunc("POST /v1/keys", m.changed(http.StatusCreated, func(_ *http.Request, in map[string]any) map[string]any {
		k := key(in["name"], in["role"], in["money"] == true)
		k["api_key"] = "sk_made"
		return k
	}))
	m.gone("/v1/keys/{id}")

	secret := func(name string, hosts any) map[string]any {
		if hosts == nil {
			hosts = []any{}
		}
		return map[string]any{"name": name, "hosts": hosts, "created_at": submitted, "updated_at": submitted}
	}
	m.HandleFunc("GET /v1/secrets", page(secret("BOOKING_KEY", nil)))
	m.HandleFunc("PUT /v1/secrets/{name}", m.changed(http.StatusOK, func(r *http.Request, in map[string]any) map[string]any {
		return secret(r.PathValue("name"), in["hosts"])
	}))
	m.gone("/v1/secrets/{name}")
}

func (m things) evidence() {
	m.HandleFunc("GET /v1/consents", page(map[string]any{"no": 1, "account_id": "acc_1", "call_id": "ses_1", "agent_id": "ag_one", "to_hash": "9f86", "key_id": "key_1",
		"ip": "192.0.2.7", "at": submitted, "seal": "6030"}))
	group := func(name any, turns, p50 int) map[string]any {
		of := map[string]any{"p50": p50, "p90": 2 * p50, "p95": 2 * p50, "p99": 3 * p50}
		return map[string]any{"key": name, "calls": 2, "turns": turns, "endpoint_ms": of, "model_ms": of, "voice_ms": of, "total_ms": of}
	}
	m.HandleFunc("GET /v1/latency", func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, map[string]any{"group_by": r.URL.Query().Get("group_by"), "from": submitted, "to": submitted, "data": []any{group("2026-03-01", 9, 780)},
			"total": group(nil, 9, 781), "has_more": false, "next_cursor": nil})
	})
	m.HandleFunc("GET /v1/latency/engines", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"from": submitted, "to": submitted, "data": []any{map[string]any{"stage": "llm", "engine": "haiku", "calls": 2, "turns": 9, "p50_ms": 310, "p95_ms": 740}}})
	})
}

func (m things) webhooks() {
	hook := func(in map[string]any) map[string]any {
		h := map[string]any{"id": "wh_1", "url": "https://example.com/parley", "description": "", "events": []any{}, "enabled": true, "failing_since": nil, "old_secret_until": nil, "listens_until": nil,
			"created_at": submitted, "updated_at": submitted}
		for name, value := range in {
			h[name] = value
		}
		if delete(h, "listen"); in["listen"] == true {
			h["listens_until"] = submitted
		}
		if h["enabled"] == false {
			h["disabled_reason"] = "asked"
		}
		return h
	}
	signed := func(_ *http.Request, in map[string]any) map[string]any {
		h := hook(in)
		h["secret"] = "whsec_made"
		return h
	}
	delivery := map[string]any{"id": "evt_1", "type": "call.ended", "about": "ses_1", "state": "delivered", "created_at": submitted, "next_at": nil, "ended_at": submitted,
		"attempts": []any{map[string]any{"at": submitted, "status": 200, "latency_ms": 83, "answer": "ok"}}}
	sent := func(*http.Request, map[string]any) map[string]any { return delivery }
	m.HandleFunc("GET /v1/webhooks", page(hook(nil)))
	m.HandleFunc("POST /v1/webhooks", m.changed(http.StatusCreated, signed))
	m.HandleFunc("GET /v1/webhooks/{id}", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, hook(nil)) })
	m.HandleFunc("PATCH /v1/webhooks/{id}", m.changed(http.StatusOK, func(_ *http.Request, in map[string]any) map[string]any { return hook(in) }))
	m.gone("/v1/webhooks/{id}")
	m.HandleFunc("POST /v1/webhooks/{id}/rotate", m.changed(http.StatusOK, signed))
	m.HandleFunc("POST /v1/webhooks/{id}/test", m.changed(http.StatusAccepted, sent))
	m.HandleFunc("GET /v1/webhooks/{id}/deliveries", page(delivery))
	m.HandleFunc("POST /v1/webhooks/{id}/deliveries/take", m.takeEvent)
	m.HandleFunc("POST /v1/webhooks/{id}/deliveries/{delivery}/attempts", m.changed(http.StatusOK, func(r *http.Request, in map[string]any) map[string]any {
		m.reportEvent(r, in)
		return delivery
	}))
	m.HandleFunc("POST /v1/webhooks/{id}/deliveries/{delivery}/retry", m.changed(http.StatusAccepted, sent))
}
