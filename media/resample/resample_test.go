package resample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"parley/media"
	"parley/media/mediatest"

	"pgregory.net/rapid"
)

var rates = []media.Rate{
	media.Rate8k, media.Rate16k, media.Rate22k, media.Rate24k, media.Rate44k, media.Rate48k,
}

// eachPair runs a subtest for every two different rates.
func eachPair(t *testing.T, test func(t *testing.T, from, to media.Rate)) {
	for _, from := range rates {
		for _, to := range rates {
			if from != to {
				t.Run(fmt.Sprintf("%d-%d", from, to), func(t *testing.T) { test(t, from, to) })
			}
		}
	}
}

// stream passes samples through r in frames and joins what comes out.
func stream(t *testing.T, r *Resampler, samples []int16, from, to media.Rate) []int16 {
	t.Helper()
	var out []int16
	at := media.Time(0)
	for frame := range slices.Chunk(samples, from.FrameSamples()) {
		f := r.Process(media.Frame{Samples: frame, Rate: from, At: at})
		if len(f.Samples) != to.FrameSamples() || f.Rate != to || f.At != at {
			t.Fatalf("frame at %d: %d samples at %v, At %d", at, len(f.Samples), f.Rate, f.At)
		}
		out = append(out, f.Samples...)
		at += media.FrameTime
	}
	return out
}

// TestTones measures each pair as a user sees it, int16 to int16: rounding twice
// puts a floor at 95 dB under the loudest tone.
func TestTones(t *testing.T) {
	const minSNR, ripple = 85, 0.1
	eachPair(t, func(t *testing.T, from, to media.Rate) {
		nyquist := float64(min(from, to)) / 2
		worst, flat := math.Inf(1), 0.0
		for _, part := range []float64{0.03, 0.11, 0.25, 0.4, 0.55, 0.7, 0.8, 0.83, 0.85} {
			freq := part * nyquist
			in := mediatest.Tone(freq, from, 10*from.FrameSamples(), 0.98)
			out := stream(t, New(from, to), in, from, to)[to.FrameSamples():]
			worst = min(worst, mediatest.SNR(out, to, freq))
			change := mediatest.ToneLevel(out, to, freq) - mediatest.ToneLevel(in, from, freq)
			flat = max(flat, math.Abs(change))
		}
		t.Logf("SNR %.1f dB, ripple %.3f dB", worst, flat)
		if worst < minSNR {
			t.Errorf("SNR %.1f dB, want %d", worst, minSNR)
		}
		if flat > ripple {
			t.Errorf("ripple %.3f dB, want %v", flat, ripple)
		}
	})
}

// TestStopBand measures what a tone leaves behind that the lower rate cannot hold.
func TestStopBand(t *testing.T) {
	const maxLeak = -85
	eachPair(t, func(t *testing.T, from, to media.Rate) {
		nyquist, top := float64(to)/2, float64(from)/2
		if 1.15*nyquist >= top {
			t.Skip("no stop band below the Nyquist frequency; images count in the SNR")
		}
		worst := math.Inf(-1)
		for k := range 40 {
			freq := 1.15*nyquist + (0.999*top-1.15*nyquist)*float64(k)/39
			in := mediatest.Tone(freq, from, 6*from.FrameSamples(), 0.98)
			out := stream(t, New(from, to), in, from, to)[to.FrameSamples():]
			worst = max(worst, mediatest.Level(out)-mediatest.Level(in))
		}
		t.Logf("leak %.1f dB", worst)
		if worst > maxLeak {
			t.Errorf("leak %.1f dB, want %d", worst, maxLeak)
		}
	})
}

// TestDelay finds the delay again in the phase of a tone.
func TestDelay(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to media.Rate) {
		r := New(from, to)
		if d := r.Delay(); d <= 0 || d > 13*media.Millisecond/5 {
			t.Errorf("delay %v, want at most 2.6 ms", d.Duration())
		}
		const freq = 100
		out := stream(t, r, mediatest.Tone(freq, from, 10*from.FrameSamples(), 0.9), from, to)
		seconds := float64(r.Delay()) / float64(media.Second)
		for i := to.FrameSamples(); i < len(out); i++ {
			want := 0.9 * 32768 * math.Sin(2*math.Pi*freq*(float64(i)/float64(to)-seconds))
			if math.Abs(float64(out[i])-want) > 2 {
				t.Fatalf("sample %d is %d, want %.0f", i, out[i], want)
			}
		}
	})
}

func TestAllTakesOutTheDelay(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to media.Rate) {
		const freq = 100
		n := int(from) / 7
		out := All(mediatest.Tone(freq, from, n, 0.9), from, to)
		edge := int(to) / 200 // where the clip ends abruptly the filter rings
		for i := edge; i < len(out)-edge; i++ {
			want := 0.9 * 32768 * math.Sin(2*math.Pi*freq*float64(i)/float64(to))
			if math.Abs(float64(out[i])-want) > 2 {
				t.Fatalf("sample %d is %d, want %.0f", i, out[i], want)
			}
		}
	})
}

// TestAllIsTheStream checks that a clip and a stream give the same samples where
// the stream's delay is a whole number of them.
func TestAllIsTheStream(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to media.Rate) {
		r := New(from, to)
		if r.Delay()%to.Tick() != 0 {
			t.Skip("the delay is not whole at this rate")
		}
		in := noise(20*from.FrameSamples(), 1)
		got, want := stream(t, r, in, from, to), All(in, from, to)
		d := r.Delay().Samples(to)
		if !slices.Equal(got[d:], want[:len(want)-d]) {
			t.Error("they differ")
		}
	})
}

// TestStreamInPieces: however a clip is cut up, it comes out the same, and a piece is not kept.
func TestStreamInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom([]media.Rate{8000, 11025, 16000, 44100}).Draw(t, "from")
		to := rapid.SampledFrom(rates).Draw(t, "to")
		in := noise(rapid.IntRange(0, 3000).Draw(t, "n"), 1)
		s, out := NewStream(from, to), []int16(nil)
		for rest := in; len(rest) > 0; {
			n := rapid.IntRange(0, min(700, len(rest))).Draw(t, "piece")
			piece := slices.Clone(rest[:n])
			out = s.Convert(out, piece)
			clear(piece)
			rest = rest[n:]
		}
		if out = s.Finish(out); !slices.Equal(out, All(in, from, to)) {
			t.Fatal("the pieces make another clip")
		}
	})
}

func TestAllLength(t *testing.T) {
	others := append([]media.Rate{11025, 12000, 32000, 88200, 96000, 192000, 4000}, rates...)
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom(others).Draw(t, "from")
		to := rapid.SampledFrom(rates).Draw(t, "to")
		n := rapid.IntRange(0, 3000).Draw(t, "n")
		want := int(math.Round(float64(n) * float64(to) / float64(from)))
		if got := len(All(make([]int16, n), from, to)); got != want {
			t.Fatalf("%d samples, want %d", got, want)
		}
	})
}

func TestAllUncommonRates(t *testing.T) {
	for _, from := range []media.Rate{4000, 11025, 12000, 32000, 37800, 96000, 192000} {
		const freq = 700
		in := mediatest.Tone(freq, from, int(from)/2, 0.9)
		out := All(in, from, media.Rate16k)
		if snr := mediatest.SNR(out[160:len(out)-160], media.Rate16k, freq); snr < 85 {
			t.Errorf("%v: SNR %.1f dB", from, snr)
		}
	}
	for _, pair := range [][2]media.Rate{{0, 8000}, {-8000, 8000}, {8000, 3999}, {44101, 8000}, {8000, 1e6}} {
		if Supported(pair[0], pair[1]) {
			t.Errorf("%v to %v is supported", pair[0], pair[1])
		}
	}
}

func TestEqualRates(t *testing.T) {
	in := noise(160, 3)
	r := New(media.Rate8k, media.Rate8k)
	f := r.Process(media.Frame{Samples: in, Rate: media.Rate8k, At: 7})
	if !slices.Equal(f.Samples, in) || f.At != 7 || r.Delay() != 0 {
		t.Errorf("got %d samples, At %d, delay %d", len(f.Samples), f.At, r.Delay())
	}
	r.Reset()
	all := All(in, media.Rate8k, media.Rate8k)
	if !slices.Equal(all, in) || &all[0] == &in[0] {
		t.Error("All is not a copy")
	}
}

// TestImpulse checks that every input sample reaches the output with the same
// weight, wherever in a frame it is: a seam would lose or repeat some.
func TestImpulse(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to media.Rate) {
		n := from.FrameSamples()
		want := 20000 * float64(to) / float64(from)
		for _, at := range []int{n - 2, n - 1, n, n + 1, n + n/2} {
			in := make([]int16, 4*n)
			in[at] = 20000
			sum := 0.0
			for _, s := range stream(t, New(from, to), in, from, to) {
				sum += float64(s)
			}
			// A phase has unit gain but an input sample meets several phases:
			// they agree within the stop band and the rounding of each output.
			if math.Abs(sum-want) > 60 {
				t.Errorf("impulse at %d of %d: sum %.0f, want %.0f", at, n, sum, want)
			}
		}
	})
}

func TestReset(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to media.Rate) {
		in := noise(3*from.FrameSamples(), 2)
		fresh := stream(t, New(from, to), in, from, to)
		r := New(from, to)
		stream(t, r, noise(from.FrameSamples(), 9), from, to)
		r.Reset()
		if !slices.Equal(stream(t, r, in, from, to), fresh) {
			t.Error("history is left")
		}
	})
}

func TestSaturates(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to media.Rate) {
		in := make([]int16, 20*from.FrameSamples())
		for i := range in { // a square wave overshoots by 9 % after filtering
			in[i] = 32767
			if i*400/int(from)%2 == 1 {
				in[i] = -32768
			}
		}
		out := All(in, from, to)
		for i := 1; i < len(out); i++ { // wrapping would jump across the whole range
			if (out[i] > 30000 && out[i-1] < -30000) || (out[i] < -30000 && out[i-1] > 30000) {
				t.Fatalf("from %d to %d at %d", out[i-1], out[i], i)
			}
		}
		if slices.Max(out) != 32767 || slices.Min(out) != -32768 {
			t.Errorf("range %d to %d", slices.Min(out), slices.Max(out))
		}
	})
}

// TestOddFrames gives frames of lengths that break the contract: what comes out
// is still a whole frame, as if the missing samples were silence.
func TestOddFrames(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to media.Rate) {
		n := from.FrameSamples()
		for _, k := range []int{0, 1, n - 1, n + 1} {
			in := noise(k, 5)
			padded := append(slices.Clone(in[:min(k, n)]), make([]int16, max(0, n-k))...)
			got, want := New(from, to), New(from, to)
			a := slices.Clone(got.Process(media.Frame{Samples: in, Rate: from}).Samples)
			b := want.Process(media.Frame{Samples: padded, Rate: from}).Samples
			if !slices.Equal(a, b) {
				t.Errorf("%d samples differ from padded ones", k)
			}
		}
	})
}

func TestBanksAreSharedAndSmall(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to media.Rate) {
		p, ok := New(from, to).conv.(*polyphase)
		if !ok {
			return
		}
		if size := 4*len(p.coef) + 4*len(p.start); size > 120_000 {
			t.Errorf("bank of %d bytes", size)
		}
		if q := New(from, to).conv.(*polyphase); q.bank != p.bank {
			t.Error("two banks for one pair")
		}
	})
}

func TestNoAllocs(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to media.Rate) {
		r := New(from, to)
		f := media.Frame{Samples: noise(from.FrameSamples(), 1), Rate: from}
		mediatest.NoAllocs(t, func() { r.Process(f) })
	})
}

func TestNewPanicsOnUnknownRates(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(11025, media.Rate8k)
}

func noise(n int, seed uint64) []int16 {
	rng := rand.New(rand.NewPCG(seed, 0))
	out := make([]int16, n)
	for i := range out {
		out[i] = int16(rng.IntN(40001) - 20000)
	}
	return out
}

func BenchmarkProcess(b *testing.B) {
	for _, from := range rates {
		for _, to := range rates {
			if from == to {
				continue
			}
			b.Run(fmt.Sprintf("%d-%d", from, to), func(b *testing.B) {
				r := New(from, to)
				f := media.Frame{Samples: noise(from.FrameSamples(), 1), Rate: from}
				b.ReportAllocs()
				for b.Loop() {
					r.Process(f)
				}
			})
		}
	}
}

// BenchmarkFloor is what the times of BenchmarkProcess are multiples of.
func BenchmarkFloor(b *testing.B) {
	x, y := make([]float32, 48), make([]float32, 48)
	var sum float32
	for b.Loop() {
		sum += dot(x, y)
	}
	if sum != 0 {
		b.Error("not silence")
	}
}
