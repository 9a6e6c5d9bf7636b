package sip_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip"
	"parley/sip/rtpport"
)

// gateway is a host of its own, to which a proxy has passed a call.
func gateway(t *testing.T) *callee {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &callee{t: t, conn: conn, last: map[string]*gosip.Request{}}
}

// accept answers the last INVITE as a proxy passes it on that does not stay in the call.
func (c *callee) accept(contact string) {
	c.t.Helper()
	invite := c.last["INVITE"]
	text := strings.Join([]string{"SIP/2.0 200 OK", "Via: " + invite.Via().Value(), "From: " + invite.From().Value(), "To: " + invite.To().Value() + ";tag=gateway",
		"Call-ID: " + invite.CallID().Value(), "CSeq: " + invite.CSeq().Value(), "Contact: <sip:gateway@" + contact + ">", "Content-Type: application/sdp",
		"Content-Length: " + strconv.Itoa(len(calleeSDP))}, "\r\n") + "\r\n\r\n" + calleeSDP
	if _, err := c.conn.WriteToUDPAddrPort([]byte(text), c.ua); err != nil {
		c.t.Fatal(err)
	}
}

// bye hangs up from the far end of an INVITE.
func (c *callee) bye(invite *gosip.Request) {
	c.t.Helper()
	at := c.conn.LocalAddr().String()
	text := strings.Join([]string{"BYE sip:parley@" + c.ua.String() + " SIP/2.0", "Via: SIP/2.0/UDP " + at + ";branch=" + gosip.GenerateBranch(), "From: " + invite.To().Value() + ";tag=gateway",
		"To: " + invite.From().Value(), "Call-ID: " + invite.CallID().Value(), "CSeq: 7 BYE", "Max-Forwards: 70", "Content-Length: 0"}, "\r\n") + "\r\n\r\n"
	if _, err := c.conn.WriteToUDPAddrPort([]byte(text), c.ua); err != nil {
		c.t.Fatal(err)
	}
}

// strict hears nobody but whom it calls.
func strict(cfg sip.Config) sip.Config {
	cfg.Allow = func(netip.Addr) bool { return false }
	return cfg
}

// Where a call is answered from another host than it went to, that host is heard in it:
// what it asks, and what it answers.
func TestAnswerFromElsewhere(t *testing.T) {
	for _, theirs := range []bool{false, true} {
		name := "we hang up"
		if theirs {
			name = "they hang up"
		}
		t.Run(name, func(t *testing.T) {
			ua, proxy, gw := serve(t, strict(sip.Config{})), newCallee(t), gateway(t)
			result := dial(t, ua, t.Context(), sip.Target{URI: proxy.uri()})
			invite := proxy.expect("INVITE")
			proxy.accept(gw.conn.LocalAddr().String())
			gw.expect("ACK")
			d := wait(t, result, "answer")
			if d.err != nil {
				t.Fatal(d.err)
			}
			ctx, stop := context.WithCancelCause(t.Context())
			done := make(chan error, 1)
			go func() { done <- conduct(ctx, d.leg, nil) }()
			if theirs {
				gw.bye(invite)
			} else {
				stop(&media.Ended{Reason: media.AgentHangup})
				gw.expect("BYE")
				gw.answer("BYE", 200, "", "")
			}
			if err := wait(t, done, "end"); err != nil {
				t.Error(err)
			}
			eventually(t, "nothing left", func() bool { return ua.Stats().Calls == 0 })
			if n := ua.Stats().Unknown; n != 0 {
				t.Errorf("%d messages of the call were a stranger's", n)
			}
			gw.bye(invite)
			eventually(t, "it is a stranger again", func() bool { return ua.Stats().Unknown == 1 })
			stop(nil)
		})
	}
}

// The name in a Contact is looked up by our own resolver, and not while the call waits.
func TestAnswerFromAName(t *testing.T) {
	gw, proxy := gateway(t), newCallee(t)
	ua := serve(t, strict(sip.Config{Resolver: names{addrs: map[string][]netip.Addr{"gateway.test": {netip.MustParseAddr("127.0.0.2")}}}}))
	result := dial(t, ua, t.Context(), sip.Target{URI: proxy.uri()})
	proxy.expect("INVITE")
	proxy.accept("gateway.test:" + strconv.Itoa(int(gw.port())))
	if ack := gw.expect("ACK"); ack.Recipient.Host != "gateway.test" {
		t.Errorf("ACK\n%s", ack)
	}
	hang(t, gw, wait(t, result, "answer"))
}

// service is a domain whose calls a server of it takes, the first of which is not there.
func service(domain string, at netip.AddrPort) names {
	return names{
		srv: map[string][]*net.SRV{"_sip._udp." + domain: {{Target: "dead." + domain + ".", Port: 9, Priority: 1}, {Target: "server." + domain + ".", Port: at.Port(), Priority: 2}}},
		addrs: map[string][]netip.Addr{domain: {netip.MustParseAddr("127.0.0.9")}, "dead." + domain: {netip.MustParseAddr("127.0.0.8")},
			"server." + domain: {at.Addr()}},
	}
}

// A name without a port leads to the servers that its SRV records have (RFC 3263 section
// 4.2), of which the one is asked that the call is with.
func TestNameWithoutPort(t *testing.T) {
	t.Run("answers", func(t *testing.T) {
		gw, proxy := gateway(t), newCallee(t)
		records := service("gateway.test", gw.conn.LocalAddr().(*net.UDPAddr).AddrPort())
		records.srv["_sip._udp.gateway.test"] = records.srv["_sip._udp.gateway.test"][1:]
		ua := serve(t, strict(sip.Config{Resolver: records}))
		result := dial(t, ua, t.Context(), sip.Target{URI: proxy.uri()})
		proxy.expect("INVITE")
		proxy.accept("gateway.test")
		if ack := gw.expect("ACK"); ack.Recipient.Host != "gateway.test" || ack.Recipient.Port != 0 {
			t.Errorf("ACK\n%s", ack)
		}
		hang(t, gw, wait(t, result, "answer"))
	})
	t.Run("calls", func(t *testing.T) {
		legs, asked := make(chan *sip.Leg, 1), make(chan string, 8)
		let := make(chan struct{})
		close(let)
		resolver := &slowNames{let: let, asked: asked}
		ua := serve(t, sip.Config{Resolver: resolver, OnCall: taking(t, legs)})
		p := newPeer(t, ua, "udp")
		resolver.names = service("office.test", p.udp.LocalAddr().(*net.UDPAddr).AddrPort())
		c, l := arrive(t, p, legs, "Contact: <sip:ann@office.test>")
		l.finish(c)
		if host := wait(t, asked, "look-up"); host != "_sip._udp.office.test" {
			t.Errorf("asked for %s", host)
		}
	})
}

// A name is no way to hosts inside of our network either.
func TestNameIsNoWayInside(t *testing.T) {
	inner, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 3)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // when the user agent has stopped
		defer inner.Close()
		_ = inner.SetDeadline(time.Now().Add(10 * time.Millisecond))
		if conn, err := inner.Accept(); err == nil {
			conn.Close()
			t.Error("we connected to it")
		}
	})
	resolver := slowNames{names{addrs: map[string][]netip.Addr{"inner.test": {netip.MustParseAddr("127.0.0.3")}}}, make(chan struct{}), make(chan string, 8)}
	close(resolver.let)
	ua, proxy := serve(t, strict(sip.Config{Resolver: resolver})), newCallee(t)
	result := dial(t, ua, t.Context(), sip.Target{URI: proxy.uri()})
	proxy.expect("INVITE")
	proxy.accept(fmt.Sprintf("inner.test:%d;transport=tcp", inner.Addr().(*net.TCPAddr).Port))
	proxy.expect("ACK")
	d := wait(t, result, "answer")
	if d.err != nil {
		t.Fatal(d.err)
	}
	wait(t, resolver.asked, "look-up")
	hang(t, proxy, d)
	eventually(t, "nothing left", func() bool { return ua.Stats().Calls == 0 })
}

// A name that nobody knows is taken for the host that the INVITE went to.
func TestAnswerFromAnUnknownName(t *testing.T) {
	proxy := newCallee(t)
	ua := serve(t, strict(sip.Config{Resolver: names{}}))
	result := dial(t, ua, t.Context(), sip.Target{URI: proxy.uri()})
	invite := proxy.expect("INVITE")
	proxy.accept("inside.test")
	proxy.expect("ACK")
	d := wait(t, result, "answer")
	if d.err != nil {
		t.Fatal(d.err)
	}
	done := make(chan error, 1)
	go func() { done <- conduct(t.Context(), d.leg, nil) }()
	proxy.bye(invite)
	if err := wait(t, done, "end"); err != nil {
		t.Error(err)
	}
}

// serveAt is a user agent on an address, with ports on the same one.
func serveAt(t *testing.T, at netip.Addr, cfg sip.Config) *sip.UserAgent {
	first := 18000 + uint16(portRanges.Add(1)%20)*100
	ports, err := rtpport.New(rtpport.Config{Addr: at, First: first, Last: first + 99})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ports.Close)
	cfg.Listen, cfg.Ports = netip.AddrPortFrom(at, 0), ports
	return serve(t, cfg)
}

// callAt calls a user agent at an address, and hangs up when it hears it.
func callAt(t *testing.T, us *sip.UserAgent, at netip.AddrPort, transport string) {
	t.Helper()
	leg, err := us.Dial(t.Context(), sip.Target{URI: "sip:+15550100002@" + at.String() + ";transport=" + transport})
	if err != nil {
		t.Error(err)
		return
	}
	ctx, stop := context.WithCancelCause(t.Context())
	done, heard := make(chan error, 1), make(chan bool, 1)
	go func() {
		done <- conduct(ctx, leg, func(*sip.Leg, media.Frame) []int16 {
			select {
			case heard <- true:
			default:
			}
			return nil
		})
	}()
	wait(t, heard, "audio")
	stop(&media.Ended{Reason: media.AgentHangup})
	if err := wait(t, done, "end"); err != nil {
		t.Error(err)
	}
	if from := leg.Stats().Remote; from.Addr() != at.Addr() {
		t.Errorf("its audio comes from %s", from)
	}
}

// Over IPv6 a call goes as it does over IPv4.
func TestIPv6(t *testing.T) {
	six := netip.IPv6Loopback()
	for _, transport := range []string{"udp", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			results := make(chan outcome, 1)
			them := serveAt(t, six, sip.Config{OnCall: answering(results)})
			callAt(t, serveAt(t, six, sip.Config{}), them.Addr(), transport)
			if o := wait(t, results, "their end"); o.err != nil || o.in.Source.Addr() != six {
				t.Errorf("%v from %v", o.err, o.in.Source)
			}
		})
	}
}

// A server that listens on every address calls, and is called, over both families at once.
func TestDualStack(t *testing.T) {
	for _, transport := range []string{"udp", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			results := make(chan outcome, 4)
			both := serveAt(t, netip.IPv6Unspecified(), sip.Config{OnCall: answering(results)})
			var all sync.WaitGroup
			for _, family := range []netip.Addr{loopback, netip.IPv6Loopback()} {
				one := serveAt(t, family, sip.Config{OnCall: answering(results)})
				all.Go(func() { callAt(t, one, netip.AddrPortFrom(family, both.Addr().Port()), transport) })
				all.Go(func() { callAt(t, both, one.Addr(), transport) })
			}
			all.Wait()
			seen := map[netip.Addr]int{}
			for range 4 {
				o := wait(t, results, "their end")
				if o.err != nil {
					t.Error(o.err)
				}
				seen[o.in.Source.Addr()]++
			}
			if seen[loopback] != 2 || seen[netip.IPv6Loopback()] != 2 {
				t.Errorf("calls came from %v", seen)
			}
		})
	}
}

// The public address is for far ends of its own family.
func TestPublicAddress(t *testing.T) {
	public := netip.MustParseAddr("192.0.2.1")
	ua := serve(t, sip.Config{Listen: netip.AddrPortFrom(netip.IPv6Loopback(), 0), PublicIP: public})
	for peer, want := range map[string]netip.Addr{"198.51.100.1": public, "::ffff:198.51.100.1": public, "2001:db8::1": netip.IPv6Loopback()} {
		if got := sip.Facing(ua, netip.MustParseAddr(peer)); got != want {
			t.Errorf("%s sees %s", peer, got)
		}
	}
}
