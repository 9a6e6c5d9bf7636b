package sip_test

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip"
	"parley/sip/dialog"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// elsewhere is the peer at another address, with what it knows of the call.
func (p *peer) elsewhere(addr string) *peer {
	p.t.Helper()
	conn, err := net.DialUDP("udp", &net.UDPAddr{IP: net.ParseIP(addr)}, net.UDPAddrFromAddrPort(p.ua))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	other := *p
	other.udp = conn
	go other.readUDP(conn)
	return &other
}

// Strangers get nothing at all; what they tried is counted, and listed in one entry.
func TestStrangersHearNothing(t *testing.T) {
	ua := serve(t, sip.Config{Allow: func(netip.Addr) bool { return false },
		Trunks: []trunk.Config{{Name: "carrier", Allow: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}}})
	p := newPeer(t, ua, "udp")
	const each = 100
	for range each {
		p.write(p.request("OPTIONS", ""))
		p.write(p.request("INVITE", p.offer()))
	}
	p.write("\r\n\r\nno SIP at all")
	conn, err := net.Dial("tcp", ua.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(p.request("OPTIONS", "")))
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if n, err := conn.Read(make([]byte, 100)); err == nil {
		t.Errorf("%d bytes came back", n)
	}
	eventually(t, "all are counted", func() bool { return ua.Rejected()[transport.CauseUnknown] == 2*each+2 })
	list := ua.Rejections()
	if len(list) != 1 || list[0].Count != 2*each+2 || list[0].Source != loopback || list[0].Code != 0 || list[0].Trunk != "" {
		t.Errorf("%+v", list)
	}
	if s := ua.Stats(); s.Calls != 0 || s.Ringing != 0 {
		t.Errorf("%+v", s)
	}
	select {
	case m := <-p.msgs:
		t.Errorf("an answer:\n%s", m)
	default:
	}
}

// Where strangers are refused, they are not refused for ever: an address that is
// forged must not be flooded.
func TestStrangersAreRefusedSlowly(t *testing.T) {
	ua := serve(t, sip.Config{Allow: func(netip.Addr) bool { return false }, RejectUnknown: true})
	p := newPeer(t, ua, "udp")
	const all = 300
	for range all {
		p.write(p.request("OPTIONS", ""))
	}
	eventually(t, "all are counted", func() bool { return ua.Rejected()[transport.CauseUnknown] == all })
	if res := wait(t, p.msgs, "answer").(*gosip.Response); res.StatusCode != 403 {
		t.Errorf("answered %d", res.StatusCode)
	}
	// Ten at once and a few a second; a slow machine takes some seconds.
	if n := len(p.msgs); n > all/3 {
		t.Errorf("%d more answers", n)
	}
}

// A source of a trunk may send only so fast. A datagram too many is dropped, on a
// stream it is refused; calls under way are not disturbed.
func TestSourcesAreLimited(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		t.Run(network, func(t *testing.T) {
			results := make(chan outcome, 1)
			ua := serve(t, sip.Config{OnCall: answering(results), SourceRate: 2, Allow: func(netip.Addr) bool { return false },
				Trunks: []trunk.Config{{Name: "carrier", Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32)}}}})
			p := newPeer(t, ua, network)
			p.call()
			probe := newPeer(t, ua, network)
			const all = 50
			for range all {
				probe.write(probe.request("OPTIONS", "", "Call-ID: "+gosip.GenerateBranch()))
			}
			if network == "tcp" {
				refused := 0
				for range all {
					if res := wait(t, probe.msgs, "answer").(*gosip.Response); res.StatusCode == 503 {
						refused++
					}
				}
				if refused < all/2 {
					t.Errorf("%d of %d refused", refused, all)
				}
			} else {
				eventually(t, "dropped", func() bool { return ua.Rejected()[transport.CauseRate] > all/2 })
				if r := ua.Rejections()[0]; r.Cause != transport.CauseRate || r.Trunk != "carrier" {
					t.Errorf("%+v", r)
				}
			}
			p.hangup(results)
		})
	}
}

// A BYE with the right Call-ID and tags from elsewhere ends nothing; from another
// server of the same trunk it does.
func TestForgedBye(t *testing.T) {
	results := make(chan outcome, 1)
	ua := serve(t, sip.Config{OnCall: answering(results), // Allow admits all of 127.0.0.0/8
		Trunks: []trunk.Config{{Name: "carrier", Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32), netip.MustParsePrefix("127.0.0.3/32")}}}})
	p := newPeer(t, ua, "udp")
	p.call()
	forger := p.elsewhere("127.0.0.2")
	for _, method := range []string{"BYE", "INFO", "OPTIONS"} {
		forger.next(481, method, "")
	}
	forger.next(481, "INVITE", p.offer("a=sendonly"))
	forger.write(forger.request("ACK", ""))
	eventually(t, "they are counted", func() bool { return ua.Rejected()[transport.CauseForeign] >= 4 })
	if st := ua.Stats(); st.Calls != 1 {
		t.Errorf("%+v", st)
	}
	p.next(200, "OPTIONS", "") // the call is as it was
	p.elsewhere("127.0.0.3").hangup(results)
}

// Two accounts at one carrier share its addresses: a call is on the one whose
// number it is for.
func TestAccountsShareASource(t *testing.T) {
	results := make(chan outcome, 1)
	home := []netip.Prefix{netip.PrefixFrom(loopback, 32)}
	ua := serve(t, sip.Config{OnCall: answering(results), Trunks: []trunk.Config{
		{Name: "everybody", Allow: []netip.Prefix{netip.PrefixFrom(loopback, 8).Masked()}},
		{Name: "one", Allow: home, Numbers: []string{"+15550100001"}},
		{Name: "two", Allow: home, Numbers: []string{"+15550100002"}},
	}})
	caller := serve(t, sip.Config{})
	for called, trunk := range map[string]string{"+15550100001": "one", "+15550100002": "two", "+15550100003": "one"} {
		leg, err := caller.Dial(t.Context(), sip.Target{URI: "sip:" + called + "@" + ua.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		ended := hangup(leg)
		if o := wait(t, results, "end of the call"); o.err != nil || o.in.Trunk != trunk {
			t.Errorf("%s: on %s, want %s: %v", called, o.in.Trunk, trunk, o.err)
		}
		wait(t, ended, "goodbye")
	}
}

// Whom we call may answer, but not call us.
func TestCalleesAreNotCallers(t *testing.T) {
	c := newCallee(t)
	results := make(chan outcome, 1)
	ua := serve(t, sip.Config{OnCall: answering(results), Allow: func(netip.Addr) bool { return false },
		Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{c.target()}, Flags: trunk.NoProbe}}})
	result := dial(t, ua, t.Context(), sip.Target{Number: number})
	c.expect("INVITE")
	p := newPeer(t, ua, "udp")
	p.write(p.request("INVITE", p.offer()))
	p.response(403, "INVITE")
	if r := ua.Rejections(); len(r) != 1 || r[0].Code != 403 || r[0].Cause != transport.CauseUnknown || r[0].Called != "+15550100002" {
		t.Errorf("%+v", r)
	}
	c.answer("INVITE", 200, "tag", calleeSDP)
	c.expect("ACK")
	hang(t, c, wait(t, result, "answer"))
}

// A trunk with credentials: who has none is asked, for either algorithm; who has the
// wrong ones is noted.
func TestInboundCredentials(t *testing.T) {
	ua := serve(t, sip.Config{Trunks: []trunk.Config{{Name: "pbx", Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32)},
		Inbound: dialog.Credentials{Username: "pbx", Password: "secret"}}}})
	p := newPeer(t, ua, "udp")
	p.write(p.request("INVITE", p.offer()))
	res := p.response(407, "INVITE")
	var algorithms []string
	for _, h := range res.GetHeaders("Proxy-Authenticate") {
		_, rest, _ := strings.Cut(h.Value(), "algorithm=")
		algorithm, _, _ := strings.Cut(rest, ",")
		algorithms = append(algorithms, algorithm)
	}
	if fmt.Sprint(algorithms) != "[MD5 SHA-256]" {
		t.Errorf("asked for %v", algorithms)
	}
	p.write(p.request("ACK", "", "Via: "+res.Via().Value()))
	if n := len(ua.Rejections()); n != 0 {
		t.Errorf("%d rejections for a question", n)
	}

	caller := serve(t, sip.Config{Trunks: []trunk.Config{{Name: "pbx", Targets: []trunk.Target{{Host: "127.0.0.1", Port: ua.Addr().Port()}}, Flags: trunk.NoProbe,
		Auth: dialog.Credentials{Username: "pbx", Password: "hunter2"}}}})
	if _, err := caller.Dial(t.Context(), sip.Target{Number: number}); err == nil {
		t.Error("the wrong password was right")
	}
	r := ua.Rejections()
	if len(r) != 1 || r[0].Cause != transport.CauseDigest || r[0].Trunk != "pbx" || r[0].Called != number || r[0].Code != 407 {
		t.Errorf("%+v", r)
	}
	if bytes.Contains(fmt.Append(nil, r), []byte("hunter2")) {
		t.Error("a password in the list")
	}
}
