package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/stun/v4"

	"parley/media/ice"
	"parley/media/ice/icetest"
)

// The address that a STUN server sees is the public one, unless the settings say another. A new one is in the log, once.
func TestPublicAddressByStun(t *testing.T) {
	var at atomic.Value
	at.Store("203.0.113.7")
	var asked atomic.Int64
	stunServer := icetest.Server(t, func(_ int, req *stun.Message) *stun.Message {
		asked.Add(1)
		return icetest.Seen(req, at.Load().(string))
	})
	var log testLog
	of := func(env ...string) *server {
		return newServer(testConfig(t, append(env, "PARLEY_STUN_ADDR="+stunServer)...), slog.New(slog.NewTextHandler(&log, nil)), io.Discard)
	}
	s := of("PARLEY_PUBLIC_IP=198.51.100.1")
	if err := s.discover(t.Context()); err != nil || asked.Load() != 0 || s.cfg.PublicIP != netip.MustParseAddr("198.51.100.1") {
		t.Errorf("%v: %s, asked %d times", err, s.cfg.PublicIP, asked.Load())
	}
	s = of()
	if err := s.discover(t.Context()); err != nil || s.cfg.PublicIP != netip.MustParseAddr("203.0.113.7") {
		t.Fatalf("%v: %s", err, s.cfg.PublicIP)
	}
	s.life.stop(time.Minute)
	if !strings.Contains(log.String(), "addr=203.0.113.7") {
		t.Errorf("the log does not say it:\n%s", log.String())
	}

	tick, done := make(chan time.Time), make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	go func() { defer close(done); s.watchAddress(ctx, tick) }()
	for _, now := range []string{"203.0.113.7", "203.0.113.8", "203.0.113.8", "203.0.113.7", "203.0.113.9"} {
		at.Store(now)
		tick <- time.Time{}
	}
	tick <- time.Time{} // the one before has been dealt with
	stop()
	<-done
	for addr, times := range map[string]int{"203.0.113.7": 0, "203.0.113.8": 1, "203.0.113.9": 1} {
		if n := strings.Count(log.String(), "seen="+addr); n != times {
			t.Errorf("%s was said %d times\n%s", addr, n, log.String())
		}
	}
}

// Nobody could be heard by people elsewhere, so the server says what is wrong and does not start.
func TestNoStartWithoutItsAddress(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	silent := icetest.Server(t, func(int, *stun.Message) *stun.Message { return nil })
	s := newServer(testConfig(t, "PARLEY_STUN_ADDR="+silent), slog.New(slog.DiscardHandler), io.Discard)
	if err := s.discover(ctx); !errors.Is(err, ice.ErrNoAddress) || !strings.Contains(err.Error(), "PARLEY_STUN_ADDR: "+silent) {
		t.Error(err)
	}
}
