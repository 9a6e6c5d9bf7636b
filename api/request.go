package api

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"parley/store"
)

// RequestHeader names a request in its answer. A client may send a name of its own in it, which is logged beside ours
// and is no name of ours: two clients may choose the same.
const RequestHeader = "X-Request-Id"

// clientName is what a client may call its request; what is longer or has other characters is not logged.
var clientName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// names gives a request its name, which sorts by time, and takes the client's.
func names(r *http.Request) (ours, theirs string) {
	if given := r.Header.Get(RequestHeader); clientName.MatchString(given) {
		theirs = given
	}
	asked := time.Now()
	return store.NewID(store.RequestID, asked), theirs
}

// RequestIDOf names the request in ctx as its answer does; empty: there is none.
func RequestIDOf(ctx context.Context) string {
	if v, ok := ctx.Value(guardKey{}).(*passage); ok {
		return v.request
	}
	return ""
}

// LogOf is log with the name of the request in ctx in every line.
func LogOf(ctx context.Context, log *slog.Logger) *slog.Logger {
	if id := RequestIDOf(ctx); id != "" {
		return log.With("request", id)
	}
	return log
}

// problem is err as the client of the request in ctx sees it.
func (v *passage) problem(err error) Problem {
	p := ProblemOf(err)
	p.Request = v.request
	if p.Status >= http.StatusInternalServerError {
		v.fault.CompareAndSwap(nil, &err)
	}
	return p
}

// problemIn is the same for the request in ctx; without one the problem has no name of a request.
func problemIn(ctx context.Context, err error) Problem {
	if v, ok := ctx.Value(guardKey{}).(*passage); ok {
		return v.problem(err)
	}
	return ProblemOf(err)
}
