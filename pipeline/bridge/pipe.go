package bridge

import (
	"time"

	"parley/media"
	"parley/media/resample"
)

// What waits between two people who are connected is heard as a delay, so it is as
// little as the network they come over allows: as much as 95 % of the frames of the last
// two seconds were late by, within bounds. What is more than pipeFrames is dropped, the
// oldest first.
const (
	pipeFrames = 10 // 200 ms
	pipeLeast  = 2
	// pipeWindow is how many frames are looked back at, pipeLate how many of them may
	// come later than is waited for: 5 % of 2 s.
	pipeWindow = 100
	pipeLate   = 5
	// pipeGap is a pause after which nothing is known any more of what came before it:
	// a leg has filled shorter ones.
	pipeGap = 500 * time.Millisecond
	// pipeRest is how many frames apart the delay is looked at, and shortened by one where
	// nobody would hear that: pipeQuiet is about -44 dBFS.
	pipeRest  = 50
	pipeQuiet = 200
)

// pipe carries one person's voice to the other, whose leg may have another rate.
type pipe struct {
	rate   media.Rate // of what comes out
	fit    *resample.Resampler
	frames [pipeFrames][media.MaxFrameSamples]int16
	sizes  [pipeFrames]int // samples
	first  int
	n      int
	flows  bool

	late   lateness
	ahead  int  // frames that are saved up, as far as is known; 0: not yet
	most   int  // frames that waited at once since it was looked at
	looked int  // frames ago
	cut    bool // it was shortened since
}

func newPipe(from, to media.Rate) *pipe { return &pipe{rate: to, fit: resample.New(from, to)} }

// push takes a frame that came now.
func (p *pipe) push(f media.Frame, now time.Time) {
	f = p.fit.Process(f)
	if p.n == pipeFrames {
		p.drop()
	}
	i := (p.first + p.n) % pipeFrames
	p.sizes[i] = copy(p.frames[i][:], f.Samples)
	p.n++
	p.late.note(now)
}

func (p *pipe) drop() { p.first, p.n = (p.first+1)%pipeFrames, p.n-1 }

// next is the next frame, silence when there is none. It is valid until the next push.
func (p *pipe) next() media.Frame {
	wanted := p.late.frames()
	if p.n == 0 {
		p.flows = false // it grows here, to what is wanted by now
	}
	if !p.flows && p.n >= wanted {
		p.flows, p.ahead, p.most, p.looked, p.cut = true, wanted, 0, 0, true
	}
	if !p.flows {
		return media.Silence(p.rate)
	}
	p.look()
	if wanted < p.ahead && !p.cut && p.n > 1 && p.quiet() {
		p.drop()
		p.ahead, p.cut = p.ahead-1, true
	}
	f := media.Frame{Samples: p.frames[p.first][:p.sizes[p.first]], Rate: p.rate}
	p.drop()
	return f
}

// look finds out what is saved up: as much as waits when no frame is late. What was lost
// on the way, or came in excess, is known only so.
func (p *pipe) look() {
	p.most = max(p.most, p.n)
	if p.looked++; p.looked >= pipeRest {
		p.ahead, p.most, p.looked, p.cut = p.most, 0, 0, false
	}
}

// quiet says that the frame that is next holds no voice.
func (p *pipe) quiet() bool {
	for _, s := range p.frames[p.first][:p.sizes[p.first]] {
		if s > pipeQuiet || s < -pipeQuiet {
			return false
		}
	}
	return true
}

// lateness is how late frames come, which are sent every 20 ms.
type lateness struct {
	behind [pipeWindow]time.Duration // of each of the last, its time less its place
	n      int                       // frames since began
	began  time.Time
	last   time.Time
}

func (l *lateness) note(now time.Time) {
	if l.n == 0 || now.Sub(l.last) > pipeGap {
		l.n, l.began = 0, now
	}
	l.behind[l.n%pipeWindow] = now.Sub(l.began) - time.Duration(l.n)*media.FrameDuration
	l.last = now
	l.n++
}

// frames is how many of them cover how late nearly all were, against the earliest.
func (l *lateness) frames() int {
	list := l.behind[:min(l.n, pipeWindow)]
	if len(list) == 0 {
		return pipeLeast
	}
	earliest := list[0]
	for _, d := range list {
		earliest = min(earliest, d)
	}
	for k := pipeLeast; k < pipeFrames; k++ {
		later := 0
		for _, d := range list {
			if d-earliest > time.Duration(k)*media.FrameDuration {
				later++
			}
		}
		if later <= pipeLate {
			return k
		}
	}
	return pipeFrames
}
