package rtp_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtcp"
	pion "github.com/pion/rtp"

	"parley/media"
	"parley/media/codec"
	"parley/media/mediatest"
	"parley/media/opus"
	"parley/media/rtp"
	"parley/media/srtp"
)

// withOpus is a format in which the far end takes Opus as type 96.
var withOpus = rtp.Format{Codec: codec.Opus, Takes: codec.SetOf(codec.Opus), Opus: codec.OpusParams{Type: 96, FEC: true}, Events: 102, FastEvents: true}

// opusPhone is a far end that speaks Opus at 16 kHz.
type opusPhone struct {
	*phone
	t   *testing.T
	enc *opus.Encoder
	dec *opus.Decoder
}

// newOpusPhone skips a test in a program that has no encoder.
func (n *network) newOpusPhone(t *testing.T, loss int) *opusPhone {
	t.Helper()
	if !opus.Encodes {
		t.Skip("no libopus")
	}
	enc, err := opus.NewEncoder(opus.EncoderConfig{Rate: media.Rate16k, Loss: loss})
	if err != nil {
		t.Fatal(err)
	}
	dec, err := opus.NewDecoder(media.Rate16k)
	if err != nil {
		t.Fatal(err)
	}
	p := &opusPhone{phone: n.phone(phoneAddr.String(), 1), t: t, enc: enc, dec: dec}
	p.PayloadType = 96
	return p
}

// packet sends samples of 10 to 60 ms, unless they are to be lost.
func (p *opusPhone) packet(samples []int16, lost bool) {
	var payload [opus.MaxPacket]byte
	n, err := p.enc.Encode(payload[:], samples)
	if err != nil {
		p.t.Fatal(err)
	}
	if lost {
		p.SequenceNumber++
	} else {
		p.raw(ourAddr, payload[:n])
	}
	p.Timestamp += uint32(3 * len(samples))
}

// hear decodes packets of ours.
func (p *opusPhone) hear(packets []*pion.Packet) (samples []int16) {
	for _, packet := range packets {
		frame := make([]int16, 320)
		p.dec.Decode(frame, packet.Payload)
		samples = append(samples, frame...)
	}
	return samples
}

// wideTone is the i-th 20 ms at 16 kHz of a tone of 440 Hz, which repeats without a seam.
func wideTone(i int) []int16 { return wideSamples[i%100*320:][:320] }

var (
	wideSamples = mediatest.Tone(440, media.Rate16k, 32000, 0.3)
	twice       = append(slices.Clone(wideSamples), wideSamples...)
)

// A call in Opus is heard both ways at 16 kHz, whatever the length of the far end's packets, plain and encrypted.
func TestOpusBothWays(t *testing.T) {
	for _, length := range []int{10, 20, 40, 60} {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork()
				far := n.newOpusPhone(t, 0)
				c := newCall(t, n, func(cfg *rtp.Config) { cfg.Format = withOpus })
				c.speak = wideTone
				beat, at := 0, 0
				c.conduct(2*time.Second, func() {
					beat += 20
					for ; at+length <= beat; at += length { // in ms
						far.packet(twice[at*16%32000:][:length*16], false)
					}
				})
				c.hangUp()
				if f := c.s.Format(); f.In != media.Rate16k || f.Out != media.Rate16k {
					t.Errorf("the leg is at %v", f)
				}
				if s := c.s.Stats(); s.Lost != 0 || s.Invalid != 0 || s.Concealed != 0 || len(c.heard) < 30000 {
					t.Errorf("%d samples, %+v", len(c.heard), s)
				}
				if snr := mediatest.SNR(c.heard[4800:], media.Rate16k, 440); snr < 20 {
					t.Errorf("what we hear is the tone at %.1f dB", snr)
				}
				sent := far.take(t)
				for i, p := range sent {
					if p.PayloadType != 96 || p.Marker != (i == 0) || i > 0 && (p.Timestamp != sent[i-1].Timestamp+960 || p.SequenceNumber != sent[i-1].SequenceNumber+1) {
						t.Fatalf("packet %d: %v", i, p)
					}
				}
				if snr := mediatest.SNR(far.hear(sent)[4800:], media.Rate16k, 440); len(sent) < 99 || snr < 20 {
					t.Errorf("what they hear is the tone at %.1f dB, in %d packets", snr, len(sent))
				}
			})
		})
	}
}

// A word whose first packet is lost is heard from the copy in the next one; what concealment would go on with is silence.
func TestOpusRecoversFromCopies(t *testing.T) {
	for _, length := range []int{20, 60} {
		for _, loss := range []int{0, 30} {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork()
				far := n.newOpusPhone(t, loss)
				c := newCall(t, n, func(cfg *rtp.Config) { cfg.Format = withOpus })
				i, part := 0, length/20
				c.conduct(4*time.Second, func() {
					if i++; i%part != 0 {
						return
					}
					piece, packet := make([]int16, length*16), i/part
					if packet%10 >= 7 {
						copy(piece, wideSamples)
					}
					far.packet(piece, packet%10 == 7)
				})
				c.hangUp()
				loud := 0 // pieces of 2.5 ms
				for piece := range slices.Chunk(c.heard, 40) {
					if mediatest.Level(piece) > -35 {
						loud++
					}
				}
				// Each tenth packet of the stream is a first of three.
				st := c.s.Stats()
				packets := float64(loud) / float64(st.Lost) / float64(8*part)
				if st.Lost < 6 || loss > 0 && packets < 2.7 || loss == 0 && packets > 2.5 {
					t.Errorf("%d ms, made for a loss of %d %%: %.1f packets of 3 are heard, %+v", length, loss, packets, st)
				}
			})
		}
	}
}

// A call that is moved between codecs of different clocks goes on at its rate; each clock has a stream of its own.
func TestSetFormatOfAnotherClock(t *testing.T) {
	for _, keys := range []srtp.Keys{{}, newKeys(srtp.AESHMAC80)} {
		for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
			synctest.Test(t, func(t *testing.T) { testSetFormatOfAnotherClock(t, keys, rate) })
		}
	}
}

func testSetFormatOfAnotherClock(t *testing.T, keys srtp.Keys, rate media.Rate) {
	n := newNetwork()
	far := n.newOpusPhone(t, 0)
	encrypted := keys.Suite != srtp.None
	c := newCall(t, n, func(cfg *rtp.Config) { cfg.Rate, cfg.Opus, cfg.Keys = rate, true, keys })
	tone := mediatest.Tone(440, rate, 100*rate.FrameSamples(), 0.3)
	c.speak = func(i int) []int16 { return tone[i%100*rate.FrameSamples():][:rate.FrameSamples()] }
	i, last := 0, uint32(0)
	for _, to := range []codec.Codec{codec.PCMU, codec.Opus, codec.G722, codec.Opus} {
		format := rtp.Format{Codec: to, Events: 101}
		if to == codec.Opus {
			format = withOpus
		}
		c.s.SetFormat(format)
		c.heard = nil
		c.conduct(time.Second, func() {
			if i++; encrypted {
				return // only what we send
			}
			if far.PayloadType = 96; to == codec.Opus {
				far.packet(wideTone(i), false)
			} else {
				far.tell(ourAddr, to, i)
			}
		})
		heard := map[string][]int16{"we": c.heard}
		if encrypted {
			heard = map[string][]int16{}
		}
		sent := far.takeWith(t, keys)
		if sent[0].SSRC == last || !sent[0].Marker || len(sent) < 48 {
			t.Errorf("%v begins with %v of %d packets", to, sent[0], len(sent))
		}
		last = sent[0].SSRC
		decoder, played := codec.NewDecoder(media.Rate16k), []int16(nil)
		for _, p := range sent {
			if p.SSRC != last {
				t.Fatalf("%v has two streams", to)
			}
			frame := make([]int16, 320)
			if to != codec.Opus {
				decoder.Decode(frame, p.PayloadType, p.Payload)
			}
			played = append(played, frame...)
		}
		if to == codec.Opus {
			played = far.hear(sent)
		}
		if snr := mediatest.SNR(played[4800:], media.Rate16k, 440); snr < 20 {
			t.Errorf("at %v in %v they hear at %.1f dB", rate, to, snr)
		}
		for who, samples := range heard {
			if len(samples) < 48*rate.FrameSamples() {
				t.Errorf("at %v in %v %s hear %d samples", rate, to, who, len(samples))
			} else if snr := mediatest.SNR(samples[rate*3/10:], rate, 440); snr < 20 {
				t.Errorf("at %v in %v %s hear at %.1f dB", rate, to, who, snr)
			}
		}
	}
	c.hangUp()
}

// takeWith is take of packets under keys, those of ours that it was given.
func (h *host) takeWith(t *testing.T, keys srtp.Keys) []*pion.Packet {
	t.Helper()
	if keys.Suite == srtp.None {
		return h.take(t)
	}
	r, err := srtp.NewReceiver(keys.Suite, keys.Send)
	if err != nil {
		t.Fatal(err)
	}
	var packets []*pion.Packet
	buf := make([]byte, 2000)
	for {
		n, _, _, ok := h.Recv(buf)
		if !ok {
			return packets
		}
		plain, err := r.RTP(buf[:n])
		p := &pion.Packet{}
		if err != nil || p.Unmarshal(append([]byte(nil), plain...)) != nil {
			t.Fatalf("a packet is not ours: %v", err)
		}
		packets = append(packets, p)
	}
}

// Keys beside Opus: events of its clock, and those of 8 kHz, whose timestamps are of the audio all the same.
func TestKeysBesideOpus(t *testing.T) {
	for _, fast := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork()
			far := n.newOpusPhone(t, 0)
			c := newCall(t, n, func(cfg *rtp.Config) { cfg.Format = withOpus; cfg.Format.FastEvents = fast })
			unit := uint16(1)
			if fast {
				unit = 6
			}
			i := 0
			talk := func() { far.PayloadType = 96; far.packet(wideTone(i), false); i++ }
			c.conduct(time.Second, talk)
			for k := range 10 {
				far.PayloadType, far.Marker = 102, k == 0
				d := unit * 160 * uint16(min(k+1, 8))
				end := byte(0)
				if k >= 7 {
					end = 0x80
				}
				c.conduct(media.FrameDuration, func() { far.raw(ourAddr, []byte{7, end | 10, byte(d >> 8), byte(d)}) })
			}
			far.Timestamp += 960 * 10
			c.heard = nil
			c.conduct(time.Second, talk)
			if got := c.digits(); got != "7" {
				t.Errorf("keys %q", got)
			}
			if s := c.s.Stats(); s.Lost != 0 || s.Resyncs != 0 || s.Concealed != 0 || s.Overruns != 0 {
				t.Errorf("%+v", s)
			}
			if snr := mediatest.SNR(c.heard[4800:], media.Rate16k, 440); snr < 20 {
				t.Errorf("after the key the tone is at %.1f dB", snr)
			}
			far.take(t)
			if err := c.s.SendDigits("7"); err != nil {
				t.Error(err)
			}
			c.conduct(400*time.Millisecond, talk)
			longest := uint16(0)
			for _, p := range far.take(t) {
				if p.PayloadType == 102 {
					longest = max(longest, uint16(p.Payload[2])<<8|uint16(p.Payload[3]))
				}
			}
			if longest != unit*800 {
				t.Errorf("our key lasts %d units", longest)
			}
			c.hangUp()
		})
	}
}

// What we send has copies for a far end that loses packets and says that it uses them; our reports count in the clock of Opus.
func TestOpusReports(t *testing.T) {
	for _, fec := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork()
			far := n.newOpusPhone(t, 0)
			control := n.host(phoneRTCP.String())
			c := newCall(t, n, func(cfg *rtp.Config) {
				cfg.Format, cfg.RTCP = withOpus, n.host(ourRTCP.String())
				cfg.Format.Opus.FEC = fec
			})
			c.speak = wideTone
			n.jitter = 20 * time.Millisecond
			i := 0
			talk := func() { far.packet(wideTone(i), false); i++ }
			c.conduct(time.Second, talk)
			before := far.take(t)
			report, err := rtcp.Marshal([]rtcp.Packet{&rtcp.ReceiverReport{SSRC: 1, Reports: []rtcp.ReceptionReport{{SSRC: before[0].SSRC, FractionLost: 64}}}})
			if err != nil {
				t.Fatal(err)
			}
			_ = control.Send(report, ourRTCP)
			c.conduct(5*time.Second, talk)
			after := far.take(t)
			// Configurations below 16 are those with SILK, which alone has copies (RFC 6716 table 2).
			if copies := after[len(after)-1].Payload[0]>>3 < 16; before[len(before)-1].Payload[0]>>3 < 16 || copies != fec {
				t.Errorf("the far end uses copies: %v; it gets them: %v", fec, copies)
			}
			jitter := uint32(0)
			buf := make([]byte, 2000)
			for {
				size, _, _, ok := control.Recv(buf)
				if !ok {
					break
				}
				packets, err := rtcp.Unmarshal(buf[:size])
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range packets {
					if sr, ok := p.(*rtcp.SenderReport); ok && len(sr.Reports) > 0 {
						jitter = sr.Reports[0].Jitter
					}
				}
			}
			if want := c.s.Stats().Jitter.Seconds() * 48000; float64(jitter) < want/2 || float64(jitter) > want*2 || want < 48 {
				t.Errorf("a jitter of %v is reported as %d", c.s.Stats().Jitter, jitter)
			}
			c.hangUp()
		})
	}
}

// A session that was not made for Opus stays as it is.
func TestOpusOnlyWhereThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		c := newCall(t, n)
		c.s.SetFormat(withOpus)
		c.conduct(time.Second, func() { far.say(ourAddr, silent[:]) })
		for _, p := range far.take(t) {
			if p.PayloadType != 0 {
				t.Fatalf("sent %v", p)
			}
		}
		c.hangUp()
	})
	for name, f := range map[string]rtp.Format{
		"no type":          {Codec: codec.Opus},
		"the type of keys": {Codec: codec.Opus, Opus: codec.OpusParams{Type: 101}, Events: 101},
		"one of PCMA":      {Codec: codec.Opus, Opus: codec.OpusParams{Type: 8}},
		"like RTCP":        {Takes: codec.SetOf(codec.Opus), Opus: codec.OpusParams{Type: 72}},
	} {
		if _, err := rtp.New(rtp.Config{RTP: newNetwork().host(ourAddr.String()), Remote: netip.AddrPort{}, Format: f}); err == nil {
			t.Errorf("%s: there is a session", name)
		}
	}
}
