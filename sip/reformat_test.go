package sip_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/sip"
)

// sentAs waits for our audio under a payload type.
func (f *farEnd) sentAs(pt byte) {
	f.t.Helper()
	_ = f.rtp.SetReadDeadline(time.Now().Add(patience))
	for {
		n, err := f.rtp.Read(f.buf[:])
		if err != nil {
			f.t.Fatalf("no audio of type %d: %v", pt, err)
		}
		if n == 172 && f.buf[1]&0x7f == pt {
			return
		}
	}
}

// press sends a key under a payload type.
func (f *farEnd) press(pt byte, key byte) {
	for i := range 3 {
		f.packet(pt, i == 0, f.time, []byte{key, 0x8a, 0, 160})
	}
	f.time += 160
}

// A transfer behind an exchange gives a call another codec and another type of keys; an
// exchange that asks for our offer gets all that we can.
func TestFormatsChangeInTheCall(t *testing.T) {
	results, events := make(chan outcome, 1), make(chan media.LegEvent, 16)
	ua := serve(t, sip.Config{OnCall: eventful(results, events)})
	p := newPeer(t, ua, "udp")
	res := p.call()
	f := &farEnd{peer: p, to: netip.AddrPortFrom(loopback, uint16(audioPort(t, string(res.Body()))))}
	f.sentAs(0)
	f.press(101, 1)
	changed := p.next(200, "INVITE", strings.ReplaceAll(strings.Replace(p.offer(), "RTP/AVP 0 8 101", "RTP/AVP 8 96", 1), "rtpmap:101", "rtpmap:96"))
	p.write(p.request("ACK", ""))
	if b := string(changed.Body()); !strings.Contains(b, "RTP/AVP 8 96\r\n") {
		t.Errorf("answered with\n%s", b)
	}
	f.sentAs(8)
	f.press(96, 2)
	for _, want := range "12" {
		if e := wait(t, events, "digit"); e.Kind != media.LegDigit || rune(e.Digit) != want {
			t.Errorf("event %+v, want %c", e, want)
		}
	}
	offered := p.next(200, "INVITE", "")
	if b := string(offered.Body()); !strings.Contains(b, "RTP/AVP 8 9 0 96\r\n") {
		t.Errorf("offered\n%s", b)
	}
	p.write(p.request("ACK", strings.Replace(p.offer(), "RTP/AVP 0 8 101", "RTP/AVP 0", 1)))
	f.sentAs(0)
	p.hangup(results)
}
