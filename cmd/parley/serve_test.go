package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"parley/cmd/parley/config"
)

func testConfig(t *testing.T, env ...string) *config.Config {
	t.Helper()
	cfg, _, err := config.Load(config.Sources{Env: append([]string{
		"PARLEY_HTTP_ADDR=127.0.0.1:0", "PARLEY_METRICS_ADDR=127.0.0.1:0", "PARLEY_SIP_ADDR=127.0.0.1:0", "PARLEY_WEBRTC_UDP_PORT=0"}, env...)})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// testLog keeps what was logged.
type testLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *testLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *testLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// call is one call in progress: Drain ends when it does.
type call struct {
	began chan struct{}
	over  chan struct{}
}

func newCall() *call { return &call{make(chan struct{}), make(chan struct{})} }

func (c *call) Drain(ctx context.Context) error {
	close(c.began)
	select {
	case <-c.over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// screen is where a server prints for people. It notes what the server is when it does.
type screen struct {
	s    *server
	text strings.Builder
	when []phase
}

func (w *screen) Write(b []byte) (int, error) {
	p, _ := w.s.health.state()
	w.when = append(w.when, p)
	return w.text.Write(b)
}

func TestDrainWaitsForCalls(t *testing.T) {
	var log testLog
	var people screen
	s := newServer(testConfig(t, "PARLEY_DATA_DIR="+usedDataDir(t)), slog.New(slog.NewTextHandler(&log, nil)), &people)
	people.s = s
	c := newCall()
	s.drainers = append(s.drainers, c)
	signals := make(chan os.Signal, 1)
	ended := make(chan error, 1)
	go func() { ended <- s.run(t.Context(), []string{"PARLEY_X is not a setting"}, signals) }()
	eventually(t, "ready", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("ended before it was ready: %v\n%s", err, log.String())
		default:
		}
		p, _ := s.health.state()
		return p == ready
	})
	signals <- syscall.SIGTERM
	<-c.began
	if p, _ := s.health.state(); p != draining {
		t.Errorf("ready says %s while draining", p)
	}
	s.databaseURL += "&pool_max_conns=9" // is the pool's, and not sent to the database
	if err := s.pingDatabase(t.Context()); err != nil {
		t.Errorf("the call in progress has no database: %v", err)
	}
	select {
	case err := <-ended:
		t.Fatalf("ended before the call: %v", err)
	default:
	}
	close(c.over)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if len(people.when) != 1 || people.when[0] != ready || !strings.Contains(people.text.String(), "Nobody can sign in yet") {
		t.Errorf("while it is %v the server prints %q", people.when, people.text.String())
	}
	for _, want := range []string{"parley starts", "PARLEY_X is not a setting", "draining", "patience=5m0s", "parley has stopped"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
}

// pause in a list of signals is a second without one.
const pause = syscall.Signal(0)

// signalled runs watchSignals and drain as run does, with one call that never
// ends by itself, and returns the log.
func signalled(t *testing.T, signals ...os.Signal) (took time.Duration, log string) {
	synctest.Test(t, func(t *testing.T) {
		var text testLog
		s := newServer(testConfig(t), slog.New(slog.NewTextHandler(&text, nil)), io.Discard)
		c := newCall()
		s.drainers = append(s.drainers, c)
		now, stopNow := context.WithCancelCause(t.Context())
		working, beginDrain := context.WithCancelCause(now)
		in := make(chan os.Signal, len(signals))
		watched := make(chan struct{})
		go func() { defer close(watched); s.watchSignals(now, in, beginDrain, stopNow) }()
		began := time.Now()
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			for _, sig := range signals {
				if sig == pause {
					time.Sleep(time.Second)
					continue
				}
				in <- sig
			}
		}()
		<-working.Done()
		s.drain(now, context.Cause(working).(*stopRequest))
		took = time.Since(began)
		stopNow(nil)
		<-watched
		<-sent
		log = text.String()
	})
	return took, log
}

func TestSignals(t *testing.T) {
	for _, tt := range []struct {
		name    string
		signals []os.Signal
		took    time.Duration
		log     string
	}{
		{"SIGTERM waits in full", []os.Signal{syscall.SIGTERM}, 5 * time.Minute, "calls were cut off"},
		{"SIGINT waits a little", []os.Signal{os.Interrupt}, 5 * time.Second, "patience=5s"},
		{"a second signal ends it", []os.Signal{syscall.SIGTERM, pause, syscall.SIGTERM}, time.Second, "stopping at once"},
		{"an echo does not", []os.Signal{os.Interrupt, os.Interrupt}, 5 * time.Second, "calls were cut off"},
		{"SIGHUP is not an end", []os.Signal{syscall.SIGHUP, pause, os.Interrupt}, 6 * time.Second, "reloading"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			took, log := signalled(t, tt.signals...)
			if took != tt.took || !strings.Contains(log, tt.log) {
				t.Errorf("took %s, want %s\n%s", took, tt.took, log)
			}
		})
	}
}

func TestReloadGoesOnAfterAFailure(t *testing.T) {
	var log testLog
	s := newServer(testConfig(t), slog.New(slog.NewTextHandler(&log, nil)), io.Discard)
	var ran []string
	s.onReload("rate card", func(context.Context) error { ran = append(ran, "card"); return errors.New("same version") })
	s.onReload("certificates", func(context.Context) error { ran = append(ran, "certificates"); return nil })
	s.reload(t.Context())
	if !slices.Equal(ran, []string{"card", "certificates"}) || !strings.Contains(log.String(), `part="rate card" err="same version"`) {
		t.Errorf("%v\n%s", ran, log.String())
	}
}

func TestLifecycleStopsInReverse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testLog
		l := newLifecycle(slog.New(slog.NewTextHandler(&log, nil)))
		ended := make(chan string, 4) // one for each part
		for _, name := range []string{"database", "engines", "sip"} {
			l.run(name, func(ctx context.Context) error {
				<-ctx.Done()
				ended <- name
				return context.Cause(ctx)
			})
		}
		l.onStop("file", func() error { ended <- "file"; return errors.New("disk full") })
		l.run("stuck", func(ctx context.Context) error { time.Sleep(time.Hour); return nil })
		began := time.Now()
		l.stop(10 * time.Second)
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("took %s", took)
		}
		if !strings.Contains(log.String(), `"a part does not stop" part=stuck`) {
			t.Errorf("the stuck part is not named:\n%s", log.String())
		}
		time.Sleep(time.Hour) // patience is over, but all were told to end
		if len(ended) != 4 || !strings.Contains(log.String(), "disk full") {
			t.Errorf("%d parts ended\n%s", len(ended), log.String())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		l := newLifecycle(slog.New(slog.DiscardHandler))
		var order []string
		for _, name := range []string{"database", "engines", "sip"} {
			l.run(name, func(ctx context.Context) error { <-ctx.Done(); order = append(order, name); return nil })
		}
		l.onStop("file", func() error { order = append(order, "file"); return nil })
		l.stop(time.Second)
		if !slices.Equal(order, []string{"file", "sip", "engines", "database"}) {
			t.Errorf("%v", order)
		}
	})
}

func TestLifecycleReportsTheFirstFailure(t *testing.T) {
	l := newLifecycle(slog.New(slog.DiscardHandler))
	first := l.run("bus", func(context.Context) error { return errors.New("no route") })
	<-first.done
	second := l.run("sip", func(context.Context) error { return nil })
	<-second.done
	if err := <-l.failed; err == nil || err.Error() != "bus: no route" {
		t.Errorf("got %v", err)
	}
	l.stop(time.Second)
}

func TestReadyz(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHealth(slog.New(slog.DiscardHandler))
		mux := http.NewServeMux()
		h.mount(mux)
		broken := map[string]error{}
		asked := 0
		h.add("database", func(context.Context) error { asked++; return broken["database"] })
		h.add("sip", func(ctx context.Context) error {
			if broken["sip"] != nil {
				<-ctx.Done() // hangs
			}
			return broken["sip"]
		})
		expect := func(code int, body string) {
			t.Helper()
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
			if w.Code != code || strings.TrimSpace(w.Body.String()) != body {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, code, body)
			}
		}
		expect(503, `{"not_ready":[],"status":"starting"}`)
		h.enter(ready)
		expect(200, `{"not_ready":[],"status":"ready"}`)
		if asked != 1 {
			t.Errorf("the database was asked %d times in a moment", asked)
		}
		broken["database"] = errors.New("password authentication failed for hunter2")
		broken["sip"] = errors.New("hangs")
		time.Sleep(checkEvery)
		expect(503, `{"not_ready":["database","sip"],"status":"not_ready"}`)
		clear(broken)
		time.Sleep(checkEvery)
		expect(200, `{"not_ready":[],"status":"ready"}`)
		h.enter(draining)
		expect(503, `{"not_ready":[],"status":"draining"}`)
	})
}

func TestGateBeforeTheAPI(t *testing.T) {
	var g gate
	w := httptest.NewRecorder()
	g.ServeHTTP(w, httptest.NewRequest("GET", "/voices", nil))
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"code":"service.unavailable"`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	g.open(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	w = httptest.NewRecorder()
	g.ServeHTTP(w, httptest.NewRequest("GET", "/voices", nil))
	if w.Code != 204 {
		t.Errorf("%d", w.Code)
	}
}
