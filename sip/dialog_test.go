package sip_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/sip"
)

// eventful is a handler that answers and passes on the leg's events.
func eventful(results chan<- outcome, events chan<- media.LegEvent) func(context.Context, *sip.Incoming) {
	return func(ctx context.Context, in *sip.Incoming) {
		leg, err := in.Answer(ctx)
		if err != nil {
			results <- outcome{in, err}
			return
		}
		done := make(chan struct{})
		defer close(done)
		go func() {
			for {
				select {
				case e := <-leg.Events():
					events <- e
				case <-done:
					return
				}
			}
		}()
		results <- outcome{in, conduct(ctx, leg, nil)}
	}
}

func TestReinvite(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results, events := make(chan outcome, 1), make(chan media.LegEvent, 16)
		ua := serve(t, sip.Config{OnCall: eventful(results, events)})
		p := newPeer(t, ua, network)
		p.call()
		heard(t, p.rtp)

		held := p.next(200, "INVITE", p.offer("a=sendonly"))
		if b := string(held.Body()); !strings.Contains(b, "a=recvonly") {
			t.Errorf("hold was answered with\n%s", b)
		}
		p.write(p.request("ACK", ""))
		if e := wait(t, events, "hold"); e.Kind != media.LegHold {
			t.Errorf("event %+v", e)
		}
		if res := p.next(488, "INVITE", strings.Replace(p.offer(), "RTP/AVP 0 8 101", "RTP/AVP 18", 1)); !strings.HasPrefix(value(res, "Warning"), "305 ") {
			t.Errorf("refused with\n%s", res)
		}
		p.write(p.request("ACK", ""))

		// Resumed elsewhere: the far end's audio has moved to another socket.
		other, err := net.ListenUDP("udp", &net.UDPAddr{IP: loopback.AsSlice()})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		resumed := p.next(200, "INVITE", p.offerAt(other.LocalAddr().(*net.UDPAddr).Port))
		if b := string(resumed.Body()); !strings.Contains(b, "a=sendrecv") {
			t.Errorf("resume was answered with\n%s", b)
		}
		p.write(p.request("ACK", ""))
		if e := wait(t, events, "resume"); e.Kind != media.LegResume {
			t.Errorf("event %+v", e)
		}
		heard(t, other)

		// Without a description our own offer comes, and the answer with the ACK.
		offered := p.next(200, "INVITE", "")
		if b := string(offered.Body()); !strings.Contains(b, "m=audio") {
			t.Errorf("no offer:\n%s", b)
		}
		p.next(491, "UPDATE", p.offer())
		p.seq-- // the ACK has the CSeq of its INVITE
		p.write(p.request("ACK", p.offer()))
		p.seq++
		heard(t, p.rtp)
		p.hangup(results)
	})
}

// heard waits for RTP on a socket, past what may wait there from before.
func heard(t *testing.T, conn *net.UDPConn) {
	t.Helper()
	b := make([]byte, 2000)
	var first [2]byte
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	for i := 0; i < 50; i++ {
		n, err := conn.Read(b)
		if err != nil {
			t.Fatalf("no audio: %v", err)
		}
		if n != 172 || b[0] != 0x80 {
			t.Fatalf("%d bytes, first % x", n, b[:12])
		}
		if i > 3 && b[3] != first[1] {
			return
		}
		copy(first[:], b[2:4])
	}
	t.Fatal("one packet again and again")
}

func TestInDialogRequests(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results, events := make(chan outcome, 1), make(chan media.LegEvent, 16)
		ua := serve(t, sip.Config{OnCall: eventful(results, events)})
		p := newPeer(t, ua, network)
		p.call()
		relay, plain := "Content-Type: application/dtmf-relay", "Content-Type: application/dtmf"
		for _, c := range []struct {
			method, body string
			code         int
			headers      []string
		}{
			{"OPTIONS", "", 200, nil},
			{"UPDATE", "", 200, nil},
			{"UPDATE", p.offer(), 200, nil},
			{"INFO", "", 200, nil},
			{"INFO", "Signal=5\r\nDuration=160\r\n", 200, []string{relay}},
			{"INFO", "#", 200, []string{plain}},
			{"INFO", "<xml/>", 415, []string{"Content-Type: application/media_control+xml"}},
			{"REFER", "", 603, []string{"Refer-To: <sip:+19005550100@127.0.0.1>"}},
			{"PRACK", "", 481, nil},
			{"NOTIFY", "", 489, nil},
			{"MESSAGE", "", 405, nil},
			{"SUBSCRIBE", "", 405, nil},
			{"NONSENSE", "", 405, nil},
			{"INVITE", p.offer(), 420, []string{"Require: replaces"}},
		} {
			res := p.next(c.code, c.method, c.body, c.headers...)
			if c.code == 405 && res.GetHeader("Allow") == nil {
				t.Errorf("%s: 405 without Allow", c.method)
			}
		}
		for _, want := range "5#" {
			if e := wait(t, events, "digit"); e.Kind != media.LegDigit || rune(e.Digit) != want {
				t.Errorf("event %+v, want %c", e, want)
			}
		}
		p.hangup(results)
	})
}

func TestNoACK(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results := make(chan outcome, 1)
		ua := serve(t, sip.Config{T1: 5 * time.Millisecond, OnCall: answering(results)})
		p := newPeer(t, ua, network)
		p.write(p.request("INVITE", p.offer()))
		for range 6 { // 5, 10, 20, 40, 80, 160 ms: every copy of the 200 comes
			p.response(200, "INVITE")
		}
		bye := p.incoming("BYE")
		if h := bye.GetHeader("Reason"); h == nil || !strings.Contains(h.Value(), "ACK timeout") {
			t.Errorf("Reason %v", h)
		}
		p.confirm(bye)
		var e *media.Ended
		if o := wait(t, results, "end"); !errors.As(o.err, &e) || e.Reason != media.Failed || e.Detail != "no_ack" {
			t.Errorf("ended with %v", o.err)
		}
	})
}

// Old clients acknowledge a 200 with the branch of the INVITE.
func TestACKWithTheBranchOfTheINVITE(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results := make(chan outcome, 1)
		ua := serve(t, sip.Config{T1: 5 * time.Millisecond, FirstRTPTimeout: 600 * time.Millisecond, OnCall: answering(results)})
		p := newPeer(t, ua, network)
		invite := p.request("INVITE", p.offer())
		p.write(invite)
		p.toTag = p.response(200, "INVITE").To().Params.GetOr("tag", "")
		p.write(p.request("ACK", "", "Via: "+headerOf(invite, "Via")))
		p.confirm(p.incoming("BYE"))
		var e *media.Ended
		if o := wait(t, results, "end"); !errors.As(o.err, &e) || e.Detail != "media_timeout" {
			t.Errorf("ended with %v: the ACK was not taken", o.err)
		}
	})
}

// A handler that panics costs its own call only.
func TestHandlerPanics(t *testing.T) {
	ua := serve(t, sip.Config{OnCall: func(context.Context, *sip.Incoming) { panic("on purpose") }})
	for range 2 {
		p := newPeer(t, ua, "udp")
		p.next(500, "INVITE", p.offer())
	}
	eventually(t, "nothing left", func() bool { s := ua.Stats(); return s.Calls == 0 && s.Ringing == 0 })
}

// A hang-up of ours before the ACK waits for it (RFC 3261 section 15.1.1).
func TestHangupWaitsForTheACK(t *testing.T) {
	answered, hangup := make(chan struct{}), errors.New("somebody hung up")
	ua := serve(t, sip.Config{OnCall: func(ctx context.Context, in *sip.Incoming) {
		ctx, stop := context.WithCancelCause(ctx)
		go func() { stop(hangup) }()
		if _, err := in.Answer(ctx); err != hangup {
			t.Error(err)
		}
		close(answered)
	}})
	p := newPeer(t, ua, "udp")
	p.write(p.request("INVITE", p.offer()))
	p.toTag = p.response(200, "INVITE").To().Params.GetOr("tag", "")
	wait(t, answered, "answer")
	p.response(200, "INVITE") // repeated, and no BYE before it
	p.write(p.request("ACK", ""))
	p.confirm(p.incoming("BYE"))
	eventually(t, "nothing left", func() bool { return ua.Stats().Calls == 0 })
}

func TestByeBeforeTheAnswer(t *testing.T) {
	rung, causes := make(chan struct{}), make(chan error, 1)
	ua := serve(t, sip.Config{OnCall: func(ctx context.Context, in *sip.Incoming) {
		_ = in.Ring()
		close(rung)
		<-ctx.Done()
		causes <- context.Cause(ctx)
	}})
	p := newPeer(t, ua, "udp")
	p.write(p.request("INVITE", p.offer()))
	p.toTag = p.response(180, "INVITE").To().Params.GetOr("tag", "")
	<-rung
	p.seq++
	p.write(p.request("BYE", ""))
	got := map[string]int{}
	for len(got) < 2 {
		if r, ok := wait(t, p.msgs, "responses").(interface{ IsProvisional() bool }); ok && !r.IsProvisional() {
			m := r.(interface{ StartLine() string }).StartLine()
			got[m]++
		}
	}
	if got["SIP/2.0 200 OK"] != 1 || got["SIP/2.0 487 Request Terminated"] == 0 {
		t.Errorf("responses %v", got)
	}
	var e *media.Ended
	if err := wait(t, causes, "cause"); !errors.As(err, &e) || e.Detail != "canceled" {
		t.Errorf("cause %v", err)
	}
}

func TestSilentFarEnd(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results := make(chan outcome, 1)
		ua := serve(t, sip.Config{FirstRTPTimeout: 200 * time.Millisecond, OnCall: answering(results)})
		p := newPeer(t, ua, network)
		p.call()
		bye := p.incoming("BYE")
		if h := bye.GetHeader("Reason"); h == nil || h.Value() != `SIP;cause=408;text="RTP timeout"` {
			t.Errorf("Reason %v", h)
		}
		p.confirm(bye)
		var e *media.Ended
		if o := wait(t, results, "end"); !errors.As(o.err, &e) || e.Reason != media.Failed || e.Detail != "media_timeout" {
			t.Errorf("ended with %v", o.err)
		}
	})
}

func TestLateOffer(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results := make(chan outcome, 1)
		ua := serve(t, sip.Config{OnCall: answering(results)})
		p := newPeer(t, ua, network)
		p.write(p.request("INVITE", ""))
		res := p.response(200, "INVITE")
		p.toTag = res.To().Params.GetOr("tag", "")
		if b := string(res.Body()); !strings.Contains(b, "RTP/AVP 9 0 8 101") {
			t.Fatalf("no offer:\n%s", b)
		}
		p.write(p.request("ACK", strings.Replace(p.offer(), "0 8 101", "8", 1)))
		heard(t, p.rtp)
		p.hangup(results)

		p = newPeer(t, ua, network)
		p.write(p.request("INVITE", ""))
		p.toTag = p.response(200, "INVITE").To().Params.GetOr("tag", "")
		p.write(p.request("ACK", "")) // without an answer there is no call
		p.confirm(p.incoming("BYE"))
		if o := wait(t, results, "end"); o.err == nil {
			t.Error("answered without an answer to the offer")
		}
	})
}

// In-dialog requests go along the Record-Route, to the far end's Contact.
func TestRouteSet(t *testing.T) {
	proxy, err := net.ListenUDP("udp", &net.UDPAddr{IP: loopback.AsSlice()})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	results := make(chan outcome, 1)
	ua := serve(t, sip.Config{FirstRTPTimeout: 50 * time.Millisecond, OnCall: answering(results)})
	p := newPeer(t, ua, "udp")
	p.write(p.request("INVITE", p.offer(), fmt.Sprintf("Record-Route: <sip:%s;lr>, <sip:far.invalid;lr>", proxy.LocalAddr())))
	res := p.response(200, "INVITE")
	if len(res.GetHeaders("Record-Route")) != 2 {
		t.Errorf("the 200 does not give the Record-Route back:\n%s", res)
	}
	p.toTag = res.To().Params.GetOr("tag", "")
	p.write(p.request("ACK", ""))
	b := make([]byte, 4000)
	_ = proxy.SetReadDeadline(time.Now().Add(patience))
	n, from, err := proxy.ReadFromUDPAddrPort(b)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b[:n])
	if from != ua.Addr() || !strings.HasPrefix(text, "BYE sip:ann@"+p.local().String()) ||
		!strings.Contains(text, fmt.Sprintf("Route: <sip:%s;lr>\r\nRoute: <sip:far.invalid;lr>", proxy.LocalAddr())) {
		t.Errorf("from %v:\n%s", from, text)
	}
	q := *p
	q.t = t
	reply := "SIP/2.0 200 OK\r\n"
	for _, h := range []string{"Via", "From", "To", "Call-ID", "CSeq"} {
		reply += h + ": " + headerOf(text, h) + "\r\n"
	}
	_, _ = proxy.WriteToUDPAddrPort([]byte(reply+"Content-Length: 0\r\n\r\n"), netip.AddrPort(from))
	wait(t, results, "end")
}

// Requests that come close together are handled in their order: none is refused because
// another was faster.
func TestRequestsInOrder(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results, events := make(chan outcome, 1), make(chan media.LegEvent, 16)
		ua := serve(t, sip.Config{SourceRate: 10000, T1: 10 * time.Second, OnCall: eventful(results, events)})
		p := newPeer(t, ua, network)
		p.call()
		for range 20 {
			var all strings.Builder
			for range 20 {
				p.seq++
				text := p.request("OPTIONS", "")
				if network == "udp" {
					p.write(text)
				}
				all.WriteString(text)
			}
			if network == "tcp" {
				p.write(all.String())
			}
			for range 20 {
				p.response(200, "OPTIONS")
			}
		}
		p.hangup(results)
	})
}
