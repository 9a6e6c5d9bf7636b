package vad_test

import (
	"fmt"
	"slices"
	"testing"

	"parley/media"
	"parley/media/denoise"
	"parley/media/denoise/noisetest"
	"parley/media/vad"
)

// detect runs a detector behind a suppressor over samples.
func detect(t testing.TB, detector, suppressor string, rate media.Rate, pcm []int16) []vad.Decision {
	t.Helper()
	s, err := denoise.New(suppressor, rate)
	if err != nil {
		t.Fatal(err)
	}
	d, err := vad.New(detector, rate, s)
	if err != nil {
		t.Fatal(err)
	}
	var all []vad.Decision
	for n := rate.FrameSamples(); len(pcm) >= n; pcm = pcm[n:] {
		f := media.Frame{Samples: pcm[:n], Rate: rate}
		s.Process(f)
		all = append(all, d.Detect(f))
	}
	return all
}

// The consumer: a caller starts to speak after three frames of speech in a row and
// is silent after fifteen without.
const (
	startFrames = 3
	endFrames   = 15
)

// found is what the consumer finds of the utterances of a track; times in ms.
type found struct {
	falseStarts, missed, frames int
	onset                       []int // from Span.Start to the start
	heard                       []int // from where the voice can be heard to the start
	end                         []int // from Span.End to the end
	dropout                     int   // the longest stretch of loud speech not seen, after the onset
}

func (f found) String() string {
	late := 0
	for _, ms := range f.onset {
		if ms > 150 {
			late++
		}
	}
	return fmt.Sprintf("false %d, missed %d, late %d, onset median %d max %d, after what can be heard max %d, end median %d max %d, dropout %d",
		f.falseStarts, f.missed, late, quantile(f.onset, 50), quantile(f.onset, 100), quantile(f.heard, 100),
		quantile(f.end, 50), quantile(f.end, 100), f.dropout)
}

func quantile(ms []int, percent int) int {
	if len(ms) == 0 {
		return -1
	}
	slices.Sort(ms)
	return ms[(len(ms)-1)*percent/100]
}

// What can be heard of a voice in noise: 60 ms in a row in which no 10 ms are
// further below the noise than this, in dB. An f before that drowns, and a "the" of
// 45 ms before the closure of a k is over before three frames have passed.
const (
	drowned = -10
	lasting = 6 // blocks of 10 ms
)

// audible is where the voice of a span can be heard first in noise of a level in dBFS.
func audible(track noisetest.Track, s noisetest.Span, rate media.Rate, noise float64) int {
	block := int(rate) / 100
	run := 0
	for i := s.Start; i+block <= s.End; i += block {
		if noisetest.LevelWhere(track.Samples[i:i+block], []bool{true}, true, block*50) < noise+drowned {
			run = 0
			continue
		}
		if run++; run == lasting {
			return i - (lasting-1)*block
		}
	}
	return s.Start
}

// consume listens to decisions about a track in noise of a level in dBFS.
// Dropouts count where the clean speech is above loud, in dBFS.
func consume(ds []vad.Decision, track noisetest.Track, rate media.Rate, noise, loud float64) found {
	var f found
	samples := rate.FrameSamples()
	ms := func(at int) int { return at * 1000 / int(rate) }
	started := make([]bool, len(track.Spans))
	speaking, run, quiet, current := false, 0, 0, -1
	for i, d := range ds {
		run, quiet = run+1, quiet+1
		if d.Speech {
			quiet = 0
			f.frames++
		} else {
			run = 0
		}
		now := (i + 1) * samples
		switch {
		case !speaking && run == startFrames:
			speaking = true
			current = slices.IndexFunc(track.Spans, func(s noisetest.Span) bool {
				return now > s.First && now-startFrames*samples < s.End
			})
			if current < 0 {
				f.falseStarts++
			} else if !started[current] {
				started[current] = true
				f.onset = append(f.onset, ms(now-track.Spans[current].Start))
				f.heard = append(f.heard, ms(now-audible(track, track.Spans[current], rate, noise)))
			}
		case speaking && quiet == endFrames:
			speaking = false
			if current >= 0 && now > track.Spans[current].End {
				f.end = append(f.end, ms(now-track.Spans[current].End))
			}
		}
	}
	for _, s := range started {
		if !s {
			f.missed++
		}
	}
	f.dropout = longestDropout(ds, track, samples, loud)
	return f
}

// longestDropout is the longest stretch without speech in which the clean speech is
// above loud, not counting the onsets, in ms.
func longestDropout(ds []vad.Decision, track noisetest.Track, samples int, loud float64) int {
	longest := 0
	for _, s := range track.Spans {
		heard, run := false, 0
		for i := s.Start / samples; i < s.End/samples; i++ {
			level := noisetest.LevelWhere(track.Samples[i*samples:][:samples], []bool{true}, true, samples*50)
			switch {
			case ds[i].Speech:
				heard, run = true, 0
			case heard && level > loud:
				run++
				longest = max(longest, run*20)
			default:
				run = 0
			}
		}
	}
	return longest
}

// TestSpeechInNoise holds the detector to its bars: in noise 10 dB below, every
// voice is found within 150 ms of where it can be heard, and everywhere most are
// within 150 ms of their first sound.
func TestSpeechInNoise(t *testing.T) {
	u := noisetest.Utterances(t)
	track := noisetest.Lay(u, 2)
	half := track.Halve()
	noises := noisetest.Noises(u)
	noises["clean"] = func(n int, _ uint64) []float64 { return make([]float64, n) }
	for _, c := range []struct {
		noise       string
		snrs        []float64
		falseStarts int
		missed      int
	}{
		{noise: "clean", snrs: []float64{99}},
		{noise: "white", snrs: []float64{10, 5}},
		{noise: "pink", snrs: []float64{10}},
		{noise: "car", snrs: []float64{10, 5}},
		{noise: "babble", snrs: []float64{20}, falseStarts: 2, missed: 2},
	} {
		noise := noises[c.noise](len(track.Samples), 11)
		halfNoise := make([]float64, len(half.Samples))
		if c.noise != "clean" {
			halfNoise = noisetest.HalveNoise(noise)
		}
		for _, snr := range c.snrs {
			for rate, mixed := range map[media.Rate][]float64{
				media.Rate8k:  noisetest.Mix(half.Samples, halfNoise, snr),
				media.Rate16k: noisetest.Mix(track.Samples, noise, snr),
			} {
				clean := track
				if rate == media.Rate8k {
					clean = half
				}
				// What is 12 dB under a voice or hardly above the noise may drop out.
				loud := noisetest.SpeechLevel - min(12, snr-3)
				f := consume(detect(t, vad.Spectral, denoise.Spectral, rate, noisetest.PCM(mixed)), clean, rate, noisetest.SpeechLevel-snr, loud)
				t.Logf("%v %-6s %2.0f dB: %v", rate, c.noise, snr, f)
				if f.falseStarts > c.falseStarts || f.missed > c.missed || quantile(f.onset, 50) > 100 || quantile(f.onset, 85) > 150 ||
					snr == 10 && quantile(f.heard, 100) > 150 ||
					quantile(f.end, 50) > 330 || quantile(f.end, 100) > 380 || f.dropout > 60 {
					t.Errorf("%v %s %.0f dB: %v", rate, c.noise, snr, f)
				}
			}
		}
	}
}

// TestTalkInTheBackground: with eight people who talk 15 dB below the caller, the network starts for
// the caller almost alone.
func TestTalkInTheBackground(t *testing.T) {
	u := noisetest.Utterances(t)
	track := noisetest.Lay(u, 2)
	for rate, m := range mixed(track, noisetest.Babble(u), 15) {
		f := consume(detect(t, vad.Silero, denoise.Off, rate, noisetest.PCM(m.Samples)), m, rate, noisetest.SpeechLevel-15, 0)
		t.Logf("%v: %v", rate, f)
		if f.falseStarts > 1 || f.missed > 0 || quantile(f.onset, 50) > 120 || quantile(f.onset, 100) > 250 || quantile(f.end, 50) > 350 {
			t.Errorf("%v: %v", rate, f)
		}
	}
}

// mixed is a track in noise that is snr dB below it, at two rates.
func mixed(track noisetest.Track, noise noisetest.Noise, snr float64) map[media.Rate]noisetest.Track {
	half, some := track.Halve(), noise(len(track.Samples), 11)
	return map[media.Rate]noisetest.Track{
		media.Rate8k:  {Samples: noisetest.Mix(half.Samples, noisetest.HalveNoise(some), snr), Spans: half.Spans},
		media.Rate16k: {Samples: noisetest.Mix(track.Samples, some, snr), Spans: track.Spans},
	}
}

// TestSpeechAtOnce: a voice that is there at full strength from the first sample,
// in the middle of a word, after digital silence or after nothing.
func TestSpeechAtOnce(t *testing.T) {
	const rate = media.Rate16k
	for _, u := range noisetest.Utterances(t) {
		const cut = int(rate) / 5
		if len(u) < 4*cut {
			continue
		}
		for _, silence := range []int{0, 160, 3 * int(rate)} {
			x := append(make([]float64, silence), u[cut:]...)
			f := consume(detect(t, vad.Spectral, denoise.Spectral, rate, noisetest.PCM(x)),
				noisetest.Track{Samples: x, Spans: []noisetest.Span{{First: silence, Start: silence, End: len(x)}}}, rate, -99, 0)
			if f.missed > 0 || f.falseStarts > 0 || f.onset[0] > 400 {
				t.Errorf("after %d samples of silence: %v", silence, f)
			}
		}
	}
}

// TestHiss: a line that hisses, however loud, is not a voice: from the first sample,
// after digital silence, with gaps of silence, and with lost packets in it.
func TestHiss(t *testing.T) {
	const rate, seconds = noisetest.Rate, 20
	for name, noise := range map[string]noisetest.Noise{"white": noisetest.White, "pink": noisetest.Pink, "car": noisetest.Car} {
		hiss := noise(seconds*rate, 9)
		for _, level := range []float64{16, 100, 1600} { // rms: -66 to -26 dBFS
			for _, lead := range []int{0, 5000, 32123} {
				x := make([]float64, len(hiss))
				for i, v := range hiss {
					lost := lead > 0 && (i/rate%10 == 7 || i > seconds/2*rate && i/320%7 == 0)
					if i >= lead && !lost {
						x[i] = level * v
					}
				}
				for _, d := range []string{vad.Spectral, vad.Silero} {
					if f := consume(detect(t, d, denoise.Off, rate, noisetest.PCM(x)), noisetest.Track{}, rate, -99, 0); f.frames > 0 {
						t.Errorf("%s: %s at %.0f after %d samples of silence: %d frames are speech", d, name, level, lead, f.frames)
					}
				}
			}
		}
	}
}
