package pipeline

import (
	"slices"

	"parley/media"
	"parley/media/resample"
)

// The agent's voice is lowered by duckGain, over two frames, while the caller
// speaks over it; a cut fades within one frame.
const (
	duckGain = 0.178 // -15 dB
	duckStep = (1 - duckGain) / 2
	fadeTime = 15 * media.Millisecond
	// trailSize bounds the frames that were written and not yet played: it covers
	// the longest lead a leg may have (3 s).
	trailSize = 256
)

// trail remembers which part of which sentence a written frame carried.
type trail struct {
	end media.Time // position on the leg after the frame
	gen int
	seg int
	off media.Time // how much of the sentence had been taken after it
}

// mouth plays a reply: it holds the sentences' audio at the engine's rate and
// gives 20 ms frames at the leg's, and knows what the far end has heard.
type mouth struct {
	out   media.Rate
	queue []*sentence // the first is being played
	down  map[media.Rate]*resample.Resampler
	rate  media.Rate // whose resampler is in use; 0: silence since
	rings media.Time // audio that is still inside it
	in    [media.MaxFrameSamples]int16
	frame [media.MaxFrameSamples]int16
	gain  float32
	aim   float32

	written media.Time // position on the leg: all frames written less those flushed
	hearing media.Time // when the frame that next gives is heard, in media time of the call
	trail   [trailSize]trail
	head    int
	tail    int
	// heard is how far the far end has heard of the reply gen: all sentences
	// before heard.seg and heard.off of that one.
	gen   int
	heard trail
	last  trail // of the frame that next gave
	// fading is a last, faded frame of a reply that was cut.
	fading bool
	faded  [media.MaxFrameSamples]int16
}

func (m *mouth) begin(out media.Rate) {
	m.out, m.gain, m.aim = out, 1, 1
	m.down = map[media.Rate]*resample.Resampler{}
}

// follow makes gen the reply whose playout is followed. Sentences of an earlier
// one that are still queued are played before it.
func (m *mouth) follow(gen int) { m.gen, m.heard = gen, trail{gen: gen} }

// cut drops all that is queued. With fade the next frame is the end of what was
// being said, faded out.
func (m *mouth) cut(fade bool) {
	if fade {
		m.fadeOut()
	}
	clear(m.queue)
	m.queue = m.queue[:0]
	m.head, m.tail = 0, 0
	m.gain, m.aim = 1, 1
	m.silence()
}

// silence forgets what is inside the resampler: what comes next has a beginning.
func (m *mouth) silence() {
	if m.rate != 0 {
		m.resampler(m.rate).Reset()
	}
	m.rate, m.rings = 0, 0
}

// forget drops the sentences of a reply of which nothing was played.
func (m *mouth) forget(gen int) {
	m.queue = slices.DeleteFunc(m.queue, func(s *sentence) bool { return s.gen == gen })
}

func (m *mouth) fadeOut() {
	f, _, ok := m.next()
	if !ok {
		return
	}
	m.fading = true
	n := fadeTime.Samples(f.Rate)
	clear(m.faded[:])
	for i, v := range f.Samples[:n] {
		m.faded[i] = int16(float32(v) * (1 - float32(i)/float32(n)))
	}
}

// finish keeps only what remains of the sentence being played, limit at most. It
// returns where the reply will end with that; nothing of it was played when its off
// is 0.
func (m *mouth) finish(limit media.Time) (end trail) {
	end = m.last
	if end.gen != m.gen {
		end = trail{}
	}
	keep := 0
	if len(m.queue) > 0 && m.queue[0].gen == m.gen && m.queue[0].taken > 0 {
		s := m.queue[0]
		s.last = true
		n := min(len(s.left()), limit.Samples(s.rate))
		s.complete = s.complete && s.taken+n == len(s.pcm)
		s.pcm = s.pcm[:s.taken+n]
		end.off += s.rate.Duration(n)
		keep = 1
	}
	clear(m.queue[keep:])
	m.queue = m.queue[:keep]
	return end
}

func (m *mouth) add(s *sentence) { m.queue = append(m.queue, s) }

// rewind goes back to the beginning of the sentence that is being played.
func (m *mouth) rewind() {
	if len(m.queue) > 0 {
		m.queue[0].taken, m.queue[0].anchored = 0, 0
	}
	m.silence()
}

// sentence finds a sentence that is not yet completely taken.
func (m *mouth) sentence(gen, seg int) *sentence {
	for _, s := range m.queue {
		if s.gen == gen && s.seg == seg {
			return s
		}
	}
	return nil
}

// left is how much audio of the sentences in the queue was not yet taken.
func (m *mouth) left() media.Time {
	var t media.Time
	for _, s := range m.queue {
		if s.rate != 0 {
			t += s.rate.Duration(len(s.left()))
		}
	}
	return t
}

// unplayed says that there is audio which the far end has not played.
func (m *mouth) unplayed() bool { return m.head < m.tail || m.left() > 0 }

// next gives the next frame of speech, or false when there is none yet, and how
// many sentences have been taken to their end with it. The frame is valid until the
// next call.
func (m *mouth) next() (f media.Frame, finished int, ok bool) {
	if m.fading {
		m.fading = false
		return media.Frame{Samples: m.faded[:m.out.FrameSamples()], Rate: m.out}, 0, true
	}
	var rate media.Rate
	n, want := 0, 0
	for len(m.queue) > 0 {
		s := m.queue[0]
		if s.over() {
			m.drop()
			finished++
			continue
		}
		if rate == 0 && s.rate != 0 {
			rate, want = s.rate, s.rate.FrameSamples()
		}
		if rate == 0 || s.rate != rate || n == want || len(s.left()) < want-n && !s.complete && !s.last {
			break
		}
		s.heardFrom(rate.Duration(s.taken), m.hearing+rate.Duration(n))
		k := copy(m.in[n:want], s.left())
		s.taken += k
		n += k
		m.last = trail{gen: s.gen, seg: s.seg, off: s.rate.Duration(s.taken)}
	}
	if n == 0 {
		f, ok = m.ringOut()
		return f, finished, ok
	}
	return m.level(m.resampled(rate, n)), finished, true
}

// resampled converts the first n samples of in, and silence up to a frame.
func (m *mouth) resampled(rate media.Rate, n int) media.Frame {
	if m.rate != rate {
		m.silence()
		m.rate = rate
	}
	r, want := m.resampler(rate), rate.FrameSamples()
	clear(m.in[n:want])
	m.rings = max(0, r.Delay()-rate.Duration(want-n))
	return r.Process(media.Frame{Samples: m.in[:want], Rate: rate})
}

// ringOut gives what is still inside the resampler when all sentences are played:
// the last of a word. A sentence that has only fallen behind goes on without it.
func (m *mouth) ringOut() (f media.Frame, ok bool) {
	if len(m.queue) > 0 {
		return f, false
	}
	if m.rings > 0 {
		f, ok = m.level(m.resampled(m.rate, 0)), true
	}
	m.silence()
	return f, ok
}

// drop forgets the sentence that was played, and its audio: a reply outlives it.
func (m *mouth) drop() {
	m.queue[0].pcm, m.queue[0].taken = nil, 0
	n := copy(m.queue, m.queue[1:])
	m.queue[n] = nil
	m.queue = m.queue[:n]
}

func (m *mouth) resampler(rate media.Rate) *resample.Resampler {
	r := m.down[rate]
	if r == nil {
		r = resample.New(rate, m.out)
		m.down[rate] = r
	}
	return r
}

// level applies the gain, sliding to its aim across the frame.
func (m *mouth) level(f media.Frame) media.Frame {
	if m.gain == 1 && m.aim == 1 {
		return f
	}
	to := max(m.gain-duckStep, m.aim)
	if m.aim > m.gain {
		to = min(m.gain+duckStep, m.aim)
	}
	step := (to - m.gain) / float32(len(f.Samples))
	g := m.gain
	for i, v := range f.Samples {
		g += step
		m.frame[i] = int16(float32(v) * g)
	}
	m.gain = to
	f.Samples = m.frame[:len(f.Samples)]
	return f
}

func (m *mouth) duck(on bool) {
	m.aim = 1
	if on {
		m.aim = duckGain
	}
}

// wrote notes a frame that was written to the leg; speech says it is of the reply.
func (m *mouth) wrote(speech bool) {
	m.written += media.FrameTime
	if !speech {
		return
	}
	if m.tail-m.head == trailSize {
		m.head++
	}
	m.trail[m.tail%trailSize] = m.last
	m.trail[m.tail%trailSize].end = m.written
	m.tail++
}

// advance learns that the far end has played up to played.
func (m *mouth) advance(played media.Time) {
	for m.head < m.tail {
		t := m.trail[m.head%trailSize]
		if t.end > played {
			return
		}
		if t.gen == m.gen && !(t.seg == m.heard.seg && t.off < m.heard.off) { // not what is said again
			m.heard = t
		}
		m.head++
	}
}

// flushed learns that the last d of what was written will not be played.
func (m *mouth) flushed(d media.Time) { m.written -= d }

// silent says that nothing is queued and everything written was played.
func (m *mouth) silent() bool { return len(m.queue) == 0 && m.head == m.tail && m.rings == 0 }
