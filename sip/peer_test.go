package sip_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip"
	"parley/sip/rtpport"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// portRanges gives each user agent of the tests a range of its own.
var portRanges atomic.Uint32

func ports(t testing.TB) *rtpport.Pool {
	t.Helper()
	first := 20000 + uint16(portRanges.Add(1)%100)*100
	p, err := rtpport.New(rtpport.Config{Addr: loopback, First: first, Last: first + 99})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// serve runs a user agent until the test ends.
func serve(t testing.TB, cfg sip.Config) *sip.UserAgent {
	t.Helper()
	if !cfg.Listen.IsValid() {
		cfg.Listen = netip.AddrPortFrom(loopback, 0)
	}
	if cfg.Ports == nil {
		cfg.Ports = ports(t)
	}
	if cfg.Allow == nil {
		cfg.Allow = func(a netip.Addr) bool { return a.IsLoopback() }
	}
	ua, err := sip.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ua.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(patience):
			t.Error("Run did not return")
		}
	})
	return ua
}

// outcome is what a handler saw of its call.
type outcome struct {
	in  *sip.Incoming
	err error
}

// answering is a handler that rings, answers and runs the call, silent, and
// reports how it ended.
func answering(results chan<- outcome) func(context.Context, *sip.Incoming) {
	return func(ctx context.Context, in *sip.Incoming) {
		if err := in.Ring(); err != nil {
			results <- outcome{in, err}
			return
		}
		leg, err := in.Answer(ctx)
		if err == nil {
			err = conduct(ctx, leg, nil)
		}
		results <- outcome{in, err}
	}
}

// conduct runs a leg that says what it hears, or what say gives, until it ends.
func conduct(ctx context.Context, leg *sip.Leg, say func(leg *sip.Leg, heard media.Frame) []int16) error {
	ended := make(chan error, 1)
	go func() { ended <- leg.Run(ctx) }()
	rate := leg.Format().In
	frame, last := make([]int16, rate.FrameSamples()), make([]int16, rate.FrameSamples())
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(time.Until(leg.Next())):
		}
		now := time.Now()
		heard := media.Frame{Rate: rate}
		for f, ok := leg.Read(now); ok; f, ok = leg.Read(now) {
			heard.Samples = last[:copy(last, f.Samples)]
			if say != nil {
				copy(frame, say(leg, heard))
			}
		}
		for n := leg.Due(now); n > 0; n-- {
			leg.Write(media.Frame{Samples: frame, Rate: rate})
		}
	}
}

func wait[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// peer is a far end made of plain text: it sends what a test writes and hands
// out what comes back.
type peer struct {
	t    testing.TB
	ua   netip.AddrPort
	udp  net.Conn
	tcp  net.Conn
	ws   *browser
	msgs chan gosip.Message
	rtp  *net.UDPConn

	callID, tag, toTag string
	seq                int
}

var callIDs atomic.Uint32

func newPeer(t testing.TB, ua *sip.UserAgent, network string) *peer {
	t.Helper()
	p := &peer{t: t, ua: ua.Addr(), msgs: make(chan gosip.Message, 64), tag: "their-tag", seq: 1,
		callID: fmt.Sprintf("%d-%s", callIDs.Add(1), t.Name())}
	p.callID = strings.NewReplacer("/", "-", " ", "-").Replace(p.callID)
	var err error
	if p.rtp, err = net.ListenUDP("udp", &net.UDPAddr{IP: loopback.AsSlice()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.rtp.Close() })
	if network == "ws" || network == "wss" {
		if p.ws, err = browse(t, ua, network); err != nil {
			t.Fatal(err)
		}
		go p.ws.read(p.msgs)
		return p
	}
	if network == "tcp" {
		if p.tcp, err = net.Dial("tcp", p.ua.String()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.tcp.Close() })
		go p.readTCP()
		return p
	}
	if p.udp, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(p.ua)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.udp.Close() })
	go p.readUDP(p.udp)
	return p
}

func (p *peer) readUDP(conn net.Conn) {
	b := make([]byte, 65536)
	for {
		n, err := conn.Read(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if m, err := gosip.ParseMessage(bytes.Clone(b[:n])); err == nil {
			p.msgs <- m
		}
	}
}

func (p *peer) readTCP() {
	r := bufio.NewReader(p.tcp)
	for {
		var head strings.Builder
		length := 0
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			head.WriteString(line)
			if _, err := fmt.Sscanf(line, "Content-Length: %d", &length); err != nil && line == "\r\n" {
				break
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		if m, err := gosip.ParseMessage(append([]byte(head.String()), body...)); err == nil {
			p.msgs <- m
		}
	}
}

func (p *peer) write(text string) {
	p.t.Helper()
	var err error
	if p.ws != nil {
		err = p.ws.say(text)
	} else if p.tcp != nil {
		_, err = io.WriteString(p.tcp, text)
	} else {
		_, err = io.WriteString(p.udp, text)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) local() net.Addr {
	if p.ws != nil {
		return unreachable{}
	}
	if p.tcp != nil {
		return p.tcp.LocalAddr()
	}
	return p.udp.LocalAddr()
}

// request is the text of a request; headers given replace the usual ones of
// the same name, and one that is empty after its colon is left out.
func (p *peer) request(method, body string, headers ...string) string {
	network, over := "UDP", "udp"
	if p.tcp != nil {
		network, over = "TCP", "tcp"
	} else if p.ws != nil {
		network, over = p.ws.via, "ws"
	}
	to := "<sip:+15550100002@127.0.0.1>"
	if p.toTag != "" {
		to += ";tag=" + p.toTag
	}
	lines := []string{
		fmt.Sprintf("Via: SIP/2.0/%s %s;branch=%s;rport", network, p.local(), gosip.GenerateBranch()),
		`From: "Ann" <sip:+15550100001@127.0.0.1>;tag=` + p.tag,
		"To: " + to,
		"Call-ID: " + p.callID,
		fmt.Sprintf("CSeq: %d %s", p.seq, method),
		fmt.Sprintf("Contact: <sip:ann@%s;transport=%s>", p.local(), over),
		"Max-Forwards: 70",
	}
	if body != "" {
		lines = append(lines, "Content-Type: application/sdp")
	}
	lines = append(lines, fmt.Sprintf("Content-Length: %d", len(body)))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		kept := lines[:0:0]
		for _, l := range lines {
			if have, _, _ := strings.Cut(l, ":"); have != name {
				kept = append(kept, l)
			}
		}
		if lines = kept; strings.TrimSpace(value) != "" {
			lines = append(lines, h)
		}
	}
	return method + " sip:+15550100002@127.0.0.1 SIP/2.0\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n" + body
}

// offer is a description of the peer's own RTP socket.
func (p *peer) offer(attributes ...string) string {
	return p.offerAt(p.rtp.LocalAddr().(*net.UDPAddr).Port, attributes...)
}

func (p *peer) offerAt(port int, attributes ...string) string {
	lines := append([]string{"v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
		fmt.Sprintf("m=audio %d RTP/AVP 0 8 101", port), "a=rtpmap:101 telephone-event/8000"}, attributes...)
	return strings.Join(lines, "\r\n") + "\r\n"
}

// response waits for a response to method, provisional ones only when asked for.
func (p *peer) response(code int, method string) *gosip.Response {
	p.t.Helper()
	for {
		r, ok := wait(p.t, p.msgs, fmt.Sprintf("%d to %s", code, method)).(*gosip.Response)
		if !ok || string(r.CSeq().MethodName) != method || r.StatusCode < 180 && code >= 180 || r.StatusCode < 200 && code >= 200 {
			continue
		}
		if r.StatusCode != code {
			p.t.Fatalf("%s was answered %d %s, want %d", method, r.StatusCode, r.Reason, code)
		}
		return r
	}
}

// incoming waits for a request.
func (p *peer) incoming(method string) *gosip.Request {
	p.t.Helper()
	for {
		if r, ok := wait(p.t, p.msgs, method).(*gosip.Request); ok && string(r.Method) == method {
			return r
		}
	}
}

// confirm answers a request with 200.
func (p *peer) confirm(r *gosip.Request) {
	p.t.Helper()
	p.write(gosip.NewResponseFromRequest(r, 200, "OK", nil).String())
}

// call makes a call up to the ACK.
func (p *peer) call() *gosip.Response {
	p.t.Helper()
	p.write(p.request("INVITE", p.offer()))
	res := p.response(200, "INVITE")
	p.toTag = res.To().Params.GetOr("tag", "")
	p.write(p.request("ACK", ""))
	return res
}

// next sends a further request of the dialog and returns its final response.
func (p *peer) next(code int, method, body string, headers ...string) *gosip.Response {
	p.t.Helper()
	p.seq++
	p.write(p.request(method, body, headers...))
	return p.response(code, method)
}

// hangup ends the call and returns what its handler saw.
func (p *peer) hangup(results <-chan outcome) {
	p.t.Helper()
	p.next(200, "BYE", "")
	if o := wait(p.t, results, "end of the call"); o.err != nil {
		p.t.Errorf("the call ended with %v", o.err)
	}
}
