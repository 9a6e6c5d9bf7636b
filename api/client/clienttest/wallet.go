package clienttest

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
)

// UsageDays is how many days of usage the server knows of, a cent each: more than a
// page.
const UsageDays = 230

// UsageCSV is the server's table of usage.
const UsageCSV = "day,component,quantity,unit,amount\r\n2026-03-01,agent,193,second,0.257333333\r\n"

// Pricing is the server's rate card.
const Pricing = `{"version":"2026-01-15.1","currency":"USD","agent":{"platform_per_minute":0.08,"billing":"per_second"},` +
	`"llm":{"input_per_million_tokens":0.6,"output_per_million_tokens":2.4},"phone":{"inbound":{"ES":0.01,"GB":0.012},"outbound_fixed":{"ES":0.018,"US":0.014,"NL":0.025},` +
	`"outbound_mobile":{"ES":0.045},"number_per_month":5},"tts_per_million_chars":15,"stt_per_minute":0.006,"denoise_per_minute":0.002,"new":true}`

// Account is the account of Key.
const Account = `{"id":"acc_1","name":"Casa Lola","created_at":"2026-03-01T10:00:00Z","key":{"id":"key_1","role":"owner","money":true,"listen":false,"speak":false,"name":"laptop","last4":"fake",` +
	`"created_at":"2026-03-01T10:00:00Z","created_by":null,"created_by_email":null,"last_used_at":null,"revoked_at":null},"email":"","balance":3.419999999,"disputed":false,` +
	`"suspended":false,"concurrency":{"live":1,"limit":3},"requests_per_second":50,"recording_days":30,"conversation_days":null}`

// wallet adds the routes of the prepaid balance.
func wallet(mux *http.ServeMux) {
	send := func(mediaType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			_, _ = io.WriteString(w, body) // the client has gone
		}
	}
	mux.HandleFunc("GET /v1/pricing", send("application/json", Pricing))
	mux.HandleFunc("GET /v1/usage.csv", send("text/csv", UsageCSV))
	mux.HandleFunc("GET /v1/balance", send("application/json", `{"currency":"USD","balance":3.419999999,"paid":-1.000000001,"bonus":4.42,`+
		`"bonus_lots":[{"left":4.42,"granted":5,"expires_at":"2026-05-30T12:00:00Z"}],"posted":3.5,"accrued":0.080000001,"held":0.01,"overdraft":2,`+
		`"min_session_start":0.25,"concurrency":{"live":1,"limit":3},"disputed":false,"suspended":false,"first_topup_at":null,`+
		`"warnings":[{"kind":"balance.low","message":"The balance is 3.41 USD: top up soon.","since":null,"data":{"balance":3.419999999,"threshold":5}}]}`))
	mux.HandleFunc("GET /v1/usage", usage)
	mux.HandleFunc("GET /v1/account", send("application/json", Account))
}

// usage has a cent of every day, in pages.
func usage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, _ := strconv.Atoi(q.Get("limit"))
	from, _ := strconv.Atoi(q.Get("cursor"))
	page := map[string]any{"group_by": q.Get("group_by"), "from": nil, "to": nil, "data": []any{}, "total": nil, "accrued": json.Number("0.000000001"), "has_more": false, "next_cursor": nil}
	if from == 0 {
		page["total"] = json.Number("2.3")
	}
	data := []any{}
	for day := from + 1; day <= UsageDays && len(data) < limit; day++ {
		data = append(data, map[string]any{"key": "day " + strconv.Itoa(day), "amount": 0.01,
			"components": []any{map[string]any{"component": "tts", "quantity": 667, "unit": "character", "amount": 0.01}}})
	}
	if next := from + len(data); next < UsageDays {
		page["has_more"], page["next_cursor"] = true, strconv.Itoa(next)
	}
	page["data"] = data
	answer(w, http.StatusOK, page)
}
