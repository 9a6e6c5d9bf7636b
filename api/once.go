package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"mime"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"parley/store"
)

// Repeats keeps requests that carry an Idempotency-Key, and their answers. store.DB does.
type Repeats interface {
	BeginRequest(ctx context.Context, o *store.IdempotencyKey) (*store.Answer, error)
	FinishRequest(ctx context.Context, o *store.IdempotencyKey, a store.Answer) error
	DropRequest(ctx context.Context, o *store.IdempotencyKey) error
}

// repetition is what a route makes of an Idempotency-Key.
type repetition uint8

const (
	unnoticed repetition = iota // nothing, or the handler deals with it
	answered                    // a repeated request gets the first answer
	shownOnce                   // the first answer showed a secret: a repeated request is refused
)

// Repeatable has the route do a request once, however often it is sent with one Idempotency-Key: for 24 hours a
// repeated request gets the first answer. Errors are not kept. A request whose node died before it answered is not done
// again: whether it was done is for the client to see.
func (r Route) Repeatable() Route {
	r.repetition = answered
	return r
}

// ShownOnce is Repeatable for a route whose answer shows a secret: a repeated request is refused, for the secret is
// not kept.
func (r Route) ShownOnce() Route {
	r.repetition = shownOnce
	return r
}

// Remember sets where Repeatable routes keep their requests; without it the header means nothing. It is called before
// the first request.
func (a *API) Remember(r Repeats) { a.repeats = r }

const (
	onceHeader = "Idempotency-Key"
	maxOnce    = 255
	// hashedBody is how much of a body tells requests apart, in bytes; of longer ones their length does, too.
	hashedBody = 64 << 10
)

// onceParam documents the header.
func onceParam(shown repetition) *huma.Param {
	text := "Of your choice, up to 255 printable characters of ASCII: for 24 hours the request is done once, however often it is sent with it, and answered as the first time."
	if shown == shownOnce {
		text = "Of your choice, up to 255 printable characters of ASCII: for 24 hours the request is done once; when it is sent again it is refused, for the answer shows a secret that is not kept."
	}
	most := maxOnce
	return &huma.Param{Name: onceHeader, In: "header", Description: text, Example: "order-42",
		Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &most, Description: text, Examples: []any{"order-42"}}}
}

// belongs are the headers that are kept with an answer: the others are those of each time.
var belongs = []string{"ETag", "Location"}

// once serves a request of a Repeatable route that carries a key, which is one of whose's.
func (a *API) once(w http.ResponseWriter, r *http.Request, whose string, shown repetition, handler http.Handler) {
	key := r.Header.Get(onceHeader)
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' || len(key) > maxOnce {
			WriteError(w, Bad("%s: up to %d printable characters of ASCII", onceHeader, maxOnce))
			return
		}
	}
	begun, err := io.ReadAll(io.LimitReader(r.Body, hashedBody))
	if err != nil {
		WriteError(w, ReadError(err))
		return
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(begun), r.Body), r.Body}
	// Without the query, which may hold the credential.
	o := store.IdempotencyKey{Account: whose, Route: r.Method + " " + r.URL.Path, Key: key, Hash: fingerprint(r, begun)}
	was, err := a.repeats.BeginRequest(r.Context(), &o)
	switch {
	case err != nil:
		WriteError(w, err)
	case was != nil && was.Status == http.StatusConflict: // no good answer: see below
		WriteError(w, ErrCutOff)
	case was != nil && shown == shownOnce:
		WriteError(w, ErrShown)
	case was != nil:
		for name, value := range was.Headers {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(was.Status)
		_, _ = w.Write(was.Body) // the client has gone
	case o.TakenOver:
		// Kept, so that a repeated request gets the same answer, and not that the first is still in progress.
		_ = a.repeats.FinishRequest(context.WithoutCancel(r.Context()), &o, store.Answer{Status: http.StatusConflict, Body: []byte{}})
		WriteError(w, ErrCutOff)
	default:
		a.first(w, r, &o, shown, handler)
	}
}

// whose are the keys of p's requests of a route: its account's. Operators have their own, for they may belong to none.
func whose(p Principal, route Access) string {
	if route == Operators {
		return p.User
	}
	return p.Account
}

// fingerprint tells the request from others with its key. The boundary of a form is another each time.
func fingerprint(r *http.Request, body []byte) [sha256.Size]byte {
	if _, p, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && p["boundary"] != "" {
		body = bytes.ReplaceAll(body, []byte(p["boundary"]), nil)
	}
	return sha256.Sum256(body)
}

// first does a request for the first time, and keeps what it is answered with. The answer is kept although the client
// may have gone: it will ask again.
func (a *API) first(w http.ResponseWriter, r *http.Request, o *store.IdempotencyKey, shown repetition, handler http.Handler) {
	kept := context.WithoutCancel(r.Context())
	seen := &recorded{ResponseWriter: w}
	done := false
	defer func() {
		if !done { // refused, or a panic
			_ = a.repeats.DropRequest(kept, o) // or the lease ends
		}
	}()
	handler.ServeHTTP(seen, r)
	if seen.status/100 != 2 {
		return
	}
	done = true
	answer := store.Answer{Status: seen.status, Body: []byte{}}
	if shown == answered {
		answer.Body, answer.Headers = seen.body.Bytes(), seen.belonging()
	}
	_ = a.repeats.FinishRequest(kept, o, answer) // a repeated request is then told that it was cut off
}

// recorded is an answer that is written and kept.
type recorded struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (k *recorded) WriteHeader(status int) {
	if k.status == 0 {
		k.status = status
	}
	k.ResponseWriter.WriteHeader(status)
}

func (k *recorded) Write(b []byte) (int, error) {
	if k.status == 0 {
		k.status = http.StatusOK
	}
	k.body.Write(b)
	return k.ResponseWriter.Write(b)
}

// belonging are the headers that belong to the answer; nil: it has none of them.
func (k *recorded) belonging() (kept map[string]string) {
	for _, name := range belongs {
		if value := k.Header().Get(name); value != "" {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[name] = value
		}
	}
	return kept
}

// Unwrap lets the handler set deadlines (http.ResponseController).
func (k *recorded) Unwrap() http.ResponseWriter { return k.ResponseWriter }
