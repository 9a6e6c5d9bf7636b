package sip_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip"
	"parley/sip/dialog"
	"parley/sip/trunk"
)

// nowhere are Contacts that lead to nobody: behind an address translator, and a name of
// another network.
var nowhere = []string{"<sip:ann@127.77.7.7:5060>", "<sip:ann@pbx.invalid>"}

// Where the Contact of a caller leads to nobody, our requests go to where the caller's
// come from.
func TestContactOfACallerLeadsNowhere(t *testing.T) {
	for _, contact := range nowhere {
		t.Run(contact, func(t *testing.T) {
			h, legs := sip.NewHands(), make(chan *sip.Leg, 1)
			ua := serve(t, h.On(sip.Config{T1: 20 * time.Millisecond, Resolver: names{}, OnCall: taking(t, legs)}))
			c, l := arrive(t, newPeer(t, ua, "udp"), legs, "Contact: "+contact, "Session-Expires: 90;refresher=uas", "Supported: timer")
			due(t, h, 45*time.Second)
			refresh := c.expect("INVITE")
			c.answer(refresh, 200, c.offer(), "Session-Expires: 90;refresher=uac")
			c.expect("ACK")
			l.finish(c)
		})
	}
}

// The same for a callee: also the ACK of its 200.
func TestContactOfACalleeLeadsNowhere(t *testing.T) {
	for _, contact := range nowhere {
		t.Run(contact, func(t *testing.T) {
			h := sip.NewHands()
			ua := serve(t, h.On(sip.Config{T1: 20 * time.Millisecond, Resolver: names{}}))
			c := newCalled(t, ua, "udp")
			result := dial(t, ua, t.Context(), sip.Target{URI: c.uri})
			answer := func(r *gosip.Request, headers ...string) {
				res := gosip.NewResponseFromRequest(r, 200, "OK", []byte(c.offer()))
				res.To().Params.Remove("tag")
				res.To().Params.Add("tag", c.tag)
				for _, line := range append(headers, "Contact: "+contact, "Content-Type: application/sdp") {
					name, value, _ := strings.Cut(line, ": ")
					res.AppendHeader(gosip.NewHeader(name, value))
				}
				c.write(res.String())
			}
			answer(c.rung(), "Session-Expires: 90;refresher=uac", "Require: timer")
			c.expect("ACK")
			d := wait(t, result, "answer")
			if d.err != nil {
				t.Fatal(d.err)
			}
			l := last(d.leg)
			due(t, h, 45*time.Second)
			answer(c.expect("INVITE"))
			c.expect("ACK")
			l.finish(c)
		})
	}
}

// Translators close a way that nobody uses. We use it while the call is up, whatever is answered; the
// call's signalling does not show it.
func TestWayToTheFarEndIsKept(t *testing.T) {
	behind := "Contact: <sip:ann@127.77.7.7;transport=tcp>"
	for direction, begin := range map[string]func(*sip.UserAgent, chan *sip.Leg) (*called, *lasting){
		"incoming": func(ua *sip.UserAgent, legs chan *sip.Leg) (*called, *lasting) {
			return arrive(t, newPeer(t, ua, "udp"), legs, behind)
		},
		"outgoing": func(ua *sip.UserAgent, _ chan *sip.Leg) (*called, *lasting) {
			c := newCalled(t, ua, "udp")
			return c, connect(t, ua, c, behind)
		},
	} {
		t.Run(direction, func(t *testing.T) {
			h, legs := sip.NewHands(), make(chan *sip.Leg, 1)
			c, l := begin(serve(t, h.On(sip.Config{T1: 5 * time.Millisecond, OnCall: taking(t, legs)})), legs)
			for _, code := range []int{200, 0, 405, 481} {
				due(t, h, 24*time.Second)
				if asked := c.expect("OPTIONS"); code > 0 {
					c.answer(asked, code, "")
				}
			}
			due(t, h, 24*time.Second)
			l.finish(c)
			list, _ := l.leg.Trace().Messages()
			for _, m := range list {
				if strings.Contains(m.Text, "OPTIONS\r\n") {
					t.Errorf("the signalling has\n%s", m.Text)
				}
			}
		})
	}
}

// slowNames answers when it is let.
type slowNames struct {
	names
	let   chan struct{}
	asked chan string
}

func (n slowNames) wait(ctx context.Context, host string) error {
	n.asked <- host
	select {
	case <-n.let:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (n slowNames) LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error) {
	if err := n.wait(ctx, "_"+service+"._"+proto+"."+name); err != nil {
		return "", nil, err
	}
	return n.names.LookupSRV(ctx, service, proto, name)
}

func (n slowNames) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if err := n.wait(ctx, host); err != nil {
		return nil, err
	}
	return n.names.LookupNetIP(ctx, network, host)
}

// A 200 is acknowledged before the name in its Contact is known, so that it is not said
// again; and one that is said again does not end the call.
func TestACKDoesNotWaitForDNS(t *testing.T) {
	for _, ported := range []bool{true, false} {
		t.Run(fmt.Sprintf("port=%v", ported), func(t *testing.T) {
			gw, proxy := gateway(t), newCallee(t)
			resolver := slowNames{service("gateway.test", gw.conn.LocalAddr().(*net.UDPAddr).AddrPort()), make(chan struct{}), make(chan string, 8)}
			resolver.srv["_sip._udp.gateway.test"] = resolver.srv["_sip._udp.gateway.test"][1:]
			resolver.addrs["gateway.test"] = resolver.addrs["server.gateway.test"]
			ua := serve(t, strict(sip.Config{Resolver: resolver}))
			result := dial(t, ua, t.Context(), sip.Target{URI: proxy.uri()})
			proxy.expect("INVITE")
			contact, first := "gateway.test", "_sip._udp.gateway.test"
			if ported {
				contact, first = fmt.Sprintf("gateway.test:%d", gw.port()), "gateway.test"
			}
			proxy.accept(contact)
			proxy.expect("ACK")
			d := wait(t, result, "answer")
			if d.err != nil {
				t.Fatal(d.err)
			}
			if asked := wait(t, resolver.asked, "look-up"); asked != first {
				t.Errorf("asked for %s", asked)
			}
			proxy.accept(contact)
			proxy.expect("ACK")
			close(resolver.let)
			gw.expect("ACK")
			hang(t, gw, d)
			if proxy.last["BYE"] != nil {
				t.Error("the 200 that was said again was answered with BYE")
			}
		})
	}
}

// Whoever calls us names no host inside of our network for us to connect to.
func TestContactIsNoWayInside(t *testing.T) {
	service, err := net.Listen("tcp", "127.0.0.3:0")
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	connected := make(chan struct{})
	go func() {
		if conn, err := service.Accept(); err == nil {
			conn.Close()
			close(connected)
		}
	}()
	legs := make(chan *sip.Leg, 1)
	ua := serve(t, sip.Config{OnCall: taking(t, legs)})
	c, l := arrive(t, newPeer(t, ua, "udp"), legs, "Contact: <sip:ann@"+service.Addr().String()+";transport=tcp>")
	l.finish(c)
	select {
	case <-connected:
		t.Error("we connected to the service")
	default:
	}
}

// A host that is not the trunk's gets no answer to its challenge, from which the trunk's
// password could be guessed.
func TestChallengeFromElsewhere(t *testing.T) {
	gw, legs := gateway(t), make(chan *sip.Leg, 1)
	ua := serve(t, sip.Config{OnCall: taking(t, legs), Trunks: []trunk.Config{{Name: "carrier", Auth: dialog.Credentials{Username: "us", Password: "secret"},
		Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32)}}}})
	gw.ua = ua.Addr()
	_, l := arrive(t, newPeer(t, ua, "udp"), legs, "Contact: <sip:ann@"+gw.conn.LocalAddr().String()+">")
	l.end(&media.Ended{Reason: media.AgentHangup})
	gw.expect("BYE")
	gw.answer("BYE", 401, "", "", `WWW-Authenticate: Digest realm="guess", nonce="n", algorithm=MD5`)
	if err := wait(t, l.ended, "end"); err != nil {
		t.Error(err)
	}
	eventually(t, "nothing left", func() bool { return ua.Stats().Calls == 0 })
	for {
		_ = gw.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		b := make([]byte, 4096)
		n, err := gw.conn.Read(b)
		if err != nil {
			return
		}
		if strings.Contains(string(b[:n]), "\r\nAuthorization:") {
			t.Errorf("the challenge was answered:\n%s", b[:n])
		}
	}
}

// Media of a far end behind an address translator goes to the translator, whatever the description says.
func TestDescribedAddressesInside(t *testing.T) {
	outside, within := "198.51.100.7:5060", "192.168.1.20:5060"
	for _, tt := range []struct{ peer, described, want string }{
		{outside, "192.168.1.9:4000", "198.51.100.7:4000"},
		{outside, "100.64.3.4:4000", "198.51.100.7:4000"},
		{outside, "127.0.0.1:4000", "198.51.100.7:4000"},
		{outside, "203.0.113.4:4000", "203.0.113.4:4000"},
		{within, "192.168.1.9:4000", "192.168.1.9:4000"}, // in one network with us
		{within, "203.0.113.4:4000", "203.0.113.4:4000"},
	} {
		if got := sip.Reached(netip.MustParseAddrPort(tt.peer), netip.MustParseAddrPort(tt.described)); got != netip.MustParseAddrPort(tt.want) {
			t.Errorf("%s, described by %s: %s, want %s", tt.described, tt.peer, got, tt.want)
		}
	}
}
