package sip_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"parley/media"
	"parley/sip"
)

// hasty takes connections in and closes each when the first bytes have come.
func hasty(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				// A connection that no request came over is closed when the test ends.
				defer context.AfterFunc(t.Context(), func() { conn.Close() })()
				_, _ = conn.Read(make([]byte, 100))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// TestPeerThatClosesAtOnce: many calls at a time share connections that the far end closes
// while others of them begin. Each call ends, and the process goes on.
func TestPeerThatClosesAtOnce(t *testing.T) {
	t.Parallel()
	ua := serve(t, sip.Config{T1: 20 * time.Millisecond})
	uri := "sip:+15550100009@" + hasty(t).String() + ";transport=tcp"
	for range 40 {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				_, err := ua.Dial(context.Background(), sip.Target{URI: uri})
				if e, ok := errors.AsType[*sip.NotAnswered](err); !ok || e.Ended().Detail != "carrier_unavailable" {
					t.Errorf("ended with %v", err)
				}
			})
		}
		all.Wait()
	}
}

// longPatience makes 64 T1 longer than a test waits.
const longPatience = 2 * time.Second

// TestConnectionClosesWhileRinging: nobody can answer a call any more whose connection is
// closed, or give it up. Both sides end it.
func TestConnectionClosesWhileRinging(t *testing.T) {
	t.Parallel()
	t.Run("called", func(t *testing.T) {
		ua := serve(t, sip.Config{T1: longPatience})
		c := newCalled(t, ua, "tcp")
		result := dial(t, ua, context.Background(), sip.Target{URI: c.uri})
		c.answer(c.rung(), 180, "")
		c.tcp.Close()
		d := wait(t, result, "end of the call")
		if e, ok := errors.AsType[*sip.NotAnswered](d.err); !ok || !e.Rang || e.Ended().Detail != "carrier_unavailable" {
			t.Errorf("ended with %v", d.err)
		}
	})
	t.Run("caller", func(t *testing.T) {
		ended := make(chan error, 1)
		p := newPeer(t, serve(t, sip.Config{T1: longPatience, OnCall: func(ctx context.Context, in *sip.Incoming) {
			if err := in.Ring(); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			ended <- context.Cause(ctx)
		}}), "tcp")
		p.write(p.request("INVITE", p.offer()))
		p.response(180, "INVITE")
		p.tcp.Close()
		if e, ok := errors.AsType[*media.Ended](wait(t, ended, "end of the call")); !ok || e.Reason != media.UserHangup {
			t.Errorf("ended with %v", e)
		}
	})
}

// TestConnectionClosesDuringGoodbye: a BYE that was sent over a connection that closes has
// no answer, and the call ends without one.
func TestConnectionClosesDuringGoodbye(t *testing.T) {
	t.Parallel()
	ua := serve(t, sip.Config{T1: longPatience})
	c := newCalled(t, ua, "tcp")
	l := connect(t, ua, c)
	l.end(&media.Ended{Reason: media.AgentHangup})
	c.expect("BYE")
	c.tcp.Close()
	wait(t, l.ended, "end of the call")
	eventually(t, "the call is over", func() bool { return ua.Stats().Calls == 0 })
}
