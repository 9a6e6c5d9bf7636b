package webrtc

import (
	"context"
	"math"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"parley/media"
	"parley/media/dtmf"
	"parley/media/mediatest"
	"parley/media/opus"
	"parley/media/quality"
	"parley/media/stream"
)

// browser is the far end of an audioLeg, without a network between them: it speaks by putting
// packets in the inbox, and hears what the sender sends.
type browser struct {
	t   testing.TB
	leg *audioLeg
	enc *opus.Encoder
	dec *opus.Decoder

	seq       uint16
	timestamp uint32
	heard     []int16
	sent      []rtp.Header
	lose      func(seq uint16) bool // of what it says; nil: none
	network   net.PacketConn        // what it says goes there, to the address, instead of into the inbox; nil: none
	to        net.Addr
}

const (
	audioPT = 111
	keysPT  = 110
)

func newBrowser(t testing.TB) (*audioLeg, *browser) {
	l, err := newAudioLeg()
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, leg: l, seq: 65530, timestamp: 1<<32 - 9600}
	if b.enc, err = opus.NewEncoder(opus.EncoderConfig{Rate: RateIn, Complexity: 5, Loss: 10}); err != nil {
		t.Skip(err)
	}
	if b.dec, err = opus.NewDecoder(l.out.rate); err != nil {
		t.Fatal(err)
	}
	l.types.Store(&types{audio: audioPT, keys: keysPT})
	l.out.bound.Store(&binding{writer: b, ssrc: 77, pt: audioPT})
	return l, b
}

// Write implements webrtc.TrackLocalWriter.
func (b *browser) Write(p []byte) (int, error) { return len(p), nil }

// WriteRTP implements webrtc.TrackLocalWriter: the browser hears.
func (b *browser) WriteRTP(h *rtp.Header, payload []byte) (int, error) {
	frame := make([]int16, b.leg.out.rate.FrameSamples())
	b.dec.Decode(frame, payload)
	b.heard = append(b.heard, frame...)
	b.sent = append(b.sent, *h)
	return len(payload), nil
}

func (b *browser) put(pt uint8, timestamp uint32, payload []byte) {
	if b.network != nil {
		p, err := (&rtp.Packet{Header: rtp.Header{Version: 2, SSRC: 5, SequenceNumber: b.seq, Timestamp: timestamp, PayloadType: pt}, Payload: payload}).Marshal()
		if err != nil {
			b.t.Fatal(err)
		}
		_, _ = b.network.WriteTo(p, b.to) // the network may lose it
	} else if b.lose == nil || !b.lose(b.seq) {
		b.leg.in.put(packet{ssrc: 5, seq: b.seq, timestamp: timestamp, pt: pt, at: time.Now(), payload: payload})
	}
	b.seq++
}

func (b *browser) Send(samples []int16) {
	buf := make([]byte, opus.MaxPacket)
	n, err := b.enc.Encode(buf, samples)
	if err != nil {
		b.t.Fatal(err)
	}
	b.put(audioPT, b.timestamp, buf[:n])
	b.timestamp += 960
}

// deliver puts what comes out of a network into the inbox, as the library's reader does.
func (b *browser) deliver(near net.PacketConn) {
	buf := make([]byte, maxPayload)
	var h rtp.Header
	for {
		n, _, err := near.ReadFrom(buf)
		if err != nil {
			return
		}
		used, err := h.Unmarshal(buf[:n])
		if err != nil {
			b.t.Error(err)
			return
		}
		b.leg.in.put(packet{ssrc: h.SSRC, seq: h.SequenceNumber, timestamp: h.Timestamp, pt: h.PayloadType, at: time.Now(), payload: buf[used:n]})
	}
}

func (b *browser) Receive() []int16 {
	h := b.heard
	b.heard = nil
	return h
}

func (b *browser) Digit(d byte) bool {
	var s dtmf.Sender
	for s.Start(d); s.Active(); {
		if step := s.Next(); step.Send {
			step.Event.Duration *= uint16(stream.OpusUnits)
			p := make([]byte, dtmf.PayloadLen)
			step.Event.Put(p)
			b.put(keysPT, b.timestamp, p)
		}
	}
	b.timestamp += 9600
	return true
}

func (b *browser) Hangup() bool {
	b.leg.end(nil)
	return true
}

// unconnected is an audioLeg that runs without a connection.
type unconnected struct{ *audioLeg }

func (l unconnected) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		l.end(nil)
	case <-l.gone.Done():
	}
	return l.Fault()
}

func TestLegConformance(t *testing.T) {
	mediatest.TestLegSimulated(t, func(t *testing.T) mediatest.LegPair {
		l, b := newBrowser(t)
		return mediatest.LegPair{Leg: unconnected{l}, Far: b}
	})
}

// TestLossIsConcealed: three packets in twenty are lost, and a tone goes on without holes.
func TestLossIsConcealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := newBrowser(t)
		// Single packets, which the next one has a copy of, and pairs, of whose first nobody has.
		b.lose = func(seq uint16) bool { return seq%20 == 3 || seq%20 == 13 || seq%20 == 14 }
		tone := mediatest.Tone(430, RateIn, 150*RateIn.FrameSamples(), 0.4)
		var heard []int16
		l.begin(time.Now())
		for ; len(tone) > 0; tone = tone[RateIn.FrameSamples():] {
			b.Send(tone[:RateIn.FrameSamples()])
			now := time.Now()
			for f, ok := l.Read(now); ok; f, ok = l.Read(now) {
				heard = append(heard, f.Samples...)
			}
			time.Sleep(media.FrameDuration)
		}
		heard = heard[RateIn.FrameSamples()*10:]
		whole := mediatest.Level(heard)
		for i := 0; i+320 <= len(heard); i += 160 {
			// A tone from a coarse copy is far quieter; a hole would be silent.
			if level := mediatest.Level(heard[i : i+320]); level < whole-50 {
				t.Fatalf("%d ms after the beginning there are %.1f dBFS of %.1f", i/16, level, whole)
			}
		}
		l.publish()
		if s := l.Stats(); s.Lost < 20 || s.Lost > 24 || s.Concealed.Duration() != time.Duration(s.Lost)*media.FrameDuration {
			t.Errorf("%+v", s)
		}
	})
}

// TestWhatCameBeforeIsHeard: engines take a second to open, and what was said meanwhile
// is heard then, in order and without silence before it.
func TestWhatCameBeforeIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := newBrowser(t)
		tone := mediatest.Tone(430, RateIn, 40*RateIn.FrameSamples(), 0.4)
		for ; len(tone) > 0; tone = tone[RateIn.FrameSamples():] {
			b.Send(tone[:RateIn.FrameSamples()])
			time.Sleep(media.FrameDuration)
		}
		var heard []int16
		now := time.Now()
		l.Next()
		for f, ok := l.Read(now); ok; f, ok = l.Read(now) {
			heard = append(heard, f.Samples...)
		}
		if got := len(heard) / RateIn.FrameSamples(); got != 40 {
			t.Fatalf("%d frames, want 40", got)
		}
		if snr := mediatest.SNR(heard[RateIn.FrameSamples()*5:], RateIn, 430); snr < 20 {
			t.Errorf("the tone is %.1f dB above the rest", snr)
		}
		// It was heard in its time: a silence that follows is noticed at once.
		time.Sleep(300 * time.Millisecond)
		if _, ok := l.Read(time.Now()); !ok {
			t.Error("300 ms after the last packet nothing is filled in")
		}
	})
}

// TestSlowClient: a client that reads no messages is disconnected, and one that has no
// channel is not.
func TestSlowClient(t *testing.T) {
	for _, open := range []bool{true, false} {
		l, _ := newBrowser(t)
		c := newChannel(l, nil)
		if open {
			close(c.ready)
		}
		for range queueSize + 1 {
			c.put([]byte("{}"))
		}
		if l.isGone() != open || open && l.Fault() != error(errSlow) {
			t.Errorf("with a channel: %v; gone: %v, %v", open, l.isGone(), l.Fault())
		}
	}
}

// TestTimestampsKeepTime: a stall skips frames, and the timestamps know of it.
func TestTimestampsKeepTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := newBrowser(t)
		frame := media.Frame{Samples: make([]int16, l.out.rate.FrameSamples()), Rate: l.out.rate}
		l.begin(time.Now())
		speak := func() {
			for n := l.Due(time.Now()); n > 0; n-- {
				l.Write(frame)
			}
		}
		for range 5 {
			speak()
			time.Sleep(media.FrameDuration)
		}
		time.Sleep(495 * time.Millisecond)
		speak()
		first, last := b.sent[0], b.sent[len(b.sent)-1]
		if got := (last.Timestamp - first.Timestamp) / l.out.step; got != 29 || len(b.sent) != 7 {
			t.Errorf("%d packets, the last one %d frames after the first; want 7 and 29", len(b.sent), got)
		}
		if s := l.Stats(); s.Skipped != 23 || int(last.SequenceNumber-first.SequenceNumber) != 6 || !first.Marker || !b.sent[5].Marker || last.Marker {
			t.Errorf("%+v; first %+v, last %+v", s, first, last)
		}
	})
}

func TestAudioDoesNotAllocate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := newBrowser(t)
		l.out.bound.Store(&binding{writer: nobody{}})
		tone := mediatest.Tone(430, RateIn, RateIn.FrameSamples(), 0.4)
		buf := make([]byte, opus.MaxPacket)
		n, err := b.enc.Encode(buf, tone)
		if err != nil {
			t.Fatal(err)
		}
		out := media.Frame{Samples: make([]int16, l.out.rate.FrameSamples()), Rate: l.out.rate}
		wake := func() {
			b.put(audioPT, b.timestamp, buf[:n])
			b.timestamp += 960
			time.Sleep(media.FrameDuration)
			now := time.Now()
			l.Next()
			for _, ok := l.Read(now); ok; _, ok = l.Read(now) {
			}
			for n := l.Due(now); n > 0; n-- {
				l.Write(out)
			}
			l.Played(now)
		}
		for range 2 * inboxSize { // its slots take their memory
			wake()
		}
		mediatest.NoAllocs(t, wake)
	})
}

// nobody is a connection that takes packets and does nothing with them.
type nobody struct{}

func (nobody) Write(p []byte) (int, error)                   { return len(p), nil }
func (nobody) WriteRTP(_ *rtp.Header, p []byte) (int, error) { return len(p), nil }

// TestScoreOfLosses: half a minute on a line that loses packets is scored
// as the E-model scores what was lost, and what the far end reports is in its units.
func TestScoreOfLosses(t *testing.T) {
	for _, c := range []struct {
		name string
		link mediatest.Link
	}{
		{"a good line", mediatest.Link{}},
		{"2 %", mediatest.Link{Seed: 2, Loss: 0.02, Delay: 40 * time.Millisecond}},
		{"8 %, late by up to 30 ms", mediatest.Link{Seed: 3, Loss: 0.08, Delay: 20 * time.Millisecond, Jitter: 30 * time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, b := newBrowser(t)
				near, far := mediatest.Pipe(c.link)
				b.network, b.to = far, near.LocalAddr()
				var reader sync.WaitGroup
				reader.Go(func() { b.deliver(near) })
				defer reader.Wait()
				defer near.Close()
				l.begin(time.Now())
				tone := mediatest.Tone(430, RateIn, RateIn.FrameSamples(), 0.4)
				for range 1500 {
					b.Send(tone)
					time.Sleep(media.FrameDuration)
					now := time.Now()
					for _, ok := l.Read(now); ok; _, ok = l.Read(now) {
					}
					for n := l.Due(now); n > 0; n-- {
						l.Write(media.Frame{Samples: make([]int16, l.out.rate.FrameSamples()), Rate: l.out.rate})
					}
				}
				sent := far.Stats()
				l.stream.Reported(rtcp.ReceptionReport{FractionLost: 64, Jitter: 480, LastSenderReport: uint32(stream.NTP(time.Now().Add(-2*c.link.Delay)) >> 16)},
					uint32(stream.NTP(time.Now())>>16))
				l.publish()
				s := l.Stats()
				q := s.Quality()
				share := float64(sent.Lost) / float64(sent.Sent)
				// The last may still be waited for.
				if s.Lost > sent.Lost || s.Lost+3 < sent.Lost || s.Lost > 0 != (c.link.Loss > 0) || math.Abs(q.Loss-share) > 0.002 {
					t.Errorf("lost %d of %d, counted %d: %.4f", sent.Lost, sent.Sent, s.Lost, q.Loss)
				}
				// Random losses come in runs of 1/(1-loss).
				if want := quality.MOS(quality.Opus, media.FrameDuration, share, 1/(1-share)); math.Abs(q.MOS-want) > 0.08 || q.MOSMin > q.MOS || q.MOSMin < 1 {
					t.Errorf("scored %.3f, least %.3f; the E-model says %.3f", q.MOS, q.MOSMin, want)
				}
				if math.Abs(q.RTTMS-float64(2*c.link.Delay.Milliseconds())) > 1 || q.RemoteLoss != 0.25 || q.RemoteJitterMS != 10 || !q.Encrypted {
					t.Errorf("%+v", q)
				}
			})
		})
	}
}
