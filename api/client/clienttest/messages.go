package clienttest

import "net/http"

func (m things) messages() {
	message := func(id, direction, from, to, text any) map[string]any {
		return map[string]any{"id": id, "direction": direction, "from": from, "to": to, "text": text, "segments": 1, "encoding": "gsm7", "status": "failed",
			"reason": "The number is not in service.", "cost": 0.012, "agent_id": nil, "call_id": "ses_1", "created_at": submitted, "sent_at": submitted, "ended_at": submitted, "deleted_at": nil}
	}
	m.HandleFunc("GET /v1/messages", page(message("msg_1", "outbound", "+12125550100", "+14155550177", "Your table\nis booked.")))
	m.HandleFunc("POST /v1/messages", m.changed(http.StatusAccepted, func(_ *http.Request, in map[string]any) map[string]any {
		return message("msg_2", "outbound", in["from"], in["to"], in["text"])
	}))
	m.HandleFunc("GET /v1/messages/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") != "msg_1" {
			answer(w, 404, Problem{404, "request.not_found", "There is no such thing.", false, ""})
			return
		}
		answer(w, http.StatusOK, message("msg_1", "outbound", "+12125550100", "+14155550177", "Your table\nis booked."))
	})
	m.gone("/v1/messages/{id}")
}
