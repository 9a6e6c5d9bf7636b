package clienttest

import (
	"maps"
	"net/http"
)

// trunks adds the routes of trunks. The account has one, of whose two targets one is up; broken has none that is.
func (m things) trunks() {
	target := func(at string, up bool) map[string]any {
		t := map[string]any{"target": "udp:" + at, "up": up}
		if !up {
			t["detail"] = "OPTIONS: 503 Service Unavailable"
		}
		return t
	}
	trunk := func(name string) map[string]any {
		up := name != "broken"
		return map[string]any{"id": "trk_1", "name": name, "targets": []any{map[string]any{"host": "sip.carrier.example"}}, "username": "account", "country": "DE", "created_at": submitted,
			"updated_at": submitted, "status": map[string]any{"calls": 2, "targets": []any{target("192.0.2.10:5060", up), target("192.0.2.11:5060", false)},
				"registration": map[string]any{"registered": up, "until": nil, "error": ""}}}
	}
	m.HandleFunc("GET /v1/trunk-presets", page(map[string]any{"name": "asterisk", "title": "Asterisk and FreePBX", "summary": "Between two addresses.", "state": "documented",
		"settings": map[string]any{"dtmf": "events"}, "needs": []any{"targets", "allow"}, "far_end": []any{"SIP Server: voice.example.com"},
		"sources": []any{map[string]any{"title": "Examples", "url": "https://docs.asterisk.example"}}, "page": "/docs/trunks/asterisk"}))
	m.HandleFunc("GET /v1/trunks", page(trunk("office")))
	m.HandleFunc("GET /v1/trunks/{id}", func(w http.ResponseWriter, r *http.Request) { answer(w, http.StatusOK, trunk(r.PathValue("id"))) })
	m.HandleFunc("POST /v1/trunks/{id}/check", func(w http.ResponseWriter, r *http.Request) { answer(w, http.StatusOK, trunk(r.PathValue("id"))) })
	written := func(_ *http.Request, in map[string]any) map[string]any {
		t := trunk("")
		maps.Copy(t, in)
		if in["preset"] != nil {
			t["far_end"] = []any{"SIP Server: voice.example.com"}
		}
		return t
	}
	m.HandleFunc("POST /v1/trunks", m.changed(http.StatusCreated, written))
	m.HandleFunc("PUT /v1/trunks/{id}", m.changed(http.StatusOK, written))
	m.HandleFunc("POST /v1/trunks/{id}/numbers", m.changed(http.StatusCreated, func(_ *http.Request, in map[string]any) map[string]any {
		return map[string]any{"id": "num_2", "phone_number": in["phone_number"], "country_code": "DE", "agent_id": in["agent_id"], "agent_name": in["agent_id"], "trunk_id": "trk_1",
			"status": "active", "monthly_price": 0, "purchased_at": submitted, "next_charge_at": nil}
	}))
	m.gone("/v1/trunks/{id}")
}
