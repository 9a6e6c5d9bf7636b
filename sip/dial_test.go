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

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip"
	"parley/sip/header"
)

// callee is a far end that we call, made of plain text over UDP.
type callee struct {
	t    *testing.T
	conn *net.UDPConn
	ua   netip.AddrPort
	last map[string]*gosip.Request
}

func newCallee(t *testing.T) *callee {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: loopback.AsSlice()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &callee{t: t, conn: conn, last: map[string]*gosip.Request{}}
}

func (c *callee) uri() string { return "sip:+15550100009@" + c.conn.LocalAddr().String() }

// expect reads up to the next request of the method; repetitions of others pass by.
func (c *callee) expect(method string) *gosip.Request {
	c.t.Helper()
	b := make([]byte, 8000)
	_ = c.conn.SetReadDeadline(time.Now().Add(patience))
	for {
		n, from, err := c.conn.ReadFromUDPAddrPort(b)
		if err != nil {
			c.t.Fatalf("no %s: %v", method, err)
		}
		m, err := gosip.ParseMessage(append([]byte{}, b[:n]...))
		if err != nil {
			c.t.Fatalf("%v in\n%s", err, b[:n])
		}
		if r, ok := m.(*gosip.Request); ok && string(r.Method) == method {
			c.ua, c.last[method] = from, r
			return r
		}
	}
}

// answer responds to the last request of a method.
func (c *callee) answer(method string, code int, tag, body string, headers ...string) {
	c.t.Helper()
	req := c.last[method]
	lines := []string{fmt.Sprintf("SIP/2.0 %d Whatever", code), "Via: " + req.Via().Value(), "From: " + req.From().Value(),
		"To: " + req.To().Value(), "Call-ID: " + req.CallID().Value(), "CSeq: " + req.CSeq().Value(),
		"Contact: <sip:callee@" + c.conn.LocalAddr().String() + ">", fmt.Sprintf("Content-Length: %d", len(body))}
	if tag != "" && !req.To().Params.Has("tag") {
		lines[3] += ";tag=" + tag
	}
	if body != "" {
		lines = append(lines, "Content-Type: application/sdp")
	}
	text := strings.Join(append(lines, headers...), "\r\n") + "\r\n\r\n" + body
	if _, err := c.conn.WriteToUDPAddrPort([]byte(text), c.ua); err != nil {
		c.t.Fatal(err)
	}
}

const calleeSDP = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 39998 RTP/AVP 8 101\r\na=rtpmap:101 telephone-event/8000\r\n"

// dialed is what Dial returned.
type dialed struct {
	leg *sip.Leg
	err error
}

func dial(t *testing.T, ua *sip.UserAgent, ctx context.Context, target sip.Target) <-chan dialed {
	c := make(chan dialed, 1)
	go func() {
		leg, err := ua.Dial(ctx, target)
		c <- dialed{leg, err}
	}()
	return c
}

// hang runs an answered leg until the test's far end says goodbye.
func hang(t *testing.T, c *callee, d dialed) {
	t.Helper()
	if d.err != nil {
		t.Fatal(d.err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	done := make(chan error, 1)
	go func() { done <- conduct(ctx, d.leg, nil) }()
	stop(&media.Ended{Reason: media.AgentHangup})
	c.expect("BYE")
	c.answer("BYE", 200, "", "")
	if err := wait(t, done, "end"); err != nil {
		t.Error(err)
	}
}

func TestDialRingsManyTimes(t *testing.T) {
	ua, c := serve(t, sip.Config{}), newCallee(t)
	rings := make(chan int, 1)
	result := dial(t, ua, context.Background(), sip.Target{URI: c.uri(),
		From: header.Identity{Number: "+15550100001", Display: "A\r\nB\"<x>"}, Ringing: func(code int) { rings <- code }})
	invite := c.expect("INVITE")
	if from := invite.From(); from.Address.User != "+15550100001" || from.DisplayName != "AB<x>" {
		t.Errorf("From %s", from.Value())
	}
	c.answer("INVITE", 100, "", "")
	for range 15 {
		c.answer("INVITE", 180, "one", "")
		wait(t, rings, "ringing")
	}
	c.answer("INVITE", 200, "one", calleeSDP)
	ack := c.expect("ACK")
	if ack.CSeq().SeqNo != invite.CSeq().SeqNo || ack.Recipient.User != "callee" {
		t.Errorf("ACK\n%s", ack)
	}
	d := wait(t, result, "answer")
	// Our ACK was lost: the 200 comes again, and so does the ACK.
	c.answer("INVITE", 200, "one", calleeSDP)
	again := c.expect("ACK")
	if again.Via().Value() != ack.Via().Value() {
		t.Error("the repeated ACK is another one")
	}
	// A second phone of a forked call answers too: it is thanked and hung up on.
	c.answer("INVITE", 200, "two", calleeSDP)
	if second := c.expect("ACK"); second.To().Params.GetOr("tag", "") != "two" {
		t.Errorf("ACK\n%s", second)
	}
	if bye := c.expect("BYE"); bye.To().Params.GetOr("tag", "") != "two" {
		t.Errorf("BYE\n%s", bye)
	}
	c.answer("BYE", 200, "", "")
	hang(t, c, d)
}

func TestDialEarlyDescription(t *testing.T) {
	ua, c := serve(t, sip.Config{}), newCallee(t)
	rings := make(chan int, 1)
	result := dial(t, ua, context.Background(), sip.Target{URI: c.uri(), Ringing: func(code int) { rings <- code }})
	c.expect("INVITE")
	c.answer("INVITE", 183, "one", calleeSDP)
	wait(t, rings, "ringing")
	c.answer("INVITE", 200, "one", "")
	c.expect("ACK")
	hang(t, c, wait(t, result, "answer"))
}

func TestDialCancel(t *testing.T) {
	giveUp := &media.Ended{Reason: media.APIHangup}
	for _, glare := range []bool{false, true} {
		t.Run(fmt.Sprintf("glare %v", glare), func(t *testing.T) {
			ua, c := serve(t, sip.Config{}), newCallee(t)
			ctx, cancel := context.WithCancelCause(context.Background())
			result := dial(t, ua, ctx, sip.Target{URI: c.uri()})
			invite := c.expect("INVITE")
			cancel(giveUp)
			d := wait(t, result, "end of Dial")
			var e *sip.NotAnswered
			if !errors.As(d.err, &e) || e.Ended() != giveUp {
				t.Errorf("got %v", d.err)
			}
			// No CANCEL before the far end has shown that it has the INVITE.
			c.answer("INVITE", 180, "one", "")
			request := c.expect("CANCEL")
			if request.Via().Value() != invite.Via().Value() || request.CSeq().SeqNo != invite.CSeq().SeqNo {
				t.Errorf("CANCEL\n%s", request)
			}
			if glare {
				c.answer("INVITE", 200, "one", calleeSDP)
				c.answer("CANCEL", 200, "one", "")
				c.expect("ACK")
				bye := c.expect("BYE")
				c.answer("BYE", 200, "", "")
				if bye.CSeq().SeqNo <= invite.CSeq().SeqNo {
					t.Errorf("BYE\n%s", bye)
				}
			} else {
				c.answer("CANCEL", 200, "one", "")
				c.answer("INVITE", 487, "one", "")
				c.expect("ACK")
			}
			eventually(t, "nothing left", func() bool { return ua.Stats().Calls == 0 })
		})
	}
}

func TestDialRefused(t *testing.T) {
	ua, c := serve(t, sip.Config{}), newCallee(t)
	for _, x := range []struct {
		code   int
		reason string
		rang   bool
		want   media.Ended
		retry  bool
	}{
		{486, "", true, media.Ended{Reason: media.Busy}, false},
		{600, "", false, media.Ended{Reason: media.Busy}, false},
		{480, "", true, media.Ended{Reason: media.NoAnswer}, false},
		{408, "", true, media.Ended{Reason: media.NoAnswer}, false},
		{408, "", false, media.Ended{Reason: media.Failed, Detail: "carrier_unavailable"}, true},
		{603, "", true, media.Ended{Reason: media.Rejected, Detail: "declined"}, false},
		{603, `SIP;cause=603;text="Blocked by analytics"`, true, media.Ended{Reason: media.Rejected, Detail: "blocked_as_spam"}, false},
		{608, "", false, media.Ended{Reason: media.Rejected, Detail: "blocked_as_spam"}, false},
		{403, "", true, media.Ended{Reason: media.Rejected, Detail: "declined"}, false},
		{403, "", false, media.Ended{Reason: media.Failed, Detail: "carrier_auth"}, false},
		{407, "", false, media.Ended{Reason: media.Failed, Detail: "carrier_auth"}, false},
		{404, "", false, media.Ended{Reason: media.Failed, Detail: "invalid_number"}, false},
		{484, "", false, media.Ended{Reason: media.Failed, Detail: "invalid_number"}, false},
		{488, "", false, media.Ended{Reason: media.Failed, Detail: "no_common_codec"}, false},
		{302, "", false, media.Ended{Reason: media.Failed, Detail: "redirected"}, false},
		{503, "", false, media.Ended{Reason: media.Failed, Detail: "carrier_unavailable"}, true},
		{503, "Q.850;cause=17;text=\"User busy\"", false, media.Ended{Reason: media.Busy}, false},
		{480, "Q.850;cause=21", true, media.Ended{Reason: media.Rejected, Detail: "declined"}, false},
		{500, "x;y, Q.850 ;cause=1", false, media.Ended{Reason: media.Failed, Detail: "invalid_number"}, false},
		{500, "Q.850;cause=19", true, media.Ended{Reason: media.NoAnswer}, false},
	} {
		rings := make(chan int, 1)
		result := dial(t, ua, context.Background(), sip.Target{URI: c.uri(), Ringing: func(code int) { rings <- code }})
		c.expect("INVITE")
		if x.rang {
			c.answer("INVITE", 180, "one", "")
			wait(t, rings, "ringing")
		}
		var headers []string
		if x.reason != "" {
			headers = append(headers, "Reason: "+x.reason)
		}
		c.answer("INVITE", x.code, "one", "", headers...)
		c.expect("ACK")
		var e *sip.NotAnswered
		if d := wait(t, result, "end"); !errors.As(d.err, &e) || *e.Ended() != x.want || e.Retry() != x.retry {
			t.Errorf("%d %s rang %v: %v, retry %v, want %v", x.code, x.reason, x.rang, e.Ended(), e.Retry(), x.want)
		}
	}
	eventually(t, "nothing left", func() bool { return ua.Stats().Calls == 0 })
}

func TestDialBadAnswer(t *testing.T) {
	ua, c := serve(t, sip.Config{}), newCallee(t)
	result := dial(t, ua, context.Background(), sip.Target{URI: c.uri()})
	c.expect("INVITE")
	c.answer("INVITE", 200, "one", strings.Replace(calleeSDP, "AVP 8 101", "AVP 18", 1))
	c.expect("ACK")
	c.expect("BYE")
	c.answer("BYE", 200, "", "")
	var e *sip.NotAnswered
	if d := wait(t, result, "end"); !errors.As(d.err, &e) || e.Ended().Detail != "no_common_codec" {
		t.Errorf("got %v", d.err)
	}
}

func TestDialNobodyThere(t *testing.T) {
	ua := serve(t, sip.Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	_, err = ua.Dial(context.Background(), sip.Target{URI: "sip:x@" + at + ";transport=tcp"})
	var e *sip.NotAnswered
	if !errors.As(err, &e) || e.Ended().Detail != "carrier_unavailable" || !e.Retry() {
		t.Errorf("got %v", err)
	}
	for _, uri := range []string{"", "x", "tel:+1", "sip:", "sip:a@b:99999", "sip:a@127.0.0.1;transport=carrier-pigeon", "sip:a@[::1"} {
		if _, err := ua.Dial(context.Background(), sip.Target{URI: uri}); err == nil {
			t.Errorf("called %q", uri)
		}
	}
}

// An answer that crosses the CANCEL counts although its call has ended before anybody looked.
func TestCrossed(t *testing.T) {
	over, open := make(chan struct{}), make(chan struct{})
	close(over)
	for range 100 {
		if !sip.Crossed(over, over) {
			t.Fatal("an answered call that has ended counts as not answered")
		}
		if sip.Crossed(open, over) || sip.Crossed(open, open) {
			t.Fatal("a call that nobody answered counts as answered")
		}
	}
}
