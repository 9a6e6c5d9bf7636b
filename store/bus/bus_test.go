package bus_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"parley/store"
	"parley/store/bus"
)

// patience only bounds a hang.
const patience = 20 * time.Second

const secret = "hunter2hunter2hunter2"

// stand opens buses and looks at what they log.
type stand struct {
	*testing.T
	mu  sync.Mutex
	log bytes.Buffer
}

func (s *stand) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(b)
}

// newStand checks at the end that nothing is left of the buses and that none has
// told the secret.
func newStand(t *testing.T) *stand {
	s := &stand{T: t}
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		s.eventually("goroutines are left", func() bool { return runtime.NumGoroutine() <= before })
		s.mu.Lock() // a goroutine that has gone has not told the race detector
		defer s.mu.Unlock()
		if log := s.log.String(); strings.Contains(log, "hunter2") {
			t.Errorf("the log holds the password:\n%s", log)
		}
	})
	return s
}

func (s *stand) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (s *stand) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// eventually asks until f says yes.
func (s *stand) eventually(failure string, f func() bool) {
	s.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<16)
			s.Fatalf("%s\n%s", failure, buf[:runtime.Stack(buf, true)])
		}
	}
}

func (s *stand) open(cfg bus.Config) *bus.Bus {
	s.Helper()
	cfg.Log = s.logger()
	b, err := bus.Open(s.Context(), cfg)
	s.ok(err)
	s.Cleanup(b.Close)
	return b
}

func (s *stand) subscribe(b *bus.Bus, to bus.Subject) *bus.Subscription {
	s.Helper()
	sub, err := b.Subscribe(s.Context(), to)
	s.ok(err)
	return sub
}

// serve answers every command with what it was and a name.
func (s *stand) serve(b *bus.Bus, n store.Node, name string) {
	s.Helper()
	to, err := bus.Commands(n)
	s.ok(err)
	sub := s.subscribe(b, to)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			m, err := sub.Next(context.Background())
			if err != nil {
				return // closed
			}
			if err := m.Answer([]byte(string(m.Payload) + " by " + name)); err != nil {
				s.Error(err)
			}
		}
	})
	s.Cleanup(func() { b.Close(); wg.Wait() })
}

func goodbye(t *testing.T, account string) bus.Subject {
	t.Helper()
	s, err := bus.Goodbye(account)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAlone: one node's bus, without a port.
func TestAlone(t *testing.T) {
	s := newStand(t)
	b := s.open(bus.Config{Name: "n"})
	if !b.Connected() || b.RouteAddr() != "" {
		t.Errorf("connected %v, routes at %q", b.Connected(), b.RouteAddr())
	}
	sub := s.subscribe(b, bus.Goodbyes())
	s.ok(b.Publish(goodbye(t, "acc_1"), []byte("x")))
	m, err := sub.Next(t.Context())
	if err != nil || m.About != "acc_1" || string(m.Payload) != "x" {
		t.Errorf("%+v %v", m, err)
	}
	if err := m.Answer(nil); !errors.Is(err, bus.ErrNobody) {
		t.Errorf("an answer that nobody waits for: %v", err)
	}
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no patience"))
	if _, err := sub.Next(gone); err == nil || err.Error() != "no patience" {
		t.Errorf("%v", err)
	}
	sub.Close()
	sub.Close()
	if _, err := sub.Next(t.Context()); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("of a closed subscription: %v", err)
	}
	if err := b.Publish(goodbye(t, "acc_1"), make([]byte, bus.MaxPayload+1)); !errors.Is(err, bus.ErrSize) {
		t.Errorf("too large: %v", err)
	}
	b.Close()
	b.Close()
	if err := b.Publish(goodbye(t, "acc_1"), nil); !errors.Is(err, bus.ErrClosed) || b.Connected() {
		t.Errorf("closed: %v", err)
	}
}

// TestCommands reach one life of a node, or it is known at once that it is gone.
func TestCommands(t *testing.T) {
	s := newStand(t)
	b := s.open(bus.Config{Name: "n"})
	host := store.Node{ID: "a.example", Epoch: 7}
	s.serve(b, host, "a")
	if answer, err := b.Request(t.Context(), host, []byte("jump")); err != nil || string(answer) != "jump by a" {
		t.Errorf("%q %v", answer, err)
	}
	for _, n := range []store.Node{{ID: "a.example", Epoch: 6}, {ID: "a", Epoch: 7}} {
		if _, err := b.Request(t.Context(), n, nil); !errors.Is(err, bus.ErrNobody) {
			t.Errorf("%v: %v", n, err)
		}
	}
	if _, err := b.Request(t.Context(), store.Node{ID: "a *", Epoch: 7}, nil); !errors.Is(err, bus.ErrSubject) {
		t.Error(err)
	}
	// One that hears and says nothing.
	dumb := store.Node{ID: "dumb", Epoch: 1}
	to, err := bus.Commands(dumb)
	s.ok(err)
	defer s.subscribe(b, to).Close()
	if _, err := b.Request(t.Context(), dumb, nil); !errors.Is(err, bus.ErrTimeout) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no patience"))
	if _, err := b.Request(ctx, dumb, nil); err == nil || err.Error() != "no patience" {
		t.Error(err)
	}
}

// TestSlowSubscriber is cut off, not waited for, and may begin again.
func TestSlowSubscriber(t *testing.T) {
	s := newStand(t)
	b := s.open(bus.Config{Name: "n"})
	sub, witness := s.subscribe(b, bus.Goodbyes()), s.subscribe(b, goodbye(t, "last"))
	for range 1100 {
		s.ok(b.Publish(goodbye(t, "acc_1"), nil))
	}
	s.ok(b.Publish(goodbye(t, "last"), nil))
	if _, err := witness.Next(t.Context()); err != nil { // all others have come, too
		t.Fatal(err)
	}
	if _, err := sub.Next(t.Context()); !errors.Is(err, bus.ErrSlow) {
		t.Errorf("got %v", err)
	}
	if _, err := sub.Next(t.Context()); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("then %v", err)
	}
	again := s.subscribe(b, bus.Goodbyes())
	s.ok(b.Publish(goodbye(t, "acc_2"), nil))
	if m, err := again.Next(t.Context()); err != nil || m.About != "acc_2" {
		t.Errorf("%+v %v", m, err)
	}
}

// external is a NATS server elsewhere, at a port of its own.
func (s *stand) external(port int) (*server.Server, int) {
	s.Helper()
	n, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true, Username: "u", Password: secret})
	s.ok(err)
	n.Start()
	if !n.ReadyForConnections(patience) {
		s.Fatal("no NATS server")
	}
	s.Cleanup(func() { n.Shutdown(); n.WaitForShutdown() })
	return n, n.Addr().(*net.TCPAddr).Port
}

// TestElsewhere: the servers come and go; what is said meanwhile is not kept.
func TestElsewhere(t *testing.T) {
	s := newStand(t)
	n, port := s.external(server.RANDOM_PORT)
	address := "nats://u:" + secret + "@" + strings.TrimPrefix(n.ClientURL(), "nats://")
	a, b := s.open(bus.Config{Name: "a", URL: address}), s.open(bus.Config{Name: "b", URL: address})
	host := store.Node{ID: "b", Epoch: 1}
	s.serve(b, host, "b")
	if answer, err := a.Request(t.Context(), host, []byte("x")); err != nil || string(answer) != "x by b" {
		t.Errorf("%q %v", answer, err)
	}
	n.Shutdown()
	n.WaitForShutdown()
	s.eventually("the loss is not noticed", func() bool { return !a.Connected() && !b.Connected() })
	if err := a.Publish(goodbye(t, "acc_1"), nil); !errors.Is(err, bus.ErrAway) {
		t.Errorf("said while it is away: %v", err)
	}
	if _, err := a.Request(t.Context(), host, nil); !errors.Is(err, bus.ErrAway) {
		t.Errorf("asked while it is away: %v", err)
	}
	late := s.open(bus.Config{Name: "c", URL: address}) // starts without it
	sub := s.subscribe(late, bus.Goodbyes())
	defer sub.Close()
	s.external(port)
	s.eventually("they do not come back", func() bool { return a.Connected() && b.Connected() && late.Connected() })
	s.eventually("b is not found again", func() bool {
		answer, err := late.Request(t.Context(), host, []byte("y"))
		return err == nil && string(answer) == "y by b"
	})
	s.ok(b.Publish(goodbye(t, "acc_2"), nil))
	if m, err := sub.Next(t.Context()); err != nil || m.About != "acc_2" {
		t.Errorf("%+v %v", m, err)
	}
}
