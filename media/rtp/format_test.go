package rtp_test

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/dtmf"
	"parley/media/mediatest"
	"parley/media/rtp"
	"parley/media/srtp"
)

// tell sends the i-th frame of a tone in a codec.
func (p *phone) tell(to netip.AddrPort, c codec.Codec, i int) {
	if p.encoder == nil {
		p.encoder = codec.NewEncoder(media.Rate8k)
	}
	payload := make([]byte, 160)
	p.encoder.Encode(c, payload, toneFrame(i))
	p.PayloadType = c.PayloadType()
	p.raw(to, payload)
	p.Timestamp += 160
}

// press sends a key under a payload type.
func (p *phone) press(to netip.AddrPort, pt uint8, key byte) {
	ts := p.Timestamp
	p.PayloadType = pt
	for range 3 {
		p.Timestamp = ts
		p.raw(to, []byte{key, 0x8A, 3, 0x20})
	}
}

// All codecs are heard that were agreed on, in any order, and none that was not.
func TestTakes(t *testing.T) {
	for _, takes := range []codec.Set{codec.SetOf(codec.Default()...), 0} {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork()
			far := n.phone(phoneAddr.String(), 1)
			c := newCall(t, n, func(cfg *rtp.Config) { cfg.Format.Takes, cfg.MediaTimeout = takes, time.Minute })
			i := 0
			c.conduct(3*time.Second, func() {
				far.tell(ourAddr, [...]codec.Codec{codec.PCMU, codec.PCMA, codec.G722}[i/50%3], i)
				i++
			})
			s := c.s.Stats()
			if takes == 0 {
				if s.Invalid < 90 {
					t.Errorf("not agreed on: %+v", s)
				}
			} else {
				for second := range 3 { // their filters differ in delay
					if snr := mediatest.SNR(c.heard[second*8000:][800:7200], media.Rate8k, 440); snr < 28 || s.Invalid != 0 {
						t.Errorf("second %d is heard at %.1f dB, %+v", second, snr, s)
					}
				}
			}
			c.hangUp()
		})
	}
}

// A new offer changes codec and payload type of keys while audio goes on, both ways.
func TestSetFormat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		c := newCall(t, n)
		c.speak = toneFrame
		i, law := 0, codec.PCMU
		talk := func() { far.tell(ourAddr, law, i); i++ }
		c.conduct(500*time.Millisecond, talk)
		far.press(ourAddr, 101, 1)
		c.conduct(500*time.Millisecond, talk)
		far.take(t)
		c.s.SetFormat(rtp.Format{Codec: codec.PCMA, Events: 96})
		law = codec.PCMA
		c.conduct(time.Second, talk)
		far.press(ourAddr, 96, 2)
		c.conduct(40*time.Millisecond, talk)
		far.press(ourAddr, 101, 3) // under way since before
		c.conduct(40*time.Millisecond, talk)
		if got := c.digits(); got != "123" {
			t.Errorf("keys %q", got)
		}
		if snr := mediatest.SNR(c.heard[5600:14400], media.Rate8k, 440); snr < 28 {
			t.Errorf("heard at %.1f dB", snr)
		}
		var samples []int16
		decoder := codec.NewDecoder(media.Rate8k)
		for _, p := range far.take(t)[2:] {
			if p.PayloadType != 8 {
				t.Fatalf("sent as %d", p.PayloadType)
			}
			frame := make([]int16, 160)
			decoder.Decode(frame, p.PayloadType, p.Payload)
			samples = append(samples, frame...)
		}
		if snr := mediatest.SNR(samples, media.Rate8k, 440); snr < 28 {
			t.Errorf("the far end hears us at %.1f dB", snr)
		}
		if err := c.s.SendDigits("7"); err != nil {
			t.Error(err)
		}
		c.conduct(400*time.Millisecond, talk)
		pressed := 0
		for _, p := range far.take(t) {
			if p.PayloadType == 96 {
				pressed++
			}
		}
		if pressed == 0 {
			t.Error("our key does not come under the new type")
		}
		c.s.SetFormat(rtp.Format{Codec: codec.PCMA})
		if err := c.s.SendDigits("7"); err != nil {
			t.Error(err)
		}
		c.conduct(400*time.Millisecond, talk)
		ear, keys := dtmf.NewDetector(8000), ""
		for _, p := range far.take(t) {
			frame := make([]int16, 160)
			decoder.Decode(frame, p.PayloadType, p.Payload)
			if key, pressed := ear.Hear(frame); pressed {
				keys += string(key)
			}
		}
		if keys != "7" {
			t.Errorf("without events our keys sound as %q", keys)
		}
		c.hangUp()
	})
}

// A call that changes to a codec of another rate, and back, goes on at its own.
func TestSetFormatOfAnotherRate(t *testing.T) {
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork()
			far := n.phone(phoneAddr.String(), 1)
			c := newCall(t, n, func(cfg *rtp.Config) { cfg.Rate = rate })
			tone := mediatest.Tone(440, rate, 100*rate.FrameSamples(), 0.3)
			c.speak = func(i int) []int16 { return tone[i%100*rate.FrameSamples():][:rate.FrameSamples()] }
			i := 0
			for change, to := range []codec.Codec{codec.PCMU, codec.G722, codec.PCMA, codec.G722} {
				c.s.SetFormat(rtp.Format{Codec: to, Events: 101})
				c.heard = nil
				c.conduct(time.Second, func() { far.tell(ourAddr, to, i); i++ })
				decoder, played := codec.NewDecoder(rate), []int16(nil)
				for k, p := range far.take(t) {
					frame := make([]int16, rate.FrameSamples())
					if decoder.Decode(frame, p.PayloadType, p.Payload); p.PayloadType != to.PayloadType() {
						t.Fatalf("packet %d after change %d is of type %d", k, change, p.PayloadType)
					}
					played = append(played, frame...)
				}
				for who, samples := range map[string][]int16{"we": c.heard, "they": played} {
					if len(samples) < 48*rate.FrameSamples() {
						t.Errorf("at %v in %v %s hear %d samples", rate, to, who, len(samples))
					} else if snr := mediatest.SNR(samples[rate/10:], rate, 440); snr < 28 {
						t.Errorf("at %v in %v %s hear at %.1f dB", rate, to, who, snr)
					}
				}
			}
			if f := c.s.Format(); f.In != rate || f.Out != rate {
				t.Errorf("the leg is at %v", f)
			}
			c.hangUp()
		})
	}
}

// A far end that reports is there, though it says nothing.
func TestReportsAreLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		control := n.host(phoneRTCP.String())
		c := newCall(t, n, func(cfg *rtp.Config) { cfg.RTCP = n.host(ourRTCP.String()) })
		c.conduct(time.Second, func() { far.say(ourAddr, silent[:]) })
		i := 0
		c.conduct(40*time.Second, func() {
			if i++; i%250 == 0 {
				_ = control.Send(append([]byte{0x80, 201, 0, 1}, 0, 0, 0, 1), ourRTCP)
			}
		})
		select {
		case err := <-c.end:
			t.Fatalf("ended: %v", err)
		default:
		}
		c.conduct(16*time.Second, nil)
		if err := <-c.end; err == nil || err.Error() != (&media.Ended{Reason: media.Failed, Detail: "media_timeout"}).Error() {
			t.Errorf("ended with %v", err)
		}
		c.stop(nil)
	})
}

// Where the far end goes on after it has been silent. The SDP says 192.0.2.7:5000.
func TestLatchFollows(t *testing.T) {
	const nat = "203.0.113.5:6000"
	for name, c := range map[string]struct {
		first, second string
		vouched       bool
		keys          bool
		pause         time.Duration
		follows       bool
	}{
		"another port":                   {first: "192.0.2.7:5000", second: "192.0.2.7:61000", pause: 2 * time.Second, follows: true},
		"no pause":                       {first: "192.0.2.7:5000", second: "192.0.2.7:61000"},
		"another port of a translator":   {first: nat, second: "203.0.113.5:6001", pause: 2 * time.Second, follows: true},
		"a stranger":                     {first: "192.0.2.7:5000", second: nat, pause: 20 * time.Second},
		"where signalling is":            {first: "192.0.2.7:5000", second: "198.51.100.1:9000", pause: 2 * time.Second, follows: true},
		"encrypted, from anywhere":       {first: "192.0.2.7:5000", second: nat, keys: true, pause: 2 * time.Second, follows: true},
		"only vouched for, a stranger":   {first: nat, second: nat, vouched: true},
		"only vouched for, its own port": {first: "192.0.2.7:61000", second: "192.0.2.7:61000", vouched: true, follows: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork()
				keys := srtp.Keys{}
				if c.keys {
					keys = newKeys(srtp.AESHMAC80)
				}
				call := newCall(t, n, func(cfg *rtp.Config) {
					cfg.Keys, cfg.MediaTimeout, cfg.Vouched = keys, time.Minute, c.vouched
					cfg.Trusted = []netip.Prefix{netip.MustParsePrefix("198.51.100.1/32")}
				})
				first, second := n.phone(c.first, 1), n.phone(c.second, 1)
				far := first
				if c.first == c.second {
					first = second
				}
				send := func(p *phone) { p.say(ourAddr, silent[:]) }
				if c.keys {
					sealed := secure(t, far, keys)
					send = func(p *phone) {
						_ = p.Send(sealed.seal(make([]byte, 160)), ourAddr)
						sealed.Timestamp += 160
					}
				}
				call.conduct(3*time.Second, func() { send(first) })
				call.conduct(c.pause, nil)
				call.conduct(6*time.Second, func() {
					if send(second); c.pause == 0 && first != second {
						send(first)
					}
				})
				second.take(t)
				call.conduct(time.Second, func() { send(second) })
				got := call.s.Stats().Latched
				if follows := got == second.addr; follows != c.follows {
					t.Errorf("latched to %v", got)
				}
				call.hangUp()
			})
		})
	}
}
