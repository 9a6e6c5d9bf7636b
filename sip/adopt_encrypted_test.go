package sip_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/media/g711"
	"parley/media/mediatest"
	"parley/media/srtp"
	"parley/sip"
	"parley/sip/sdp"
)

// ciphering is a far end whose audio is encrypted with keys in the description: a tone, one frame for each that it hears.
type ciphering struct {
	*called
	suite   srtp.Suite
	profile string   // in its descriptions
	key     srtp.Key // its own
	tag     string   // of ours that it takes
	ours    srtp.Key
	out     *srtp.Sender
	in      *srtp.Receiver
	at      netip.AddrPort // where the call's audio is
	index   uint32         // of its packets: the sequence number with its wraps
	said    int            // frames
	ssrc    uint32         // of what was heard last
}

// renew gives it a new key, under which it counts its wraps from 0.
func (c *ciphering) renew() {
	c.t.Helper()
	c.key = srtp.NewKey(c.suite)
	var err error
	if c.out, err = srtp.NewSender(c.suite, c.key); err != nil {
		c.t.Fatal(err)
	}
	c.index &= 0xFFFF
}

// description is its own.
func (c *ciphering) description() string {
	text := c.offer(fmt.Sprintf("a=crypto:%s %s inline:%s", c.tag, c.suite, c.key.Inline(c.suite)))
	return strings.Replace(text, "RTP/AVP", c.profile, 1)
}

// take reads a description of a user agent's.
func (c *ciphering) take(description []byte, host netip.Addr) {
	c.t.Helper()
	found := regexp.MustCompile(`a=crypto:(\d+) ` + c.suite.String() + ` inline:(\S+)`).FindStringSubmatch(string(description))
	if found == nil || !strings.Contains(string(description), " "+c.profile+" ") {
		c.t.Fatalf("no %s, %s in\n%s", c.profile, c.suite, description)
	}
	c.at = netip.AddrPortFrom(host, uint16(audioPort(c.t, string(description))))
	c.tag = found[1]
	var ok bool
	if c.ours, ok = srtp.ParseKey(c.suite, found[2]); !ok {
		c.t.Fatalf("no key in\n%s", description)
	}
	var err error
	if c.in, err = srtp.NewReceiver(c.suite, c.ours); err != nil {
		c.t.Fatal(err)
	}
}

// say sends the next frame of the tone.
func (c *ciphering) say() {
	c.t.Helper()
	c.index++
	c.said++
	b := make([]byte, 172, 172+srtp.Overhead)
	b[0] = 0x80
	binary.BigEndian.PutUint16(b[2:], uint16(c.index))
	binary.BigEndian.PutUint32(b[4:], 160*uint32(c.said))
	binary.BigEndian.PutUint32(b[8:], 7)
	g711.PCMU.Encode(b[12:], mediatest.Tone(440, media.Rate8k, 160*c.said, 0.5)[160*(c.said-1):])
	sealed, err := c.out.RTP(b)
	if err == nil {
		_, err = c.rtp.WriteToUDPAddrPort(sealed, c.at)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// leap goes on to a later number, by steps that can be followed, and has leg hear it. One packet is not enough for a stream that jumps.
func (c *ciphering) leap(leg *sip.Leg, index uint32) {
	c.t.Helper()
	for c.index < index {
		c.index = min(c.index+30_000, index) - 3
		before := leg.Stats().Received
		for range 3 {
			c.say()
		}
		eventually(c.t, fmt.Sprintf("packet %d is heard", c.index), func() bool { return leg.Stats().Received > before })
	}
}

// converse speaks until it hears its own tone from where the call is, for 300 ms.
func (c *ciphering) converse() {
	c.t.Helper()
	var heard []int16
	b := make([]byte, 2000)
	for tones := 0; len(heard) < 160*500; {
		_ = c.rtp.SetReadDeadline(time.Now().Add(patience))
		n, from, err := c.rtp.ReadFromUDPAddrPort(b)
		if err != nil {
			c.t.Fatalf("nothing from %s: %v", c.at, err)
		}
		if from != c.at {
			continue
		}
		plain, err := c.in.RTP(b[:n])
		if err != nil {
			c.t.Fatalf("from %s: %v", from, err)
		}
		c.ssrc = binary.BigEndian.Uint32(plain[8:])
		frame := make([]int16, len(plain)-12)
		g711.PCMU.Decode(frame, plain[12:])
		heard = append(heard, frame...)
		c.say()
		if len(heard)%800 != 0 {
			continue
		}
		if hz, level := mediatest.Peak(heard[len(heard)-800:], media.Rate8k); hz > 430 && hz < 450 && level > -20 {
			if tones++; tones == 3 {
				return
			}
		}
	}
	c.t.Fatalf("%s is silent", c.at)
}

// mirroring conducts a leg that says what it hears.
func mirroring(leg *sip.Leg) *lasting {
	ctx, end := context.WithCancelCause(context.Background())
	l := &lasting{leg: leg, ended: make(chan error, 1), end: end}
	go func() { l.ended <- conduct(ctx, leg, func(_ *sip.Leg, f media.Frame) []int16 { return f.Samples }) }()
	return l
}

// encrypted is an encrypted call between a user agent and such a far end.
func encrypted(t *testing.T, ua *sip.UserAgent, legs chan *sip.Leg, way string, suite srtp.Suite, profile string) (*ciphering, *lasting) {
	t.Helper()
	c := &ciphering{suite: suite, profile: profile, tag: "1", index: 1000}
	if way == "went out" {
		c.called = newCalled(t, ua, "udp")
	} else {
		c.called = &called{peer: newPeer(t, ua, "udp"), seen: map[string]bool{}}
	}
	c.renew()
	c.roam()
	if way == "went out" {
		result := dial(t, ua, t.Context(), sip.Target{URI: "sip:+15550100009@" + c.local().String()})
		invite := c.rung()
		c.take(invite.Body(), loopback)
		c.answer(invite, 200, c.description())
		c.expect("ACK")
		d := wait(t, result, "answer")
		if d.err != nil {
			t.Fatal(d.err)
		}
		return c, mirroring(d.leg)
	}
	c.write(c.request("INVITE", c.description()))
	res := c.response(200, "INVITE")
	c.take(res.Body(), loopback)
	c.toTag = res.To().Params.GetOr("tag", "")
	c.write(c.request("ACK", ""))
	l := mirroring(wait(t, legs, "leg"))
	confirmed(c.peer)
	return c, l
}

// passport is that of an encrypted call, which holds no key.
func (c *ciphering) passport(t *testing.T, l *lasting) sip.Passport {
	t.Helper()
	p := yielded(t, l)
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []srtp.Key{c.key, c.ours} {
		inline := k.Inline(c.suite)
		raw, err := base64.StdEncoding.DecodeString(inline)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{inline, inline[:12], hex.EncodeToString(raw)[:16], strings.Trim(strings.ReplaceAll(fmt.Sprint(raw[:8]), " ", ","), "[]")} {
			if strings.Contains(string(text), secret) {
				t.Errorf("a key shows in %s", text)
			}
		}
	}
	if p.Version != 2 || p.Media.Suite != c.suite || p.Far.SSRC != 7 || p.Far.ROC != c.index>>16 {
		t.Errorf("packet %d was sent last, %s", c.index, text)
	}
	return p
}

// TestAdoptEncrypted: an encrypted call goes on at another address and comes back, and both ends hear each other. The far end keeps its key, and
// counts the wraps of its sequence number on, or makes a new one, and counts from 0.
func TestAdoptEncrypted(t *testing.T) {
	for _, way := range []string{"came in", "went out"} {
		for name, s := range map[string]struct {
			suite   srtp.Suite
			profile string
			last    uint32 // the packet before the move; 0: whatever it is
			between bool   // the number wraps between the passport and the first packet at the other address
			renews  bool
			glares  bool
		}{
			"a short call":        {suite: srtp.AESHMAC80, profile: "RTP/SAVP"},
			"one wrap":            {suite: srtp.AESHMAC32, profile: "RTP/AVP", last: 1<<16 + 500, glares: true},
			"two wraps":           {suite: srtp.AESHMAC80, profile: "RTP/SAVP", last: 2<<16 + 500},
			"the first wrap":      {suite: srtp.AESHMAC80, profile: "RTP/AVP", last: 1<<16 - 3, between: true},
			"the second wrap":     {suite: srtp.AESHMAC32, profile: "RTP/SAVP", last: 2<<16 - 3, between: true},
			"a new key":           {suite: srtp.AESHMAC80, profile: "RTP/SAVP", last: 1<<16 + 500, renews: true},
			"a new key and wraps": {suite: srtp.AESHMAC80, profile: "RTP/AVP", last: 2<<16 - 3, between: true, renews: true},
		} {
			t.Run(way+"/"+name, func(t *testing.T) {
				t.Parallel()
				legs, policy := make(chan *sip.Leg, 1), sdp.SRTPOffered
				if s.profile == "RTP/SAVP" {
					policy = sdp.SRTPRequired
				}
				from, to := serve(t, sip.Config{SRTP: policy, OnCall: taking(t, legs)}), other(t, sip.Config{})
				c, l := encrypted(t, from, legs, way, s.suite, s.profile)
				c.converse()
				c.leap(l.leg, s.last)
				for _, next := range []*sip.UserAgent{to, from} {
					passport, ours, ssrc := c.passport(t, l), c.ours, c.ssrc
					if next == to && s.between {
						for range 5 {
							c.say() // to where the call was
						}
					}
					done := adopts(t, next, passport)
					re := c.expect("INVITE")
					c.ua = next.Addr()
					if next == to && s.glares {
						c.answer(re, 491, "")
						c.expect("ACK")
						first := string(re.Body())
						if re = c.expect("INVITE"); string(re.Body()) != first {
							t.Errorf("after\n%s\ncomes\n%s", first, re.Body())
						}
					}
					c.take(re.Body(), next.Addr().Addr())
					if c.ours == ours || strings.Count(string(re.Body()), "a=crypto:") != 1 {
						t.Errorf("the key was %s:\n%s", ours.Inline(s.suite), re.Body())
					}
					if next == to && s.renews {
						c.renew()
					}
					c.answer(re, 200, c.description())
					c.expect("ACK")
					a := wait(t, done, "leg")
					if a.err != nil {
						t.Fatal(a.err)
					}
					l.leg.Release()
					if err := wait(t, l.ended, "end of the former leg"); err != sip.ErrCarriedOn {
						t.Errorf("it ended with %v", err)
					}
					l = mirroring(a.leg)
					c.converse()
					if st := a.leg.Stats(); !st.Encrypted || st.Refused != 0 || c.ssrc == ssrc {
						t.Errorf("SSRC %d, was %d; %+v", c.ssrc, ssrc, st)
					}
					eventually(t, "the former end has forgotten the call", func() bool { return from.Stats().Calls+to.Stats().Calls == 1 })
				}
				l.finish(c.called)
			})
		}
	}
}

// TestEncryptedNotAdopted: the call goes on where it was, under the keys that it had.
func TestEncryptedNotAdopted(t *testing.T) {
	t.Parallel()
	legs := make(chan *sip.Leg, 1)
	from, to := serve(t, sip.Config{SRTP: sdp.SRTPOffered, OnCall: taking(t, legs)}), other(t, sip.Config{})
	c, l := encrypted(t, from, legs, "came in", srtp.AESHMAC80, "RTP/SAVP")
	c.leap(l.leg, 1<<16+500)
	c.converse()
	done := adopts(t, to, c.passport(t, l))
	re := c.expect("INVITE")
	c.ua = to.Addr()
	c.answer(re, 488, "")
	c.expect("ACK")
	c.ua = from.Addr()
	var no *sip.NotAdopted
	if a := wait(t, done, "outcome"); !errors.As(a.err, &no) || no.Code != 488 {
		t.Errorf("%+v", a)
	}
	l.leg.Reclaim()
	before := l.leg.Stats()
	c.converse()
	if st := l.leg.Stats(); st.Refused != before.Refused || st.Received <= before.Received {
		t.Errorf("before %+v, after %+v", before, st)
	}
	l.finish(c.called)
}

// TestAdoptWithoutKey: what was encrypted stays so, or ends.
func TestAdoptWithoutKey(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*ciphering) string{
		"no key":        func(c *ciphering) string { return strings.Replace(c.offer(), "RTP/AVP", "RTP/SAVP", 1) },
		"plain":         func(c *ciphering) string { return c.offer() },
		"another suite": func(c *ciphering) string { c.suite = srtp.AESHMAC32; return c.description() },
	} {
		t.Run(name, func(t *testing.T) {
			legs := make(chan *sip.Leg, 1)
			from, to := serve(t, sip.Config{SRTP: sdp.SRTPOffered, OnCall: taking(t, legs)}), other(t, sip.Config{})
			c, l := encrypted(t, from, legs, "came in", srtp.AESHMAC80, "RTP/SAVP")
			done := adopts(t, to, yielded(t, l))
			re := c.expect("INVITE")
			c.ua = to.Addr()
			c.answer(re, 200, answer(c))
			c.expect("ACK")
			var no *sip.NotAdopted
			if a := wait(t, done, "outcome"); !errors.As(a.err, &no) || !errors.Is(a.err, sdp.ErrNotAcceptable) {
				t.Errorf("%+v", a)
			}
			c.confirm(c.expect("BYE"))
			c.ua = from.Addr()
			l.leg.Reclaim()
			l.finish(c.called)
		})
	}
}

// encryptedForm is the passport of an encrypted call, as JSON.
var encryptedForm = strings.NewReplacer(`"Version":1,"Dialog"`, `"Version":2,"Dialog"`, `"Direction":3}}`,
	`"Direction":3},"Suite":"AES_CM_128_HMAC_SHA1_80","Identifier":"258:4"},"Far":{"SSRC":5,"ROC":1,"Seq":6}`).Replace(passportForm)

// TestEncryptedPassportForm: a release that knows nothing of encrypted calls does not take their passports for those of plain ones.
func TestEncryptedPassportForm(t *testing.T) {
	var p sip.Passport
	if err := json.Unmarshal([]byte(encryptedForm), &p); err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(p); err != nil || string(text) != encryptedForm {
		t.Errorf("%v, version 2 becomes\n%s, was\n%s", err, text, encryptedForm)
	}
	p.Version = 1
	if _, err := other(t, sip.Config{}).Adopt(p, nil); !errors.Is(err, sip.ErrPassport) {
		t.Errorf("as of a plain call: %v", err)
	}
	if err := json.Unmarshal([]byte(strings.Replace(encryptedForm, "AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA9", 1)), &p); err == nil {
		t.Error("a suite that nobody speaks was taken")
	}
}
