package main

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"parley/api"
	"parley/api/status"
)

// Bounds of the readiness checks.
const (
	checkTimeout = 2 * time.Second
	checkEvery   = 500 * time.Millisecond
)

// phase is where the server is in its life.
type phase string

const (
	starting phase = "starting"
	ready    phase = "ready"
	draining phase = "draining"
)

// health answers /healthz and /readyz. It may be used from several goroutines.
type health struct {
	log *slog.Logger

	last status.Recent[[]string] // names that were not ready

	mu     sync.Mutex
	phase  phase
	checks []check
}

type check struct {
	name string
	test func(ctx context.Context) error
}

func newHealth(log *slog.Logger) *health {
	return &health{log: log, phase: starting}
}

// add names something the server cannot work without. Its test has 2 s.
func (h *health) add(name string, test func(ctx context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checks = append(h.checks, check{name, test})
	h.last.Forget()
}

func (h *health) enter(p phase) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.phase = p
}

// state is the phase and what is not ready, from checks at most 0.5 s old.
func (h *health) state() (phase, []string) {
	notReady, ok := h.last.Get(checkEvery, checkTimeout, h.run)
	if !ok {
		notReady = []string{"checks"}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.phase, notReady
}

// run makes the checks.
func (h *health) run(ctx context.Context) []string {
	h.mu.Lock()
	checks := slices.Clone(h.checks)
	h.mu.Unlock()
	errs := make([]error, len(checks))
	var wg sync.WaitGroup
	for i, c := range checks {
		wg.Go(func() { errs[i] = c.test(ctx) })
	}
	wg.Wait()
	notReady := []string{}
	for i, err := range errs {
		if err != nil {
			notReady = append(notReady, checks[i].name)
			h.log.Debug("not ready", "check", checks[i].name, "err", err)
		}
	}
	return notReady
}

// mount adds the two routes; neither needs a credential.
func (h *health) mount(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		phase, notReady := h.state()
		word := string(phase)
		code := http.StatusOK
		if phase == ready && len(notReady) > 0 {
			word = "not_ready"
		}
		if word != string(ready) {
			code = http.StatusServiceUnavailable
		}
		writeJSON(w, code, map[string]any{"status": word, "not_ready": notReady})
	})
}

func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Cache-Control", "no-store")
	api.WriteJSON(w, code, body)
}
