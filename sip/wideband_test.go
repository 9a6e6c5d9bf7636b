package sip_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/mediatest"
	"parley/media/opus"
	"parley/sip"
	"parley/sip/trunk"
)

// wide is a tone that narrow band has no room for.
const wide = 5000

// echo answers and gives back what it hears; keys and the leg are for the test.
func echo(legs chan<- *sip.Leg, keys chan<- byte, results chan<- outcome) func(context.Context, *sip.Incoming) {
	return func(ctx context.Context, in *sip.Incoming) {
		leg, err := in.Answer(ctx)
		if err == nil {
			legs <- leg
			err = conduct(ctx, leg, func(leg *sip.Leg, f media.Frame) []int16 {
				for len(leg.Events()) > 0 {
					if e := <-leg.Events(); e.Kind == media.LegDigit {
						keys <- e.Digit
					}
				}
				return f.Samples
			})
		}
		results <- outcome{in, err}
	}
}

// spoken is 16 kHz audio in a codec, both ways. Opus is payload type 96.
type spoken struct {
	codec codec.Codec
	pt    byte
	enc   *codec.Encoder
	dec   *codec.Decoder
	opus  *opus.Encoder
	heard *opus.Decoder
	buf   [opus.MaxPacket]byte
}

func speak(t testing.TB, c codec.Codec) *spoken {
	t.Helper()
	s := &spoken{codec: c, pt: c.PayloadType(), enc: codec.NewEncoder(media.Rate16k), dec: codec.NewDecoder(media.Rate16k)}
	if c != codec.Opus {
		return s
	}
	var err, bad error
	s.pt = 96
	s.opus, err = opus.NewEncoder(opus.EncoderConfig{Rate: media.Rate16k})
	if s.heard, bad = opus.NewDecoder(media.Rate16k); err != nil || bad != nil {
		t.Fatal(err, bad)
	}
	return s
}

func (s *spoken) encode(samples []int16) []byte {
	if s.codec == codec.Opus {
		n, _ := s.opus.Encode(s.buf[:], samples)
		return s.buf[:n]
	}
	s.enc.Encode(s.codec, s.buf[:160], samples)
	return s.buf[:160]
}

func (s *spoken) decode(frame []int16, payload []byte) {
	if s.codec == codec.Opus {
		s.heard.Decode(frame, payload)
		return
	}
	s.dec.Decode(frame, s.pt, payload)
}

// hears talks to us in a codec until our echo in it has the tone.
func (f *farEnd) hears(c codec.Codec, hz float64) {
	f.t.Helper()
	s := speak(f.t, c)
	tone := mediatest.Tone(hz, media.Rate16k, 16000, 0.3)
	frame := make([]int16, 320)
	var echo []int16
	for end, said := time.Now().Add(patience), 0; time.Now().Before(end); said++ {
		f.packet(s.pt, said == 0, f.time, s.encode(tone[said%50*320:][:320]))
		f.time += uint32(c.Clock() / 50)
		_ = f.rtp.SetReadDeadline(time.Now().Add(media.FrameDuration))
		for {
			n, err := f.rtp.Read(f.buf[:])
			if err != nil {
				break
			}
			if n > 12 && f.buf[1]&0x7f == s.pt {
				s.decode(frame, f.buf[12:n])
				echo = append(echo, frame...)
			}
		}
		if len(echo) < 3200 {
			continue
		}
		if got, level := mediatest.Peak(echo[len(echo)-3200:], media.Rate16k); got > hz-20 && got < hz+20 && level > -20 {
			return
		}
	}
	f.t.Fatalf("no echo of %v Hz in %v", hz, c)
}

// A call in G.722 is heard in its whole band, keys come, and an exchange that moves it to a codec of half
// the band, and back, does not end it.
func TestWidebandCall(t *testing.T) {
	legs, keys, results := make(chan *sip.Leg, 1), make(chan byte, 8), make(chan outcome, 1)
	p := newPeer(t, serve(t, sip.Config{OnCall: echo(legs, keys, results)}), "udp")
	offer := func(formats string) string { return strings.Replace(p.offer(), "0 8 101", formats, 1) }
	res := p.next(200, "INVITE", offer("9 0 8 101"))
	p.toTag = res.To().Params.GetOr("tag", "")
	p.write(p.request("ACK", ""))
	if b := string(res.Body()); !strings.Contains(b, "RTP/AVP 9 101\r\na=rtpmap:9 G722/8000\r\na=rtpmap:101 telephone-event/8000\r\n") {
		t.Fatalf("answered with\n%s", b)
	}
	f := &farEnd{peer: p, to: netip.AddrPortFrom(loopback, uint16(audioPort(t, string(res.Body()))))}
	f.hears(codec.G722, wide)
	leg := wait(t, legs, "leg")
	f.press(101, 7)
	if key := wait(t, keys, "key"); key != '7' {
		t.Errorf("pressed %c", key)
	}
	for _, c := range []codec.Codec{codec.PCMA, codec.G722} {
		res = p.next(200, "INVITE", offer(fmt.Sprintf("%d 101", c)))
		p.write(p.request("ACK", ""))
		if b := string(res.Body()); !strings.Contains(b, fmt.Sprintf("RTP/AVP %d 101\r\n", c)) {
			t.Errorf("answered with\n%s", b)
		}
		f.hears(c, 700)
	}
	f.hears(codec.G722, wide)
	if format := leg.Format(); format.In != media.Rate16k || format.Out != media.Rate16k {
		t.Errorf("the leg is at %v", format)
	}
	p.hangup(results)
}

// A call that began in half the band goes on in it when it is moved to G.722.
func TestCallMovedToWideband(t *testing.T) {
	legs, keys, results := make(chan *sip.Leg, 1), make(chan byte, 8), make(chan outcome, 1)
	p := newPeer(t, serve(t, sip.Config{OnCall: echo(legs, keys, results)}), "udp")
	res := p.call()
	f := &farEnd{peer: p, to: netip.AddrPortFrom(loopback, uint16(audioPort(t, string(res.Body()))))}
	f.hears(codec.PCMU, 700)
	p.next(200, "INVITE", strings.Replace(p.offer(), "0 8 101", "9 101", 1))
	p.write(p.request("ACK", ""))
	f.hears(codec.G722, 700)
	if leg := wait(t, legs, "leg"); leg.Format().In != media.Rate8k {
		t.Errorf("the leg is at %v", leg.Format())
	}
	p.hangup(results)
}

// TestCodecsOfBothEnds: the caller's order, and what each end allows.
func TestCodecsOfBothEnds(t *testing.T) {
	for name, c := range map[string]struct {
		caller, trunk, callee []codec.Codec
		rate                  media.Rate // 0: there is no call
	}{
		"any":                        {nil, nil, nil, media.Rate16k},
		"the caller prefers another": {[]codec.Codec{codec.PCMA, codec.G722}, nil, nil, media.Rate8k},
		"the callee prefers it":      {[]codec.Codec{codec.PCMA, codec.G722}, nil, []codec.Codec{codec.G722, codec.PCMA}, media.Rate16k},
		"only one end has it":        {nil, nil, []codec.Codec{codec.PCMU}, media.Rate8k},
		"nothing in common":          {[]codec.Codec{codec.G722}, nil, []codec.Codec{codec.PCMU}, 0},
		"Opus":                       {[]codec.Codec{codec.Opus, codec.PCMU}, nil, []codec.Codec{codec.PCMA, codec.Opus}, media.Rate16k},
		"only the caller has Opus":   {[]codec.Codec{codec.Opus, codec.PCMU}, nil, nil, media.Rate8k},
		"the trunk's count":          {[]codec.Codec{codec.PCMU}, []codec.Codec{codec.G722}, nil, media.Rate16k},
		"the trunk has none":         {[]codec.Codec{codec.PCMU}, []codec.Codec{}, nil, media.Rate8k},
	} {
		t.Run(name, func(t *testing.T) {
			legs, results := make(chan *sip.Leg, 1), make(chan outcome, 1)
			callee := serve(t, sip.Config{OnCall: echo(legs, make(chan byte, 8), results), Codecs: c.callee})
			at := callee.Addr()
			caller := serve(t, sip.Config{Codecs: c.caller, Trunks: []trunk.Config{{Name: "a", Flags: trunk.NoProbe, Codecs: c.trunk,
				Targets: []trunk.Target{{Host: at.Addr().String(), Port: at.Port()}}}}})
			target := sip.Target{URI: "sip:1@" + at.String()}
			if c.trunk != nil {
				target = sip.Target{Trunk: "a", Number: "+15550100002"}
			}
			leg, err := caller.Dial(t.Context(), target)
			if c.rate == 0 {
				if err == nil || !strings.Contains(err.Error(), "488") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			hz := float64(c.rate) * 0.3
			tone, heard := mediatest.Tone(hz, c.rate, int(c.rate), 0.3), []int16(nil)
			ctx, end := context.WithCancelCause(t.Context())
			said := 0
			err = conduct(ctx, leg, func(_ *sip.Leg, f media.Frame) []int16 {
				heard = append(heard, f.Samples...)
				if n := len(heard); n > int(c.rate)/2 {
					if got, level := mediatest.Peak(heard[n-int(c.rate)/4:], c.rate); got > hz-20 && got < hz+20 && level > -20 || n > 20*int(c.rate) {
						end(&media.Ended{Reason: media.AgentHangup})
					}
				}
				said += len(f.Samples)
				return tone[said%len(tone):][:len(f.Samples)]
			})
			if n := len(heard); err != nil || n > 20*int(c.rate) {
				t.Errorf("ended with %v after %d samples", err, n)
			}
			for _, format := range []media.Format{leg.Format(), wait(t, legs, "leg").Format()} {
				if format.In != c.rate || format.Out != c.rate {
					t.Errorf("a leg is at %v, want %v", format.In, c.rate)
				}
			}
			wait(t, results, "the callee's end")
		})
	}
}
