package stt

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/media"
	"parley/media/vad"
)

// loud is a detector for which every sample that is not 0 is a voice.
type loud struct{}

func (loud) Detect(f media.Frame) vad.Decision { return vad.Decision{Speech: f.Samples[0] != 0} }
func (loud) Reset()                            {}

// found is what a cutter finds.
type found struct {
	utterances [][]int16
	spans      [][2]int64
}

// cutAll cuts audio that is written in pieces of n samples.
func cutAll(audio []int16, n int) found {
	var f found
	var voice []int16
	c := &cutter{detect: loud{}, lead: make([]int16, calm, preRoll),
		hear: func(p []int16) { voice = append(voice, p...) },
		done: func(from, to int64) {
			f.utterances, f.spans = append(f.utterances, voice), append(f.spans, [2]int64{from, to})
			voice = nil
		}}
	for len(audio) > 0 {
		n := min(n, len(audio))
		c.write(audio[:n])
		audio = audio[n:]
	}
	c.end()
	return f
}

// talk is a voice that counts its samples, with pauses: ms of voice, then ms of
// silence, and so on.
func talk(ms ...int) (audio []int16) {
	n := int16(0)
	for i, d := range ms {
		for range d * 16 {
			v := int16(0)
			if i%2 == 0 {
				if n++; n == 0 {
					n = 1
				}
				v = n
			}
			audio = append(audio, v)
		}
	}
	return audio
}

func TestCutter(t *testing.T) {
	for name, c := range map[string]struct {
		ms   []int
		want [][2]int64 // ms
	}{
		"nothing":               {nil, nil},
		"silence":               {[]int{0, 5000}, nil},
		"two":                   {[]int{0, 1000, 500, 1000, 800, 2000}, [][2]int64{{1000, 1500}, {2500, 3300}}},
		"a short pause":         {[]int{500, 580, 500}, [][2]int64{{0, 1580}}},
		"a pause":               {[]int{500, 600, 500}, [][2]int64{{0, 500}, {1100, 1600}}},
		"a click":               {[]int{0, 500, 40, 500}, nil},
		"less than a frame":     {[]int{0, 500, 110}, [][2]int64{{500, 620}}},
		"a pause after 8 s":     {[]int{8500, 200, 500}, [][2]int64{{0, 8500}, {8700, 9200}}},
		"a pause after 11 s":    {[]int{11500, 80, 500}, [][2]int64{{0, 11500}, {11580, 12080}}},
		"no pause in 30 s":      {[]int{30000}, [][2]int64{{0, 13700}, {13700, 27700}, {27700, 30000}}},
		"a short one after 8 s": {[]int{8500, 180, 500}, [][2]int64{{0, 9180}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := cutAll(talk(c.ms...), 320)
			var got [][2]int64
			for i, s := range f.spans {
				got = append(got, [2]int64{s[0] / 16, s[1] / 16})
				if n := len(f.utterances[i]); n > maxUtterance+calm {
					t.Errorf("utterance %d has %d samples", i, n)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestCutterKeepsVoice: all of a voice is heard once and in order, with what was
// before it, however it is written and however long it is.
func TestCutterKeepsVoice(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var ms []int
		for range rapid.IntRange(1, 4).Draw(r, "parts") {
			ms = append(ms, rapid.IntRange(5, 900).Draw(r, "voice")*20, rapid.IntRange(0, 100).Draw(r, "silence")*20)
		}
		audio := talk(ms...)
		f := cutAll(audio, rapid.IntRange(100, 40_000).Draw(r, "piece"))
		var heard, want []int16
		for _, u := range f.utterances {
			heard = append(heard, u...)
			if len(u) > maxUtterance+calm {
				r.Errorf("an utterance of %d samples", len(u))
			}
		}
		isSilence := func(v int16) bool { return v == 0 }
		want = slices.DeleteFunc(slices.Clone(audio), isSilence)
		heard = slices.DeleteFunc(heard, isSilence)
		if !slices.Equal(heard, want) {
			r.Errorf("%d samples of voice were heard, %d were spoken", len(heard), len(want))
		}
		for i, s := range f.spans {
			if s[0] >= s[1] || i > 0 && s[0] < f.spans[i-1][1] {
				r.Errorf("spans %v", f.spans)
			}
		}
	})
}

// TestIntakeSplits: what is taken of a stream does not depend on how it is cut into
// messages, with too much of it too.
func TestIntakeSplits(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var whole, split intake
		var a, b []int16
		now := time.Unix(1e9, 0)
		for range rapid.IntRange(1, 5).Draw(r, "arrivals") {
			p := make([]byte, rapid.IntRange(0, 300_000).Draw(r, "bytes"))
			for i := range p {
				p[i] = byte(i * 7)
			}
			a = whole.take(a, p, now)
			for len(p) > 0 {
				n := min(len(p), rapid.IntRange(1, 50_000).Draw(r, "message"))
				b = split.take(b, p[:n], now)
				p = p[n:]
			}
			now = now.Add(time.Duration(rapid.IntRange(0, 10_000).Draw(r, "ms")) * time.Millisecond)
		}
		if !slices.Equal(a, b) || whole.dropped != split.dropped {
			r.Errorf("%d samples taken and %d dropped in one piece, %d and %d in several", len(a), whole.dropped, len(b), split.dropped)
		}
	})
}

// TestIntakeRate: never more than the burst and what time has earned since.
func TestIntakeRate(t *testing.T) {
	var in intake
	start := time.Unix(1e9, 0)
	taken := 0
	for ms := 0; ms < 60_000; ms += 7 {
		taken += len(in.take(nil, make([]byte, 4096), start.Add(time.Duration(ms)*time.Millisecond)))
		if most := int(intakeBurst) + ms*int(intakeRate)/1000; taken > most {
			t.Fatalf("%d samples after %d ms, want at most %d", taken, ms, most)
		}
	}
	if least := int(intakeBurst) + 59_000*int(intakeRate)/1000; taken < least {
		t.Errorf("%d samples in a minute, want at least %d", taken, least)
	}
	in.restart()
	if got := in.take(nil, []byte{1}, start.Add(time.Hour)); len(got) > 0 {
		t.Errorf("took %v of one byte", got)
	}
	if got := in.take(nil, []byte{2, 3}, start.Add(time.Hour)); len(got) != 1 || got[0] != 0x0201 {
		t.Errorf("took %v", got)
	}
	in.restart()
	if got := in.take(nil, []byte{4, 5}, start.Add(time.Hour)); len(got) != 1 || got[0] != 0x0504 {
		t.Errorf("took %v after a new start", got)
	}
}
