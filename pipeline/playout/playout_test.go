package playout

import (
	"math"
	"slices"
	"testing"

	"parley/inference"
	"parley/media"
	"parley/media/resample"

	"pgregory.net/rapid"
)

func newPlayout(out media.Rate) *Playout {
	p := &Playout{}
	p.Begin(out)
	p.Follow(1)
	return p
}

// say queues a complete sentence of reply 1.
func (p *Playout) say(seg int, rate media.Rate, pcm []int16) *Sentence {
	s := &Sentence{Gen: 1, Seg: seg, Text: "One two three four.", Complete: true}
	s.Append(inference.Chunk{Rate: rate, Samples: pcm})
	p.Add(s)
	return s
}

// drain takes every frame there is.
func (p *Playout) drain() (pcm []int16) {
	for f, _, ok := p.Next(0); ok; f, _, ok = p.Next(0) {
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

// TestPlayoutPlaysAll: sentences of any length come out as one stream, up to the last
// sample of the last one, which is still inside the resampler when its frame is full.
func TestPlayoutPlaysAll(t *testing.T) {
	for _, rates := range [][2]media.Rate{{24000, 24000}, {22050, 8000}, {22050, 44100}, {24000, 8000}, {16000, 8000}, {24000, 48000}} {
		for _, extra := range []int{0, 1, rates[0].FrameSamples() - 1} {
			p := newPlayout(rates[1])
			pcm := wave(rates[0], 20*rates[0].FrameSamples()+extra)
			cut := 7*rates[0].FrameSamples() + 5
			p.say(0, rates[0], pcm[:cut])
			p.say(1, rates[0], pcm[cut:])
			got := p.drain()
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
			if p.Advance(p.Written()); !p.Silent() {
				t.Errorf("%v, %d more: not silent", rates, extra)
			}
		}
	}
}

// TestPlayoutEndsWithTheWord: a click at the very end is heard, and nothing of it in
// what is said next.
func TestPlayoutEndsWithTheWord(t *testing.T) {
	for _, rate := range []media.Rate{16000, 22050, 24000} {
		p := newPlayout(media.Rate8k)
		pcm := make([]int16, 3*rate.FrameSamples())
		for i := len(pcm) - 8; i < len(pcm); i++ {
			pcm[i] = 20000
		}
		p.say(0, rate, pcm)
		if got := p.drain(); slices.Max(got) < 8000 {
			t.Errorf("%v: the click comes out as %d", rate, slices.Max(got))
		}
		p.say(1, rate, make([]int16, 3*rate.FrameSamples()))
		if got := p.drain(); slices.Max(got) != 0 || slices.Min(got) != 0 {
			t.Errorf("%v: something of it is in the next sentence", rate)
		}
		p.say(2, rate, pcm)
		p.Next(0)
		p.Next(0)
		p.Next(0)
		p.Cut(false)
		p.say(3, rate, make([]int16, 3*rate.FrameSamples()))
		if got := p.drain(); slices.Max(got) != 0 || slices.Min(got) != 0 {
			t.Errorf("%v: something of what was cut is in the next reply", rate)
		}
	}
}

// TestPlayoutFallsBehind: a voice that is made too slowly pauses and goes on where it
// was.
func TestPlayoutFallsBehind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pcm := wave(24000, rapid.IntRange(1000, 20000).Draw(t, "length"))
		whole := newPlayout(media.Rate8k)
		whole.say(0, media.Rate24k, pcm)
		want := whole.drain()

		p := newPlayout(media.Rate8k)
		s := p.say(0, media.Rate24k, nil)
		s.Complete = false
		var got []int16
		for rest := pcm; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			s.Append(inference.Chunk{Rate: media.Rate24k, Samples: rest[:n]})
			rest = rest[n:]
			got = append(got, p.drain()...)
		}
		s.Complete = true
		if got = append(got, p.drain()...); !slices.Equal(got, want) {
			t.Fatalf("%d samples in pieces, %d at once", len(got), len(want))
		}
	})
}

func TestPlayoutSkipsWhatHasNoAudio(t *testing.T) {
	p := newPlayout(media.Rate24k)
	p.Add(&Sentence{Gen: 1, Seg: 0, Complete: true})
	p.say(1, media.Rate24k, level(1, 480))
	p.Add(&Sentence{Gen: 1, Seg: 2, Complete: true})
	f, finished, ok := p.Next(0)
	if !ok || finished != 3 || f.Samples[0] != 1 || p.last.Seg != 1 {
		t.Errorf("%v, %d finished, sentence %d", ok, finished, p.last.Seg)
	}
	if _, finished, ok = p.Next(0); ok || finished != 0 {
		t.Errorf("then %v, %d finished", ok, finished)
	}
}

func TestPlayoutDucks(t *testing.T) {
	p := newPlayout(media.Rate24k)
	p.say(0, media.Rate24k, level(10000, 20*480))
	ends := func() int16 {
		f, _, _ := p.Next(0)
		return f.Samples[479]
	}
	about := func(got int16, want float64) bool { return math.Abs(float64(got)-want) <= 2 }
	if got := ends(); got != 10000 {
		t.Errorf("at first %d", got)
	}
	p.Duck(true)
	f, _, _ := p.Next(0)
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
	p.Duck(false)
	if a, b := ends(), ends(); !about(a, 5890) || !about(b, 10000) {
		t.Errorf("restored by %d and %d", a, b)
	}
	if got := ends(); got != 10000 {
		t.Errorf("then %d", got)
	}
}

func TestPlayoutFadesACut(t *testing.T) {
	p := newPlayout(media.Rate8k)
	p.say(0, media.Rate8k, level(10000, 1600))
	p.Next(0)
	p.Cut(true)
	f, _, ok := p.Next(0)
	if !ok || f.Samples[0] < 9900 || f.Samples[60] > 6000 || slices.Max(f.Samples[120:]) != 0 ||
		!slices.IsSortedFunc(f.Samples, func(a, b int16) int { return int(b) - int(a) }) {
		t.Errorf("%v, fades as %v", ok, f.Samples)
	}
	if _, _, ok = p.Next(0); ok {
		t.Error("something comes after the fade")
	}
	p.Cut(true)
	if _, _, ok = p.Next(0); ok {
		t.Error("silence fades")
	}
}

// TestPlayoutKnowsWhatWasHeard follows a far end that plays behind what it is sent.
func TestPlayoutKnowsWhatWasHeard(t *testing.T) {
	const frame = media.FrameTime
	p := newPlayout(media.Rate8k)
	p.say(0, media.Rate8k, level(1, 5*160))
	p.say(1, media.Rate8k, level(1, 5*160))
	write := func(n int) {
		for range n {
			if _, _, ok := p.Next(0); !ok {
				p.Pass()
			}
		}
	}
	at := func(played media.Time) Position {
		p.Advance(played)
		return p.heard
	}
	p.Pass() // 20 ms of silence first
	write(8)
	if h := at(frame); h.Off != 0 {
		t.Errorf("nothing but silence was played: %+v", h)
	}
	if h := at(3 * frame); h.Seg != 0 || h.Off != 2*frame {
		t.Errorf("after two frames: %+v", h)
	}
	if h := at(3*frame + frame/2); h.Off != 2*frame {
		t.Errorf("half a frame counts: %+v", h)
	}
	if h := at(7 * frame); h.Seg != 1 || h.Off != frame {
		t.Errorf("one frame into the second sentence: %+v", h)
	}
	// Two frames were not played: they are dropped, and what follows is counted
	// from where the far end is.
	p.Flushed(2 * frame)
	p.Cut(false)
	p.Follow(2)
	next := &Sentence{Gen: 2, Complete: true}
	next.Append(inference.Chunk{Rate: media.Rate8k, Samples: level(1, 160)})
	p.Add(next)
	write(1)
	if h := at(7 * frame); h.Gen != 2 || h.Off != 0 {
		t.Errorf("the next reply has not begun: %+v", h)
	}
	if h := at(8 * frame); h.Off != frame {
		t.Errorf("and is over: %+v", h)
	}
	if p.Next(0); !p.Silent() || p.Unplayed() {
		t.Error("all is played")
	}
}

func TestPlayoutFinishes(t *testing.T) {
	const second = 8000
	for _, c := range []struct {
		name   string
		frames int
		end    Position
		left   media.Time
	}{
		{"before anything was said", 0, Position{}, 0},
		{"in the first sentence", 10, Position{Gen: 1, Off: media.Second}, 800 * media.Millisecond},
		{"at its end", 50, Position{Gen: 1, Off: media.Second}, 0},
		{"in the long one", 60, Position{Gen: 1, Seg: 1, Off: 3200 * media.Millisecond}, 3 * media.Second},
	} {
		p := newPlayout(media.Rate8k)
		p.say(0, media.Rate8k, level(1, second))
		p.say(1, media.Rate8k, level(1, 10*second))
		for range c.frames {
			p.Next(0)
		}
		end := p.Finish(3 * media.Second)
		if end.Gen != c.end.Gen || end.Seg != c.end.Seg || end.Off != c.end.Off || p.queued() != c.left {
			t.Errorf("%s: ends %+v with %v left, want %+v, %v", c.name, end, p.queued().Duration(), c.end, c.left.Duration())
		}
		if pcm := p.drain(); len(pcm) != c.left.Samples(media.Rate8k) {
			t.Errorf("%s: %d samples follow", c.name, len(pcm))
		}
	}
}

// TestMarksAreBounded: a far end that says nothing of what it plays.
func TestMarksAreBounded(t *testing.T) {
	p := newPlayout(media.Rate8k)
	p.say(0, media.Rate8k, level(1, 1000*160))
	for range 1000 {
		p.Next(0)
	}
	p.Advance(1000 * media.FrameTime)
	if p.heard.Off != 1000*media.FrameTime {
		t.Errorf("heard %v", p.heard.Off.Duration())
	}
}
