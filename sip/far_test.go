package sip_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip"
)

// called is a far end that we call, over UDP or TCP. What it sends in the dialog
// is a peer's.
type called struct {
	*peer
	uri    string
	seen   map[string]bool // branches, so that a repetition is not taken for news
	invite *gosip.Request
	refer  *gosip.Request // the latest
}

func newCalled(t testing.TB, ua *sip.UserAgent, network string) *called {
	t.Helper()
	c := &called{seen: map[string]bool{}}
	if network == "udp" {
		c.peer = newPeer(t, ua, network)
		c.uri = "sip:+15550100009@" + c.local().String()
		return c
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.peer = &peer{t: t, ua: ua.Addr(), msgs: make(chan gosip.Message, 64), tag: "their-tag", seq: 1}
	if c.rtp, err = net.ListenUDP("udp", &net.UDPAddr{IP: loopback.AsSlice()}); err != nil {
		t.Fatal(err)
	}
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		conn, err := l.Accept()
		if err == nil {
			c.tcp = conn
			c.readTCP()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		c.rtp.Close()
		if c.tcp != nil {
			c.tcp.Close()
		}
		<-accepted
	})
	c.uri = "sip:+15550100009@" + l.Addr().String() + ";transport=tcp"
	return c
}

// expect waits for a request that has not come before.
func (c *called) expect(method string) *gosip.Request {
	c.t.Helper()
	for {
		r := c.incoming(method)
		branch := string(r.Method) + r.Via().Params.GetOr("branch", "")
		if c.seen[branch] {
			continue
		}
		c.seen[branch] = true
		return r
	}
}

// rung waits for the INVITE and takes on its dialog.
func (c *called) rung() *gosip.Request {
	c.t.Helper()
	c.invite = c.expect("INVITE")
	c.callID = c.invite.CallID().Value()
	c.toTag = c.invite.From().Params.GetOr("tag", "")
	return c.invite
}

// answer responds to a request; a description makes the body.
func (p *peer) answer(r *gosip.Request, code int, body string, headers ...string) {
	p.t.Helper()
	var text []byte
	if body != "" {
		text = []byte(body)
		headers = append(headers, "Content-Type: application/sdp")
	}
	res := gosip.NewResponseFromRequest(r, code, "Whatever", text)
	res.To().Params.Remove("tag")
	tag := p.tag
	if old, ok := r.To().Params.Get("tag"); ok {
		tag = old
	}
	res.To().Params.Add("tag", tag)
	res.AppendHeader(gosip.NewHeader("Contact", "<sip:far@"+p.local().String()+";transport="+strings.ToLower(r.Transport())+">"))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		res.AppendHeader(gosip.NewHeader(name, value))
	}
	p.write(res.String())
}

// turnedDown sends an INVITE that is refused, and confirms that.
func (p *peer) turnedDown(code int, body string, headers ...string) *gosip.Response {
	p.t.Helper()
	p.seq++
	text := p.request("INVITE", body, headers...)
	p.write(text)
	res := p.response(code, "INVITE")
	p.write(p.request("ACK", "", "Via: "+headerOf(text, "Via")))
	return res
}

// lasting is a call that a test's far end has answered or made, with its leg
// conducted until one side hangs up.
type lasting struct {
	leg   *sip.Leg
	ended chan error
	end   context.CancelCauseFunc
}

func last(leg *sip.Leg) *lasting {
	ctx, end := context.WithCancelCause(context.Background())
	l := &lasting{leg: leg, ended: make(chan error, 1), end: end}
	go func() { l.ended <- conduct(ctx, leg, nil) }()
	return l
}

// finish hangs up on the far end.
func (l *lasting) finish(c *called) {
	c.t.Helper()
	l.end(&media.Ended{Reason: media.AgentHangup})
	c.confirm(c.expect("BYE"))
	if err := wait(c.t, l.ended, "end of the call"); err != nil {
		c.t.Errorf("ended with %v", err)
	}
}

// connect has a user agent call c, which answers with these headers.
func connect(t *testing.T, ua *sip.UserAgent, c *called, headers ...string) *lasting {
	t.Helper()
	result := dial(t, ua, context.Background(), sip.Target{URI: c.uri})
	c.answer(c.rung(), 200, c.offer(), headers...)
	c.expect("ACK")
	d := wait(t, result, "answer")
	if d.err != nil {
		t.Fatal(d.err)
	}
	return last(d.leg)
}

// arrive has a user agent answer p and gives its leg.
func arrive(t *testing.T, p *peer, legs <-chan *sip.Leg, headers ...string) (*called, *lasting) {
	t.Helper()
	p.write(p.request("INVITE", p.offer(), headers...))
	res := p.response(200, "INVITE")
	p.toTag = res.To().Params.GetOr("tag", "")
	p.write(p.request("ACK", ""))
	return &called{peer: p, seen: map[string]bool{}}, last(wait(t, legs, "leg"))
}

// taking is a handler that answers and hands the leg to the test, which ends it.
func taking(t *testing.T, legs chan<- *sip.Leg) func(context.Context, *sip.Incoming) {
	return func(ctx context.Context, in *sip.Incoming) {
		leg, err := in.Answer(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		legs <- leg
		<-ctx.Done()
	}
}

// due turns a clock's hands to the moment for which something waits, which must
// be that far away.
func due(t *testing.T, h *sip.Hands, in time.Duration) {
	t.Helper()
	end := time.Now().Add(patience)
	for h.Next() != in {
		if time.Now().After(end) {
			t.Fatalf("the next alarm is in %v, want %v", h.Next(), in)
		}
		time.Sleep(time.Millisecond)
	}
	h.Turn(in)
}

func value(m interface {
	GetHeader(string) gosip.Header
}, name string) string {
	if h := m.GetHeader(name); h != nil {
		return h.Value()
	}
	return ""
}

func addrPort(port uint16) netip.AddrPort { return netip.AddrPortFrom(loopback, port) }

// collect conducts a leg, silent, and passes on the keys pressed.
func collect(ctx context.Context, leg *sip.Leg, digits chan<- byte) error {
	done := make(chan struct{})
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			select {
			case e := <-leg.Events():
				if e.Kind == media.LegDigit {
					digits <- e.Digit
				}
			case <-done:
				return
			}
		}
	})
	defer passing.Wait()
	defer close(done)
	return conduct(ctx, leg, nil)
}
