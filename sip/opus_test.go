package sip_test

import (
	"net/netip"
	"strings"
	"testing"

	"parley/media"
	"parley/media/codec"
	"parley/sip"
)

// A call in Opus is heard in its whole band, keys come, and an exchange that holds it and moves it to another codec and back does
// not end it.
func TestOpusCall(t *testing.T) {
	legs, keys, results := make(chan *sip.Leg, 1), make(chan byte, 8), make(chan outcome, 1)
	p := newPeer(t, serve(t, sip.Config{OnCall: echo(legs, keys, results), Codecs: []codec.Codec{codec.Opus, codec.G722, codec.PCMU}}), "udp")
	offer := func(formats, more string) string {
		return strings.Replace(p.offer(), "0 8 101", formats, 1) + more
	}
	const opus = "a=rtpmap:96 opus/48000/2\r\na=fmtp:96 useinbandfec=1\r\na=rtpmap:97 telephone-event/48000\r\n"
	res := p.next(200, "INVITE", offer("0 8 96 97 101", opus))
	p.toTag = res.To().Params.GetOr("tag", "")
	p.write(p.request("ACK", ""))
	if b := string(res.Body()); !strings.Contains(b, "RTP/AVP 96 97\r\na=rtpmap:96 opus/48000/2\r\n") || !strings.Contains(b, "a=rtpmap:97 telephone-event/48000\r\n") {
		t.Fatalf("answered with\n%s", b)
	}
	f := &farEnd{peer: p, to: netip.AddrPortFrom(loopback, uint16(audioPort(t, string(res.Body()))))}
	f.hears(codec.Opus, wide)
	leg := wait(t, legs, "leg")
	f.press(97, 7)
	if key := wait(t, keys, "key"); key != '7' {
		t.Errorf("pressed %c", key)
	}
	for _, direction := range []string{"a=sendonly\r\n", "a=sendrecv\r\n"} {
		p.next(200, "INVITE", offer("96 97", opus+direction))
		p.write(p.request("ACK", ""))
	}
	f.hears(codec.Opus, 700)
	for _, c := range []codec.Codec{codec.PCMU, codec.Opus, codec.G722, codec.Opus} {
		formats := map[codec.Codec]string{codec.PCMU: "0 101", codec.G722: "9 101", codec.Opus: "96 101"}[c]
		more := ""
		if c == codec.Opus {
			more = opus
		}
		res = p.next(200, "INVITE", offer(formats, more))
		p.write(p.request("ACK", ""))
		if b := string(res.Body()); !strings.Contains(b, "RTP/AVP "+formats+"\r\n") {
			t.Errorf("answered with\n%s", b)
		}
		f.hears(c, 700)
	}
	f.hears(codec.Opus, wide)
	if format := leg.Format(); format.In != media.Rate16k || format.Out != media.Rate16k {
		t.Errorf("the leg is at %v", format)
	}
	p.hangup(results)
}
