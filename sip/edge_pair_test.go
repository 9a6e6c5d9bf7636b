package sip_test

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/trunk"
)

// redis runs a server that keeps the calls of relays, and returns the option by which they use it.
func redis(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed")
	}
	at := freePort(t)
	runs(t, exec.Command(program, "--bind", at.Addr().String(), "--port", fmt.Sprint(at.Port()), "--save", "", "--dir", t.TempDir()))
	listens(t, "redis-server", at)
	return "--redis=" + at.String() + "/0"
}

// TestEdgeMovesToTheOtherMachine: the machine with the edge dies, and another one takes its address over. Calls over UDP and TLS
// have sound again, and end, whoever hangs up.
func TestEdgeMovesToTheOtherMachine(t *testing.T) {
	t.Parallel()
	ca, at, over, r, calls := newAuthority(t), freePort(t), freePort(t), newRelay(t), redis(t)
	ended := make(chan seen, 4)
	node := behind(t, firstNode, sip.Config{OnCall: echoing(ended, "0")})
	carrier := behind(t, carrierAddr, sip.Config{OnCall: echoing(ended, "0"), ListenTLS: netip.AddrPortFrom(carrierAddr, 0),
		TLS: &tls.Config{Certificates: []tls.Certificate{ca.issue("carrier.test")}},
		Trunks: []trunk.Config{{Name: "edge", Targets: []trunk.Target{{Host: over.Addr().String(), Port: over.Port(), Transport: "tls"}},
			TLS: &tls.Config{RootCAs: ca.pool()}, Flags: trunk.NoProbe, Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32)}}}})
	machine := func() (cut func()) {
		dir := t.TempDir()
		writeCertificates(t, dir, ca, over.Addr().String())
		writeDispatcherList(t, dir, node.Addr(), node.Addr(), carrier.TLSAddr().String()+";transport=tls", loopback)
		relay := r.run(t, dir, calls)
		proxy := kamailioAt(t, at, edgeFile, dir, append(r.defines(), "LISTEN_TLS="+over.String())...)
		listens(t, "kamailio over TLS", over)
		return func() { proxy(); relay() }
	}

	cut := machine()
	var talks []*talk
	for _, way := range []struct {
		from   *sip.UserAgent
		target sip.Target
	}{
		{node, sip.Target{URI: "sip:" + number + "@" + at.String()}},
		{carrier, sip.Target{Number: number, From: header.Identity{Number: "+15550100001"}}},
	} {
		for range 2 {
			leg, err := way.from.Dial(t.Context(), way.target)
			if err != nil {
				t.Fatal(err)
			}
			c := whistle(leg)
			wait(t, c.tone, "echo")
			talks = append(talks, c)
		}
	}
	cut()
	machine()
	for i, c := range talks {
		c.press(t, "#", "0")
		if i%2 == 0 {
			c.press(t, "D", "")
		} else {
			c.hangup(media.AgentHangup)
		}
		if err := wait(t, c.over, "end of the caller"); err != nil {
			t.Errorf("call %d: the caller's end is %v", i, err)
		}
		if s := wait(t, ended, "end of the call"); s.err != nil {
			t.Errorf("call %d ended with %v", i, s.err)
		}
	}
}

// routedPeer calls through an edge as plain text and stays in the call.
type routedPeer struct {
	*called
	routes []string
	target string // the Contact of the answer
}

// callThrough makes a call at an edge from a carrier's address.
func callThrough(t *testing.T, edge, from netip.AddrPort) *routedPeer {
	t.Helper()
	f := &routedPeer{called: translated(t, edge, from)}
	f.write(f.request("INVITE", strings.Replace(f.offer(), "127.0.0.1", from.Addr().String(), -1)))
	res := f.response(200, "INVITE")
	f.toTag = res.To().Params.GetOr("tag", "")
	for _, h := range res.GetHeaders("Record-Route") {
		f.routes = append([]string{"Route: " + h.Value()}, f.routes...) // RFC 3261 section 12.1.2
	}
	f.target = res.Contact().Address.String()
	f.write(f.routed("ACK"))
	return f
}

// routed is a request of the call to where its answer came from.
func (f *routedPeer) routed(method string) string {
	text := f.request(method, "", f.routes...)
	return strings.Replace(text, method+" sip:+15550100002@127.0.0.1 ", method+" "+f.target+" ", 1)
}

// ends sends a BYE and waits for its answer.
func (f *routedPeer) ends(code int) {
	f.t.Helper()
	f.seq++
	f.write(f.routed("BYE"))
	f.response(code, "BYE")
}

// TestEdgeKeepsMediaUntilTheEnd: a BYE that is refused ends no call: the relay drops the call's media when a BYE is taken.
func TestEdgeKeepsMediaUntilTheEnd(t *testing.T) {
	t.Parallel()
	legs := make(chan *sip.Leg, 1)
	node := behind(t, firstNode, sip.Config{OnCall: taking(t, legs)})
	from, r, dir := netip.AddrPortFrom(carrierAddr, freePort(t).Port()), newRelay(t), t.TempDir()
	writeDispatcherList(t, dir, node.Addr(), node.Addr(), from.String(), callerAddr)
	r.run(t, dir, "--delete-delay=0") // it would hide for half a minute what it has been asked to do
	f := callThrough(t, kamailio(t, edgeFile, dir, append(r.defines(), "NODE_ANSWERS=200")...), from)
	l := last(wait(t, legs, "leg"))
	f.takes()
	held := func() bool { return strings.Contains(r.ask("list"), f.callID) }
	if !held() {
		t.Fatalf("the relay has %q", r.ask("list"))
	}

	right := f.toTag
	f.toTag = "of-another-call"
	f.ends(481)
	f.toTag = right
	if !held() {
		t.Error("the relay has dropped a call that goes on")
	}
	for waiting := make([]byte, 2000); ; { // those that came before
		_ = f.rtp.SetReadDeadline(time.Now())
		if _, err := f.rtp.Read(waiting); err != nil {
			break
		}
	}
	f.takes()
	f.ends(200)
	if err := wait(t, l.ended, "end of the call"); err != nil {
		t.Errorf("ended with %v", err)
	}
	eventually(t, "the relay drops the call", func() bool { return !held() })
}

// TestEdgeFindsWhoCarriesACallOn: the far end has not heard yet that another node carries its call on, and hangs up at the former
// one, which does not know the call any more, or has stopped.
func TestEdgeFindsWhoCarriesACallOn(t *testing.T) {
	t.Parallel()
	for _, stopped := range []bool{false, true} {
		t.Run(fmt.Sprintf("stopped %v", stopped), func(t *testing.T) {
			t.Parallel()
			var nodes [2]struct {
				ua   *sip.UserAgent
				stop func()
				legs chan *sip.Leg
			}
			for i, at := range []netip.Addr{firstNode, secondNode} {
				n := &nodes[i]
				n.legs = make(chan *sip.Leg, 1)
				n.ua, n.stop = start(t, settled(t, at, sip.Config{OnCall: taking(t, n.legs), Allow: netip.Addr.IsLoopback}))
			}
			from, r, dir := netip.AddrPortFrom(carrierAddr, freePort(t).Port()), newRelay(t), t.TempDir()
			writeDispatcherList(t, dir, nodes[0].ua.Addr(), nodes[1].ua.Addr(), from.String(), callerAddr)
			r.run(t, dir)
			f := callThrough(t, kamailio(t, edgeFile, dir, append(r.defines(), "NODE_ANSWERS=200")...), from)
			former, next := nodes[0], nodes[1]
			var l *lasting
			select {
			case leg := <-former.legs:
				l = last(leg)
			case leg := <-next.legs:
				l = last(leg)
				former, next = next, former
			case <-time.After(patience):
				t.Fatal("no leg")
			}
			defer next.stop()
			done := adopts(t, next.ua, yielded(t, l))
			f.answer(f.expect("INVITE"), 200, f.offer())
			f.expect("ACK")
			a := wait(t, done, "leg")
			if a.err != nil {
				t.Fatal(a.err)
			}
			l.leg.Release()
			if err := wait(t, l.ended, "end of the former leg"); err != sip.ErrCarriedOn {
				t.Errorf("it ended with %v", err)
			}
			eventually(t, "the former end has forgotten the call", func() bool { return former.ua.Stats().Calls == 0 })
			if stopped {
				former.stop()
			} else {
				defer former.stop()
			}
			now := last(a.leg)
			f.ends(200)
			if err := wait(t, now.ended, "end of the call"); err != nil {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// TestEdgeFiles: Kamailio takes the files as they are deployed, with TLS and without; check.sh says whether an edge works.
func TestEdgeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeCertificates(t, dir, newAuthority(t), "edge.example.com")
	for _, name := range []string{"edge.cfg", "dispatcher.list", "service.conf"} {
		text, err := os.ReadFile(filepath.Join("../deploy/kamailio", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	unit, err := os.ReadFile(filepath.Join(dir, "service.conf"))
	if err != nil {
		t.Fatal(err)
	}
	_, line, ok := strings.Cut(string(unit), "ExecStart=/usr/sbin/kamailio ")
	if !ok {
		t.Fatalf("the unit runs no Kamailio:\n%s", unit)
	}
	deployed := strings.Fields(strings.ReplaceAll(line, "/etc/kamailio", dir))
	for what, args := range map[string][]string{"as a service": deployed, "without TLS": {"-f", filepath.Join(dir, "edge.cfg"), "-w", dir}} {
		if out, err := exec.CommandContext(t.Context(), kamailioProgram(t), append(args, "-c")...).CombinedOutput(); err != nil || !strings.Contains(string(out), "config file ok") {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
}

// TestEdgeCheck: check.sh fails when one of both programs does not answer, and never on the machine without the address.
func TestEdgeCheck(t *testing.T) {
	t.Parallel()
	r, dir, at := newRelay(t), t.TempDir(), freePort(t)
	check := func(at netip.AddrPort) error {
		out, err := exec.CommandContext(t.Context(), "bash", "../deploy/kamailio/check.sh", at.Addr().String(), fmt.Sprint(at.Port()), r.control.Addr().String(), fmt.Sprint(r.control.Port())).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	fails := func(why string) {
		t.Helper()
		if err := check(at); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("it says %v, want %q", err, why)
		}
	}
	if err := check(netip.MustParseAddrPort("203.0.113.5:5060")); err != nil {
		t.Errorf("without the address: %v", err)
	}
	writeDispatcherList(t, dir, netip.AddrPortFrom(firstNode, 9), netip.AddrPortFrom(secondNode, 9), netip.AddrPortFrom(carrierAddr, 9).String(), callerAddr)
	relay := r.run(t, dir)
	fails("Kamailio does not answer")
	proxy := kamailioAt(t, at, edgeFile, dir, r.defines()...)
	if err := check(at); err != nil {
		t.Errorf("while both work: %v", err)
	}
	relay()
	fails("rtpengine does not answer")
	proxy()
	fails("Kamailio does not answer")
}
