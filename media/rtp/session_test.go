package rtp_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/mediatest"
	"parley/media/rtp"
)

func TestBothWays(t *testing.T) {
	for _, kind := range codec.Default() {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork()
			far := n.phone(phoneAddr.String(), 1)
			far.PayloadType = kind.PayloadType()
			c := newCall(t, n, func(cfg *rtp.Config) { cfg.Format.Codec = kind })
			rate := kind.Rate()
			tone := mediatest.Tone(440, rate, 100*rate.FrameSamples(), 0.3)
			c.speak = func(i int) []int16 { return tone[i%100*rate.FrameSamples():][:rate.FrameSamples()] }
			i, encoder := 0, codec.NewEncoder(rate)
			c.conduct(2*time.Second, func() {
				payload := make([]byte, 160)
				encoder.Encode(kind, payload, c.speak(i))
				far.raw(ourAddr, payload)
				far.Timestamp += 160
				i++
			})
			c.hangUp()
			if f := c.s.Format(); f.In != rate || f.Out != rate {
				t.Errorf("%v: the leg is at %v", kind, f)
			}
			if snr := mediatest.SNR(c.heard[rate/5:], rate, 440); snr < 30 {
				t.Errorf("%v: what we hear is the tone at %.1f dB", kind, snr)
			}
			sent := far.take(t)
			decoder, played := codec.NewDecoder(rate), []int16(nil)
			for i, p := range sent {
				pcm := make([]int16, rate.FrameSamples())
				decoder.Decode(pcm, p.PayloadType, p.Payload)
				played = append(played, pcm...)
				if p.Version != 2 || p.PayloadType != kind.PayloadType() || len(p.Payload) != 160 || p.Marker != (i == 0) {
					t.Fatalf("%v: packet %d: %v", kind, i, p)
				}
				if i > 0 && (p.SequenceNumber != sent[i-1].SequenceNumber+1 || p.Timestamp != sent[i-1].Timestamp+160 || p.SSRC != sent[0].SSRC) {
					t.Fatalf("%v: packet %d does not follow: %v after %v", kind, i, p, sent[i-1])
				}
			}
			if len(sent) < 99 || len(sent) > 101 {
				t.Errorf("%v: %d packets in 2 s", kind, len(sent))
			}
			if snr := mediatest.SNR(played[rate/5:], rate, 440); snr < 30 {
				t.Errorf("%v: what they hear is the tone at %.1f dB", kind, snr)
			}
		})
	}
}

// What is lost of wideband audio is concealed at its rate.
func TestWidebandLossesAreConcealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		c := newCall(t, n, func(cfg *rtp.Config) { cfg.Format.Codec = codec.G722 })
		i := 0
		c.conduct(4*time.Second, func() {
			if i++; i%20 == 7 {
				far.SequenceNumber++
				far.Timestamp += 160
				return
			}
			far.tell(ourAddr, codec.G722, i)
		})
		c.hangUp()
		s := c.s.Stats()
		if s.Lost < 8 || len(c.heard) < 198*320 || len(c.heard) > 201*320 {
			t.Fatalf("%d samples of 4 s, %+v", len(c.heard), s)
		}
		// Silence in the gaps would leave 13 dB.
		if snr := mediatest.SNR(c.heard[3200:], media.Rate16k, 440); snr < 20 {
			t.Errorf("the tone is heard at %.1f dB", snr)
		}
	})
}

// Where the agent says nothing the line has the noise of a quiet one, in any codec; keys are told apart by silence.
func TestSilenceHasAFloor(t *testing.T) {
	for _, kind := range codec.Default() {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork()
			far := n.phone(phoneAddr.String(), 1)
			rate := kind.Rate()
			c := newCall(t, n, func(cfg *rtp.Config) { cfg.Format.Codec = kind })
			nothing := make([]int16, rate.FrameSamples())
			c.speak = func(i int) []int16 { return nothing[:i%(len(nothing)+1)] } // short frames too
			c.conduct(time.Second, nil)
			c.hangUp()
			decoder, heard := codec.NewDecoder(rate), []int16(nil)
			for _, p := range far.take(t) {
				frame := make([]int16, rate.FrameSamples())
				decoder.Decode(frame, p.PayloadType, p.Payload)
				heard = append(heard, frame...)
			}
			if level := mediatest.Level(heard[rate/10:]); level < -70 || level > -62 || len(heard) < int(rate)*9/10 {
				t.Errorf("%v: silence is heard at %.1f dBov in %d samples", kind, level, len(heard))
			}
		})
	}
}

// After a stall of ours two frames at most are sent, and the timestamps show what
// was skipped.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		c := newCall(t, n)
		start := time.Now()
		c.conduct(200*time.Millisecond, nil)
		before := far.take(t)
		time.Sleep(305 * time.Millisecond)
		c.wake()
		now := far.take(t)
		if len(now) != 2 || !now[0].Marker || now[1].Marker {
			t.Fatalf("%d packets after the stall: %v", len(now), now)
		}
		c.conduct(100*time.Millisecond, nil)
		all := append(append(before, now...), far.take(t)...)
		last := all[len(all)-1]
		if want := uint32(time.Since(start)/(20*time.Millisecond)) * 160; last.Timestamp-all[0].Timestamp != want {
			t.Errorf("timestamps advanced by %d, the clock by %d", last.Timestamp-all[0].Timestamp, want)
		}
		for i := 1; i < len(all); i++ {
			if all[i].SequenceNumber != all[i-1].SequenceNumber+1 {
				t.Errorf("sequence numbers show a loss at %d", i)
			}
		}
		s := c.s.Stats()
		if s.Skipped != 14 || s.Sent != uint64(len(all)) || s.Lateness.Max < 20*time.Millisecond {
			t.Errorf("stats %+v", s)
		}
		if q := s.Quality(); q.Unsent != 14 || q.SentLate != 0 {
			t.Errorf("%d frames were not sent and %d late", q.Unsent, q.SentLate)
		}
		c.hangUp()
	})
}

// TestStallsAreHeard: a far end that we hear well has a bad call where we send too late.
func TestStallsAreHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		c := newCall(t, n)
		i := 0
		say := func() { far.say(ourAddr, toneFrame(i)); i++ }
		c.conduct(5*time.Second, say)
		good := c.s.Stats().MOS
		for range 10 {
			c.conduct(300*time.Millisecond, say)
			for range 10 { // the far end goes on while we are away
				time.Sleep(20 * time.Millisecond)
				say()
			}
			c.wake()
		}
		c.conduct(time.Second, say)
		s := c.s.Stats()
		if good < 4.3 || s.MOSMin > 3.5 || s.MOS >= good || s.Quality().Unsent == 0 {
			t.Errorf("scored %.2f before, then %.2f, least %.2f; %d lost of theirs, %+v", good, s.MOS, s.MOSMin, s.Lost, s.Behind)
		}
		c.hangUp()
	})
}

func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		c := newCall(t, n)
		i := 0
		music := func() { far.say(ourAddr, toneFrame(i)); i++ }
		c.conduct(time.Second, music)
		first := far.take(t)
		c.heard = nil

		c.s.SetDirection(false, true) // music on hold goes on
		c.conduct(time.Minute, music)
		if sent := far.take(t); len(sent) > 0 {
			t.Errorf("%d packets were sent on hold", len(sent))
		}
		if level := mediatest.Level(c.heard); level > -90 {
			t.Errorf("hold music is heard at %.0f dB", level)
		}
		if got := len(c.heard) / 8000; got < 59 {
			t.Errorf("only %d s of silence were heard in a minute on hold", got)
		}
		c.s.SetDirection(false, false) // and stops: no timeout runs
		c.conduct(time.Minute, nil)
		c.s.SetDirection(true, true)
		c.conduct(14*time.Second, nil) // the timeout begins anew
		c.conduct(time.Second, music)
		sent := far.take(t)
		if len(sent) < 740 || !sent[0].Marker {
			t.Fatalf("%d packets after the hold", len(sent))
		}
		if ts, want := sent[0].Timestamp-first[0].Timestamp, uint32(121*8000); ts < want-320 || ts > want+320 {
			t.Errorf("timestamps advanced by %d through the hold, the clock by %d", ts, want)
		}
		if got := c.digits(); got != "HR" {
			t.Errorf("events %q, want one hold and one resume", got)
		}
		c.hangUp()
	})
}

func TestTimeouts(t *testing.T) {
	for name, c := range map[string]struct {
		speak func(c *call, far *phone)
		after time.Duration
	}{
		"nothing ever": {func(*call, *phone) {}, 30 * time.Second},
		"falls silent": {func(c *call, far *phone) {
			c.conduct(5*time.Second, func() { far.say(ourAddr, silent[:]) })
		}, 20 * time.Second},
		"announces a pause": {func(c *call, far *phone) {
			c.conduct(5*time.Second, func() { far.say(ourAddr, silent[:]) })
			far.PayloadType = 13
			far.raw(ourAddr, []byte{50})
		}, 65 * time.Second},
		"speaks after a pause": {func(c *call, far *phone) {
			far.PayloadType = 13
			c.conduct(5*time.Second, func() { far.raw(ourAddr, []byte{50}); far.Timestamp += 160 })
			far.PayloadType = 0
			c.conduct(5*time.Second, func() { far.say(ourAddr, silent[:]) })
		}, 25 * time.Second},
		"after a hold": {func(c *call, far *phone) {
			c.conduct(5*time.Second, func() { far.say(ourAddr, silent[:]) })
			c.s.SetDirection(true, false)
			c.conduct(100*time.Second, nil)
			c.s.SetDirection(true, true)
		}, 120 * time.Second},
		"only foreign packets": {func(c *call, far *phone) {
			stranger := c.net.phone("203.0.113.1:9", 5)
			c.conduct(6*time.Second, nil)
			c.conduct(20*time.Second, func() { stranger.say(ourAddr, silent[:]) })
		}, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork()
				far := n.phone(phoneAddr.String(), 1)
				start := time.Now()
				call := newCall(t, n)
				c.speak(call, far)
				for {
					call.conduct(20*time.Millisecond, nil)
					select {
					case err := <-call.end:
						var ended *media.Ended
						if !errors.As(err, &ended) || ended.Reason != media.Failed || ended.Detail != "media_timeout" {
							t.Fatalf("Run returned %v", err)
						}
						if got := time.Since(start); got < c.after-50*time.Millisecond || got > c.after+50*time.Millisecond {
							t.Errorf("ended after %v, want %v", got, c.after)
						}
						far.take(t)
						call.conduct(time.Second, nil)
						if sent := far.take(t); len(sent) > 0 {
							t.Errorf("%d packets were sent after the end", len(sent))
						}
						return
					default:
					}
					if time.Since(start) > 5*time.Minute {
						t.Fatal("no timeout")
					}
				}
			})
		})
	}
}

func TestSendDigits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		c := newCall(t, n)
		c.speak = toneFrame
		c.conduct(100*time.Millisecond, nil)
		far.take(t)
		wrote := c.wrote
		if err := c.s.SendDigits("1#"); err != nil {
			t.Fatal(err)
		}
		c.conduct(400*time.Millisecond, nil)
		if c.wrote != wrote {
			t.Errorf("%d frames of speech were asked for while keys were sent", c.wrote-wrote)
		}
		sent := far.take(t)
		c.conduct(100*time.Millisecond, nil)
		sent = append(sent, far.take(t)...)
		var shape strings.Builder
		events := map[uint32]int{}
		for i, p := range sent {
			switch {
			case p.PayloadType == 101:
				events[p.Timestamp]++
				shape.WriteString(map[bool]string{true: "E", false: "e"}[p.Payload[1]&0x80 != 0])
				if p.Marker != (events[p.Timestamp] == 1) {
					t.Errorf("packet %d: marker %v", i, p.Marker)
				}
			case bytes.Count(p.Payload, []byte{0xFF}) == 160:
				shape.WriteByte('.')
			default:
				shape.WriteByte('a')
			}
		}
		if got := shape.String(); got != "eeeeEEE...eeeeEEE...aaaaa" {
			t.Errorf("sent %s", got)
		}
		if len(events) != 2 {
			t.Errorf("two keys have %d timestamps", len(events))
		}
		if last := sent[len(sent)-1]; last.Timestamp-sent[0].Timestamp != 24*160 {
			t.Errorf("the audio after the keys is at timestamp %d, want %d", last.Timestamp-sent[0].Timestamp, 24*160)
		}
		c.hangUp()
	})
}

func TestSendDigitsRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		c := newCall(t, n)
		if err := c.s.SendDigits("12x"); !errors.Is(err, rtp.ErrDigit) {
			t.Errorf("x: %v", err)
		}
		if err := c.s.SendDigits(strings.Repeat("1", rtp.MaxDigits+1)); !errors.Is(err, rtp.ErrDigitsFull) {
			t.Errorf("too many: %v", err)
		}
		if err := c.s.SendDigits(strings.Repeat("1", rtp.MaxDigits)); err != nil {
			t.Errorf("just enough: %v", err)
		}
		if err := c.s.SendDigits("1"); !errors.Is(err, rtp.ErrDigitsFull) {
			t.Errorf("one more: %v", err)
		}
		c.hangUp()
	})
}

// Keys pressed at one end of a bad network are exact at the other.
func TestDigitsAcrossABadNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		n.loss, n.delay, n.jitter = 0.05, 30*time.Millisecond, 60*time.Millisecond
		a := newCall(t, n)
		b := newCall(t, n, func(cfg *rtp.Config) { cfg.RTP, cfg.Remote = n.host(phoneAddr.String()), ourAddr })
		a.speak, b.speak = toneFrame, toneFrame
		both := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Millisecond) {
				for _, c := range []*call{a, b} {
					if !time.Now().Before(c.s.Next()) {
						c.wake()
					}
				}
			}
		}
		both(2 * time.Second)
		var want, got string
		for range 10 {
			const keys = "0123456789*#ABCD112233"
			if err := a.s.SendDigits(keys); err != nil {
				t.Fatal(err)
			}
			both(time.Duration(len(keys))*200*time.Millisecond + 300*time.Millisecond)
			want += keys
			got += b.digits()
		}
		if got != want {
			t.Errorf("sent     %s\nreceived %s", want, got)
		}
		s := b.s.Stats()
		share := float64(s.Expected-s.Received) / float64(s.Expected)
		if share < 0.03 || share > 0.07 {
			t.Errorf("measured loss %.3f, want 0.05", share)
		}
		// A gap at the very end may still be waited for.
		if missing := s.Expected - s.Received + s.Late; s.Lost > missing || s.Lost+4 < missing || s.Duplicates != 0 || s.Overruns != 0 || s.Resyncs != 0 {
			t.Errorf("stats %+v", s)
		}
		if s.Jitter < 10*time.Millisecond || s.Jitter > 30*time.Millisecond {
			t.Errorf("jitter of a delay spread over 60 ms: %v, want about 20", s.Jitter)
		}
		if s.MOS < 3 || s.MOS > 4.1 || s.MOSMin > s.MOS {
			t.Errorf("MOS %.2f, least %.2f", s.MOS, s.MOSMin)
		}
		if heard := media.Rate8k.Duration(len(b.heard)).Duration(); heard < 48500*time.Millisecond || heard > 50*time.Second {
			t.Errorf("heard %v of a call of 49 s", heard)
		}
		a.hangUp()
		b.hangUp()
	})
}

// A call whose events nobody takes ends, and does not lose keys silently.
func TestEventsOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		c := newCall(t, n)
		c.conduct(100*time.Millisecond, func() { far.say(ourAddr, silent[:]) })
		far.PayloadType = 101
		for range media.EventQueue + 1 {
			far.raw(ourAddr, []byte{5, 0x8A, 3, 0x20})
			far.Timestamp += 1600
			c.conduct(20*time.Millisecond, nil)
		}
		if err := <-c.end; !errors.Is(err, rtp.ErrEventsFull) {
			t.Errorf("Run returned %v", err)
		}
		if got := c.digits(); got != strings.Repeat("5", media.EventQueue) {
			t.Errorf("digits %q", got)
		}
	})
}

func TestPlayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		c := newCall(t, n)
		last := media.Time(0)
		c.conduct(time.Second, func() {
			now := c.s.Played(time.Now())
			if now < last {
				t.Fatalf("played went from %v back to %v", last.Duration(), now.Duration())
			}
			last = now
		})
		wrote := media.Time(c.wrote) * media.FrameTime
		if behind := (wrote - c.s.Played(time.Now())).Duration(); behind < 20*time.Millisecond || behind > 100*time.Millisecond {
			t.Errorf("played is %v behind what was written", behind)
		}
		time.Sleep(time.Second)
		if got := c.s.Played(time.Now()); got != wrote {
			t.Errorf("a second later %v of %v are played", got.Duration(), wrote.Duration())
		}
		if c.s.Flush(time.Now()) != 0 {
			t.Error("flushed what was sent already")
		}
		c.hangUp()
	})
}

// The deadlines creep to 2 ms after the far end's packets.
func TestPhaseLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		c := newCall(t, n)
		start := time.Now()
		sent := 0
		for time.Since(start) < 4*time.Second {
			time.Sleep(time.Millisecond)
			if time.Since(start) >= time.Duration(sent)*20*time.Millisecond+7*time.Millisecond {
				far.say(ourAddr, silent[:])
				sent++
			}
			if !time.Now().Before(c.s.Next()) {
				c.wake()
			}
		}
		phase := c.s.Next().Sub(start) % (20 * time.Millisecond)
		if phase < 8900*time.Microsecond || phase > 9100*time.Microsecond {
			t.Errorf("packets arrive at 7 ms of each 20, deadlines are at %v, want 9 ms", phase)
		}
		c.hangUp()
	})
}

func TestConfigIsChecked(t *testing.T) {
	good := rtp.Config{RTP: newNetwork().host("10.0.0.1:1"), Remote: phoneAddr}
	for name, f := range map[string]func(*rtp.Config){
		"no socket":        func(c *rtp.Config) { c.RTP = nil },
		"no codec":         func(c *rtp.Config) { c.Format.Codec = 3 },
		"RTCP-like type":   func(c *rtp.Config) { c.Format.Events = 72 },
		"comfort noise":    func(c *rtp.Config) { c.Format.Events = 13 },
		"eight bits":       func(c *rtp.Config) { c.Format.Events = 200 },
		"one type for two": func(c *rtp.Config) { c.Format.Events = 8 },
		"long name":        func(c *rtp.Config) { c.CNAME = strings.Repeat("x", 256) },
	} {
		cfg := good
		f(&cfg)
		if _, err := rtp.New(cfg); !errors.Is(err, rtp.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := rtp.New(good); err != nil {
		t.Error(err)
	}
}

var _ media.Leg = (*rtp.Session)(nil)
