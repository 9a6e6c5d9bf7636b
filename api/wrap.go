package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// Options of Wrap.
type Options struct {
	Log *slog.Logger
	// RateLimit is how many requests a second one credential may make, four
	// seconds' worth at once; requests without one count by address. 0: any number.
	RateLimit int
	// TrustedProxies are those whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// Counts counts requests; nil: nobody asks.
	Counts *Counts
}

// Wrap puts around a handler what a server on the open network needs: limits on
// request rates and on failed credentials, headers that browsers heed, an answer
// when the handler panics, and a log line for each request at debug level, which
// never holds the query, for keys travel there. When the handler is a ServeMux,
// a method that a path does not take is answered with 405 as every other error
// is, also where the mux has a handler for "/".
func Wrap(handler http.Handler, o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if mux, ok := handler.(*http.ServeMux); ok {
		handler = methods(mux)
	}
	if o.Counts == nil {
		o.Counts = new(Counts)
	}
	g := newGate(o.RateLimit, o.TrustedProxies)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		v, ok := g.enter(r)
		v.counts = o.Counts
		a := &answer{ResponseWriter: w, visit: v}
		o.Counts.active.Add(1)
		defer func() {
			fault := recover()
			a.recovered(fault, r, o.Log)
			v.unexplained(a.status)
			o.Counts.left(a.status)
			o.Log.Debug("request", "method", r.Method, "path", r.URL.Path, "status", a.status,
				"from", v.from, "ms", time.Since(began).Milliseconds())
			if fault == http.ErrAbortHandler {
				panic(fault) // the server's own way to drop a connection
			}
		}()
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		if !ok {
			WriteError(a, ErrRateLimited)
			return
		}
		handler.ServeHTTP(a, r.WithContext(context.WithValue(r.Context(), guardKey{}, v)))
	})
}

// answer notes the status of a response.
type answer struct {
	http.ResponseWriter
	visit  *visit
	status int // 0: nothing was sent
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(p)
}

// answerOf is the answer that Wrap made of a response, whatever is around it by now;
// nil when it is none.
func answerOf(w http.ResponseWriter) *answer {
	for {
		if a, ok := w.(*answer); ok {
			return a
		}
		inner, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = inner.Unwrap()
	}
}

// Unwrap lets http.ResponseController find what the server's writer can do.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Hijack implements http.Hijacker, which WebSocket upgrades ask for directly.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err == nil {
		a.status = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

// recovered answers a request whose handler has panicked, and logs where. What
// was passed to panic may hold anything: unless it is the runtime's own, only its
// type is written.
func (a *answer) recovered(fault any, r *http.Request, log *slog.Logger) {
	if fault == nil || fault == http.ErrAbortHandler {
		return
	}
	what := fmt.Sprintf("%T", fault)
	if err, ok := fault.(runtime.Error); ok {
		what = err.Error()
	}
	log.Error("a request panicked", "method", r.Method, "path", r.URL.Path, "panic", what, "stack", string(debug.Stack()))
	if a.status == 0 {
		WriteError(a, errPanicked)
	}
}

var errPanicked = errors.New("a handler panicked")

// methods answers a request whose path has routes for other methods only.
func methods(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		if pattern != "" && pattern != "/" {
			mux.ServeHTTP(w, r)
			return
		}
		_, allow := matches(mux, r)
		if pattern == "/" && len(allow) == 0 {
			mux.ServeHTTP(w, r)
			return
		}
		refuseMethod(w, allow)
	})
}

// matches lists the mux's patterns for a request with another method, and the
// methods.
func matches(mux *http.ServeMux, r *http.Request) (patterns, allow []string) {
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		other := *r
		other.Method = m
		if _, p := mux.Handler(&other); p != "" && p != "/" {
			patterns, allow = append(patterns, p), append(allow, m)
		}
	}
	return patterns, allow
}

// refuseMethod answers a request whose path has routes for these methods only.
func refuseMethod(w http.ResponseWriter, allow []string) {
	if len(allow) == 0 {
		WriteError(w, ErrNotFound)
		return
	}
	if slices.Contains(allow, http.MethodGet) {
		allow = append(allow, http.MethodHead)
	}
	w.Header().Set("Allow", strings.Join(allow, ", "))
	WriteError(w, ErrWrongMethod)
}

// ReadJSON reads the body of a request, limit bytes at most, into v; fields that v
// does not have are ignored. Its errors are ErrTooLarge and ErrBadRequest.
func ReadJSON(w http.ResponseWriter, r *http.Request, limit int64, v any) error {
	body, err := io.ReadAll(bounded(w, r, limit))
	if err != nil {
		return ReadError(err)
	}
	if json.Unmarshal(body, v) != nil {
		return ErrBadRequest
	}
	return nil
}

// bounded is the body of r, limit bytes at most. net/http keeps a connection open
// for a moment after it refused the rest of a body, so that the client can read
// why, but learns of the refusal only from its own ResponseWriter, whichever is
// wrapped around it.
func bounded(w http.ResponseWriter, r *http.Request, limit int64) io.ReadCloser {
	for {
		inner, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return http.MaxBytesReader(w, r.Body, limit)
		}
		w = inner.Unwrap()
	}
}
