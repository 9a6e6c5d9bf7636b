package sdp_test

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"parley/media/srtp"
	"parley/sip/sdp"
)

func with(p sdp.Policy) *sdp.Session {
	return sdp.New(sdp.Local{Addr: netip.MustParseAddr("192.0.2.1"), Port: 20000, ID: 42, SRTP: p})
}

var (
	key80  = srtp.NewKey(srtp.AESHMAC80)
	line80 = "a=crypto:3 AES_CM_128_HMAC_SHA1_80 inline:" + key80.Inline(srtp.AESHMAC80)
	key32  = srtp.NewKey(srtp.AESHMAC32)
	line32 = "a=crypto:7 AES_CM_128_HMAC_SHA1_32 inline:" + key32.Inline(srtp.AESHMAC32)
	keyGCM = srtp.NewKey(srtp.AESGCM)
	// With everything that may follow a key and may be passed over.
	lineGCM = "a=crypto:1 AEAD_AES_128_GCM inline:" + keyGCM.Inline(srtp.AESGCM) + "|2^31 WSH=128 -FEC_ORDER=SRTP_FEC"
)

const (
	avp  = "m=audio 6000 RTP/AVP 0"
	savp = "m=audio 6000 RTP/SAVP 0"
)

// What comes of an offer under each policy: the suite, "plain", or "" for a refusal.
func TestAnswerEncrypted(t *testing.T) {
	for _, c := range []struct {
		name                   string
		lines                  []string
		off, offered, required string
		proto                  string // of the answer, where it is encrypted
	}{
		{"plain", []string{avp}, "plain", "plain", "", ""},
		{"keys beside plain", []string{avp, line80}, "plain", "AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_80", "RTP/AVP"},
		{"encrypted", []string{savp, line32, line80}, "", "AES_CM_128_HMAC_SHA1_32", "AES_CM_128_HMAC_SHA1_32", "RTP/SAVP"},
		{"their order counts", []string{savp, line80, line32}, "", "AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_80", "RTP/SAVP"},
		{"with feedback", []string{"m=audio 6000 RTP/SAVPF 0", lineGCM}, "", "AEAD_AES_128_GCM", "AEAD_AES_128_GCM", "RTP/SAVPF"},
		{"encrypted after plain", []string{avp, savp, line80}, "plain", "AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_80", "RTP/SAVP"},
		{"encrypted before plain", []string{savp, line80, avp}, "plain", "AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_80", "RTP/SAVP"},
		{"encrypted without keys", []string{savp}, "", "", "", ""},
		{"a suite unknown to us", []string{savp, "a=crypto:1 AES_256_CM_HMAC_SHA1_80 inline:AAAA", line80}, "", "AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_80", "RTP/SAVP"},
		{"a key identifier", []string{savp, line80 + "|2^31|1:4"}, "", "AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_80", "RTP/SAVP"},
		{"a key identifier only", []string{savp, line80 + "|1:1"}, "", "AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_80", "RTP/SAVP"},
		{"a long key identifier", []string{savp, line80 + "|2^31|1:5"}, "", "", "", ""},
		{"one that does not fit", []string{savp, line80 + "|256:1"}, "", "", "", ""},
		{"one without a length", []string{savp, line80 + "|2^31|1"}, "", "", "", ""},
		{"two keys with identifiers", []string{savp, line80 + "|1:1;inline:" + key80.Inline(srtp.AESHMAC80) + "|2:1"}, "", "", "", ""},
		{"several keys", []string{savp, line80 + ";inline:" + key80.Inline(srtp.AESHMAC80)}, "", "", "", ""},
		{"a lifetime", []string{savp, line80 + "|1048576"}, "", "AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_80", "RTP/SAVP"},
		{"too short a lifetime", []string{savp, line80 + "|2^10"}, "", "", "", ""},
		{"unencrypted on the quiet", []string{savp, line80 + " UNENCRYPTED_SRTP"}, "", "", "", ""},
		{"a short key", []string{savp, "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:AAAA"}, "", "", "", ""},
		{"no tag", []string{savp, "a=crypto:x AES_CM_128_HMAC_SHA1_80 inline:" + key80.Inline(srtp.AESHMAC80)}, "", "", "", ""},
		{"DTLS", []string{"m=audio 6000 UDP/TLS/RTP/SAVP 0"}, "", "", "", ""},
	} {
		for policy, want := range map[sdp.Policy]string{sdp.SRTPOff: c.off, sdp.SRTPOffered: c.offered, sdp.SRTPRequired: c.required} {
			answer, m, err := with(policy).Answer(body(c.lines...))
			switch got := m.Keys.Suite.String(); {
			case want == "" && !errors.Is(err, sdp.ErrNotAcceptable):
				t.Errorf("%s, %s: got %v, want a refusal", c.name, policy, err)
			case want == "":
			case err != nil:
				t.Errorf("%s, %s: %v", c.name, policy, err)
			case want == "plain" && (got != "" || strings.Contains(string(answer), "crypto")):
				t.Errorf("%s, %s: encrypted by %s\n%s", c.name, policy, got, answer)
			case want == "plain":
			case got != want || m.Keys.Send == m.Keys.Receive || m.Keys.Send == (srtp.Key{}):
				t.Errorf("%s, %s: %+v", c.name, policy, m)
			default:
				line := fmt.Sprintf(" %s inline:%s\r\n", want, m.Keys.Send.Inline(m.Keys.Suite))
				if !strings.Contains(string(answer), line) || !strings.Contains(string(answer), " 20000 "+c.proto+" ") || strings.Count(string(answer), "a=crypto") != 1 {
					t.Errorf("%s, %s: answer\n%s", c.name, policy, answer)
				}
			}
		}
	}
	named, _, err := with(sdp.SRTPOffered).Answer(body(savp, line80+"|2^31|1:4"))
	if err != nil || !strings.Contains(string(named), "|1:4\r\n") {
		t.Errorf("the answer's key has no identifier: %v\n%s", err, named)
	}
	answer, m, err := with(sdp.SRTPOffered).Answer(body(savp, line32))
	if err != nil || m.Keys.Receive != key32 || !strings.Contains(string(answer), "a=crypto:7 ") {
		t.Errorf("the tag or the key of the offer is not the answer's: %v %+v\n%s", err, m, answer)
	}
}

// Both sides under every pair of policies.
func TestOfferEncrypted(t *testing.T) {
	for ours, row := range map[sdp.Policy][3]string{ // theirs: off, offered, required
		sdp.SRTPOff:      {"plain", "plain", "no"},
		sdp.SRTPOffered:  {"plain", "AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_80"},
		sdp.SRTPRequired: {"no", "AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_80"},
	} {
		for theirs, want := range row {
			us, them := with(ours), sdp.New(sdp.Local{Addr: netip.MustParseAddr("198.51.100.7"), Port: 6000, ID: 7, SRTP: sdp.Policy(theirs)})
			offer, err := us.Offer()
			if err != nil {
				t.Fatal(err)
			}
			if found := regexp.MustCompile(`inline:(\S+)`).FindAllStringSubmatch(string(offer), -1); ours != sdp.SRTPOff && (len(found) != 2 || found[0][1] == found[1][1]) {
				t.Errorf("%s: two suites do not have two keys:\n%s", ours, offer)
			}
			answer, b, err := them.Answer(offer)
			if (err != nil) != (want == "no") {
				t.Errorf("%s to %s: %v", ours, sdp.Policy(theirs), err)
			}
			if err != nil {
				continue
			}
			a, err := us.Accept(answer)
			if err != nil {
				t.Errorf("%s to %s: %v", ours, sdp.Policy(theirs), err)
				continue
			}
			suite := a.Keys.Suite.String()
			if suite == "" {
				suite = "plain"
			}
			if suite != want || a.Keys.Send != b.Keys.Receive || a.Keys.Receive != b.Keys.Send || a.Keys.Suite != b.Keys.Suite {
				t.Errorf("%s to %s: %v and %v, want %s", ours, sdp.Policy(theirs), a, b, want)
			}
		}
	}
}

// A call keeps its keys over refreshes and holds, takes new ones when the far end
// brings them, and is never made plain.
func TestReofferEncrypted(t *testing.T) {
	s := with(sdp.SRTPOffered)
	first, m, err := s.Answer(body(avp, line80))
	if err != nil {
		t.Fatal(err)
	}
	again, same, err := s.Answer(body(avp, line80))
	if err != nil || string(again) != string(first) || same != m {
		t.Errorf("a refresh changed something: %v\n%s\n%s", err, first, again)
	}
	held, h, err := s.Answer(body(avp, line80, "a=sendonly"))
	if err != nil || h.Keys != m.Keys || !strings.Contains(string(held), m.Keys.Send.Inline(srtp.AESHMAC80)) {
		t.Errorf("hold: %v %v", err, h)
	}
	for _, lines := range [][]string{{avp}, {savp}} {
		if _, _, err := s.Answer(body(lines...)); !errors.Is(err, sdp.ErrNotAcceptable) {
			t.Errorf("an encrypted call was made plain: %v", err)
		}
	}
	_, next, err := s.Answer(body(avp, line32))
	if err != nil || next.Keys.Receive != key32 || next.Keys.Suite != srtp.AESHMAC32 || next.Keys.Send == m.Keys.Send {
		t.Errorf("new keys: %v %v", err, next)
	}
	// Our own offer later brings the key in force, and takes another in return.
	offer, err := s.Offer()
	if err != nil || strings.Count(string(offer), "a=crypto") != 1 || !strings.Contains(string(offer), next.Keys.Send.Inline(srtp.AESHMAC32)) ||
		!strings.Contains(string(offer), " RTP/AVP ") {
		t.Errorf("offer: %v\n%s", err, offer)
	}
	fresh := srtp.NewKey(srtp.AESHMAC32)
	if _, err := s.Accept(body(avp)); !errors.Is(err, sdp.ErrNotAcceptable) {
		t.Errorf("a plain answer: %v", err)
	}
	if _, err = s.Offer(); err != nil {
		t.Fatal(err)
	}
	got, err := s.Accept(body(avp, "a=crypto:1 AES_CM_128_HMAC_SHA1_32 inline:"+fresh.Inline(srtp.AESHMAC32)))
	if err != nil || got.Keys.Send != next.Keys.Send || got.Keys.Receive != fresh {
		t.Errorf("the answer's key: %v %v", err, got)
	}
}

// An answer can choose only from what was offered.
func TestAcceptRefusesKeysNotAskedFor(t *testing.T) {
	for name, lines := range map[string][]string{
		"another tag":    {savp, "a=crypto:9 AES_CM_128_HMAC_SHA1_80 inline:" + key80.Inline(srtp.AESHMAC80)},
		"another suite":  {savp, "a=crypto:1 AES_CM_128_HMAC_SHA1_32 inline:" + key32.Inline(srtp.AESHMAC32)},
		"none":           {savp},
		"none and plain": {avp},
	} {
		s := with(sdp.SRTPRequired)
		if _, err := s.Offer(); err != nil {
			t.Fatal(err)
		}
		if m, err := s.Accept(body(lines...)); !errors.Is(err, sdp.ErrNotAcceptable) {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
}

func TestPolicy(t *testing.T) {
	for _, p := range []sdp.Policy{sdp.SRTPOff, sdp.SRTPOffered, sdp.SRTPRequired} {
		if got, ok := sdp.ParsePolicy(p.String()); !ok || got != p {
			t.Errorf("%v is read as %v", p, got)
		}
	}
	if _, ok := sdp.ParsePolicy("on"); ok {
		t.Error("there is no such policy")
	}
}
