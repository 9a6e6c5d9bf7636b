package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/api/talk"
	"parley/api/wsagent/client"
	"parley/media"
)

// TestSessionComesBack: a conversation whose server restarts is begun anew after a second, with what it began with, and
// ends with its context.
func TestSessionComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var talks atomic.Int32
		h := &house{converse: func(ctx context.Context, c talk.Change, leg talk.Leg) {
			leg.Status("prompt_set", 0)
			if talks.Add(1) == 1 {
				var stop context.CancelFunc
				ctx, stop = context.WithTimeout(ctx, 40*time.Second)
				defer stop()
			}
			_ = leg.Run(ctx)
		}}
		url, dialer := open(t, h, true)
		ctx, end := context.WithCancel(t.Context())
		var lost []client.Closed
		var s *client.Session
		s = client.NewSession(url, goodKey, "agt_1", client.SessionOptions{
			OnLost: func(c client.Closed) {
				lost = append(lost, c)
				if err := s.SendText("anybody there?"); !errors.Is(err, client.ErrLost) {
					t.Errorf("a turn while there is no connection: %v", err)
				}
			},
			Options: client.Options{Dialer: dialer, OnEvent: func(e client.Event) {
				if e.Kind == client.Status && e.Text == "prompt_set" && talks.Load() == 2 {
					if err := s.SendText("back again"); err != nil {
						t.Error(err)
					}
				}
			}},
		})
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		if said := <-h.told; said != "type back again" {
			t.Errorf("the second conversation heard %q", said)
		}
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if len(lost) != 1 || lost[0].Code != 1001 || !slices.Equal(h.asked, []string{"agt_1", "agt_1"}) {
			t.Errorf("lost %+v, asked for %q", lost, h.asked)
		}
	})
}

// TestSessionEnds: what is not tried again, and what is tried five times in a row.
func TestSessionEnds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		key    string
		talks  func(context.Context, talk.Change, talk.Leg)
		lost   int
		status int // of the refusal; 0: it is none
		code   int // of the end; 0: it is none
	}{
		{"the agent hangs up", goodKey, func(ctx context.Context, _ talk.Change, leg talk.Leg) {
			ctx, hangUp := context.WithCancelCause(ctx)
			hangUp(&media.Ended{Reason: media.AgentHangup})
			_ = leg.Run(ctx)
		}, 0, 0, 0},
		{"a wrong key", "sk_wrong", nil, 0, 401, 0},
		{"a server that always restarts", goodKey, func(ctx context.Context, _ talk.Change, leg talk.Leg) {
			ctx, stop := context.WithCancel(ctx)
			stop()
			_ = leg.Run(ctx)
		}, 5, 0, 1001},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				url, dialer := open(t, &house{converse: tt.talks}, true)
				lost := 0
				s := client.NewSession(url, tt.key, "agt_1", client.SessionOptions{
					OnLost: func(client.Closed) { lost++ }, Options: client.Options{Dialer: dialer}})
				err := s.Run(t.Context())
				var refused *client.Refused
				var ended *client.EndedError
				switch {
				case tt.status != 0 && (!errors.As(err, &refused) || refused.Status != tt.status),
					tt.code != 0 && (!errors.As(err, &ended) || ended.Code != tt.code),
					tt.status == 0 && tt.code == 0 && err != nil:
					t.Errorf("it ends with %v", err)
				}
				if lost != tt.lost {
					t.Errorf("it was tried again %d times", lost)
				}
			})
		})
	}
}

// network is connections that a test may break, all at once.
type network struct {
	dial func(context.Context, string, string) (net.Conn, error)

	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

func (n *network) connect(ctx context.Context, kind, address string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down {
		return nil, errors.New("the network is down")
	}
	c, err := n.dial(ctx, kind, address)
	n.conns = append(n.conns, c)
	return c, err
}

// set breaks what there is; down: and nothing comes after it.
func (n *network) set(down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = down
	for _, c := range n.conns {
		c.Close()
	}
	n.conns = nil
}

// TestSessionGoesOn: a conversation whose network breaks goes on within a second of its return, and is the same one; the
// server does not learn again what it began with. After half a minute it is another one.
func TestSessionGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var talks atomic.Int32
		h := &house{converse: func(ctx context.Context, _ talk.Change, leg talk.Leg) {
			talks.Add(1)
			leg.Status("prompt_set", 0)
			leg.Status("listening", 0)
			_ = leg.Run(ctx)
		}}
		url, dialer := open(t, h, true)
		net := &network{dial: dialer.NetDialContext}
		dialer.NetDialContext = net.connect
		ctx, end := context.WithCancel(t.Context())
		grants := make(chan client.Grant, 10)
		var lost atomic.Int32
		s := client.NewSession(url, goodKey, "agt_1", client.SessionOptions{
			Variables: map[string]string{"name": "Ana"},
			OnLost:    func(client.Closed) { lost.Add(1) },
			Options: client.Options{Dialer: dialer, OnEvent: func(e client.Event) {
				if e.Kind == client.Granted {
					grants <- e.Grant
				}
				if e.Kind == client.Error {
					t.Errorf("%+v", e.Fault)
				}
			}},
		})
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		first := <-grants
		if first.Resumed || first.Token == "" || first.Call != "ses_1" {
			t.Fatalf("%+v", first)
		}
		for _, away := range []time.Duration{0, 20 * time.Second} {
			began := time.Now()
			net.set(away > 0)
			time.Sleep(away)
			net.set(false)
			g := <-grants
			if took := time.Since(began); !g.Resumed || g.Call != first.Call || away == 0 && took > time.Second || took > away+8*time.Second {
				t.Errorf("back after %v: %+v", took, g)
			}
			synctest.Wait() // it may be written to
			if err := s.SendText("hello"); err != nil || <-h.told != "type hello" {
				t.Error(err)
			}
		}
		if lost.Load() < 2 || talks.Load() != 1 {
			t.Errorf("lost %d times, %d conversations", lost.Load(), talks.Load())
		}
		net.set(true)
		time.Sleep(40 * time.Second)
		net.set(false)
		if g := <-grants; g.Resumed || talks.Load() != 2 {
			t.Errorf("after 40 s %+v, %d conversations", g, talks.Load())
		}
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestSessionIsOver: a client that comes back to a conversation which is over begins another one at once.
func TestSessionIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{converse: func(ctx context.Context, _ talk.Change, leg talk.Leg) {
			leg.Status("prompt_set", 0)
			_ = leg.Run(ctx)
		}}
		url, dialer := open(t, h, true)
		var seen []string
		ctx, end := context.WithCancel(t.Context())
		s := client.NewSession(url, goodKey, "agt_1", client.SessionOptions{
			OnLost: func(c client.Closed) { seen = append(seen, fmt.Sprint("lost ", c.Code)) },
			Options: client.Options{Dialer: dialer, Resume: "ses_1.0.x.y", OnEvent: func(e client.Event) {
				if e.Kind == client.Error {
					seen = append(seen, e.Fault.Code)
				}
				if e.Kind == client.Granted && !e.Grant.Resumed {
					end()
				}
			}},
		})
		began := time.Now()
		if err := s.Run(ctx); err != nil || time.Since(began) > time.Second || !slices.Equal(seen, []string{"agent.session_over", "lost 1008"}) {
			t.Errorf("%v after %v: %q", err, time.Since(began), seen)
		}
	})
}
