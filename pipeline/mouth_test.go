package pipeline

import (
	"math"
	"slices"
	"testing"

	"parley/inference"
	"parley/media"
	"parley/media/resample"

	"pgregory.net/rapid"
)

func newMouth(out media.Rate) *mouth {
	m := &mouth{}
	m.begin(out)
	m.follow(1)
	return m
}

// say queues a complete sentence of reply 1.
func (m *mouth) say(seg int, rate media.Rate, pcm []int16) *sentence {
	s := &sentence{gen: 1, seg: seg, text: "One two three four.", complete: true}
	s.append(inference.Chunk{Rate: rate, Samples: pcm})
	m.add(s)
	return s
}

// drain takes every frame there is.
func (m *mouth) drain() (pcm []int16) {
	for f, _, ok := m.next(); ok; f, _, ok = m.next() {
		pcm = append(pcm, f.Samples...)
	}
	return pcm
}

func level(v int16, n int) []int16 { return slices.Repeat([]int16{v}, n) }

func wave(rate media.Rate, n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(10000 * math.Sin(2*math.Pi*440*float64(i)/float64(rate)))
	}
	return pcm
}

// TestMouthPlaysAll: sentences of any length come out as one stream, up to the last
// sample of the last one, which is still inside the resampler when its frame is full.
func TestMouthPlaysAll(t *testing.T) {
	for _, rates := range [][2]media.Rate{{24000, 24000}, {22050, 8000}, {22050, 44100}, {24000, 8000}, {16000, 8000}, {24000, 48000}} {
		for _, extra := range []int{0, 1, rates[0].FrameSamples() - 1} {
			m := newMouth(rates[1])
			pcm := wave(rates[0], 20*rates[0].FrameSamples()+extra)
			cut := 7*rates[0].FrameSamples() + 5
			m.say(0, rates[0], pcm[:cut])
			m.say(1, rates[0], pcm[cut:])
			got := m.drain()
			r := resample.New(rates[0], rates[1])
			frames := (media.Time(len(pcm))*rates[0].Tick() + r.Delay() + media.FrameTime - 1) / media.FrameTime
			pcm = append(pcm, make([]int16, int(frames)*rates[0].FrameSamples()-len(pcm))...)
			var want []int16
			for f := range slices.Chunk(pcm, rates[0].FrameSamples()) {
				want = append(want, r.Process(media.Frame{Samples: f, Rate: rates[0]}).Samples...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v, %d more: %d samples, want %d others", rates, extra, len(got), len(want))
			}
			if !m.silent() {
				t.Errorf("%v, %d more: not silent", rates, extra)
			}
		}
	}
}

// TestMouthEndsWithTheWord: a click at the very end is heard, and nothing of it in
// what is said next.
func TestMouthEndsWithTheWord(t *testing.T) {
	for _, rate := range []media.Rate{16000, 22050, 24000} {
		m := newMouth(media.Rate8k)
		pcm := make([]int16, 3*rate.FrameSamples())
		for i := len(pcm) - 8; i < len(pcm); i++ {
			pcm[i] = 20000
		}
		m.say(0, rate, pcm)
		if got := m.drain(); slices.Max(got) < 8000 {
			t.Errorf("%v: the click comes out as %d", rate, slices.Max(got))
		}
		m.say(1, rate, make([]int16, 3*rate.FrameSamples()))
		if got := m.drain(); slices.Max(got) != 0 || slices.Min(got) != 0 {
			t.Errorf("%v: something of it is in the next sentence", rate)
		}
		m.say(2, rate, pcm)
		m.next()
		m.next()
		m.next()
		m.cut(false)
		m.say(3, rate, make([]int16, 3*rate.FrameSamples()))
		if got := m.drain(); slices.Max(got) != 0 || slices.Min(got) != 0 {
			t.Errorf("%v: something of what was cut is in the next reply", rate)
		}
	}
}

// TestMouthFallsBehind: a voice that is made too slowly pauses and goes on where it
// was.
func TestMouthFallsBehind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pcm := wave(24000, rapid.IntRange(1000, 20000).Draw(t, "length"))
		whole := newMouth(media.Rate8k)
		whole.say(0, media.Rate24k, pcm)
		want := whole.drain()

		m := newMouth(media.Rate8k)
		s := m.say(0, media.Rate24k, nil)
		s.complete = false
		var got []int16
		for rest := pcm; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			s.append(inference.Chunk{Rate: media.Rate24k, Samples: rest[:n]})
			rest = rest[n:]
			got = append(got, m.drain()...)
		}
		s.complete = true
		if got = append(got, m.drain()...); !slices.Equal(got, want) {
			t.Fatalf("%d samples in pieces, %d at once", len(got), len(want))
		}
	})
}

func TestMouthSkipsWhatHasNoAudio(t *testing.T) {
	m := newMouth(media.Rate24k)
	m.add(&sentence{gen: 1, seg: 0, complete: true})
	m.say(1, media.Rate24k, level(1, 480))
	m.add(&sentence{gen: 1, seg: 2, complete: true})
	f, finished, ok := m.next()
	if !ok || finished != 3 || f.Samples[0] != 1 || m.last.seg != 1 {
		t.Errorf("%v, %d finished, sentence %d", ok, finished, m.last.seg)
	}
	if _, finished, ok = m.next(); ok || finished != 0 {
		t.Errorf("then %v, %d finished", ok, finished)
	}
}

func TestMouthDucks(t *testing.T) {
	m := newMouth(media.Rate24k)
	m.say(0, media.Rate24k, level(10000, 20*480))
	ends := func() int16 {
		f, _, _ := m.next()
		return f.Samples[479]
	}
	about := func(got int16, want float64) bool { return math.Abs(float64(got)-want) <= 2 }
	if got := ends(); got != 10000 {
		t.Errorf("at first %d", got)
	}
	m.duck(true)
	f, _, _ := m.next()
	if !slices.IsSortedFunc(f.Samples, func(a, b int16) int { return int(b) - int(a) }) || f.Samples[0] < 9900 {
		t.Error("the first frame does not slide down")
	}
	if got := f.Samples[479]; !about(got, 5890) {
		t.Errorf("after 20 ms %d, want half of the way", got)
	}
	for i := range 3 {
		if got := ends(); !about(got, 1780) {
			t.Errorf("%d ms after the duck %d, want 15 dB less", 40+20*i, got)
		}
	}
	m.duck(false)
	if a, b := ends(), ends(); !about(a, 5890) || !about(b, 10000) {
		t.Errorf("restored by %d and %d", a, b)
	}
	if got := ends(); got != 10000 {
		t.Errorf("then %d", got)
	}
}

func TestMouthFadesACut(t *testing.T) {
	m := newMouth(media.Rate8k)
	m.say(0, media.Rate8k, level(10000, 1600))
	m.next()
	m.wrote(true)
	m.cut(true)
	f, _, ok := m.next()
	if !ok || f.Samples[0] < 9900 || f.Samples[60] > 6000 || slices.Max(f.Samples[120:]) != 0 ||
		!slices.IsSortedFunc(f.Samples, func(a, b int16) int { return int(b) - int(a) }) {
		t.Errorf("%v, fades as %v", ok, f.Samples)
	}
	if _, _, ok = m.next(); ok {
		t.Error("something comes after the fade")
	}
	m.cut(true)
	if _, _, ok = m.next(); ok {
		t.Error("silence fades")
	}
}

// TestMouthKnowsWhatWasHeard follows a far end that plays behind what it is sent.
func TestMouthKnowsWhatWasHeard(t *testing.T) {
	const frame = media.FrameTime
	m := newMouth(media.Rate8k)
	m.say(0, media.Rate8k, level(1, 5*160))
	m.say(1, media.Rate8k, level(1, 5*160))
	write := func(n int) {
		for range n {
			_, _, ok := m.next()
			m.wrote(ok)
		}
	}
	at := func(played media.Time) trail {
		m.advance(played)
		return m.heard
	}
	m.wrote(false) // 20 ms of silence first
	write(8)
	if h := at(frame); h.off != 0 {
		t.Errorf("nothing but silence was played: %+v", h)
	}
	if h := at(3 * frame); h.seg != 0 || h.off != 2*frame {
		t.Errorf("after two frames: %+v", h)
	}
	if h := at(3*frame + frame/2); h.off != 2*frame {
		t.Errorf("half a frame counts: %+v", h)
	}
	if h := at(7 * frame); h.seg != 1 || h.off != frame {
		t.Errorf("one frame into the second sentence: %+v", h)
	}
	// Two frames were not played: they are dropped, and what follows is counted
	// from where the far end is.
	m.flushed(2 * frame)
	m.cut(false)
	m.follow(2)
	m.add(&sentence{gen: 2, rate: media.Rate8k, pcm: level(1, 160), total: 160, complete: true})
	write(1)
	if h := at(7 * frame); h.gen != 2 || h.off != 0 {
		t.Errorf("the next reply has not begun: %+v", h)
	}
	if h := at(8 * frame); h.off != frame {
		t.Errorf("and is over: %+v", h)
	}
	if m.next(); !m.silent() || m.unplayed() {
		t.Error("all is played")
	}
}

func TestMouthFinishes(t *testing.T) {
	const second = 8000
	for _, c := range []struct {
		name   string
		frames int
		end    trail
		left   media.Time
	}{
		{"before anything was said", 0, trail{}, 0},
		{"in the first sentence", 10, trail{gen: 1, off: media.Second}, 800 * media.Millisecond},
		{"at its end", 50, trail{gen: 1, off: media.Second}, 0},
		{"in the long one", 60, trail{gen: 1, seg: 1, off: 3200 * media.Millisecond}, 3 * media.Second},
	} {
		m := newMouth(media.Rate8k)
		m.say(0, media.Rate8k, level(1, second))
		m.say(1, media.Rate8k, level(1, 10*second))
		for range c.frames {
			m.next()
		}
		end := m.finish(3 * media.Second)
		if end.gen != c.end.gen || end.seg != c.end.seg || end.off != c.end.off || m.left() != c.left {
			t.Errorf("%s: ends %+v with %v left, want %+v, %v", c.name, end, m.left().Duration(), c.end, c.left.Duration())
		}
		if pcm := m.drain(); len(pcm) != c.left.Samples(media.Rate8k) {
			t.Errorf("%s: %d samples follow", c.name, len(pcm))
		}
	}
}

// TestMouthTrailIsBounded: a far end that says nothing of what it plays.
func TestMouthTrailIsBounded(t *testing.T) {
	m := newMouth(media.Rate8k)
	m.say(0, media.Rate8k, level(1, 1000*160))
	for range 1000 {
		m.next()
		m.wrote(true)
	}
	m.advance(1000 * media.FrameTime)
	if m.heard.off != 1000*media.FrameTime {
		t.Errorf("heard %v", m.heard.off.Duration())
	}
}
