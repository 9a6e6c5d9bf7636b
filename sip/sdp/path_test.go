package sdp_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"parley/media/dtls"
	"parley/sip/sdp"
)

// fingerprint is that of a certificate, told apart by a letter.
func fingerprint(letter string) string {
	return "sha-256 " + strings.TrimSuffix(strings.Repeat(letter+letter+":", 32), ":")
}

var ours, _ = dtls.ParseFingerprint(fingerprint("A"))

func handshaking(p sdp.Policy) *sdp.Session {
	return sdp.New(sdp.Local{Addr: here, Port: 20000, ID: 42, SRTP: p, DTLS: ours})
}

const (
	ufrag = "a=ice-ufrag:f00d"
	pwd   = "a=ice-pwd:0123456789abcdefghijkl"
)

// browser is an offer of the shape that browsers make; changes replace lines, or leave them out where the right side is empty.
func browser(changes ...string) []byte {
	list := []string{
		"a=group:BUNDLE 0 1",
		"m=audio 9 UDP/TLS/RTP/SAVPF 111 0 8 110 126",
		"c=IN IP4 0.0.0.0",
		"a=rtcp:9 IN IP4 0.0.0.0",
		"a=candidate:1 1 udp 2113937151 6e4cfa81-8a4c-4d4e-a5a6-b9b8e1ac4d34.local 54321 typ host generation 0",
		ufrag, pwd,
		"a=fingerprint:" + fingerprint("B"),
		"a=setup:actpass",
		"a=mid:0",
		"a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level",
		"a=sendrecv",
		"a=msid:stream track",
		"a=rtcp-mux",
		"a=rtpmap:111 opus/48000/2", "a=fmtp:111 minptime=10;useinbandfec=1",
		"a=rtpmap:110 telephone-event/48000", "a=rtpmap:126 telephone-event/8000",
		"m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:1", "a=rtpmap:96 VP8/90000",
	}
	text := string(body(list...))
	for i := 0; i < len(changes); i += 2 {
		old, now := changes[i]+"\r\n", changes[i+1]+"\r\n"
		if changes[i+1] == "" {
			now = ""
		}
		text = strings.Replace(text, old, now, 1)
	}
	return []byte(text)
}

func TestAnswerToABrowser(t *testing.T) {
	s := handshaking(sdp.SRTPOffered)
	answer, m, err := s.Answer(browser())
	if err != nil {
		t.Fatal(err)
	}
	theirs, _ := dtls.ParseFingerprint(fingerprint("B"))
	if m.DTLS != (sdp.DTLS{Remote: theirs}) || m.ICE.Remote.Ufrag != "f00d" || m.ICE.Remote.Password != pwd[len("a=ice-pwd:"):] || !m.ICE.Local.Valid() {
		t.Errorf("%+v", m)
	}
	if !m.Mux || !m.Sends() || !m.Receives() || m.Remote.IsValid() || m.Events != 126 {
		t.Errorf("%+v", m)
	}
	text := string(answer)
	for _, line := range []string{
		"a=group:BUNDLE 0", "a=ice-lite", "m=audio 20000 UDP/TLS/RTP/SAVPF ", "c=IN IP4 192.0.2.1", "a=mid:0", "a=setup:passive", "a=rtcp-mux", "a=sendrecv",
		"a=fingerprint:" + ours.String(), "a=ice-ufrag:" + m.ICE.Local.Ufrag, "a=ice-pwd:" + m.ICE.Local.Password,
		"a=candidate:1 1 udp 2130706431 192.0.2.1 20000 typ host", "m=video 0 UDP/TLS/RTP/SAVPF 96", "a=msid:parley audio",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	if strings.Contains(text, "crypto") {
		t.Errorf("keys beside the handshake:\n%s", text)
	}
	if strings.Index(text, "a=ice-lite") > strings.Index(text, "m=audio") {
		t.Error("a=ice-lite is an attribute of the session")
	}
}

// Who begins the handshake: only one that the far end leaves to us is ours.
func TestSetup(t *testing.T) {
	for offered, want := range map[string]string{"a=setup:actpass": "a=setup:passive", "a=setup:active": "a=setup:passive", "a=setup:passive": "a=setup:active", "": "a=setup:passive"} {
		answer, m, err := handshaking(sdp.SRTPRequired).Answer(browser("a=setup:actpass", offered))
		if err != nil || !strings.Contains(string(answer), want) || m.DTLS.Client != (want == "a=setup:active") {
			t.Errorf("%s: %v, client %v", offered, err, m.DTLS.Client)
		}
	}
}

// What cannot be a handshake is refused, and does not become something weaker.
func TestHandshakeRefused(t *testing.T) {
	for name, c := range map[string]struct {
		s     *sdp.Session
		offer []byte
	}{
		"encryption is off":    {handshaking(sdp.SRTPOff), browser()},
		"no certificate":       {with(sdp.SRTPOffered), browser()},
		"no fingerprint":       {handshaking(sdp.SRTPOffered), browser("a=fingerprint:"+fingerprint("B"), "")},
		"a weak fingerprint":   {handshaking(sdp.SRTPOffered), browser("a=fingerprint:"+fingerprint("B"), "a=fingerprint:sha-1 AA:BB")},
		"without rtcp-mux":     {handshaking(sdp.SRTPOffered), browser("a=rtcp-mux", "")},
		"another kind of keys": {handshaking(sdp.SRTPOffered), browser("m=audio 9 UDP/TLS/RTP/SAVPF 111 0 8 110 126", "m=audio 9 RTP/SAVPF 111 0 8 110 126")},
	} {
		if _, _, err := c.s.Answer(c.offer); !errors.Is(err, sdp.ErrNotAcceptable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The certificate and the kind of keys are those of the whole call. Credentials of ICE may change, and ours with them.
func TestLaterOffersOfABrowser(t *testing.T) {
	s := handshaking(sdp.SRTPOffered)
	_, first, err := s.Answer(browser())
	if err != nil {
		t.Fatal(err)
	}
	for name, offer := range map[string][]byte{
		"another certificate": browser("a=fingerprint:"+fingerprint("B"), "a=fingerprint:"+fingerprint("C")),
		"plain":               body("m=audio 6000 RTP/AVP 0"),
		"keys in the text":    body(savp, line80),
	} {
		if _, _, err := s.Answer(offer); !errors.Is(err, sdp.ErrNotAcceptable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, held, err := s.Answer(browser("a=sendrecv", "a=sendonly", "a=setup:actpass", "a=setup:passive"))
	if err != nil || held.ICE != first.ICE || held.DTLS != first.DTLS || held.Direction != sdp.RecvOnly {
		t.Errorf("%v %+v", err, held)
	}
	_, restarted, err := s.Answer(browser(ufrag, "a=ice-ufrag:beef"))
	if err != nil || restarted.ICE.Remote.Ufrag != "beef" || restarted.ICE.Local == first.ICE.Local || !restarted.ICE.Local.Valid() {
		t.Errorf("%v %+v", err, restarted)
	}

	offer, err := s.Offer()
	text := string(offer)
	if err != nil || !strings.Contains(text, "UDP/TLS/RTP/SAVPF") || !strings.Contains(text, "a=setup:actpass") || strings.Contains(text, "crypto") ||
		!strings.Contains(text, "a=ice-ufrag:"+restarted.ICE.Local.Ufrag) || !strings.Contains(text, "m=video 0") {
		t.Errorf("%v\n%s", err, text)
	}
	m, err := s.Accept(browser("a=setup:actpass", "a=setup:active", ufrag, "a=ice-ufrag:beef"))
	if err != nil || m.DTLS != first.DTLS || m.ICE != restarted.ICE {
		t.Errorf("%v %+v", err, m)
	}
}

// A handshake that we did not offer is none.
func TestAnswerWithAHandshake(t *testing.T) {
	s := handshaking(sdp.SRTPOffered)
	if _, err := s.Offer(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Accept(browser()); !errors.Is(err, sdp.ErrNotAcceptable) {
		t.Error(err)
	}
}

// A telephone may make checks and send plain RTP. Where its default address is none of its candidates, somebody on the way has
// changed it, and the candidates count for nothing.
func TestChecksOfATelephone(t *testing.T) {
	offer := func(lines ...string) []byte {
		return body(append([]string{"m=audio 6000 RTP/AVP 0", "a=rtcp-mux", "a=candidate:1 1 UDP 2130706431 198.51.100.7 6000 typ host"}, lines...)...)
	}
	for name, c := range map[string]struct {
		offer  []byte
		checks bool
		has    string
	}{
		"it checks":         {offer(ufrag, pwd), true, "a=ice-lite"},
		"at the session":    {body(ufrag, pwd, "m=audio 6000 RTP/AVP 0", "a=rtcp-mux"), true, "a=ice-lite"},
		"another address":   {offer(ufrag, pwd, "c=IN IP4 203.0.113.9"), false, "a=ice-mismatch"},
		"it is lite itself": {body("a=ice-lite", ufrag, pwd, "m=audio 6000 RTP/AVP 0", "a=rtcp-mux"), false, ""},
		"of two ports":      {body(ufrag, pwd, "m=audio 6000 RTP/AVP 0"), true, "a=candidate:1 2 udp 2130706430 192.0.2.1 20001 typ host"},
		"half credentials":  {offer(ufrag), false, ""},
	} {
		answer, m, err := handshaking(sdp.SRTPOff).Answer(c.offer)
		if err != nil || (m.ICE != sdp.ICE{}) != c.checks || !strings.Contains(string(answer), c.has) || strings.Contains(string(answer), "a=candidate") != c.checks {
			t.Errorf("%s: %v\n%s", name, err, answer)
		}
		if !m.Sends() || m.Remote.Port() != 6000 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	// By IPv6 by default, but not only.
	six := body(ufrag, pwd, "m=audio 6000 RTP/AVP 0", "a=rtcp-mux", "c=IN IP6 2001:db8::1")
	if _, m, err := handshaking(sdp.SRTPOff).Answer(six); err != nil || m.Remote != (netip.AddrPort{}) || !m.Sends() {
		t.Errorf("%v %+v", err, m)
	}
}
