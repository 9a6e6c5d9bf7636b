package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// insideKey is of the Principal in the context of a request that Call makes.
type insideKey struct{}

// matchKey is of the If-Match header of a request that Call makes.
type matchKey struct{}

// WithIfMatch has Call send this If-Match header (RFC 9110, section 13.1.1).
func WithIfMatch(ctx context.Context, tags string) context.Context {
	return context.WithValue(ctx, matchKey{}, tags)
}

// onceKey is of the Idempotency-Key header of a request that Call makes.
type onceKey struct{}

// WithIdempotencyKey has Call send this Idempotency-Key header.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, onceKey{}, key)
}

// who finds out who sent a request and whether they may use a route.
func (a *API) who(r *http.Request, access Access) (Principal, error) {
	if p, ok := r.Context().Value(insideKey{}).(Principal); ok {
		return p, access.allows(p)
	}
	return Authenticate(a.keys, r, access)
}

// Call asks one of the API's own routes on behalf of p, without a network and without a
// credential: pages do all that they do this way, so they can do what the API can,
// within the same checks. in is sent as JSON, unless it is nil; out is what the answer's
// JSON is read into, unless it is nil. A refusal is an error that ProblemOf knows. The
// address may have a query; what the path is made of must be escaped.
func (a *API) Call(ctx context.Context, p Principal, method, address string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return err
		}
	}
	return a.Send(ctx, p, method, address, "application/json", &body, out)
}

// Send is Call with a body of any type. The route reads it as it comes and may leave a part of
// it unread.
func (a *API) Send(ctx context.Context, p Principal, method, address, contentType string, body io.Reader, out any) error {
	ctx = context.WithValue(ctx, insideKey{}, p)
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", contentType)
	if tags, ok := ctx.Value(matchKey{}).(string); ok {
		r.Header.Set("If-Match", tags)
	}
	if key, ok := ctx.Value(onceKey{}).(string); ok {
		r.Header.Set("Idempotency-Key", key)
	}
	w := &inside{header: http.Header{}, status: http.StatusOK}
	a.mux.ServeHTTP(w, r)
	if w.status >= http.StatusBadRequest {
		refused := &refusal{Problem{Status: w.status}}
		if err := json.Unmarshal(w.body.Bytes(), &refused.Problem); err != nil {
			return fmt.Errorf("%s %s answered %d", method, r.URL.Path, w.status)
		}
		refused.RetryAfter, _ = strconv.Atoi(w.header.Get("Retry-After")) // which no body has
		return refused
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(w.body.Bytes(), out)
}

// Relay is Call for a GET whose answer is no JSON: it goes to w as it comes.
func (a *API) Relay(ctx context.Context, w http.ResponseWriter, p Principal, address string) error {
	r, err := http.NewRequestWithContext(context.WithValue(ctx, insideKey{}, p), http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	a.mux.ServeHTTP(w, r)
	return nil
}

// inside takes the answer to a request that Call makes.
type inside struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *inside) Header() http.Header         { return w.header }
func (w *inside) WriteHeader(status int)      { w.status = status }
func (w *inside) Write(p []byte) (int, error) { return w.body.Write(p) }
