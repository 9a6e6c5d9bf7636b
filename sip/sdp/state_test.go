package sdp_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"regexp"
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

// TestResumeEncrypted: the audio stays encrypted, in the same suite and profile, with a key of ours that is new and no key in what is passed on.
func TestResumeEncrypted(t *testing.T) {
	for _, c := range []struct {
		policy          sdp.Policy
		line, keys, out string // what is offered, and our key's line without the key
	}{
		{sdp.SRTPOffered, savp, line80, "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"},
		{sdp.SRTPOffered, avp, line32, "a=crypto:1 AES_CM_128_HMAC_SHA1_32 inline:"},
		{sdp.SRTPRequired, savp, lineGCM, "a=crypto:1 AEAD_AES_128_GCM inline:"},
		{sdp.SRTPOffered, savp, line80 + "|2^31|258:4", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"},
	} {
		t.Run(c.line+" "+c.out, func(t *testing.T) {
			s := with(c.policy)
			far := "v=0\r\no=- 5 9 IN IP4 192.0.2.9\r\ns=-\r\nc=IN IP4 192.0.2.9\r\nt=0 0\r\n" + c.line + "\r\n" + c.keys + "\r\n"
			before, m, err := s.Answer([]byte(far))
			if err != nil {
				t.Fatal(err)
			}
			st, ok := s.State()
			if !ok || st.Suite != m.Keys.Suite {
				t.Fatalf("%v, %+v", ok, st)
			}
			there := sdp.Resume(sdp.Local{Addr: netip.MustParseAddr("198.51.100.1"), Port: 7000, SRTP: sdp.SRTPOff}, passed(t, st))
			offer, err := there.Offer()
			if err != nil {
				t.Fatal(err)
			}
			line, _, _ := strings.Cut(c.line[len("m=audio 6000 "):], " ")
			if !strings.Contains(string(offer), "m=audio 7000 "+line+" 0\r\n") || strings.Count(string(offer), "a=crypto:") != 1 || !strings.Contains(string(offer), c.out) {
				t.Errorf("\n%s", offer)
			}
			is, was := inline.FindString(string(offer)), inline.FindString(string(before))
			if is == "" || is == was || strings.Contains(c.keys, "|258:4") != strings.HasSuffix(is, "|258:4") {
				t.Errorf("our key is %s, was %s", is, was)
			}
			there.Reject()
			if again, err := there.Offer(); err != nil || string(again) != string(offer) {
				t.Errorf("%v, the second offer is\n%s\nthe first was\n%s", err, again, offer)
			}
			if _, err := there.Accept([]byte(strings.ReplaceAll(far, c.keys+"\r\n", ""))); !errors.Is(err, sdp.ErrNotAcceptable) {
				t.Errorf("an answer without a key: %v", err)
			}
			if _, err := there.Offer(); err != nil {
				t.Fatal(err)
			}
			now, err := there.Accept([]byte(crypto.ReplaceAllString(far, "a=crypto:1 ")))
			if err != nil || now.Keys.Receive != m.Keys.Receive || now.Keys.Send == m.Keys.Send || now.Keys.Suite != m.Keys.Suite {
				t.Errorf("%v", err)
			}
			both := strings.Replace(far, c.line, avp+"\r\n"+savp, 1)
			if _, got, err := there.Answer([]byte(both)); err != nil || got.Keys != now.Keys {
				t.Errorf("the choice of a plain stream and the encrypted one: %v", err)
			}
		})
	}
}

// The key in a description, and its tag.
var (
	inline = regexp.MustCompile(`inline:\S+`)
	crypto = regexp.MustCompile(`a=crypto:\d `)
)

// TestNoState: keys that a handshake has brought stay where they are, and so does a far end that makes connectivity checks.
func TestNoState(t *testing.T) {
	for name, offer := range map[string][]byte{
		"a browser":             browser(),
		"a handshake":           browser(ufrag, "", pwd, ""),
		"checks of plain media": browser("m=audio 9 UDP/TLS/RTP/SAVPF 111 0 8 110 126", "m=audio 9 RTP/AVP 0", "a=fingerprint:"+fingerprint("B"), "", "a=setup:actpass", ""),
	} {
		s := handshaking(sdp.SRTPOffered)
		if _, _, err := s.Answer(offer); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if st, ok := s.State(); ok {
			t.Errorf("%s: %+v", name, st)
		}
	}
}
