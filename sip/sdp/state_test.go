package sdp_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"parley/media/codec"
	"parley/sip/sdp"
)

// offerOfTwo has a stream that we refuse before the one that we take.
const offerOfTwo = "v=0\r\no=- 5 9 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n" +
	"m=video 5000 RTP/AVP 31\r\nm=audio 4000 RTP/AVP 9 8 96 97 13\r\na=rtpmap:96 opus/48000/2\r\na=rtpmap:97 telephone-event/8000\r\na=sendonly\r\n"

// passed is a state as it is sent.
func passed(t *testing.T, st sdp.State) (got sdp.State) {
	t.Helper()
	text, err := json.Marshal(st)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestResume: the next description is what the one that went on would have sent, from the other address, and a version later.
func TestResume(t *testing.T) {
	here := sdp.Local{Addr: netip.MustParseAddr("198.51.100.1"), Port: 6000, ID: 77, Codecs: []codec.Codec{codec.G722, codec.PCMA}}
	s := sdp.New(here)
	if _, ok := s.State(); ok {
		t.Error("a state before anything is agreed on")
	}
	answer, m, err := s.Answer([]byte(offerOfTwo))
	if err != nil {
		t.Fatal(err)
	}
	st, ok := s.State()
	if !ok {
		t.Fatal("no state")
	}
	there := sdp.Resume(sdp.Local{Addr: netip.MustParseAddr("2001:db8::7"), Port: 7000, ID: 1, Codecs: here.Codecs}, passed(t, st))
	if got, ok := there.Media(); !ok || got != m {
		t.Errorf("%+v, want %+v", got, m)
	}
	offer, err := there.Offer()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("o=- 77 0 IN", "o=- 77 1 IN", "c=IN IP4 198.51.100.1", "c=IN IP6 2001:db8::7", "audio 6000", "audio 7000").Replace(string(answer))
	if string(offer) != want {
		t.Errorf("\n%s\nwant\n%s", offer, want)
	}
	if _, ok := there.State(); ok {
		t.Error("a state while an offer waits for its answer")
	}
	there.Reject()
	again, ok := there.State()
	if !ok || again.Version != 1 || again.Origin != here.Addr {
		t.Errorf("%+v", again)
	}
}

// TestNoStateOfEncryptedMedia: its keys stay where they are.
func TestNoStateOfEncryptedMedia(t *testing.T) {
	s := sdp.New(sdp.Local{Addr: netip.MustParseAddr("198.51.100.1"), Port: 6000, ID: 77, SRTP: sdp.SRTPOffered})
	body := "v=0\r\no=- 5 9 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/SAVP 0\r\n" +
		"a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkw\r\n"
	if _, _, err := s.Answer([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if st, ok := s.State(); ok {
		t.Errorf("%+v", st)
	}
}
