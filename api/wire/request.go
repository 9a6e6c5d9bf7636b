package wire

import (
	"net/http"
	"strings"
	"time"
)

// RequestSummary is a request with a key or a ticket of the account, without its body.
type RequestSummary struct {
	ID         string    `json:"id" doc:"Names the request, as X-Request-Id of its answer does." example:"req_06er5bt0v9k1o7m2q3s4t5u6v0"`
	At         time.Time `json:"at" doc:"When it came."`
	Method     string    `json:"method" doc:"Its method." example:"POST"`
	Route      string    `json:"route" doc:"The route, as this document has it." example:"/v1/agents/{id}"`
	Target     string    `json:"target" doc:"Its path and query, without credentials." example:"/v1/agents/ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Status     int       `json:"status" doc:"What it was answered with; 101: it became a WebSocket." example:"200"`
	Code       *string   `json:"code" doc:"The error's code; null: none." example:"validation.invalid_voice"`
	DurationMS int64     `json:"duration_ms" doc:"From its beginning to the end of its answer, in milliseconds; of a WebSocket as long as it was open." example:"12"`
	Key        string    `json:"key_id" doc:"The key that was sent, or from which the ticket was made." example:"key_06er5bt0v9k1o7m2q3s4t5u6v0"`
	KeyName    *string   `json:"key_name" doc:"What the key is called; null: it is not there any more." example:"Website"`
	Ticket     *string   `json:"ticket_id" doc:"The ticket that was sent; null: the key itself." example:"t_1"`
	BytesIn    int64     `json:"bytes_in" doc:"Size of its body, as far as it was read." example:"230"`
	BytesOut   int64     `json:"bytes_out" doc:"Size of the answer's body; of a WebSocket 0." example:"912"`
	Client     *string   `json:"client_request_id" doc:"What the client called it in X-Request-Id; null: nothing." example:"cart-42"`
}

// RequestDetail is a request with its body.
type RequestDetail struct {
	RequestSummary
	Body    *string `json:"body" doc:"Its body, if that was JSON: the first 4 kB, without the values of fields that are called like secrets or hold what is said; null: it had none, or another." example:"{\"name\":\"Lola\"}"`
	BodyCut bool    `json:"body_cut" doc:"Whether there was more of it."`
	Curl    string  `json:"curl" doc:"The command that sends it again, from a shell with PARLEY_URL and PARLEY_API_KEY. What was blanked or cut must be filled in." example:"curl -g \"$PARLEY_URL\"'/v1/balance' -H \"Authorization: Bearer $PARLEY_API_KEY\""`
}

// CurlKey is the option of curl that sends the key of the shell's PARLEY_API_KEY.
const CurlKey = `-H "Authorization: Bearer $PARLEY_API_KEY"`

// Curl is the command of a shell that sends a request to an address with options, which are all as
// the shell reads them: see ShellWord.
func Curl(method, address string, options ...string) string {
	words := []string{"curl -g"}
	if method != http.MethodGet {
		words = append(words, "-X "+method)
	}
	return strings.Join(append(append(words, address), options...), " ")
}

// ShellWord is a text as one word of a shell.
func ShellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
