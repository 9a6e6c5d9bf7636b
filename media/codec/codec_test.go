package codec_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"parley/media"
	"parley/media/codec"
	"parley/media/mediatest"
	"parley/media/opus"
)

var rates = []media.Rate{media.Rate8k, media.Rate16k}

func TestNames(t *testing.T) {
	for name, want := range map[string]uint8{"PCMU": 0, "pcma": 8, "g722": 9, "G722": 9} {
		if c, ok := codec.Parse(name); !ok || c.PayloadType() != want || !c.Valid() {
			t.Errorf("%s is %d, %v", name, c, ok)
		}
	}
	if got := fmt.Sprint(codec.Default()); got != "[G722 PCMU PCMA]" {
		t.Errorf("by default there are %s", got)
	}
	if c, ok := codec.Parse("opus"); ok != opus.Encodes || c != codec.Opus || !c.Valid() || c.Clock() != 48000 || c.Rate() != media.Rate16k {
		t.Errorf("opus is %d, %v", c, ok)
	}
	set := codec.SetOf(codec.Opus, codec.PCMU)
	for pt := range codec.Codec(255) {
		if has := pt == codec.Opus || pt == codec.PCMU; set.Has(pt) != has {
			t.Errorf("the set says %v of %d", !has, pt)
		}
	}
	for _, wrong := range [][]string{{"G729"}, {""}, {"PCMU", "pcmu"}} {
		if list, ok := codec.ParseList(wrong); ok {
			t.Errorf("%q is %v", wrong, list)
		}
	}
	if list, ok := codec.ParseList([]string{"PCMA", "G722"}); !ok || !slices.Equal(list, []codec.Codec{codec.PCMA, codec.G722}) {
		t.Errorf("read %v, %v", list, ok)
	}
	if c := codec.Codec(18); c.Valid() {
		t.Errorf("%v is valid", c)
	}
}

// sent is what the far end hears of audio at one rate, at another, in packets of a number of ticks.
func sent(audio []int16, from, to media.Rate, ticks int, choose func(packet int) codec.Codec) (heard []int16) {
	e, d := codec.NewEncoder(from), codec.NewDecoder(to)
	payload := make([]byte, ticks)
	packet := 0
	for piece := range slices.Chunk(audio, ticks*int(from)/8000) {
		c := choose(packet)
		e.Encode(c, payload, piece)
		out := make([]int16, ticks*int(to)/8000)
		d.Decode(out, c.PayloadType(), payload)
		heard = append(heard, out...)
		packet++
	}
	return heard
}

// TestRates: whatever the codec and the rates at both ends, and however long packets are, a tone arrives as it was.
func TestRates(t *testing.T) {
	for _, c := range codec.Default() {
		for _, from := range rates {
			for _, to := range rates {
				for ticks, n := range map[int]int{160: 50, 80: 100, 240: 33, 61: 131} {
					audio := mediatest.Tone(1000, from, n*ticks*int(from)/8000, 0.3)
					heard := sent(audio, from, to, ticks, func(int) codec.Codec { return c })[to/10:]
					if snr := mediatest.SNR(heard, to, 1000); snr < 35 {
						t.Errorf("%v from %v to %v in packets of %d: %.1f dB", c, from, to, ticks, snr)
					}
					if level := mediatest.ToneLevel(heard, to, 1000); math.Abs(level+13.5) > 0.3 {
						t.Errorf("%v from %v to %v in packets of %d: a tone at -13.5 dBFS is heard at %.1f", c, from, to, ticks, level)
					}
				}
			}
		}
	}
}

// TestBand: the upper band is there where both ends and the codec have it, and nothing folds back from it where not.
func TestBand(t *testing.T) {
	audio := mediatest.Tone(6000, media.Rate16k, 16000, 0.3)
	for _, c := range codec.Default() {
		for _, to := range rates {
			heard := sent(audio, media.Rate16k, to, 160, func(int) codec.Codec { return c })[to/10:]
			if level := mediatest.Level(heard); c == codec.G722 && to == media.Rate16k {
				if level < -14 {
					t.Errorf("%v: 6 kHz at -13.5 dBFS is heard at %.1f", c, level)
				}
			} else if level > -55 {
				t.Errorf("%v to %v: 6 kHz comes out at %.1f dBFS", c, to, level)
			}
		}
	}
}

// TestChange: a call that changes its codec goes on, though codecs differ in their rate.
func TestChange(t *testing.T) {
	for _, rate := range rates {
		audio := mediatest.Tone(1000, rate, int(rate), 0.3)
		heard := sent(audio, rate, rate, 160, func(packet int) codec.Codec { return codec.Default()[packet/10%3] })
		for packet, piece := range slices.Collect(slices.Chunk(heard, rate.FrameSamples())) {
			// A codec begins with what is left in its filters.
			if packet%10 < 2 {
				continue
			}
			if snr := mediatest.SNR(piece, rate, 1000); snr < 30 {
				t.Errorf("at %v packet %d is heard at %.1f dB", rate, packet, snr)
			}
		}
	}
}

func TestShortAudioEndsInSilence(t *testing.T) {
	for _, c := range codec.Default() {
		heard := sent(mediatest.Tone(1000, media.Rate8k, 480+80, 0.3), media.Rate8k, media.Rate8k, 160, func(int) codec.Codec { return c })
		if before, after := mediatest.Level(heard[480:540]), mediatest.Level(heard[620:]); before < -16 || after > -40 {
			t.Errorf("%v: half a frame is heard at %.1f dBFS, the rest of it at %.1f", c, before, after)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for _, c := range codec.Default() {
		for _, rate := range rates {
			e, d := codec.NewEncoder(rate), codec.NewDecoder(rate)
			frame, payload := make([]int16, rate.FrameSamples()), make([]byte, 160)
			mediatest.NoAllocs(t, func() {
				e.Encode(c, payload, frame)
				d.Decode(frame, c.PayloadType(), payload)
			})
		}
	}
}

// BenchmarkFrame is 20 ms of a call, both ways.
func BenchmarkFrame(b *testing.B) {
	for _, c := range codec.Default() {
		for _, rate := range rates {
			b.Run(fmt.Sprintf("%v/%d", c, rate), func(b *testing.B) {
				e, d := codec.NewEncoder(rate), codec.NewDecoder(rate)
				frame, payload := mediatest.Tone(440, rate, rate.FrameSamples(), 0.3), make([]byte, 160)
				b.ReportAllocs()
				for b.Loop() {
					e.Encode(c, payload, frame)
					d.Decode(frame, c.PayloadType(), payload)
				}
			})
		}
	}
}
