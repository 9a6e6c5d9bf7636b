package socket_test

import (
	"context"
	"testing"

	"parley/api/apitest"
	"parley/api/socket"
)

func TestLimits(t *testing.T) {
	var l socket.Limits
	for range socket.MaxOpen {
		if !l.Open("a") {
			t.Fatal("refused below the limit")
		}
	}
	if l.Open("a") || !l.Open("b") {
		t.Error("the limit is not the account's")
	}
	if l.Closed("a"); !l.Open("a") || l.Open("a") {
		t.Error("one closed makes room for one")
	}
}

func TestTooManyOpen(t *testing.T) {
	serves := make(chan struct{}, 1)
	s := newServer(t, apitest.OverNetwork, socket.Incoming{}, func(ctx context.Context, k *socket.Socket) {
		serves <- struct{}{}
		idle(ctx, k)
	})
	for range socket.MaxOpen - 1 {
		s.set.Limits.Open("acc_1")
	}
	s.connect(t)
	<-serves // else the second may come in first
	conn := s.connect(t)
	if p := wantError(t, conn, "limit.concurrency"); !p.Data.Retryable || p.Data.Detail == "" {
		t.Errorf("%+v", p)
	}
	wantClose(t, conn, socket.Policy)
	if s.set.Open() != 1 {
		t.Errorf("%d are open", s.set.Open())
	}
}

// Sockets without work end when the server drains, the others with their work; no
// new ones come in.
func TestDrain(t *testing.T) {
	finish, working, told := make(chan struct{}), make(chan struct{}, 2), make(chan struct{}, 2)
	s := newServer(t, apitest.OverNetwork, socket.Incoming{}, func(ctx context.Context, k *socket.Socket) {
		working <- struct{}{}
		<-k.Draining()
		told <- struct{}{}
		<-finish
		k.Close(socket.GoingAway, "The server is stopping.")
	})
	a, b := s.connect(t), s.connect(t)
	<-working
	<-working
	drained := make(chan error, 1)
	go func() { drained <- s.set.Drain(t.Context()) }()
	<-told
	<-told
	late := s.connect(t)
	wantError(t, late, "service.unavailable")
	wantClose(t, late, socket.GoingAway)
	select {
	case err := <-drained:
		t.Fatalf("drained before the work was done: %v", err)
	default:
	}
	close(finish)
	wantClose(t, a, socket.GoingAway)
	wantClose(t, b, socket.GoingAway)
	if err := <-drained; err != nil || s.set.Open() != 0 {
		t.Errorf("%v, %d are open", err, s.set.Open())
	}
	if err := s.set.Drain(t.Context()); err != nil {
		t.Errorf("again: %v", err)
	}
}

// When there is no more time, what is left is cut off.
func TestDrainCutsOff(t *testing.T) {
	cause, working := make(chan error, 1), make(chan struct{})
	s := newServer(t, apitest.OverNetwork, socket.Incoming{}, func(ctx context.Context, _ *socket.Socket) {
		close(working)
		<-ctx.Done()
		cause <- context.Cause(ctx)
	})
	conn := s.connect(t)
	<-working
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.set.Drain(now); err != nil {
		t.Error(err)
	}
	if err := <-cause; err != socket.ErrCut {
		t.Errorf("ended by %v", err)
	}
	wantClose(t, conn, socket.Restart)
}
