// Package api is the public face: credentials, the one error table, and the
// plumbing that every HTTP route and WebSocket shares. The routes themselves
// live in its sub-packages; cmd mounts them.
//
// Routes are added to API with their types or a handler of their own, and with who may use
// them. From that come the check of the credential, the bound of the body, the answer to
// browsers of other sites, the errors, and the route's part of the OpenAPI document, which is
// committed and compared. Tests send thousands of requests drawn from the document to a real
// server, and hold every answer to it.
//
// Work without a call is a session, too. What is known beforehand (characters, the length of a
// recording) is priced and held before it starts; what fails on our side is closed with nothing
// used. The session of a long text does not end with the node that began it: the transaction
// that completes the task closes it, so it is charged once whatever crashes.
package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"parley/inference"
	"parley/store"
	"parley/store/blob"
)

// Errors of the edge itself. Everything else comes typed from the packages below.
var (
	ErrMissingKey   = define("no credential was sent", problem(401, "auth.missing_key", "Send an API key in the Authorization header, in X-API-Key or as api_key.", false, 0))
	ErrRateLimited  = define("too many requests a second", problem(429, "auth.rate_limited", "Too many requests; wait and try again.", true, 1))
	ErrBackOff      = define("too many failed attempts a minute", problem(429, "auth.rate_limited", "Too many attempts failed; wait and try again.", true, 30))
	ErrBusy         = define("too much of this is being done at once", problem(503, "service.unavailable", "The server is at capacity for this kind of work; try again.", true, 5))
	ErrDraining     = define("the server is stopping", problem(503, "service.unavailable", "The server takes no new sessions now.", true, 5))
	ErrUpgrade      = define("the address takes WebSockets only", problem(426, "request.upgrade_required", "This address takes WebSocket connections.", false, 0))
	ErrBadRequest   = define("the request is malformed", problem(400, "validation.invalid_request_format", "The request is not valid.", false, 0))
	ErrVoice        = define("unknown voice", problem(400, "validation.invalid_voice", "Unknown voice; the ten are F1 to F5 and M1 to M5.", false, 0))
	ErrLanguage     = define("unknown language", problem(400, "validation.invalid_language", "Unknown language; the nine are en es ca gl eu pt fr it de.", false, 0))
	ErrCannotHear   = define("this server has no recogniser for the language", problem(503, "stt.not_configured", "This server cannot hear the agent's language; typed turns work.", false, 0))
	ErrNoAgent      = define("there is no such agent", problem(404, "agent.not_found", "There is no such agent.", false, 0))
	ErrTooLarge     = define("the request is too large", problem(413, "request.too_large", "The request is too large.", false, 0))
	ErrNotFound     = define("there is nothing at this address", problem(404, "request.not_found", "There is nothing at this address.", false, 0))
	ErrWrongMethod  = define("the address does not take this method", problem(405, "request.method_not_allowed", "The address does not take this method.", false, 0))
	ErrSessionStart = define("the conversation could not be started", problem(503, "agent.session_failed", "The conversation could not be started.", true, 0))
	ErrSessionOver  = define("there is no such conversation to go on with", problem(404, "agent.session_over", "There is no such conversation to go on with: it has ended, or the token is not of one of yours.", false, 0))
	ErrTimeLimit    = define("the conversation has lasted as long as it may", problem(403, "auth.time_limited", "The conversation has reached its longest duration.", false, 0))
	ErrTicketScope  = define("the ticket does not open this", problem(403, "auth.ticket_not_allowed", "A ticket does not open this; send an API key.", false, 0))
	ErrRole         = define("the credential's role does not open this", problem(403, "auth.role_not_allowed", "This needs an owner's sign-in or a key with the right: the role owner for people, the mark money for what is paid, the mark listen for listening in, the mark speak for speaking. An operator's key has no account.", false, 0))
	ErrMediaType    = define("the media type is not taken here", problem(415, "request.unsupported_media_type", "The body's media type is not taken here.", false, 0))
	ErrTextLength   = define("the text is too long", problem(400, "validation.text_too_long", "The text is too long.", false, 0))
	ErrSpeed        = define("the speed is out of range", problem(400, "validation.speed_out_of_range", "The speed must be from 0.5 to 2.0.", false, 0))
	ErrSteps        = define("the steps are out of range", problem(400, "validation.steps_out_of_range", "The steps must be a whole number from 1 to 8.", false, 0))
	ErrSynthesis    = define("synthesis failed", problem(500, "tts.synthesis_failed", "The text could not be spoken.", true, 0))
	ErrVoiceAway    = define("the voice is not available now", problem(503, "tts.voice_unavailable", "The voice is not available now.", true, 2))
	ErrModel        = define("there is no such model", problem(404, "tts.model_not_found", "There is no such model.", false, 0))
	ErrJobs         = define("too many jobs at once", problem(429, "tts.session_limit_reached", "The account has as many of these running or waiting as it may have at once.", true, 5))
	ErrDeaf         = define("no speech recogniser for this language", problem(503, "stt.not_configured", "This server has no recogniser for the language.", false, 0))
	ErrRecognition  = define("recognition could not start", problem(503, "stt.stream_create_failed", "The recogniser could not be started.", true, 2))
	ErrUnheard      = define("the language cannot be recognised", problem(400, "stt.language_not_supported", "The language cannot be recognised; those that can are en es pt fr it de.", false, 0))
	ErrShown        = define("the answer showed a secret and is not kept", problem(409, "request.idempotency_conflict", "The request with this idempotency key was done; its answer showed a secret, which is not kept.", false, 0))
	ErrCutOff       = define("an earlier request was cut off", problem(409, "request.idempotency_conflict", "An earlier request with this idempotency key was cut off, and may have been done: look, before you send it with another key.", false, 0))
	ErrNotReady     = define("the task has no result yet", problem(409, "task.not_ready", "The task has no result: it has not ended yet, or it failed.", false, 0))
	ErrTaskOver     = define("the task has ended", problem(409, "task.ended", "The task has ended already.", false, 0))
	ErrExpired      = define("the result has expired", problem(410, "task.expired", "The result was kept for a day and is gone.", false, 0))
	ErrSilent       = define("there is nothing to hear of the call", problem(409, "call.not_heard", "The call is over, has not begun, or as many listen in as may.", true, 2))
	ErrSupervised   = define("a supervisor speaks in the call", problem(409, "call.supervised", "Somebody else speaks to the caller in the agent's place.", true, 5))
	ErrReceiver     = define("the receiver of a stream does not take it", problem(400, "call.receiver_unreachable", "The WebSocket could not be opened.", true, 0))
	ErrNotTalking   = define("nobody can speak in the call", problem(409, "call.not_talking", "The conversation has not begun, is being closed, or is over.", true, 2))
	ErrNoColleague  = define("no person has the caller", problem(409, "call.not_transferred", "The caller is not connected to a person here.", true, 2))
	ErrElsewhere    = define("the call is on another server", problem(503, "service.unavailable", "The call is on another server of the cluster.", true, 5))
	ErrAudioPending = define("the recording is not ready", problem(409, "recording.not_ready", "The call is in progress or its recording is still being encoded.", true, 2))
	ErrAudioGone    = define("the recording is gone", problem(410, "recording.gone", "The recording was deleted, was kept long enough, or has failed.", false, 0))
	ErrAudioAway    = define("the recording is on another server", problem(503, "service.unavailable", "The recording is on another server of the cluster.", true, 5))
	ErrAudioRange   = define("the recording has no such part", problem(416, "request.range_not_satisfiable", "The recording has no such part.", false, 0))
	ErrEngineKey    = define("the engine's vendor refuses the key", problem(400, "engine.key_refused", "The vendor refuses this key: it is wrong, is not paid for, or may not do this.", false, 0))
	ErrConsent      = define("consent was not confirmed", problem(400, "callcenter.consent_required", "Confirm with consent_confirmed: true that the callee has agreed to be called.", false, 0))
	ErrFrom         = define("the number to call from is not the account's", problem(403, "callcenter.from_not_owned", "The number to call from is not the account's.", false, 0))
	ErrDestination  = define("the destination cannot be called", problem(400, "callcenter.destination_not_allowed", "This number cannot be called.", false, 0))
	ErrHours        = define("the account calls nobody at this hour", problem(409, "callcenter.outside_call_window", "The account does not call this number at this hour.", false, 0))
	ErrEmergency    = define("emergency numbers are not called", problem(400, "callcenter.emergency_number", "Parley does not place emergency calls. In an emergency, dial the number from a phone.", false, 0))
	ErrBatchSize    = define("the batch has too many rows", problem(400, "callcenter.batch_too_large", "A batch has 500 rows at most.", false, 0))
	ErrPayments     = define("the payment provider cannot be used", problem(503, "service.unavailable", "Payments cannot be taken now; try again.", true, 5))
	ErrCountry      = define("numbers of the country are not sold", problem(400, "callcenter.invalid_country", "The country must be one of US ES UK DE FR IT PT.", false, 0))
	ErrNotOffered   = define("the number is not for sale", problem(400, "callcenter.number_not_available", "The number is not for sale; take one that the search finds.", false, 0))
	ErrNumberPrice  = define("the number costs more than is included", problem(400, "callcenter.number_price_too_high", "The carrier asks more for this number than a number of the service includes.", false, 0))
	ErrNoNumber     = define("there is no such number", problem(404, "callcenter.not_found", "There is no such number.", false, 0))
	ErrNoMessages   = define("the number sends no text messages", problem(400, "message.number_cannot_send", "The number sends no text messages: those that were bought here of a carrier which sends messages do.", false, 0))
	ErrCarrier      = define("the carrier cannot be used", problem(503, "service.unavailable", "The carrier cannot be reached now; try again.", true, 5))
	ErrIfMatch      = define("the request needs If-Match", problem(428, "request.precondition_required", "Send If-Match: the ETag of the ICE session, or * to restart it.", false, 0))
	ErrStale        = define("the ICE session is over", problem(412, "request.precondition_failed", "ICE was restarted since; use the new ETag.", false, 0))
)

// Problem is an error as clients see it: HTTP status, wire code, sentence,
// and whether the same request may succeed later.
type Problem struct {
	Status    int    `json:"-"`
	Code      string `json:"code" doc:"One of a fixed list; programs decide by it." example:"validation.invalid_voice"`
	Message   string `json:"error" doc:"The same for people."`
	Detail    string `json:"detail,omitempty" doc:"What exactly was wrong, when there is more to say."`
	Retryable bool   `json:"retryable" doc:"Whether the same request may succeed later."`
	Request   string `json:"request_id,omitempty" doc:"Names the request, as the header X-Request-Id does: quote it to the server's operator." example:"req_06er5bt0v9k1o7m2q3s4t5u6v0"`
	// RetryAfter is in seconds; 0 sends no header.
	RetryAfter int `json:"-"`
}

func problem(status int, code, message string, retryable bool, retryAfter int) Problem {
	return Problem{Status: status, Code: code, Message: message, Retryable: retryable, RetryAfter: retryAfter}
}

// row is an error of the table.
type row struct {
	err error
	Problem
}

// table is the only place where errors get a public code: first those of the edge, then
// those of the packages below. Rows are tried in order with errors.Is; what no row knows is
// internal.error and its text stays inside.
var table []row

func init() { table = append(table, below...) }

// define adds an error of the edge to the table.
func define(text string, p Problem) error {
	err := errors.New(text)
	table = append(table, row{err, p})
	return err
}

// below are the errors of the packages below.
var below = []row{
	{store.ErrUnauthorized, problem(401, "auth.invalid_key", "The credential is unknown, was revoked or has expired.", false, 0)},
	{store.ErrPace, problem(429, "callcenter.number_paced", "The number has placed as many calls in the last hour as it may.", true, 60)},
	{store.ErrDialRate, problem(429, "auth.rate_limited", "Too many calls or messages a second; wait and try again.", true, 1)},
	{store.ErrSuspended, problem(402, "billing.account_disputed", "The account is suspended.", false, 0)},
	{store.ErrDisputed, problem(402, "billing.account_disputed", "A payment of the account is disputed.", false, 0)},
	{store.ErrTopupRequired, problem(402, "billing.topup_required", "This needs a first top-up.", false, 0)},
	{store.ErrInsufficientBalance, problem(402, "billing.insufficient_balance", "The balance is too low to start.", false, 0)},
	{store.ErrSpending, problem(402, "limit.spending", "What the account, the key or the agent may spend in a day (UTC) is spent, or this costs more than the rest.", false, 0)},
	{store.ErrConcurrency, problem(429, "limit.concurrency", "The account has as many sessions as it may have at once.", true, 5)},
	{store.ErrTopUps, problem(429, "auth.rate_limited", "Too many top-ups were begun within the hour; wait and try again.", true, 60)},
	{store.ErrUnavailable, problem(503, "service.unavailable", "The server cannot reach its database now.", true, 5)},
	{blob.ErrUnavailable, problem(503, "service.unavailable", "The server cannot reach its store of recordings and audio now.", true, 5)},
	{store.ErrDoNotCall, problem(400, "callcenter.do_not_call", "The number is on the account's do-not-call list.", false, 0)},
	{store.ErrCampaigns, problem(429, "callcenter.batch_limit_reached", "The account has as many unfinished batches as it may have.", true, 60)},
	{store.ErrTicketUsed, problem(403, "auth.time_limited", "The ticket has started as many conversations as it may.", false, 0)},
	{store.ErrInvalid, problem(400, "validation.invalid_request_format", "The request is not valid.", false, 0)},
	{store.ErrNotFound, problem(404, "request.not_found", "There is no such thing.", false, 0)},
	{store.ErrVersion, problem(412, "request.precondition_failed", "It was changed by someone else; read it again.", false, 0)},
	{store.ErrTrunkSource, problem(409, "callcenter.source_taken", "A trunk of another account takes calls from one of these sources. Ask for a user and password of the far end (inbound_username) to share it.", false, 0)},
	{store.ErrNumberTaken, problem(400, "callcenter.number_not_available", "The number is in use already.", false, 0)},
	{store.ErrIdempotency, problem(409, "request.idempotency_conflict", "The idempotency key was used for another request.", false, 0)},
	{store.ErrInProgress, problem(409, "request.idempotency_conflict", "The first request with this idempotency key is being answered; try again.", true, 1)},
	{store.ErrFenced, problem(503, "service.unavailable", "Another server has taken over; try again.", true, 5)},
	{context.DeadlineExceeded, problem(504, "internal.timeout", "It took too long.", true, 0)},
	{context.Canceled, problem(499, "internal.cancelled", "It was cancelled.", false, 0)},
}

// detailed is an error with a sentence for the client about what exactly it was.
type detailed struct {
	error
	detail string
}

func (d *detailed) Unwrap() error { return d.error }

// Detail adds to err what exactly was wrong, for the client to read. It must hold
// nothing that the client may not know.
func Detail(err error, detail string) error { return &detailed{err, detail} }

// ProblemOf is err as clients see it.
func ProblemOf(err error) Problem {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.Problem // it has been looked up
	}
	p := lookUp(err)
	if d, ok := errors.AsType[*detailed](err); ok && p.Status != http.StatusInternalServerError {
		p.Detail = d.detail
	}
	return p
}

func lookUp(err error) Problem {
	for _, row := range table {
		if errors.Is(err, row.err) {
			if row.err == store.ErrInvalid {
				_, row.Detail, _ = strings.Cut(err.Error(), store.ErrInvalid.Error()+": ")
			}
			return row.Problem
		}
	}
	if e, ok := errors.AsType[*inference.Error](err); ok {
		return engineProblem(e)
	}
	return problem(500, "internal.error", "Something went wrong on our side.", true, 0)
}

// Problems are all that clients may learn, by code: of those that differ in their
// sentences only, the sentences are joined.
func Problems() []Problem {
	all := []Problem{lookUp(errPanicked), engineProblem(new(inference.Error))}
	for _, row := range table {
		all = append(all, row.Problem)
	}
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Message, b.Message))
	})
	merged := all[:0]
	for _, p := range all {
		last := len(merged) - 1
		switch {
		case last < 0 || merged[last].Code != p.Code || merged[last].Status != p.Status || merged[last].Retryable != p.Retryable:
			merged = append(merged, p)
		case !strings.Contains(merged[last].Message, p.Message):
			merged[last].Message += " " + p.Message
		}
	}
	return merged
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
	return problem(503, "agent.provider_error", "The model, the recogniser or the voice failed for one turn.", true, 0)
}

// WriteError answers a request with err.
func WriteError(w http.ResponseWriter, err error) {
	p := ProblemOf(err)
	if a := answerOf(w); a != nil {
		p = a.passage.problem(err)
		a.passage.refuse(p.Code)
	}
	maps.Copy(w.Header(), p.headers())
	WriteJSON(w, p.Status, p)
}

// HandlerFunc answers a request, or returns why it does not before it has sent anything: then the
// answer is that error.
type HandlerFunc func(http.ResponseWriter, *http.Request) error

func (f HandlerFunc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := f(w, r); err != nil {
		WriteError(w, err)
	}
}

func (p Problem) headers() http.Header {
	h := http.Header{}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	return h
}

// WriteJSON answers a request with v.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the client has gone
}
