package rtp_test

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	pion "github.com/pion/rtp"
	pionsrtp "github.com/pion/srtp/v3"

	"parley/media"
	"parley/media/g711"
	"parley/media/mediatest"
	"parley/media/rtp"
	"parley/media/srtp"
)

// reversed are the keys as the other side has them.
func reversed(k srtp.Keys) srtp.Keys {
	return srtp.Keys{Suite: k.Suite, Send: k.Receive, Receive: k.Send}
}

func newKeys(s srtp.Suite) srtp.Keys {
	return srtp.Keys{Suite: s, Send: srtp.NewKey(s), Receive: srtp.NewKey(s)}
}

// securePhone is a phone that speaks SRTP by another implementation's sessions.
type securePhone struct {
	*phone
	out, in *pionsrtp.Context
}

func secure(t *testing.T, p *phone, ours srtp.Keys) *securePhone {
	t.Helper()
	profile := map[srtp.Suite]pionsrtp.ProtectionProfile{srtp.AESHMAC80: pionsrtp.ProtectionProfileAes128CmHmacSha1_80,
		srtp.AESHMAC32: pionsrtp.ProtectionProfileAes128CmHmacSha1_32, srtp.AESGCM: pionsrtp.ProtectionProfileAeadAes128Gcm}[ours.Suite]
	context := func(k srtp.Key) *pionsrtp.Context {
		b, err := base64.StdEncoding.DecodeString(k.Inline(ours.Suite))
		if err != nil {
			t.Fatal(err)
		}
		c, err := pionsrtp.CreateContext(b[:16], b[16:], profile)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	return &securePhone{p, context(ours.Receive), context(ours.Send)}
}

func (p *securePhone) say(to netip.AddrPort, samples []int16) {
	payload := make([]byte, len(samples))
	g711.PCMU.Encode(payload, samples)
	_ = p.Send(p.seal(payload), to)
	p.Timestamp += uint32(len(samples))
}

func (p *securePhone) seal(payload []byte) []byte {
	plain, err := (&pion.Packet{Header: p.Header, Payload: payload}).Marshal()
	if err != nil {
		panic(err)
	}
	sealed, err := p.out.EncryptRTP(nil, plain, nil)
	if err != nil {
		panic(err)
	}
	p.SequenceNumber++
	return sealed
}

// hear opens and decodes what came.
func (p *securePhone) hear(t *testing.T) (samples []int16) {
	buf := make([]byte, 2000)
	for {
		n, _, _, ok := p.Recv(buf)
		if !ok {
			return samples
		}
		plain, err := p.in.DecryptRTP(nil, buf[:n], nil)
		if err != nil {
			t.Fatalf("cannot be opened: %v", err)
		}
		pcm := make([]int16, len(plain)-12)
		g711.PCMU.Decode(pcm, plain[12:])
		samples = append(samples, pcm...)
	}
}

// Another implementation hears us and is heard, under each suite, across the wrap
// of the sequence number.
func TestEncrypted(t *testing.T) {
	for _, suite := range []srtp.Suite{srtp.AESHMAC80, srtp.AESHMAC32, srtp.AESGCM} {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork()
			keys := newKeys(suite)
			far := secure(t, n.phone(phoneAddr.String(), 1), keys)
			c := newCall(t, n, func(cfg *rtp.Config) { cfg.Keys = keys })
			c.speak = toneFrame
			i := 0
			var played []int16
			c.conduct(3*time.Second, func() {
				far.say(ourAddr, toneFrame(i))
				played = append(played, far.hear(t)...)
				i++
			})
			for who, samples := range map[string][]int16{"we": c.heard, "they": played} {
				if len(samples) < 145*160 {
					t.Fatalf("%v: %s hear %d samples of 3 s", suite, who, len(samples))
				}
				if snr := mediatest.SNR(samples[8000:], media.Rate8k, 440); snr < 30 {
					t.Errorf("%v: %s hear the tone at %.1f dB", suite, who, snr)
				}
			}
			if s := c.s.Stats(); !s.Encrypted || s.Refused != 0 || s.Invalid != 0 || s.Lost != 0 || s.Latched != phoneAddr {
				t.Errorf("%v: %+v", suite, s)
			}
			c.hangUp()
		})
	}
}

// Two sessions, reports included: nothing on the wire is readable, and the reports
// are understood.
func TestEncryptedReports(t *testing.T) {
	for _, suite := range []srtp.Suite{srtp.AESHMAC80, srtp.AESHMAC32, srtp.AESGCM} {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork()
			n.delay = 50 * time.Millisecond
			keys := newKeys(suite)
			const name = "a name that nobody reads"
			quiet := bytes.Repeat([]byte{0xFF}, 16)
			n.spy = func(p []byte, _, _ netip.AddrPort) {
				if bytes.Contains(p, []byte(name)) || bytes.Contains(p, quiet) {
					t.Errorf("%v: readable on the wire: % x", suite, p)
				}
			}
			a := newCall(t, n, func(cfg *rtp.Config) {
				cfg.Keys, cfg.RTCP, cfg.CNAME = keys, n.host(ourRTCP.String()), name
			})
			b := newCall(t, n, func(cfg *rtp.Config) {
				cfg.Keys, cfg.RTP, cfg.Remote = reversed(keys), n.host(phoneAddr.String()), ourAddr
				cfg.RTCP, cfg.CNAME = n.host(phoneRTCP.String()), name
			})
			together(20*time.Second, a, b)
			for _, c := range []*call{a, b} {
				s := c.s.Stats()
				if d := s.RTT - 100*time.Millisecond; max(d, -d) > 2*time.Millisecond || s.Refused != 0 || s.Received < 980 {
					t.Errorf("%v: %+v", suite, s)
				}
				c.hangUp()
			}
		})
	}
}

// together conducts two calls for d.
func together(d time.Duration, calls ...*call) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Millisecond) {
		for _, c := range calls {
			if !time.Now().Before(c.s.Next()) {
				c.wake()
			}
		}
	}
}

// Only authentic packets latch, are heard, press keys or keep the call alive: not
// plain ones, not those of another key, not the true ones played back, wherever
// they come from.
func TestOnlyAuthenticPacketsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		keys := newKeys(srtp.AESHMAC80)
		plain := n.phone(phoneAddr.String(), 1) // at the very address of the SDP
		otherKey := secure(t, n.phone("192.0.2.7:5002", 2), newKeys(srtp.AESHMAC80))
		c := newCall(t, n, func(cfg *rtp.Config) { cfg.Keys = keys })
		c.conduct(time.Second, func() {
			plain.say(ourAddr, silent[:])
			otherKey.say(ourAddr, silent[:])
		})
		if s := c.s.Stats(); s.Latched.IsValid() || s.FirstMedia != 0 || s.Received != 0 || s.Refused < 90 {
			t.Fatalf("after forgeries: %+v", s)
		}
		far := secure(t, n.phone("198.51.100.9:7000", 3), keys) // behind a NAT
		var copies [][]byte
		n.spy = func(p []byte, from, _ netip.AddrPort) {
			if from == far.addr {
				copies = append(copies, bytes.Clone(p))
			}
		}
		i := 0
		talk := func() { far.say(ourAddr, toneFrame(i)); i++ }
		c.conduct(time.Second, talk)
		if s := c.s.Stats(); s.Latched != far.addr {
			t.Fatalf("the far end is not latched to: %+v", s)
		}
		stranger := n.host("203.0.113.66:1")
		c.conduct(5*time.Second, func() {
			talk()
			_ = stranger.Send(copies[len(copies)-1], ourAddr) // faster than it could be
			_ = far.Send(copies[rand.IntN(len(copies)-1)], ourAddr)
		})
		s := c.s.Stats()
		if s.Foreign < 240 || s.Refused < 330 || s.Lost != 0 || s.Duplicates != 0 || s.Latched != far.addr {
			t.Errorf("stats %+v", s)
		}
		if snr := mediatest.SNR(c.heard[len(c.heard)-160*200:], media.Rate8k, 440); snr < 30 {
			t.Errorf("the caller is heard at %.1f dB", snr)
		}
		c.hangUp()
	})
}

// New keys in mid-call, after the numbers have wrapped, cost no syllable, while
// packets of the old ones are still under way.
func TestRekey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		n.delay = 40 * time.Millisecond
		keys := newKeys(srtp.AESHMAC80)
		a := newCall(t, n, func(cfg *rtp.Config) { cfg.Keys = keys })
		b := newCall(t, n, func(cfg *rtp.Config) {
			cfg.Keys, cfg.RTP, cfg.Remote = reversed(keys), n.host(phoneAddr.String()), ourAddr
		})
		a.speak, b.speak = toneFrame, toneFrame
		together(3*time.Second, a, b)
		a.s.SetKeys(keys) // a refresh changes nothing
		together(time.Second, a, b)
		if s := b.s.Stats(); s.Resyncs != 0 {
			t.Errorf("the same keys began a new stream: %+v", s)
		}
		for range 2 {
			next := newKeys(srtp.AESHMAC80)
			b.s.SetKeys(reversed(next)) // the answer is under way
			together(20*time.Millisecond, a, b)
			a.s.SetKeys(next)
			together(3*time.Second, a, b)
		}
		for who, c := range map[string]*call{"a": a, "b": b} {
			s := c.s.Stats()
			if s.Refused > 4 || s.Received < 480 || s.Resyncs > 2 || s.Lost > 4 {
				t.Errorf("%s: %+v", who, s)
			}
			if snr := mediatest.SNR(c.heard[len(c.heard)-16000:], media.Rate8k, 440); snr < 30 {
				t.Errorf("%s hears the tone at %.1f dB", who, snr)
			}
		}
		a.s.SetKeys(srtp.Keys{})
		together(100*time.Millisecond, a, b)
		if s := a.s.Stats(); !s.Encrypted {
			t.Error("an encrypted call became a plain one")
		}
		a.hangUp()
		b.hangUp()
	})
}
