package clienttest

import (
	"net/http"
	"strconv"
	"time"

	"parley/api/wire"
)

// Asked is a request that the server has seen, and AskedCurl the command that sends it again.
const (
	Asked     = "req_2"
	AskedCurl = `curl -g -X POST "$PARLEY_URL"'/v1/agents' -H "Authorization: Bearer $PARLEY_API_KEY" -H 'Content-Type: application/json' -d '{"name":""}'`
)

// asked are the requests that the server has seen, the newest first.
func asked() []wire.RequestSummary {
	name, code := "Website", "validation.invalid_request_format"
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return []wire.RequestSummary{
		{ID: Asked, At: at, Method: http.MethodPost, Route: "/v1/agents", Target: "/v1/agents", Status: 400, Code: &code, DurationMS: 12, Key: "key_1", KeyName: &name, BytesIn: 11, BytesOut: 120},
		{ID: "req_1", At: at, Method: http.MethodGet, Route: "/v1/balance", Target: "/v1/balance", Status: 200, DurationMS: 3, Key: "key_1", KeyName: &name, BytesOut: 90},
	}
}

func requests(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, _ := strconv.Atoi(q.Get("limit"))
	page := map[string]any{"has_more": false, "next_cursor": nil}
	data := []wire.RequestSummary{}
	for _, one := range asked() {
		refused := one.Status >= 400
		if m := q.Get("method"); m != "" && m != one.Method || q.Get("outcome") == "refused" && !refused || q.Get("outcome") == "done" && refused || q.Get("outcome") == "failed" {
			continue
		}
		if len(data) == limit {
			page["has_more"], page["next_cursor"] = true, "more"
			break
		}
		data = append(data, one)
	}
	page["data"] = data
	answer(w, http.StatusOK, page)
}

func oneRequest(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != Asked {
		answer(w, http.StatusNotFound, unknown)
		return
	}
	body := `{"name":""}`
	answer(w, http.StatusOK, wire.RequestDetail{RequestSummary: asked()[0], Body: &body, Curl: AskedCurl})
}
