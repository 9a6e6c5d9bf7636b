package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"parley/api"
	"parley/cmd/parley/certificate"
)

// Bounds of the HTTP servers. There is none on a whole request or response: sockets and
// event streams stay open for as long as a call. A body has its own, see api.SetBodyPatience.
const (
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10 // bytes
	// requestPatience is how long requests in progress may take to end at a stop.
	requestPatience = 5 * time.Second
)

// web is an HTTP server on a listener of its own.
type web struct {
	name string
	ln   net.Listener
	srv  *http.Server // with TLS when it has a configuration for it
}

// listen takes the address at once, so that a port in use is found before
// anything else has begun.
func listen(name, setting, addr string, handler http.Handler, log *slog.Logger) (*web, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return nil, fmt.Errorf("cannot listen on %s (PARLEY_%s): %w", addr, setting, err)
	}
	log.Info("listening", "for", name, "addr", ln.Addr().String())
	return &web{name, ln, &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}, nil
}

// secure makes it HTTPS. Call it before run.
func (w *web) secure(cert *certificate.Pair) {
	w.srv.TLSConfig = cert.TLS()
	inner := w.srv.Handler
	w.srv.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Strict-Transport-Security", api.HSTS)
		inner.ServeHTTP(rw, r)
	})
}

func (w *web) serve() error {
	if w.srv.TLSConfig != nil {
		return w.srv.ServeTLS(w.ln, "", "")
	}
	return w.srv.Serve(w.ln)
}

// run serves until ctx ends, then lets requests in progress end.
func (w *web) run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- w.serve() }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestPatience)
	defer cancel()
	err := w.srv.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		err = w.srv.Close()
	}
	<-served
	return err
}

// gate is the public handler: it says 503 until the API is there.
type gate struct {
	api atomic.Pointer[http.Handler]
}

func (g *gate) open(api http.Handler) { g.api.Store(&api) }

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if api := g.api.Load(); api != nil {
		(*api).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Retry-After", "2")
	writeJSON(w, http.StatusServiceUnavailable, map[string]any{
		"code": "service.unavailable", "error": "The server is starting.", "retryable": true,
	})
}

// newRegistry is where every metric of the process is registered; nothing uses
// the library's global one.
func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "parley_build_info", Help: "Always 1; the version is in the label.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	r.MustRegister(build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// newMetricsHandler serves metrics, profiles and what node.Operator shows, for the
// operator's eyes only. Profiles are for this machine. From this machine everything must
// be asked for by a name of it: a page that a browser here has loaded may have its own
// name lead here.
func newMetricsHandler(r *prometheus.Registry, operator http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/debug/sip/", operator)
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{}))
	for path, profile := range map[string]http.HandlerFunc{"/debug/pprof/": pprof.Index, "/debug/pprof/cmdline": pprof.Cmdline,
		"/debug/pprof/profile": pprof.Profile, "/debug/pprof/symbol": pprof.Symbol, "/debug/pprof/trace": pprof.Trace} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if !fromHere(r) {
				http.NotFound(w, r)
				return
			}
			profile(w, r)
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fromHere(r) && !namesHere(r.Host) {
			http.Error(w, "ask for localhost", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// fromHere says whether a request comes from this machine.
func fromHere(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback()
}

// namesHere says whether a Host header is an address or localhost, to which nobody else can
// give a meaning.
func namesHere(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || strings.EqualFold(host, "localhost")
}
