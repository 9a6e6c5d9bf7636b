package tool

import (
	"context"
	"encoding/json"
	"net/http"
)

// traceKey is where a context holds the traceparent header of its requests.
type traceKey struct{}

// InTrace is ctx for requests that carry a traceparent header; an empty one is none.
func InTrace(ctx context.Context, header string) context.Context {
	if header == "" {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, header)
}

// inTrace is a function whose requests carry header; an empty one is none.
func inTrace(header string, run func(context.Context, json.RawMessage) (string, error)) func(context.Context, json.RawMessage) (string, error) {
	return func(ctx context.Context, arguments json.RawMessage) (string, error) {
		return run(InTrace(ctx, header), arguments)
	}
}

// traced gives requests the traceparent header of their contexts (W3C Trace Context,
// section 3.2), unless they have one already or were sent on to another host.
type traced struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t traced) RoundTrip(r *http.Request) (*http.Response, error) {
	header, ok := r.Context().Value(traceKey{}).(string)
	if !ok || r.Header.Get("Traceparent") != "" {
		return t.next.RoundTrip(r)
	}
	for q := r; q.Response != nil && q.Response.Request != nil; q = q.Response.Request {
		if origin(q.URL) != origin(q.Response.Request.URL) {
			return t.next.RoundTrip(r)
		}
	}
	r = r.Clone(r.Context())
	r.Header.Set("Traceparent", header)
	return t.next.RoundTrip(r)
}
