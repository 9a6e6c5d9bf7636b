package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// HSTS is what a server that is reached by https says about that (RFC 6797): for a year.
const HSTS = "max-age=31536000"

// Options of Wrap.
type Options struct {
	Log *slog.Logger
	// RateLimit is how many requests a second one credential may make, four
	// seconds' worth at once; all credentials of an account together make four times as
	// many. Requests count by network until their credential was good. 0: any number.
	RateLimit int
	// Shared are the limits that other nodes share; nil: there are none.
	Shared *SharedLimits
	// TrustedProxies are those whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// Counts counts requests; nil: they are not counted.
	Counts *Counts
	// Seen gets each request of an account's key or ticket, when that is over. It must not wait; nil: nobody
	// wants to know.
	Seen func(Seen)
}

// Wrap puts around a handler what a server on the open network needs: limits on
// request rates and on failed credentials, headers that browsers heed, an answer
// when the handler panics, a name for each request (see RequestHeader), and a log line for each at debug level, which
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
	g := newGate(o.RateLimit, o.TrustedProxies, o.Shared)
	var unknown proxyWarning
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		unknown.look(r, o)
		v, ok := g.enter(r)
		v.counts, v.wanted = o.Counts, o.Seen != nil
		a := &answer{ResponseWriter: w, passage: v}
		o.Counts.active.Add(1)
		defer func() {
			fault := recover()
			a.recovered(fault, r, o.Log)
			v.unexplained(a.status)
			o.Counts.left(a.status)
			v.log(r, a.status, began, o.Log)
			v.tell(&o, a.status, a.out, began)
			if fault == http.ErrAbortHandler {
				panic(fault) // the server's own way to drop a connection
			}
		}()
		h := w.Header()
		h.Set(RequestHeader, v.request)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		if !ok {
			openToPages(h) // else a page takes it for a network that is down
			WriteError(a, ErrRateLimited)
			return
		}
		handler.ServeHTTP(a, timed(a, r.WithContext(context.WithValue(r.Context(), guardKey{}, v))))
	})
}

// log writes the line of a request, and the cause of an internal error, which may be within an answer that is none:
// a page, or a tool of /mcp.
func (v *passage) log(r *http.Request, status int, began time.Time, log *slog.Logger) {
	log = log.With("request", v.request)
	if v.client != "" {
		log = log.With("client_request", v.client)
	}
	if err := v.fault.Load(); err != nil && *err != errPanicked {
		level := slog.LevelDebug // of a database that is away others tell
		if ProblemOf(*err).Status == http.StatusInternalServerError {
			level = slog.LevelError
		}
		log.Log(r.Context(), level, "a request failed", "method", r.Method, "path", r.URL.Path, "err", *err)
	}
	log.Debug("request", "method", r.Method, "path", r.URL.Path, "status", status, "from", v.from, "ms", time.Since(began).Milliseconds())
}

// proxyWarning says that a proxy is not trusted: all who come through it are one address
// then, also for what limits and bars addresses.
type proxyWarning struct{ next atomic.Int64 } // Unix seconds

const proxyWarningEvery = time.Hour

func (p *proxyWarning) look(r *http.Request, o Options) {
	if r.Header.Get("X-Forwarded-For") == "" {
		return
	}
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	if trusted(peer.Addr().Unmap().WithZone(""), o.TrustedProxies) {
		return
	}
	asked := time.Now()
	if next := p.next.Load(); asked.Unix() >= next && p.next.CompareAndSwap(next, asked.Add(proxyWarningEvery).Unix()) {
		o.Log.Warn("X-Forwarded-For comes from a peer that is not in PARLEY_TRUSTED_PROXIES and does not count: clients behind it share one address and its limits", "peer", peer.Addr().String())
	}
}

// answer notes the status of a response.
type answer struct {
	http.ResponseWriter
	passage *passage
	status  int   // 0: nothing was sent
	out     int64 // bytes of the body
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
	n, err := a.ResponseWriter.Write(p)
	a.out += int64(n)
	return n, err
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
	log.Error("a request panicked", "request", a.passage.request, "method", r.Method, "path", r.URL.Path, "panic", what, "stack", string(debug.Stack()))
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

// Cross-origin requests (the Fetch standard, section 3.3). There are no cookies
// here: a page of any site needs a credential of its own, so any site may ask.
const (
	corsMethods = "GET, POST, PUT, PATCH, DELETE, OPTIONS"
	corsHeaders = "Authorization, X-API-Key, Content-Type, Accept, If-Match, Last-Event-ID, X-Request-Id, " +
		"Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name" // what MCP clients in pages send
	corsExposed = "Retry-After, Content-Disposition, X-Audio-Duration-Seconds, Location, ETag, Link, Accept-Post, Accept-Patch, X-Request-Id"
	corsMaxAge  = "86400" // seconds
)

// openToPages lets pages of any site read the answer.
func openToPages(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", corsExposed)
}

// isPreflight says whether r is a browser's question before the real request. It is not
// counted: refused, the page would see a network that is down instead of why.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// preflight answers a browser that asks before it sends the real request, which
// carries no credential.
func preflight(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	openToPages(h)
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", corsHeaders)
	h.Set("Access-Control-Max-Age", corsMaxAge)
	w.WriteHeader(http.StatusNoContent)
}
