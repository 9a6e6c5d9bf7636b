// Package playout is the agent's side of a call's audio: the sentences that wait to be heard, the 20 ms frames that are
// made of them, and how far the far end has heard them.
//
// The conductor adds sentences to a Playout while the voice makes them, takes a frame with Next whenever the leg wants one,
// and says with Advance how far the far end has played. Nothing counts as said until it is heard: a mark of each written
// frame remembers which part of which sentence it carried.
//
// Word times cost no note for each frame. A sentence remembers where in the call its audio begins and where it goes on after
// a gap, eight places at most; a word's time follows from that and from the engine's marks, or from its share of the letters.
//
// Read playout.go, which is the way of a frame, then sentence.go (what of a sentence was heard) and words.go (when).
package playout

import (
	"slices"

	"parley/media"
	"parley/media/resample"
	"parley/pipeline/wordtime"
)

const (
	// duckGain is the gain while the caller speaks over the agent, which is reached over two frames.
	duckGain = 0.178 // -15 dB
	duckStep = (1 - duckGain) / 2
	// fadeTime is how long an interrupted voice fades; it fits in one frame.
	fadeTime = 15 * media.Millisecond
	// maxMarks bounds the frames that were written and not yet played: it covers
	// the longest lead a leg may have (3 s). Of more the oldest are forgotten.
	maxMarks = 256
	// maxAnchors bounds what is known of one sentence's playing: a voice that falls behind
	// more often is followed from the last one on.
	maxAnchors = 8
	// someTaken sentences fit into the lead of a leg; more are rare, and cost an allocation.
	someTaken = 4
)

// Position is a place in a reply: all sentences before Seg and Off of that one.
type Position struct {
	Gen int // the reply
	Seg int
	Off media.Time
}

// mark is what a written frame carried.
type mark struct {
	end media.Time // position on the leg after the frame
	Position
}

// Playout plays sentences: it holds their audio at the engine's rate, gives 20 ms frames at
// the leg's, and knows what the far end has heard. It belongs to one goroutine. Begin
// prepares it; none of its methods blocks, and Next, Pass and Advance do not allocate.
type Playout struct {
	out   media.Rate
	queue []*Sentence // the first is being played
	taken []*Sentence // before these, taken to their ends and not played to them
	down  map[media.Rate]*resample.Resampler
	rate  media.Rate // whose resampler is in use; 0: silence since
	tail  media.Time // audio that is still in that resampler's delay line
	in    [media.MaxFrameSamples]int16
	frame [media.MaxFrameSamples]int16
	gain  float32
	aim   float32

	last    Position   // of the frame that Next gave
	at      media.Time // when that frame is heard
	written media.Time // position on the leg: all frames written less those flushed
	marks   [maxMarks]mark
	oldest  int // mark that is not played; modulo maxMarks, as newest
	newest  int // the mark after the last
	gen     int // the reply that is followed
	heard   Position
	// fading: the next frame is the last of an interrupted voice, faded.
	fading bool
}

// Begin prepares for a leg that takes frames of a rate.
func (p *Playout) Begin(out media.Rate) {
	p.out, p.gain, p.aim, p.taken = out, 1, 1, make([]*Sentence, 0, someTaken)
	p.down = map[media.Rate]*resample.Resampler{}
}

// Follow makes gen the reply that Heard reports. Sentences of an earlier one that are
// still queued are played before it.
func (p *Playout) Follow(gen int) { p.gen, p.heard = gen, Position{Gen: gen} }

// Heard is how far the far end has heard the reply that is followed.
func (p *Playout) Heard() Position { return p.heard }

// Last is the end of the frame that Next gave last.
func (p *Playout) Last() Position { return p.last }

// Written is the position on the leg: all frames that were written less those flushed.
func (p *Playout) Written() media.Time { return p.written }

// Add queues a sentence, whose audio may come later.
func (p *Playout) Add(s *Sentence) {
	s.clock = s.anchors[:0]
	p.queue = append(p.queue, s)
}

// Sentence finds a sentence that is not yet completely taken; nil: there is none.
func (p *Playout) Sentence(gen, seg int) *Sentence {
	for _, s := range p.queue {
		if s.Gen == gen && s.Seg == seg {
			return s
		}
	}
	return nil
}

// Next gives the next frame of speech, which is heard at a media time of the call and
// counts as written; false when there is none yet. finished is how many sentences have been taken to
// their end with it, also without a frame. The frame is valid until the next call.
func (p *Playout) Next(at media.Time) (f media.Frame, finished int, ok bool) {
	p.at = at
	if f, finished, ok = p.next(); !ok {
		return f, finished, false
	}
	p.Pass()
	if p.newest-p.oldest == maxMarks {
		p.oldest++
	}
	p.marks[p.newest%maxMarks] = mark{p.written, p.last}
	p.newest++
	return f, finished, true
}

// Pass notes that a frame of something else was written.
func (p *Playout) Pass() { p.written += media.FrameTime }

func (p *Playout) next() (f media.Frame, finished int, ok bool) {
	if p.fading {
		p.fading = false
		return media.Frame{Samples: p.frame[:p.out.FrameSamples()], Rate: p.out}, 0, true
	}
	var rate media.Rate
	n, want := 0, 0
	for len(p.queue) > 0 {
		s := p.queue[0]
		if s.done() {
			p.drop(n > 0)
			finished++
			continue
		}
		if rate == 0 && s.rate != 0 {
			rate, want = s.rate, s.rate.FrameSamples()
		}
		if rate == 0 || s.rate != rate || n == want || s.track.left() < want-n && !s.Complete && !s.Ended {
			break
		}
		s.heardFrom(rate.Duration(s.track.taken), p.at+rate.Duration(n))
		n += s.track.take(p.in[n:want])
		p.last = Position{Gen: s.Gen, Seg: s.Seg, Off: rate.Duration(s.track.taken)}
	}
	if n == 0 {
		f, ok = p.flushTail()
		return f, finished, ok
	}
	return p.level(p.resample(rate, n)), finished, true
}

// done says that there is nothing left to play of it.
func (s *Sentence) done() bool { return s.track.left() == 0 && (s.Complete || s.Ended) }

// heardFrom notes that the audio from off on is heard at a media time of the call. It
// does not allocate.
func (s *Sentence) heardFrom(off, at media.Time) {
	if n := len(s.clock); n > 0 {
		// Frames come a little early and late; what counts is a gap.
		last := s.clock[n-1]
		if late := at - (last.At + off - last.Off); n == maxAnchors || late <= media.FrameTime && late >= -media.FrameTime {
			return
		}
	}
	s.clock = append(s.clock, wordtime.Stretch{Off: off, At: at})
}

// drop takes the sentence that was taken to its end from the queue. Its last samples were written, or go into the
// next frame.
func (p *Playout) drop(next bool) {
	s := p.queue[0]
	if s.ends = p.written; next {
		s.ends += media.FrameTime
	}
	p.taken = append(p.taken, s)
	p.queue = slices.Delete(p.queue, 0, 1)
}

// forget forgets the sentences that were played to their ends, and their audio: a reply outlives it.
func (p *Playout) forget(played media.Time) {
	n := 0
	for ; n < len(p.taken) && p.taken[n].ends <= played; n++ {
		p.taken[n].track = track{}
	}
	if n > 0 {
		p.taken = slices.Delete(p.taken, 0, n)
	}
}

// resample converts the first n samples of in, and silence up to a frame.
func (p *Playout) resample(rate media.Rate, n int) media.Frame {
	if p.rate != rate {
		p.reset()
		p.rate = rate
	}
	r, want := p.resampler(rate), rate.FrameSamples()
	clear(p.in[n:want])
	p.tail = max(0, r.Delay()-rate.Duration(want-n))
	return r.Process(media.Frame{Samples: p.in[:want], Rate: rate})
}

// flushTail gives what is still inside the resampler when all sentences are played:
// the last of a word. A sentence that has only fallen behind goes on without it.
func (p *Playout) flushTail() (f media.Frame, ok bool) {
	if len(p.queue) > 0 {
		return f, false
	}
	if p.tail > 0 {
		f, ok = p.level(p.resample(p.rate, 0)), true
	}
	p.reset()
	return f, ok
}

// reset forgets what is inside the resampler: what comes next has a beginning.
func (p *Playout) reset() {
	if p.rate != 0 {
		p.resampler(p.rate).Reset()
	}
	p.rate, p.tail = 0, 0
}

func (p *Playout) resampler(rate media.Rate) *resample.Resampler {
	r := p.down[rate]
	if r == nil {
		r = resample.New(rate, p.out)
		p.down[rate] = r
	}
	return r
}

// level applies the gain, sliding to its aim across the frame.
func (p *Playout) level(f media.Frame) media.Frame {
	if p.gain == 1 && p.aim == 1 {
		return f
	}
	to := min(max(p.aim, p.gain-duckStep), p.gain+duckStep)
	step := (to - p.gain) / float32(len(f.Samples))
	g := p.gain
	for i, v := range f.Samples {
		g += step
		p.frame[i] = int16(float32(v) * g)
	}
	p.gain = to
	f.Samples = p.frame[:len(f.Samples)]
	return f
}

// Duck lowers the voice, over two frames, or restores it.
func (p *Playout) Duck(on bool) {
	p.aim = 1
	if on {
		p.aim = duckGain
	}
}

// Advance learns that the far end has played up to a position on the leg.
func (p *Playout) Advance(played media.Time) {
	p.forget(played)
	for ; p.oldest < p.newest; p.oldest++ {
		m := &p.marks[p.oldest%maxMarks]
		if m.end > played {
			return
		}
		if m.Gen == p.gen && !(m.Seg == p.heard.Seg && m.Off < p.heard.Off) { // not what is said again
			p.heard = m.Position
		}
	}
}

// Flushed learns that the last d of what was written will not be played.
func (p *Playout) Flushed(d media.Time) { p.written -= d }

// Cut drops all that is queued. With fade the next frame is the end of what was
// being said, faded out.
func (p *Playout) Cut(fade bool) {
	if fade {
		p.fadeOut()
	}
	clear(p.queue)
	p.queue = p.queue[:0]
	for _, s := range p.taken {
		s.track = track{}
	}
	p.taken = p.taken[:0]
	p.oldest, p.newest = 0, 0
	p.gain, p.aim = 1, 1
	p.reset()
}

func (p *Playout) fadeOut() {
	f, _, ok := p.next()
	if !ok {
		return
	}
	p.fading = true
	n := fadeTime.Samples(f.Rate)
	for i, v := range f.Samples[:n] {
		p.frame[i] = int16(float32(v) * (1 - float32(i)/float32(n)))
	}
	clear(p.frame[n:])
}

// Forget drops the sentences of a reply of which nothing was played.
func (p *Playout) Forget(gen int) {
	of := func(s *Sentence) bool { return s.Gen == gen }
	p.queue, p.taken = slices.DeleteFunc(p.queue, of), slices.DeleteFunc(p.taken, of)
}

// Finish keeps only what remains of the sentence being played, limit at most. It
// returns where the reply will end with that; nothing of it was played when its Off
// is 0.
func (p *Playout) Finish(limit media.Time) (end Position) {
	if end = p.last; end.Gen != p.gen {
		end = Position{}
	}
	keep := 0
	if len(p.queue) > 0 && p.queue[0].Gen == p.gen && p.queue[0].track.taken > 0 {
		end.Off += p.queue[0].shorten(limit)
		keep = 1
	}
	clear(p.queue[keep:])
	p.queue = p.queue[:keep]
	return end
}

// Rewind goes back to the beginning of the sentence that is being played.
func (p *Playout) Rewind() {
	if len(p.queue) > 0 {
		p.queue[0].rewind()
	}
	p.reset()
}

func (s *Sentence) rewind() {
	s.track.rewind()
	s.clock = s.clock[:0]
}

// Recall learns that nothing of what was written and is not played will be: it goes back to the beginning of the first
// sentence that the far end has not heard to its end.
func (p *Playout) Recall() {
	p.Rewind()
	for _, s := range p.taken {
		s.rewind()
	}
	p.queue = slices.Insert(p.queue, 0, p.taken...)
	clear(p.taken)
	p.taken = p.taken[:0]
	p.oldest, p.newest, p.fading = 0, 0, false
}

// Remaining is how long the queued audio lasts at the far end, which has played up to a
// position on the leg.
func (p *Playout) Remaining(played media.Time) media.Time { return p.queued() + p.written - played }

// queued is how much audio of the sentences in the queue was not yet taken.
func (p *Playout) queued() media.Time {
	var t media.Time
	for _, s := range p.queue {
		if s.rate != 0 {
			t += s.rate.Duration(s.track.left())
		}
	}
	return t
}

// Sounds says that speech was written which the far end has not played.
func (p *Playout) Sounds() bool { return p.oldest < p.newest }

// Unplayed says that there is audio, queued or written, which the far end has not played.
func (p *Playout) Unplayed() bool { return p.Sounds() || p.queued() > 0 }

// Drained says that no frame follows: no sentence is queued.
func (p *Playout) Drained() bool { return len(p.queue) == 0 && p.tail == 0 }

// Silent says that nothing is queued and everything written was played.
func (p *Playout) Silent() bool { return p.Drained() && !p.Sounds() }

// track is the audio of a sentence in the pieces that it came in, which it keeps and does not
// change, and how far it was taken. It is not copied together: that would be half of what a
// server with many calls allocates.
type track struct {
	pieces    [][]int16
	length    int // samples that are to be taken in all
	taken     int // of them
	piece, at int // where the next sample is
}

// add takes a piece, which belongs to the track from now on.
func (t *track) add(samples []int16) {
	if len(samples) > 0 {
		t.pieces = append(t.pieces, samples)
		t.length += len(samples)
	}
}

// left is how many samples are not yet taken.
func (t *track) left() int { return t.length - t.taken }

// take fills dst with the next samples, as far as there are any, and returns how many.
func (t *track) take(dst []int16) (n int) {
	dst = dst[:min(len(dst), t.left())]
	for n < len(dst) {
		k := copy(dst[n:], t.pieces[t.piece][t.at:])
		n += k
		if t.at += k; t.at == len(t.pieces[t.piece]) {
			t.piece, t.at = t.piece+1, 0
		}
	}
	t.taken += n
	return n
}

// cut leaves n more samples to be taken, which are there.
func (t *track) cut(n int) { t.length = t.taken + n }

// rewind goes back to the first sample.
func (t *track) rewind() { t.taken, t.piece, t.at = 0, 0, 0 }
