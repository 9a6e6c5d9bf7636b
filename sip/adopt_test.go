package sip_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip"
	"parley/sip/dialog"
	"parley/sip/rtpport"
	"parley/sip/sdp"
	"parley/sip/trunk"
)

// elsewhere is where the other user agent of these tests is.
var elsewhere = netip.MustParseAddr("127.0.0.2")

// roaming is the socket of a far end that hears every user agent, and writes to the one that it believes the call to be at.
type roaming struct {
	*net.UDPConn
	peer *peer
}

func (r roaming) Write(b []byte) (int, error) { return r.WriteToUDPAddrPort(b, r.peer.ua) }

// roam makes a peer hear every user agent.
func (p *peer) roam() {
	p.t.Helper()
	p.udp.Close()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: loopback.AsSlice()})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	p.udp = roaming{conn, p}
	go p.readUDP(p.udp)
}

// other serves a second user agent, at another address.
func other(t *testing.T, cfg sip.Config) *sip.UserAgent {
	t.Helper()
	first := 20000 + uint16(portRanges.Add(1)%100)*100
	pool, err := rtpport.New(rtpport.Config{Addr: elsewhere, First: first, Last: first + 99})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	cfg.Listen, cfg.Ports = netip.AddrPortFrom(elsewhere, 0), pool
	return serve(t, cfg)
}

// adoption is what Adopt returned.
type adoption struct {
	leg *sip.Leg
	err error
}

// adopts has a user agent adopt a call by its passport, as it is sent.
func adopts(t *testing.T, ua *sip.UserAgent, p sip.Passport) <-chan adoption {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var sent sip.Passport
	if err := json.Unmarshal(text, &sent); err != nil {
		t.Fatal(err)
	}
	done := make(chan adoption, 1)
	go func() {
		leg, err := ua.Adopt(sent, nil)
		done <- adoption{leg, err}
	}()
	return done
}

// yielded is the passport of a call that can be yielded now.
func yielded(t *testing.T, l *lasting) sip.Passport {
	t.Helper()
	p, err := l.leg.Yield()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// begun is a call between a user agent and a far end that hears every other one; description is ours.
func begun(t *testing.T, ua *sip.UserAgent, legs chan *sip.Leg, way string) (c *called, l *lasting, description string) {
	t.Helper()
	if way == "went out" {
		c = newCalled(t, ua, "udp")
		c.roam()
		c.uri = "sip:+15550100009@" + c.local().String()
		l = connect(t, ua, c)
		return c, l, string(c.invite.Body())
	}
	p := newPeer(t, ua, "udp")
	p.roam()
	p.write(p.request("INVITE", p.offer()))
	res := p.response(200, "INVITE")
	p.toTag = res.To().Params.GetOr("tag", "")
	p.write(p.request("ACK", ""))
	c = &called{peer: p, seen: map[string]bool{}}
	l = last(wait(t, legs, "leg"))
	confirmed(p)
	return c, l, string(res.Body())
}

// origin reads the o= line of a description.
func origin(t *testing.T, description string) (id, version uint64, addr string) {
	t.Helper()
	_, rest, _ := strings.Cut(description, "o=- ")
	if _, err := fmt.Sscanf(rest, "%d %d IN IP4 %s", &id, &version, &addr); err != nil {
		t.Fatalf("%v in %s", err, description)
	}
	return id, version, addr
}

// heardFrom waits for audio from an address.
func (p *peer) heardFrom(from netip.AddrPort) {
	p.t.Helper()
	b := make([]byte, 2000)
	_ = p.rtp.SetReadDeadline(time.Now().Add(patience))
	for {
		_, at, err := p.rtp.ReadFromUDPAddrPort(b)
		if err != nil {
			p.t.Fatalf("no audio from %s: %v", from, err)
		}
		if at == from {
			return
		}
	}
}

// TestAdopt: a call goes on at another address. The far end knows the dialog and the session by what stays of them.
func TestAdopt(t *testing.T) {
	for _, way := range []string{"came in", "went out"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			legs := make(chan *sip.Leg, 1)
			from, to := serve(t, sip.Config{OnCall: taking(t, legs)}), other(t, sip.Config{})
			c, l, before := begun(t, from, legs, way)
			former := c.expectedOf(before)
			done := adopts(t, to, yielded(t, l))

			re := c.expect("INVITE")
			id, version, addr := origin(t, string(re.Body()))
			if wantID, wantVersion, wantAddr := origin(t, before); id != wantID || version != wantVersion+1 || addr != wantAddr {
				t.Errorf("after\n%s\ncomes\n%s", before, re.Body())
			}
			if !strings.Contains(string(re.Body()), "c=IN IP4 127.0.0.2\r\n") || re.Contact().Address.Host != elsewhere.String() || re.Contact().Address.Port != int(to.Addr().Port()) {
				t.Errorf("\n%s", re)
			}
			if re.CallID().Value() != c.callID || re.From().Params.GetOr("tag", "") != c.toTag || re.To().Params.GetOr("tag", "") != c.tag || re.CSeq().SeqNo < former+1000 {
				t.Errorf("\n%s", re)
			}
			c.ua = to.Addr()
			c.answer(re, 200, c.offer())
			c.expect("ACK")
			a := wait(t, done, "leg")
			if a.err != nil {
				t.Fatal(a.err)
			}
			if !a.leg.Answered().Equal(l.leg.Answered()) {
				t.Errorf("answered %v, was %v", a.leg.Answered(), l.leg.Answered())
			}
			l.leg.Release()
			if err := wait(t, l.ended, "end of the former leg"); err != sip.ErrCarriedOn {
				t.Errorf("it ended with %v", err)
			}
			now := last(a.leg)
			c.heardFrom(netip.AddrPortFrom(elsewhere, uint16(audioPort(t, string(re.Body())))))
			eventually(t, "the former end has forgotten the call", func() bool { return from.Stats().Calls == 0 })
			c.next(200, "BYE", "")
			if err := wait(t, now.ended, "end of the call"); err != nil {
				t.Error(err)
			}
			for len(c.msgs) > 0 {
				if m, ok := (<-c.msgs).(*gosip.Request); ok {
					t.Errorf("the far end got\n%s", m)
				}
			}
		})
	}
}

// TestAdoptFromTheDead: a call is adopted by what its user agent said of it before it went on. That one, which is not dead after all, is
// not heard any more, and leaves without a word.
func TestAdoptFromTheDead(t *testing.T) {
	for _, way := range []string{"came in", "went out"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			legs := make(chan *sip.Leg, 1)
			from, to := serve(t, sip.Config{OnCall: taking(t, legs)}), other(t, sip.Config{})
			c, l, before := begun(t, from, legs, way)
			passport, err := l.leg.Passport()
			if err != nil {
				t.Fatal(err)
			}
			c.heardFrom(netip.AddrPortFrom(loopback, uint16(audioPort(t, before))))
			var muted atomic.Bool
			l.leg.MuteWhile(muted.Load)
			muted.Store(true)
			done := adopts(t, to, passport)
			re := c.expect("INVITE")
			c.ua = to.Addr()
			c.answer(re, 200, c.offer())
			c.expect("ACK")
			a := wait(t, done, "leg")
			if a.err != nil {
				t.Fatal(a.err)
			}
			now := last(a.leg)
			c.heardFrom(netip.AddrPortFrom(elsewhere, uint16(audioPort(t, string(re.Body())))))
			sent := l.leg.Stats().Sent
			for range 10 { // frames of one, while the other sends none
				c.heardFrom(netip.AddrPortFrom(elsewhere, uint16(audioPort(t, string(re.Body())))))
			}
			if now := l.leg.Stats().Sent; now != sent {
				t.Errorf("the former end has sent %d packets", now-sent)
			}
			l.leg.Abandon()
			if err := wait(t, l.ended, "end of the former leg"); err != sip.ErrCarriedOn {
				t.Errorf("it ended with %v", err)
			}
			eventually(t, "the former end has forgotten the call", func() bool { return from.Stats().Calls == 0 })
			now.finish(c)
			for len(c.msgs) > 0 {
				if m, ok := (<-c.msgs).(*gosip.Request); ok && m.Method == gosip.BYE && m.Via().Host == loopback.String() {
					t.Errorf("the far end got\n%s", m)
				}
			}
		})
	}
}

// expectedOf is the CSeq that our next request must exceed by far.
func (c *called) expectedOf(string) uint32 {
	if c.invite != nil {
		return c.invite.CSeq().SeqNo
	}
	return 0
}

// TestNotAdopted: the call goes on where it was, with what had to wait.
func TestNotAdopted(t *testing.T) {
	t.Parallel()
	h, legs := sip.NewHands(), make(chan *sip.Leg, 1)
	cfg := h.On(sip.Config{OnCall: taking(t, legs)})
	from, to := serve(t, cfg), other(t, sip.Config{})
	c, l, _ := begun(t, from, legs, "came in")
	done := adopts(t, to, yielded(t, l))
	if _, err := l.leg.Yield(); !errors.Is(err, sip.ErrBusy) {
		t.Errorf("yielded twice: %v", err)
	}
	h.Turn(half) // a refresh is due, and must wait
	c.turnedDown(491, c.offer())
	re := c.expect("INVITE")
	if re.Via().Host != elsewhere.String() {
		t.Fatalf("\n%s", re)
	}
	c.seen = map[string]bool{}
	refuse := func(r *gosip.Request, code int) {
		c.ua = to.Addr()
		c.answer(r, code, "")
		c.expect("ACK")
		c.ua = from.Addr()
	}
	refuse(re, 488)
	a := wait(t, done, "outcome")
	var no *sip.NotAdopted
	if !errors.As(a.err, &no) || no.Code != 488 {
		t.Fatalf("%+v", a)
	}
	eventually(t, "the other user agent has forgotten the call", func() bool { return to.Stats().Calls == 0 })
	l.leg.Reclaim()
	refresh := c.expect("INVITE")
	if refresh.Via().Host != loopback.String() {
		t.Errorf("\n%s", refresh)
	}
	c.answer(refresh, 200, c.offer())
	c.expect("ACK")
	c.heardFrom(netip.AddrPortFrom(loopback, uint16(audioPort(t, string(refresh.Body())))))
	l.finish(c)
}

// TestAdoptAfterGlare: what the far end changes at the same moment waits, and so do we.
func TestAdoptAfterGlare(t *testing.T) {
	t.Parallel()
	legs := make(chan *sip.Leg, 1)
	from, to := serve(t, sip.Config{OnCall: taking(t, legs)}), other(t, sip.Config{})
	c, l, _ := begun(t, from, legs, "came in")
	done := adopts(t, to, yielded(t, l))
	first := c.expect("INVITE")
	c.ua = to.Addr()
	c.answer(first, 491, "")
	c.expect("ACK")
	second := c.expect("INVITE")
	if second.CSeq().SeqNo <= first.CSeq().SeqNo || string(second.Body()) != string(first.Body()) {
		t.Errorf("after\n%s\ncomes\n%s", first, second)
	}
	c.answer(second, 200, c.offer())
	c.expect("ACK")
	a := wait(t, done, "leg")
	if a.err != nil {
		t.Fatal(a.err)
	}
	l.leg.Release()
	last(a.leg).finish(c)
}

// TestAdoptWithCredentials: the far end asks the new end who it is.
func TestAdoptWithCredentials(t *testing.T) {
	t.Parallel()
	p := newPeer(t, serve(t, sip.Config{}), "udp")
	p.roam()
	at := p.local().(*net.UDPAddr).AddrPort()
	line := trunk.Config{Name: "carrier", Targets: []trunk.Target{{Host: at.Addr().String(), Port: at.Port()}}, Flags: trunk.NoProbe, Auth: dialog.Credentials(ann)}
	cfg := sip.Config{Trunks: []trunk.Config{line}}
	from, to := serve(t, cfg), other(t, cfg)
	c := &called{peer: p, seen: map[string]bool{}}
	p.ua = from.Addr()
	result := dial(t, from, context.Background(), sip.Target{Number: "+15550100009"})
	c.answer(c.rung(), 200, c.offer())
	c.expect("ACK")
	d := wait(t, result, "answer")
	if d.err != nil {
		t.Fatal(d.err)
	}
	l := last(d.leg)
	passport := yielded(t, l)
	if _, err := other(t, sip.Config{}).Adopt(passport, nil); !errors.Is(err, sip.ErrNoTrunk) {
		t.Errorf("without its trunk: %v", err)
	}
	done := adopts(t, to, passport)
	first := c.expect("INVITE")
	c.ua = to.Addr()
	c.answer(first, 407, "", `Proxy-Authenticate: Digest realm="far", nonce="abc", algorithm=MD5, qop="auth"`)
	c.expect("ACK")
	second := c.expect("INVITE")
	if second.GetHeader("Proxy-Authorization") == nil {
		t.Errorf("\n%s", second)
	}
	c.answer(second, 200, c.offer())
	c.expect("ACK")
	a := wait(t, done, "leg")
	if a.err != nil {
		t.Fatal(a.err)
	}
	l.leg.Release()
	if err := wait(t, l.ended, "end of the former leg"); err != sip.ErrCarriedOn {
		t.Error(err)
	}
	if was, is := from.Trunks()[0].Calls, to.Trunks()[0].Calls; was != 0 || is != 1 {
		t.Errorf("the trunk has %d calls at the former end and %d at the other", was, is)
	}
	last(a.leg).finish(c)
	eventually(t, "the channel is free", func() bool { return to.Trunks()[0].Calls == 0 })
}

// TestHangupWhileYielded: the far end leaves, and the other user agent learns that the call is over.
func TestHangupWhileYielded(t *testing.T) {
	t.Parallel()
	legs := make(chan *sip.Leg, 1)
	from, to := serve(t, sip.Config{OnCall: taking(t, legs)}), other(t, sip.Config{})
	c, l, _ := begun(t, from, legs, "came in")
	passport := yielded(t, l)
	c.next(200, "BYE", "")
	if err := wait(t, l.ended, "end of the leg"); err != nil {
		t.Error(err)
	}
	l.leg.Release()
	l.leg.Reclaim()
	if _, err := l.leg.Yield(); !errors.Is(err, sip.ErrOver) {
		t.Errorf("yielded after its end: %v", err)
	}
	done := adopts(t, to, passport)
	re := c.expect("INVITE")
	c.ua = to.Addr()
	c.answer(re, 481, "")
	c.expect("ACK")
	var no *sip.NotAdopted
	if a := wait(t, done, "outcome"); !errors.As(a.err, &no) || no.Code != 481 {
		t.Errorf("%+v", a)
	}
}

// TestShutdownWhileAdopting: the call is still its former end's, so nothing ends it.
func TestShutdownWhileAdopting(t *testing.T) {
	t.Parallel()
	legs := make(chan *sip.Leg, 1)
	from := serve(t, sip.Config{OnCall: taking(t, legs)})
	pool := ports(t)
	to, err := sip.New(sip.Config{Listen: netip.AddrPortFrom(elsewhere, 0), Ports: pool})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- to.Run(ctx) }()
	c, l, _ := begun(t, from, legs, "came in")
	done := adopts(t, to, yielded(t, l))
	c.expect("INVITE")
	stop()
	var no *sip.NotAdopted
	if a := wait(t, done, "outcome"); !errors.As(a.err, &no) {
		t.Errorf("%+v", a)
	}
	if err := wait(t, ran, "end of the user agent"); err != nil {
		t.Error(err)
	}
	if n := pool.Stats().InUse; n != 0 {
		t.Errorf("%d ports are in use", n)
	}
	l.leg.Reclaim()
	confirmed(c.peer) // by the former end
	l.finish(c)
	for len(c.msgs) > 0 {
		if r, ok := (<-c.msgs).(*gosip.Request); ok && r.Method == gosip.BYE {
			t.Errorf("the far end got\n%s", r)
		}
	}
}

// TestCannotBeYielded: while a change is under way, and where keys or a connection stay where they are.
func TestCannotBeYielded(t *testing.T) {
	t.Parallel()
	busy := func(t *testing.T, l *lasting) {
		t.Helper()
		if _, err := l.leg.Yield(); !errors.Is(err, sip.ErrBusy) {
			t.Errorf("yielded: %v", err)
		}
	}
	t.Run("a change", func(t *testing.T) {
		legs := make(chan *sip.Leg, 1)
		c, l, _ := begun(t, serve(t, sip.Config{OnCall: taking(t, legs)}), legs, "came in")
		c.next(200, "INVITE", c.offer("a=sendonly"))
		busy(t, l)
		c.write(c.request("ACK", ""))
		confirmed(c.peer)
		if p := yielded(t, l); p.Media.Media.Direction != sdp.RecvOnly {
			t.Errorf("%+v", p.Media)
		}
		l.leg.Reclaim()
		l.finish(c)
	})
	t.Run("a browser", func(t *testing.T) {
		legs := make(chan *sip.Leg, 1)
		ua := serve(t, sip.Config{OnCall: taking(t, legs), Trunks: []trunk.Config{browsers("web", "acc_1", ann)}})
		p := newPeer(t, ua, "ws")
		res := p.login(ann, p.offer())
		p.toTag = res.To().Params.GetOr("tag", "")
		p.write(p.request("ACK", ""))
		l := last(wait(t, legs, "leg"))
		confirmed(p)
		busy(t, l)
		l.finish(&called{peer: p, seen: map[string]bool{}})
	})
	t.Run("another release", func(t *testing.T) {
		if _, err := other(t, sip.Config{}).Adopt(sip.Passport{Version: 99}, nil); !errors.Is(err, sip.ErrPassport) {
			t.Error(err)
		}
	})
}

// passportForm is a Passport of the version in force, as JSON.
const passportForm = `{"Version":1,"Dialog":{"CallID":"a","LocalTag":"b","RemoteTag":"c","Local":"sip:127.0.0.1","Remote":"sip:d@127.0.0.1:5060",` +
	`"LocalSeq":1,"RemoteSeq":2,"HasRemoteSeq":true,"Target":"sip:d@127.0.0.1:5060;transport=tcp","Routes":["sip:127.0.0.3;lr"],"Secure":true,"Replaceable":true,` +
	`"Transport":"TCP","Self":"127.0.0.1:5060","Home":"127.0.0.4","Peer":"127.0.0.4:5060","Detour":true,"Named":{"To":"e.test:5060","Transport":"TCP","At":"127.0.0.4:5060"}},` +
	`"Trunk":"carrier","Placed":true,"Updates":true,"Session":{"Interval":1800000000000,"Least":90000000000,"Agreed":true,"Ours":true},` +
	`"Media":{"Origin":"127.0.0.1","ID":3,"Version":4,"Lines":["audio 20220 RTP/AVP 9 0 101"],"Mid":"f","Bundled":true,"Media":{"Remote":"127.0.0.4:6000",` +
	`"RTCP":"127.0.0.4:6001","Mux":true,"Codec":9,"Common":513,"Opus":{"Type":96,"Bitrate":24000,"FEC":true},"Events":101,"FastEvents":true,"Noise":true,"Direction":3}},` +
	`"Answered":"2026-01-02T03:04:05Z"}`

// TestPassportForm: a passport of another form is one of another version, for nodes of two releases adopt calls of each other.
func TestPassportForm(t *testing.T) {
	var p sip.Passport
	if err := json.Unmarshal([]byte(passportForm), &p); err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(p); err != nil || string(text) != passportForm {
		t.Errorf("%v, version 1 becomes\n%s, was\n%s", err, text, passportForm)
	}
}
