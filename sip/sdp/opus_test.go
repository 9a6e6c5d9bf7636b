package sdp_test

import (
	"net/netip"
	"strings"
	"testing"

	"parley/media/codec"
	"parley/sip/sdp"
)

// speaking is a side that speaks these codecs.
func speaking(codecs ...codec.Codec) *sdp.Session {
	return sdp.New(sdp.Local{Addr: here, Port: 20000, ID: 42, Codecs: codecs})
}

const (
	opusLine = "a=rtpmap:111 opus/48000/2"
	slow     = "a=rtpmap:101 telephone-event/8000"
	fast     = "a=rtpmap:110 telephone-event/48000"
)

// What comes of offers with Opus, for one who speaks it.
func TestAnswerOpus(t *testing.T) {
	for _, c := range []struct {
		name   string
		lines  []string
		want   sdp.Media // of what concerns codecs
		answer string    // payload types
	}{
		{"of the offer's number, events of its clock", []string{"m=audio 6000 RTP/AVP 111 0 13 101 110", opusLine, slow, fast, "a=fmtp:111 useinbandfec=1; maxaveragebitrate=24000;stereo=1"},
			sdp.Media{Codec: codec.Opus, Opus: codec.OpusParams{Type: 111, Bitrate: 24000, FEC: true}, Events: 110, FastEvents: true}, "111 110"},
		{"events of 8 kHz where there are no others", []string{"m=audio 6000 RTP/AVP 111 101", opusLine, slow},
			sdp.Media{Codec: codec.Opus, Opus: codec.OpusParams{Type: 111}, Events: 101}, "111 101"},
		{"no copies", []string{"m=audio 6000 RTP/AVP 111", opusLine, "a=fmtp:111 useinbandfec=0;maxaveragebitrate=many"},
			sdp.Media{Codec: codec.Opus, Opus: codec.OpusParams{Type: 111}}, "111"},
		{"after what we prefer", []string{"m=audio 6000 RTP/AVP 111 9 101 110", opusLine, slow, fast},
			sdp.Media{Codec: codec.G722, Opus: codec.OpusParams{Type: 111}, Events: 101}, "9 101"},
		{"of 8 kHz there is none", []string{"m=audio 6000 RTP/AVP 111 0", "a=rtpmap:111 opus/8000"}, sdp.Media{Codec: codec.PCMU}, "0"},
		{"under a number that looks like RTCP", []string{"m=audio 6000 RTP/AVP 72 0", "a=rtpmap:72 opus/48000/2"}, sdp.Media{Codec: codec.PCMU}, "0"},
		{"the first of two", []string{"m=audio 6000 RTP/AVP 111 112", opusLine, "a=rtpmap:112 opus/48000/2", "a=fmtp:112 useinbandfec=1"},
			sdp.Media{Codec: codec.Opus, Opus: codec.OpusParams{Type: 111}}, "111"},
	} {
		answer, m, err := speaking(codec.G722, codec.Opus, codec.PCMU).Answer(body(c.lines...))
		got := sdp.Media{Codec: m.Codec, Opus: m.Opus, Events: m.Events, FastEvents: m.FastEvents, Noise: m.Noise}
		if err != nil || got != c.want || !strings.Contains(string(answer), "m=audio 20000 RTP/AVP "+c.answer+"\r\n") {
			t.Errorf("%s: %+v, %v\n%s", c.name, m, err, answer)
		}
		if m.Codec == codec.Opus && !strings.Contains(string(answer), "a=rtpmap:111 opus/48000/2\r\na=fmtp:111 maxplaybackrate=16000;maxaveragebitrate=48000;stereo=0;useinbandfec=1\r\n") {
			t.Errorf("%s:\n%s", c.name, answer)
		}
	}
	if _, m, err := session().Answer(body("m=audio 6000 RTP/AVP 111 0", opusLine)); err != nil || m.Codec != codec.PCMU || m.Opus.Type != 0 {
		t.Errorf("nobody has chosen it: %+v, %v", m, err)
	}
}

// Both ends of an offer with Opus have the same thing in mind.
func TestOfferOpus(t *testing.T) {
	for want, theirs := range map[string][]codec.Codec{
		"96 102": {codec.Opus, codec.PCMU}, "0 101": {codec.PCMU, codec.Opus}, "8 101": nil,
	} {
		us := speaking(codec.Opus, codec.PCMA, codec.PCMU)
		them := sdp.New(sdp.Local{Addr: netip.MustParseAddr("198.51.100.7"), Port: 6000, ID: 7, Codecs: theirs})
		offer, err := us.Offer()
		if err != nil || !strings.Contains(string(offer), "RTP/AVP 96 8 0 101 102\r\n") {
			t.Fatalf("%v, offered\n%s", err, offer)
		}
		answer, b, err := them.Answer(offer)
		if err != nil || !strings.Contains(string(answer), "RTP/AVP "+want+"\r\n") {
			t.Fatalf("%v, answered\n%s", err, answer)
		}
		a, err := us.Accept(answer)
		if err != nil || a.Codec != b.Codec || a.Events != b.Events || a.FastEvents != b.FastEvents || a.Codec == codec.Opus && (a.Opus != b.Opus || !a.Opus.FEC) {
			t.Errorf("%v: %+v and %+v", err, a, b)
		}
		// A refresh changes nothing.
		for range 2 {
			if offer, err = us.Offer(); err != nil || !strings.Contains(string(offer), "RTP/AVP "+want+"\r\n") {
				t.Errorf("%v, offered later\n%s", err, offer)
			}
			if again, err := us.Accept(answer); err != nil || again != a {
				t.Errorf("%+v, %v", again, err)
			}
		}
	}
}

// A call that is moved to Opus and away from it keeps the numbers that the far end gave, and offers what it has with others than
// those.
func TestOpusInTheCall(t *testing.T) {
	s := speaking(codec.Opus, codec.PCMU)
	if _, m, err := s.Answer(body("m=audio 6000 RTP/AVP 0 96", "a=rtpmap:96 telephone-event/8000")); err != nil || m.Codec != codec.PCMU || m.Events != 96 {
		t.Fatalf("%+v, %v", m, err)
	}
	if offer, err := s.OfferAll(); err != nil || !strings.Contains(string(offer), "RTP/AVP 0 97 96 102\r\n") {
		t.Errorf("%v\n%s", err, offer)
	}
	if _, m, err := s.Answer(body("m=audio 6000 RTP/AVP 111 110", opusLine, fast)); err != nil || m.Codec != codec.Opus || m.Events != 110 || !m.FastEvents {
		t.Errorf("%+v, %v", m, err)
	}
	if offer, err := s.Offer(); err != nil || !strings.Contains(string(offer), "RTP/AVP 111 110\r\n") {
		t.Errorf("%v\n%s", err, offer)
	}
	if offer, err := s.OfferAll(); err != nil || !strings.Contains(string(offer), "RTP/AVP 111 0 101 110\r\n") {
		t.Errorf("%v\n%s", err, offer)
	}
	m, err := s.Accept(body("m=audio 6000 RTP/AVP 0 101", slow))
	if err != nil || m.Codec != codec.PCMU || m.Events != 101 || m.FastEvents || m.Common != codec.SetOf(codec.PCMU) {
		t.Errorf("%+v, %v", m, err)
	}
}
