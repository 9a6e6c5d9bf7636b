package sip_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/media/mediatest"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/rtpport"
	"parley/sip/trunk"
)

// Behind the edge of deploy/kamailio nobody is known but by his address.
var (
	firstNode   = netip.MustParseAddr("127.0.0.11")
	secondNode  = netip.MustParseAddr("127.0.0.12")
	carrierAddr = netip.MustParseAddr("127.0.0.21")
	callerAddr  = netip.MustParseAddr("127.0.0.31")
	scannerAddr = netip.MustParseAddr("127.0.0.66")
)

// relays gives each relay of the tests a range of ports of its own: rtpengine binds
// with SO_REUSEADDR, so that of two with the same ports the later takes the packets of
// the earlier. Tests of another process begin elsewhere, most likely.
var relays atomic.Uint32

func init() { relays.Store(rand.Uint32()) }

// behind runs a user agent at an address of its own until the test ends.
func behind(t *testing.T, at netip.Addr, cfg sip.Config) *sip.UserAgent {
	t.Helper()
	return serve(t, settled(t, at, cfg))
}

// settled is a configuration with an address of its own.
func settled(t *testing.T, at netip.Addr, cfg sip.Config) sip.Config {
	t.Helper()
	first := 31000 + uint16(portRanges.Add(1)%15)*100
	pool, err := rtpport.New(rtpport.Config{Addr: at, First: first, Last: first + 99})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	cfg.Listen, cfg.Ports = netip.AddrPortFrom(at, 0), pool
	return cfg
}

// edge runs Kamailio and rtpengine with the files of deploy/kamailio, in which
// only the addresses are others. media are the ports of its relay.
func edge(t *testing.T, node, dead, carrier netip.AddrPort) (at netip.AddrPort, media [2]int) {
	t.Helper()
	return edgeIn(t, t.TempDir(), node, dead, carrier.String(), callerAddr)
}

// edgeIn is edge in a directory, in which there may be other files already. Carriers
// call from caller too.
func edgeIn(t *testing.T, dir string, node, dead netip.AddrPort, carrier string, caller netip.Addr, defines ...string) (at netip.AddrPort, media [2]int) {
	t.Helper()
	writeDispatcherList(t, dir, node, dead, carrier, caller)
	r := newRelay(t)
	r.run(t, dir)
	return kamailio(t, edgeFile, dir, append(defines, r.defines()...)...), r.ports
}

const edgeFile = "../deploy/kamailio/edge.cfg"

// writeDispatcherList writes that of deploy/kamailio with the addresses of a test.
func writeDispatcherList(t *testing.T, dir string, node, dead netip.AddrPort, carrier string, caller netip.Addr) {
	t.Helper()
	list, err := os.ReadFile("../deploy/kamailio/dispatcher.list")
	if err != nil {
		t.Fatal(err)
	}
	text := string(list)
	for documented, here := range map[string]string{
		"10.0.0.11:5060": dead.String(), "10.0.0.12:5060": node.String(), "198.51.100.10:5060": netip.AddrPortFrom(carrierAddr, 9).String(),
		"198.51.100.20:5060": carrier, "198.51.100.30:5060": netip.AddrPortFrom(caller, 9).String(),
	} {
		if !strings.Contains(text, documented) {
			t.Fatalf("%s is not in the list", documented)
		}
		text = strings.ReplaceAll(text, documented, here)
	}
	if err := os.WriteFile(filepath.Join(dir, "dispatcher.list"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// relay is where an rtpengine listens.
type relay struct {
	control netip.AddrPort
	ports   [2]int
}

func newRelay(t *testing.T) relay {
	t.Helper()
	first := 30000 + 100*int(relays.Add(1)%8) // those above are mediatest.FreePorts'
	return relay{freePort(t), [2]int{first, first + 99}}
}

// defines are those of an edge with this relay.
func (r relay) defines() []string {
	return []string{fmt.Sprintf("RTPENGINE=%q", "udp:"+r.control.String()), "PROBE=1"}
}

// run runs rtpengine, until the test ends or its power is cut.
func (r relay) run(t *testing.T, dir string, options ...string) (cut func()) {
	t.Helper()
	program, err := exec.LookPath("rtpengine")
	if err != nil {
		t.Skip("rtpengine is not installed")
	}
	cut = runs(t, exec.Command(program, append(options, "--config-file=../deploy/kamailio/rtpengine.conf", "--interface=127.0.0.1", "--listen-ng="+r.control.String(),
		fmt.Sprintf("--port-min=%d", r.ports[0]), fmt.Sprintf("--port-max=%d", r.ports[1]), "--pidfile="+filepath.Join(dir, "rtpengine.pid"))...))
	eventually(t, "rtpengine answers", func() bool { return strings.Contains(r.ask("ping"), "pong") })
	return cut
}

// ask has rtpengine carry out a command without arguments, and answers nothing where nothing comes back in time. The number
// before a command is another each time: rtpengine repeats its answer to one that it has seen.
func (r relay) ask(command string) string {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(r.control))
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err = fmt.Fprintf(conn, "%d d7:command%d:%se", rand.Uint32(), len(command), command); err != nil {
		return ""
	}
	var answer [2000]byte
	n, _ := conn.Read(answer[:]) // 0 on an error
	return string(answer[:n])
}

// echoing is a handler that says what it hears and reports what it saw. A # brings
// keys back, a D ends the call.
func echoing(calls chan<- seen, keys string) func(context.Context, *sip.Incoming) {
	return func(ctx context.Context, in *sip.Incoming) {
		var s seen
		defer func() { calls <- s }()
		if s.err = in.Ring(); s.err != nil {
			return
		}
		leg, err := in.Answer(ctx)
		if s.err = err; err != nil {
			return
		}
		ctx, hangup := context.WithCancelCause(ctx)
		defer hangup(nil)
		s.rate = leg.Format().In
		s.err = conduct(ctx, leg, func(leg *sip.Leg, f media.Frame) []int16 {
			s.heard = append(s.heard, f.Samples...)
			for len(leg.Events()) > 0 {
				e := <-leg.Events()
				if e.Kind != media.LegDigit {
					continue
				}
				switch s.digits += string(rune(e.Digit)); e.Digit {
				case '#':
					if err := leg.SendDigits(keys); err != nil {
						hangup(err)
					}
				case 'D':
					hangup(&media.Ended{Reason: media.AgentHangup})
				}
			}
			return f.Samples
		})
		s.latched = leg.Stats().Latched.String()
	}
}

// whistle conducts a leg that says a tone and listens.
func whistle(leg *sip.Leg) *talk {
	ctx, end := context.WithCancelCause(context.Background())
	c := &talk{leg: leg, keys: make(chan byte, 64), tone: make(chan struct{}), end: end, over: make(chan error, 1)}
	rate := leg.Format().In
	frame, tone := rate.FrameSamples(), mediatest.Tone(440, rate, int(rate), 0.3)
	go func() {
		said, heard := 0, false
		c.over <- conduct(ctx, leg, func(leg *sip.Leg, f media.Frame) []int16 {
			if hz, level := mediatest.Peak(f.Samples, rate); !heard && hz > 400 && hz < 480 && level > -20 {
				heard = true
				close(c.tone)
			}
			for len(leg.Events()) > 0 {
				if e := <-leg.Events(); e.Kind == media.LegDigit {
					c.keys <- e.Digit
				}
			}
			said += frame
			return tone[said%len(tone):][:frame]
		})
	}()
	return c
}

// press sends keys and waits for those that come back.
func (c *talk) press(t *testing.T, keys, want string) {
	t.Helper()
	if err := c.leg.SendDigits(keys); err != nil {
		t.Fatal(err)
	}
	for got := ""; got != want; {
		if got += string(rune(wait(t, c.keys, "key after "+got))); !strings.HasPrefix(want, got) {
			t.Fatalf("pressed %s, came %s, want %s", keys, got, want)
		}
	}
}

// within checks that an address is one of the edge's relay.
func within(t *testing.T, who, latched string, ports [2]int) {
	t.Helper()
	at, err := netip.ParseAddrPort(latched)
	if err != nil || at.Addr() != loopback || int(at.Port()) < ports[0] || int(at.Port()) > ports[1] {
		t.Errorf("%s hears %s, not the relay at %v", who, latched, ports)
	}
}

// options asks a SIP server from an address of the machine.
func options(t *testing.T, from netip.Addr, to netip.AddrPort) *net.UDPConn {
	t.Helper()
	conn, err := net.DialUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(from, 0)), net.UDPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintf(conn, "OPTIONS sip:%[1]s SIP/2.0\r\nVia: SIP/2.0/UDP %[2]s;branch=z9hG4bK1;rport\r\nFrom: <sip:a@%[3]s>;tag=1\r\n"+
		"To: <sip:%[1]s>\r\nCall-ID: %[2]s\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n", to, conn.LocalAddr(), from); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestEdge: two servers of ours behind an edge, one of them dead. Calls come in
// through it and go out through it on a trunk, sound and keys arrive, strangers get nothing,
// and a server that drains is left alone.
func TestEdge(t *testing.T) {
	t.Parallel()
	const keys, answer = "0123456789*#", "9876543210*"
	calls, theirs, h := make(chan seen, 1), make(chan outcome, 1), sip.NewHands()
	node := behind(t, firstNode, h.On(sip.Config{OnCall: func(ctx context.Context, in *sip.Incoming) {
		if in.Trunk != "edge" {
			t.Errorf("a call comes on the trunk %q", in.Trunk)
		}
		echoing(calls, answer)(ctx, in)
	}}))
	carrier := behind(t, carrierAddr, sip.Config{OnCall: answering(theirs)})
	at, relay := edge(t, node.Addr(), netip.AddrPortFrom(secondNode, 9), carrier.Addr())
	// As the preset kamailio of accounts' trunks has it.
	node.SetTrunks([]trunk.Config{{Name: "edge", Targets: []trunk.Target{{Host: at.Addr().String(), Port: at.Port()}}, Allow: []netip.Prefix{netip.PrefixFrom(at.Addr(), at.Addr().BitLen())},
		Plan: trunk.DialPlan{Form: trunk.FormE164}}})
	scanner := options(t, scannerAddr, at)
	target := sip.Target{URI: "sip:+15550100002@" + at.String(), From: header.Identity{Number: "+15550100001"}}

	for _, want := range []string{keys, "D"} { // the first call may have to wait for the dead one
		leg, err := carrier.Dial(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		c := whistle(leg)
		wait(t, c.tone, "echo")
		if want == keys {
			due(t, h, half)
			eventually(t, "the session is refreshed", func() bool { return h.Next() == half })
			c.listen(t)
			c.press(t, keys, answer)
			c.hangup(media.AgentHangup)
		} else {
			c.press(t, "D", "")
		}
		s := wait(t, calls, "end of the call")
		if err := wait(t, c.over, "end of the caller"); err != nil || s.err != nil {
			t.Errorf("ended with %v and %v", err, s.err)
		}
		if s.digits != want {
			t.Errorf("keys %q, want %q", s.digits, want)
		}
		within(t, "the server", s.latched, relay)
		within(t, "the caller", leg.Stats().Latched.String(), relay)
	}

	leg, err := node.Dial(t.Context(), sip.Target{Number: number, Trunk: "edge"})
	if err != nil {
		t.Fatal(err)
	}
	c := whistle(leg)
	c.listen(t)
	c.hangup(media.AgentHangup)
	if o := wait(t, theirs, "end of the call"); o.err != nil || o.in.Called != number || o.in.Source != at {
		t.Errorf("%v %+v", o.err, o.in)
	} else if list, _ := o.in.Trace().Messages(); !strings.HasPrefix(list[0].Text, "INVITE sip:"+number+"@"+carrier.Addr().String()+" ") {
		t.Errorf("the carrier is called as\n%s", list[0].Text)
	}
	wait(t, c.over, "goodbye")
	within(t, "the server", leg.Stats().Latched.String(), relay)

	var b [2000]byte
	eventually(t, "the edge answers an address that carriers only call from", func() bool {
		asked := options(t, callerAddr, at)
		defer asked.Close()
		if err := asked.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		n, err := asked.Read(b[:])
		return err == nil && bytes.HasPrefix(b[:n], []byte("SIP/2.0 200 "))
	})

	node.Drain()
	eventually(t, "the edge says that it has no node", func() bool {
		asked := options(t, carrierAddr, at)
		defer asked.Close()
		if err := asked.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		n, err := asked.Read(b[:])
		return err == nil && bytes.HasPrefix(b[:n], []byte("SIP/2.0 503 "))
	})
	_, err = carrier.Dial(t.Context(), target)
	if e, ok := errors.AsType[*sip.NotAnswered](err); !ok || e.Phrase != "No node" {
		t.Errorf("a call without nodes: %v", err)
	}
	if err := scanner.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if n, err := scanner.Read(b[:]); err == nil {
		t.Errorf("a stranger is told %s", b[:n])
	}
}

// translated is a far end behind an address translator: what it says of itself is an
// address that is not there.
func translated(t *testing.T, edge, from netip.AddrPort) *called {
	t.Helper()
	c := &called{seen: map[string]bool{}, peer: &peer{t: t, ua: edge, msgs: make(chan gosip.Message, 64), tag: "their-tag", seq: 1, callID: t.Name()}}
	var err error
	if c.udp, err = net.DialUDP("udp", net.UDPAddrFromAddrPort(from), net.UDPAddrFromAddrPort(edge)); err != nil {
		t.Fatal(err)
	}
	if c.rtp, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(from.Addr(), 0))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.udp.Close(); c.rtp.Close() })
	all := &peer{udp: c.udp, msgs: make(chan gosip.Message)}
	stop := make(chan struct{})
	go all.readUDP(all.udp)
	go func() {
		for {
			select {
			case m := <-all.msgs:
				if r, ok := m.(*gosip.Request); !ok || r.Method != gosip.OPTIONS { // probes
					c.msgs <- m
				}
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() { close(stop) })
	return c
}

const hidden = "192.168.77.7"

func (c *called) hiddenOffer() string {
	return strings.Replace(c.offer(), "c=IN IP4 127.0.0.1", "c=IN IP4 "+hidden, 1)
}

// takes checks that sound arrives where nothing was sent from.
func (c *called) takes() {
	c.t.Helper()
	_ = c.rtp.SetReadDeadline(time.Now().Add(patience))
	if _, err := c.rtp.Read(make([]byte, 2000)); err != nil {
		c.t.Errorf("no sound: %v", err)
	}
}

// TestEdgeFollowsTranslators: a far end whose Contact and description have a private
// address, and whose packets come from elsewhere, gets the requests of a call where its
// packets come from, and the sound, whoever called and whoever hangs up.
func TestEdgeFollowsTranslators(t *testing.T) {
	t.Parallel()
	legs := make(chan *sip.Leg, 1)
	node := behind(t, firstNode, sip.Config{OnCall: taking(t, legs)})
	from := netip.AddrPortFrom(carrierAddr, freePort(t).Port())
	at, _ := edge(t, node.Addr(), node.Addr(), from)
	far := translated(t, at, from)
	contact := "<sip:far@" + hidden + ":5060>"
	accept := func(r *gosip.Request) {
		res := gosip.NewResponseFromRequest(r, 200, "OK", []byte(far.hiddenOffer()))
		res.To().Params.Remove("tag")
		res.To().Params.Add("tag", far.tag)
		res.AppendHeader(gosip.NewHeader("Contact", contact))
		res.AppendHeader(gosip.NewHeader("Content-Type", "application/sdp"))
		far.write(res.String())
	}
	result := dial(t, node, t.Context(), sip.Target{URI: "sip:" + number + "@" + at.String()})
	accept(far.rung())
	far.expect("ACK")
	d := wait(t, result, "answer")
	if d.err != nil {
		t.Fatal(d.err)
	}
	out := last(d.leg)
	far.takes()
	out.finish(far)

	far.calls(legs, "UDP", contact)
}

// calls has a hidden far end call a node that hands its legs out, and hang up, and call
// again and be hung up on.
func (c *called) calls(legs <-chan *sip.Leg, transport, contact string) {
	c.t.Helper()
	via := func() string {
		return "Via: SIP/2.0/" + transport + " " + hidden + ":5060;branch=" + gosip.GenerateBranch()
	}
	for _, theirs := range []bool{true, false} {
		c.callID, c.toTag = fmt.Sprintf("%s-%v", c.t.Name(), theirs), ""
		c.write(c.request("INVITE", c.hiddenOffer(), "Contact: "+contact, via()))
		res := c.response(200, "INVITE")
		c.toTag = res.To().Params.GetOr("tag", "")
		routes := []string{}
		for _, h := range res.GetHeaders("Record-Route") {
			routes = append([]string{"Route: " + h.Value()}, routes...) // RFC 3261 section 12.1.2
		}
		routed := func(method string) string {
			text := c.request(method, "", "Contact: "+contact, via(), strings.Join(routes, "\r\n"))
			return strings.Replace(text, method+" sip:+15550100002@127.0.0.1 ", method+" "+res.Contact().Address.String()+" ", 1)
		}
		c.write(routed("ACK"))
		in := last(wait(c.t, legs, "leg"))
		c.takes()
		if theirs {
			c.seq++
			c.write(routed("BYE"))
			c.response(200, "BYE")
			if err := wait(c.t, in.ended, "end of the call"); err != nil {
				c.t.Errorf("ended with %v", err)
			}
		} else {
			in.finish(c)
		}
	}
}

// TestEdgeForAnyPhone: SIPp calls through the edge.
func TestEdgeForAnyPhone(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sipp"); err != nil {
		t.Skip("sipp is not installed")
	}
	calls := make(chan seen, 1)
	node := behind(t, firstNode, sip.Config{OnCall: echoing(calls, "")})
	at, relay := edge(t, node.Addr(), node.Addr(), netip.AddrPortFrom(carrierAddr, 9))
	for _, name := range []string{"call", "late_offer"} {
		cmd := exec.CommandContext(t.Context(), "bash", script(t), "in", name, at.String())
		cmd.Dir = interopFiles(t)
		cmd.Env = append(os.Environ(), "IP="+carrierAddr.String(), "PORT="+strconv.Itoa(mediatest.FreePorts(t)), "MEDIA="+strconv.Itoa(mediatest.FreePorts(t)), "TRACE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		s := wait(t, calls, "end of the call")
		heardTone(2*time.Second)(t, s, 0)
		within(t, "the server", s.latched, relay)
	}
}
