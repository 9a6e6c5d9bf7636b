package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/cmd/parley/command"
)

// TestHealthCommand asks a server, over HTTPS whoever's name its certificate has, before and after it dies.
func TestHealthCommand(t *testing.T) {
	dir, files := usedDataDir(t), newPair(t)
	files.make(t, "voice.example", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	env := []string{"PARLEY_TLS_CERT=" + files.cert, "PARLEY_TLS_KEY=" + files.key}
	r := serve(t, dir, env...)
	ask := func(args ...string) (code int, out, errOut string) {
		var o, e strings.Builder
		cmd := parley(dir, append([]string{"health"}, args...)...)
		cmd.Env = append(append(cmd.Env, env...), "PARLEY_HTTP_ADDR="+r.addrs["https"])
		cmd.Stdout, cmd.Stderr = &o, &e
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode(), o.String(), e.String()
	}
	if code, out, errOut := ask(); code != command.ExitDone || out != "ok\n" || errOut != "" {
		t.Errorf("alive: %d %q %q", code, out, errOut)
	}
	if code, out, errOut := ask("--ready"); code != command.ExitDone || out != "ready\n" || errOut != "" {
		t.Errorf("ready: %d %q %q", code, out, errOut)
	}
	r.signal(syscall.SIGKILL)
	r.end()
	for _, args := range [][]string{{}, {"--ready"}, {"--json"}} {
		if code, out, errOut := ask(args...); code != command.ExitFailed || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, r.addrs["https"]) {
			t.Errorf("dead, %v: %d %q %q", args, code, out, errOut)
		}
	}
}

// TestHealthCommandSaysWhatIsMissing asks what a server's own handlers answer.
func TestHealthCommandSaysWhatIsMissing(t *testing.T) {
	h, mux := newHealth(slog.New(slog.DiscardHandler)), http.NewServeMux()
	h.add("database", func(context.Context) error { return errors.New("away") })
	h.add("bus", func(context.Context) error { return nil })
	h.mount(mux)
	s := httptest.NewServer(mux)
	defer s.Close()
	addr := s.Listener.Addr().String()
	h.enter(ready)
	o := run("", "health", "--ready", "--addr", addr)
	if o.Status != command.ExitFailed || o.Out != "" || o.ErrOut != "parley: the server at "+addr+": not ready: database\n" {
		t.Errorf("without a database: %+v", o)
	}
	if o := run("", "health", "--addr", addr); o.Status != command.ExitDone || o.Out != "ok\n" {
		t.Errorf("it lives all the same: %+v", o)
	}
	o = run("", "health", "--ready", "--json", "--addr", addr)
	var state healthState
	if err := json.Unmarshal([]byte(o.Out), &state); err != nil || o.Status != command.ExitFailed || state.Status != "not_ready" || len(state.NotReady) != 1 {
		t.Errorf("as JSON: %+v, %v", o, err)
	}
	secure := httptest.NewTLSServer(mux)
	defer secure.Close()
	t.Setenv("PARLEY_TLS_DOMAIN", "voice.example.com")
	if o := run("", "health", "--addr", secure.Listener.Addr().String()); o.Status != command.ExitDone || o.Out != "ok\n" {
		t.Errorf("with a certificate that the server gets by itself: %+v", o)
	}
	t.Setenv("PARLEY_TLS_DOMAIN", "")
	h.enter(draining)
	if o := run("", "health", "--ready", "--addr", addr); o.Status != command.ExitFailed || !strings.Contains(o.ErrOut, addr+": draining: database") {
		t.Errorf("draining: %+v", o)
	}
	if o := run("", "health", "now"); o.Status != command.ExitUsage {
		t.Errorf("an argument: %+v", o)
	}
}

// TestHealthCommandAsksStrangers: what answers something else is no server of ours, and what says nothing is waited for 5 s.
func TestHealthCommandAsksStrangers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) }))
	defer s.Close()
	if o := run("", "health", "--addr", s.Listener.Addr().String()); o.Status != command.ExitFailed || !strings.Contains(o.ErrOut, "not Parley") {
		t.Errorf("another program: %+v", o)
	}
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	if o := run("", "health", "--addr", mute.Addr().String()); o.Status != command.ExitFailed || !strings.Contains(o.ErrOut, errSilent.Error()) {
		t.Errorf("one that says nothing: %+v", o)
	}
}
