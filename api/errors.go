// Package api is the public face: credentials, the one error table, and the
// plumbing that every HTTP route and WebSocket shares. The routes themselves
// live in its sub-packages; cmd mounts them.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"parley/inference"
	"parley/store"
)

// Errors of the edge itself. Everything else comes typed from the packages below.
var (
	ErrMissingKey   = errors.New("no credential was sent")
	ErrRateLimited  = errors.New("too many requests a second")
	ErrBackOff      = errors.New("too many failed attempts a minute")
	ErrDraining     = errors.New("the server is stopping")
	ErrBadRequest   = errors.New("the request is malformed")
	ErrVoice        = errors.New("unknown voice")
	ErrLanguage     = errors.New("unknown language")
	ErrCannotHear   = errors.New("this server has no recogniser for the language")
	ErrNoAgent      = errors.New("there is no such agent")
	ErrTooLarge     = errors.New("the request is too large")
	ErrNotFound     = errors.New("there is nothing at this address")
	ErrWrongMethod  = errors.New("the address does not take this method")
	ErrSessionStart = errors.New("the conversation could not be started")
)

// Problem is what a client is told of an error: HTTP status, wire code, sentence,
// and whether the same request may succeed later.
type Problem struct {
	Status    int    `json:"-"`
	Code      string `json:"code"`
	Message   string `json:"error"`
	Retryable bool   `json:"retryable"`
	// RetryAfter is in seconds; 0 sends no header.
	RetryAfter int `json:"-"`
}

// table is the only place where errors get a public code. Rows are tried in
// order with errors.Is; what no row knows is internal.error and its text stays
// inside.
var table = []struct {
	err error
	Problem
}{
	{ErrMissingKey, Problem{401, "auth.missing_key", "Send an API key in the Authorization header, in X-API-Key or as api_key.", false, 0}},
	{store.ErrUnauthorized, Problem{401, "auth.invalid_key", "The API key is unknown or was revoked.", false, 0}},
	{ErrRateLimited, Problem{429, "auth.rate_limited", "Too many requests; wait and try again.", true, 1}},
	{ErrBackOff, Problem{429, "auth.rate_limited", "Too many attempts failed; wait and try again.", true, 30}},
	{store.ErrSuspended, Problem{402, "billing.account_disputed", "The account is suspended.", false, 0}},
	{store.ErrDisputed, Problem{402, "billing.account_disputed", "A payment of the account is disputed.", false, 0}},
	{store.ErrTopupRequired, Problem{402, "billing.topup_required", "This needs a first top-up.", false, 0}},
	{store.ErrInsufficientBalance, Problem{402, "billing.insufficient_balance", "The balance is too low to start.", false, 0}},
	{store.ErrConcurrency, Problem{429, "limit.concurrency", "The account has as many sessions as it may have at once.", true, 0}},
	{ErrDraining, Problem{503, "service.unavailable", "The server takes no new sessions now.", true, 5}},
	{store.ErrUnavailable, Problem{503, "service.unavailable", "The server cannot reach its database now.", true, 5}},
	{ErrNoAgent, Problem{404, "agent.not_found", "There is no such agent.", false, 0}},
	{ErrVoice, Problem{400, "validation.invalid_voice", "Unknown voice; the ten are F1 to F5 and M1 to M5.", false, 0}},
	{ErrLanguage, Problem{400, "validation.invalid_language", "Unknown language; the nine are en es ca gl eu pt fr it de.", false, 0}},
	{ErrCannotHear, Problem{503, "stt.not_configured", "This server cannot hear the agent's language; typed turns work.", false, 0}},
	{ErrTooLarge, Problem{413, "request.too_large", "The request is too large.", false, 0}},
	{store.ErrInvalid, Problem{400, "validation.invalid_request_format", "The request is not valid.", false, 0}},
	{ErrBadRequest, Problem{400, "validation.invalid_request_format", "The request is not valid.", false, 0}},
	{ErrNotFound, Problem{404, "request.not_found", "There is nothing at this address.", false, 0}},
	{ErrWrongMethod, Problem{405, "request.method_not_allowed", "The address does not take this method.", false, 0}},
	{ErrSessionStart, Problem{503, "agent.session_failed", "The conversation could not be started.", true, 0}},
	{store.ErrNotFound, Problem{404, "request.not_found", "There is no such thing.", false, 0}},
	{store.ErrVersion, Problem{412, "request.precondition_failed", "It was changed by someone else; read it again.", false, 0}},
	{store.ErrNumberTaken, Problem{400, "callcenter.number_not_available", "The number is in use already.", false, 0}},
	{store.ErrIdempotency, Problem{409, "request.idempotency_conflict", "The idempotency key was used for another request.", false, 0}},
	{store.ErrFenced, Problem{503, "service.unavailable", "Another server has taken over; try again.", true, 5}},
	{context.DeadlineExceeded, Problem{504, "internal.timeout", "It took too long.", true, 0}},
	{context.Canceled, Problem{499, "internal.cancelled", "It was cancelled.", false, 0}},
}

// ProblemOf says what a client is told of err.
func ProblemOf(err error) Problem {
	for _, row := range table {
		if errors.Is(err, row.err) {
			return row.Problem
		}
	}
	if e, ok := errors.AsType[*inference.Error](err); ok {
		return engineProblem(e)
	}
	return Problem{500, "internal.error", "Something went wrong on our side.", true, 0}
}

// engineProblem is what a failed engine looks like from outside: which one it was
// stays inside.
func engineProblem(e *inference.Error) Problem {
	switch e.Fault {
	case inference.ErrVoice:
		return ProblemOf(ErrVoice)
	case inference.ErrLanguage:
		return ProblemOf(ErrLanguage)
	}
	return Problem{503, "agent.provider_error", "The model, the recogniser or the voice failed for one turn.", true, 0}
}

// WriteError answers a request with err.
func WriteError(w http.ResponseWriter, err error) {
	p := ProblemOf(err)
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	WriteJSON(w, p.Status, p)
}

// WriteJSON answers a request with v.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the client has gone: nobody to tell
}
