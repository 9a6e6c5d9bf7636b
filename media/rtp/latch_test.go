package rtp_test

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/media/mediatest"
	"parley/media/rtp"
)

// stunRequest is a binding request as some telephones send it to the RTP port first.
var stunRequest = append([]byte{0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42}, make([]byte, 12)...)

// Which source becomes the far end. The SDP says 192.0.2.7:5000, signalling comes
// from 198.51.100.1, the trunk allows 203.0.113.0/24.
func TestLatch(t *testing.T) {
	const (
		exact     = "192.0.2.7:5000"
		behindNAT = "192.0.2.7:61000"
		signaller = "198.51.100.1:7000"
		allowed   = "203.0.113.99:7000"
		stranger  = "100.64.0.5:7000"
	)
	type talk struct {
		from  string
		start time.Duration
		count int
	}
	for name, c := range map[string]struct {
		talks []talk
		want  string // "" for none
	}{
		"the address of the SDP":     {[]talk{{exact, 0, 10}}, exact},
		"its address, another port":  {[]talk{{behindNAT, 0, 10}}, behindNAT},
		"late, but vouched for":      {[]talk{{behindNAT, 20 * time.Second, 10}}, behindNAT},
		"where signalling is":        {[]talk{{signaller, 10 * time.Second, 10}}, signaller},
		"the trunk's allow list":     {[]talk{{allowed, 10 * time.Second, 10}}, allowed},
		"a stranger in time":         {[]talk{{stranger, time.Second, 10}}, stranger},
		"a stranger too late":        {[]talk{{stranger, 5 * time.Second, 100}}, ""},
		"one packet is not enough":   {[]talk{{exact, 0, 1}}, ""},
		"first come, first latched":  {[]talk{{exact, 0, 100}, {behindNAT, 500 * time.Millisecond, 100}}, exact},
		"a stranger does not take":   {[]talk{{exact, 0, 100}, {stranger, 500 * time.Millisecond, 100}}, exact},
		"a stranger gives way":       {[]talk{{stranger, 0, 200}, {exact, time.Second, 100}}, exact},
		"but only within the window": {[]talk{{stranger, 0, 400}, {exact, 6 * time.Second, 100}}, stranger},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork()
				n.host(exact)
				call := newCall(t, n, func(cfg *rtp.Config) {
					cfg.MediaTimeout = time.Minute
					cfg.Trusted = []netip.Prefix{netip.MustParsePrefix("198.51.100.1/32"), netip.MustParsePrefix("203.0.113.0/24")}
				})
				phones := make([]*phone, len(c.talks))
				for i, talk := range c.talks {
					phones[i] = n.phone(talk.from, uint32(i+1))
				}
				start := time.Now()
				call.conduct(22*time.Second, func() {
					for i, talk := range c.talks {
						if sent := phones[i].SequenceNumber - 65500; time.Since(start) >= talk.start && int(sent) < talk.count {
							phones[i].say(ourAddr, silent[:])
						}
					}
				})
				if got := call.s.Stats().Latched; c.want == "" && got.IsValid() || c.want != "" && got.String() != c.want {
					t.Errorf("latched to %v, want %q", got, c.want)
				}
				// What is said now goes there only, or to the SDP's address while nobody is latched.
				for _, p := range phones {
					p.take(t)
				}
				call.conduct(200*time.Millisecond, nil)
				for i, p := range phones {
					hears := len(p.take(t)) > 0
					should := c.talks[i].from == c.want || c.want == "" && c.talks[i].from == exact
					if hears != should {
						t.Errorf("%s hears us: %v", c.talks[i].from, hears)
					}
				}
				call.hangUp()
			})
		})
	}
}

// RTP inject and bleed: a stranger who finds the port of a call neither hears it nor
// is heard, whatever it sends, and does not disturb it.
func TestInjectAndBleed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		c := newCall(t, n)
		c.speak = toneFrame
		i := 0
		talk := func() { far.say(ourAddr, toneFrame(i)); i++ }
		c.conduct(time.Second, talk)
		stranger := n.phone("203.0.113.66:5000", 1) // guesses even the SSRC
		noise := mediatest.Tone(1000, media.Rate8k, 160, 0.9)
		c.conduct(10*time.Second, func() {
			talk()
			for range 5 {
				stranger.say(ourAddr, noise)
			}
			stranger.PayloadType = 101
			stranger.raw(ourAddr, []byte{9, 0x8A, 3, 0x20})
			stranger.PayloadType = 0
		})
		if got := stranger.take(t); len(got) > 0 {
			t.Errorf("the stranger received %d packets", len(got))
		}
		if snr := mediatest.SNR(c.heard[8000:], media.Rate8k, 440); snr < 30 {
			t.Errorf("the caller is heard at %.1f dB", snr)
		}
		if got := c.digits(); got != "" {
			t.Errorf("the stranger pressed %q", got)
		}
		s := c.s.Stats()
		if s.Foreign < 2900 || s.Received < 545 || s.Lost != 0 || s.Resyncs != 0 {
			t.Errorf("stats %+v", s)
		}
		c.hangUp()
	})
}

// A scanner that fills the port from many sources cannot keep the far end out.
func TestScannersDoNotKeepTheFarEndOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		c := newCall(t, n)
		port := uint16(1)
		c.conduct(time.Second, func() {
			for range 20 {
				scanner := n.phone(netip.AddrPortFrom(netip.MustParseAddr("203.0.113.66"), port).String(), uint32(port))
				port++
				scanner.say(ourAddr, silent[:])
			}
			far.say(ourAddr, silent[:])
		})
		if got := c.s.Stats().Latched; got != phoneAddr {
			t.Errorf("latched to %v", got)
		}
		c.hangUp()
	})
}

// What comes to a media port and is no media neither latches nor counts as life.
func TestOtherPacketsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		c := newCall(t, n)
		junk := [][]byte{
			stunRequest, {}, {0}, {0x80}, make([]byte, 11), make([]byte, 12), make([]byte, 172),
			append([]byte{0x80, 200, 0, 6}, make([]byte, 24)...),        // a sender report
			append([]byte{0x80, 72, 0, 1}, make([]byte, 168)...),        // its type without the marker
			append([]byte{0x80, 96, 0, 1}, make([]byte, 168)...),        // a type not agreed on
			append([]byte{0x80, 0, 0, 1}, make([]byte, 8)...),           // no payload
			append([]byte{0x80, 0, 0, 1}, make([]byte, 8+481)...),       // longer than 60 ms
			append([]byte{0x80, 101, 0, 1}, make([]byte, 8+3)...),       // a cut event
			append([]byte{0xA0, 0, 0, 1}, make([]byte, 168)...),         // padding of no length
			append([]byte{0x8F, 0, 0, 1}, make([]byte, 20)...),          // sources that are not there
			append([]byte{0x90, 0, 0, 1, 8: 0, 15: 255}, 1, 2, 3, 4, 5)} // an extension that is not there
		for range 3 {
			for _, b := range junk {
				_ = far.Send(b, ourAddr)
			}
			c.conduct(20*time.Millisecond, nil)
		}
		s := c.s.Stats()
		if s.Latched.IsValid() || s.Received != 0 || s.FirstMedia != 0 || s.Invalid != uint64(3*len(junk)) {
			t.Fatalf("after junk: %+v, want %d invalid", s, 3*len(junk))
		}
		c.conduct(200*time.Millisecond, func() { far.say(ourAddr, silent[:]) })
		if s := c.s.Stats(); s.Latched != phoneAddr || s.Received < 8 {
			t.Errorf("after media: %+v", s)
		}
		c.hangUp()
	})
}

// A re-INVITE with another address moves the call; one with the same does not.
func TestSetRemote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		second := n.phone("192.0.2.8:9000", 2)
		c := newCall(t, n)
		c.conduct(10*time.Second, func() { far.say(ourAddr, silent[:]) })
		c.s.SetRemote(phoneAddr, netip.AddrPort{})
		c.conduct(time.Second, func() { far.say(ourAddr, silent[:]); second.say(ourAddr, silent[:]) })
		if got := c.s.Stats().Latched; got != phoneAddr {
			t.Errorf("the same address moved the latch to %v", got)
		}
		second.take(t)
		c.s.SetRemote(second.addr, netip.AddrPort{})
		c.conduct(40*time.Millisecond, nil)
		if len(second.take(t)) == 0 {
			t.Error("nothing is sent to the new address before it sends")
		}
		i := 0
		c.heard = nil
		c.conduct(time.Second, func() { second.say(ourAddr, toneFrame(i)); i++ })
		if got := c.s.Stats().Latched; got != second.addr {
			t.Errorf("latched to %v, want the new address", got)
		}
		if snr := mediatest.SNR(c.heard[1600:], media.Rate8k, 440); snr < 20 {
			t.Errorf("the new far end is heard at %.1f dB", snr)
		}
		c.hangUp()
	})
}
