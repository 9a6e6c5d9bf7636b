package stripe_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/billing/payment/paymenttest"
)

const (
	apiKey     = "sk_test_51AbCdEfGhIjKlMnOpQrStUv"
	hookSecret = "whsec_for_tests"
)

type doc = map[string]any

// fake is as much of Stripe's HTTP interface as we use. It checks every
// parameter, keeps state, replays idempotency keys and lists newest first.
type fake struct {
	t   *testing.T
	url string

	mu        sync.Mutex
	seq       int
	objects   map[string]doc // by id
	order     []string       // ids, oldest first
	replays   map[string]replay
	requests  []*http.Request // parsed, in order
	failures  []failure       // answers to give before any other
	delivered []paymenttest.Delivery
}

type replay struct {
	request string // method, path and parameters
	status  int
	answer  doc
}

// failure is an answer made up for the next request whose path has the suffix.
type failure struct {
	suffix string
	status int
	body   string
}

var clock = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func newFake(t *testing.T) *fake {
	f := &fake{t: t, objects: map[string]doc{}, replays: map[string]replay{}}
	s := httptest.NewServer(f)
	// A lost answer must not be asked for again by the HTTP client itself, as it
	// does on a connection used before.
	s.Config.SetKeepAlivesEnabled(false)
	t.Cleanup(s.Close)
	f.url = s.URL
	return f
}

func (f *fake) id(kind string) string {
	f.seq++
	return fmt.Sprintf("%s_%d", kind, f.seq)
}

func (f *fake) put(d doc) doc {
	id := d["id"].(string)
	if f.objects[id] == nil {
		f.order = append(f.order, id)
	}
	f.objects[id] = d
	return d
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := r.ParseForm(); err != nil {
		f.t.Error(err)
	}
	f.requests = append(f.requests, r)
	w.Header().Set("Request-Id", "req_"+strconv.Itoa(len(f.requests)))
	if r.Header.Get("Authorization") != "Bearer "+apiKey {
		write(w, http.StatusUnauthorized, apiError("invalid_request_error", "", "", "Invalid API Key provided: sk_test_****wrong"))
		return
	}
	if len(f.failures) > 0 && strings.HasSuffix(r.URL.Path, f.failures[0].suffix) {
		fail := f.failures[0]
		f.failures = f.failures[1:]
		w.WriteHeader(fail.status)
		w.Write([]byte(fail.body))
		return
	}
	if r.Method == http.MethodGet {
		status, answer := f.get(r)
		write(w, status, answer)
		return
	}
	f.post(w, r)
}

// post answers a repeated key as it did the first time (docs.stripe.com/api/idempotent_requests).
func (f *fake) post(w http.ResponseWriter, r *http.Request) {
	key, request := r.Header.Get("Idempotency-Key"), r.Method+r.URL.Path+r.PostForm.Encode()
	old, ok := f.replays[key]
	switch {
	case key == "":
		f.t.Errorf("%s without an idempotency key", r.URL.Path)
	case ok && old.request != request:
		write(w, http.StatusBadRequest, apiError("idempotency_error", "", "", "Keys for idempotent requests can only be used with the same parameters"))
		return
	case ok:
		write(w, old.status, old.answer)
		return
	}
	p := &params{f: f, r: r, seen: map[string]bool{}}
	var status int
	var answer doc
	lost := false
	switch r.URL.Path {
	case "/v1/customers":
		status, answer = f.createCustomer(p)
	case "/v1/checkout/sessions":
		status, answer = f.createSession(p)
	case "/v1/payment_intents":
		status, answer = f.createIntent(p)
		lost = answer["amount"] == int64(20_04)
	case "/v1/refunds":
		status, answer = f.createRefund(p)
	default:
		status, answer = http.StatusNotFound, apiError("invalid_request_error", "", "", "Unrecognized request URL")
	}
	p.rest()
	f.replays[key] = replay{request, status, answer}
	if lost {
		panic(http.ErrAbortHandler) // the connection breaks after the money moved
	}
	write(w, status, answer)
}

func write(w http.ResponseWriter, status int, d doc) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(d)
}

func apiError(kind, code, param, message string) doc {
	e := doc{"type": kind, "message": message}
	if code != "" {
		e["code"] = code
	}
	if param != "" {
		e["param"] = param
	}
	return doc{"error": e}
}

// params reads a form strictly: what is asked for must be there, and nothing else.
type params struct {
	f    *fake
	r    *http.Request
	seen map[string]bool
}

func (p *params) get(name string) string {
	p.seen[name] = true
	if !p.r.PostForm.Has(name) {
		p.f.t.Errorf("%s: parameter %s is missing", p.r.URL.Path, name)
	}
	return p.r.PostForm.Get(name)
}

func (p *params) want(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if got := p.get(pairs[i]); got != pairs[i+1] {
			p.f.t.Errorf("%s: %s is %q, want %q", p.r.URL.Path, pairs[i], got, pairs[i+1])
		}
	}
}

func (p *params) cents(name string) int64 {
	n, err := strconv.ParseInt(p.get(name), 10, 64)
	if err != nil || n <= 0 {
		p.f.t.Errorf("%s: %s is %q", p.r.URL.Path, name, p.r.PostForm.Get(name))
	}
	return n
}

func (p *params) rest() {
	for name := range p.r.PostForm {
		if !p.seen[name] {
			p.f.t.Errorf("%s: unknown parameter %s", p.r.URL.Path, name)
		}
	}
}

// emit delivers an event, signed here by hand and not by what is tested.
func (f *fake) emit(id, kind string, object doc, after time.Duration) {
	text, err := json.Marshal(doc{
		"id": id, "object": "event", "type": kind, "api_version": "2020-08-27", "livemode": false,
		"created": clock.Unix(), "pending_webhooks": 1, "data": doc{"object": object},
	})
	if err != nil {
		f.t.Error(err)
	}
	at := clock.Add(after)
	h := http.Header{}
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Stripe-Signature", fmt.Sprintf("t=%d,v0=00,v1=%s", at.Unix(), signature(hookSecret, at, text)))
	f.delivered = append(f.delivered, paymenttest.Delivery{Header: h, Body: text, At: at})
}

func signature(secret string, at time.Time, body []byte) string {
	h := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(h, "%d.%s", at.Unix(), body)
	return hex.EncodeToString(h.Sum(nil))
}
