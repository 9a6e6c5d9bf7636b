package media

import "time"

// Pacer bounds: how many frames one wake-up may catch up, and how fast the phase
// may follow the far end.
const (
	maxCatchUp    = 2
	arrivalMargin = 2 * time.Millisecond
	maxSlew       = 100 * time.Microsecond
	// The phase may move by a frame to find the far end, and then follow the
	// difference of two clocks (500 parts in a million). A far end that follows us
	// in turn, an echo for one, would otherwise slow both down by ten times that.
	maxPhase  = FrameDuration
	driftPart = 2000
)

// Pacer says when 20 ms frames are due. It counts absolute deadlines from its
// start, so a late wake-up delays one frame and not all that follow; a ticker,
// which drops beats, would leave the call behind for good.
//
// With Observe it is phase-locked: deadlines creep, at most 0.1 ms a frame, to
// 2 ms after the expected arrival of the far end's packets, so that one wake-up
// hears and speaks. The zero Pacer is not ready: use NewPacer.
type Pacer struct {
	next    time.Time
	start   time.Time
	frames  int64 // deadlines passed
	skipped uint64
}

// NewPacer returns a pacer whose first frame is due at start.
func NewPacer(start time.Time) Pacer { return Pacer{next: start, start: start} }

// Next is the deadline of the next frame.
func (p *Pacer) Next() time.Time { return p.next }

// Due returns how many frames are due at now and moves past them. After a stall
// it returns at most two; the deadlines of the others are skipped and counted,
// so the caller must advance its timestamps by them (see Skipped).
func (p *Pacer) Due(now time.Time) int {
	if now.Before(p.next) {
		return 0
	}
	n := int(now.Sub(p.next)/FrameDuration) + 1
	p.next = p.next.Add(time.Duration(n) * FrameDuration)
	p.frames += int64(n)
	if n > maxCatchUp {
		p.skipped += uint64(n - maxCatchUp)
		n = maxCatchUp
	}
	return n
}

// Skipped is the number of frames that stalls have cost since the start.
func (p *Pacer) Skipped() uint64 { return p.skipped }

// Observe records that a packet arrived at t. The next deadline moves
// toward t plus a whole number of frames plus 2 ms.
func (p *Pacer) Observe(t time.Time) {
	// off is where the deadlines fall, after the wanted phase, in (-10, 10] ms.
	off := p.next.Sub(t.Add(arrivalMargin)) % FrameDuration
	if off > FrameDuration/2 {
		off -= FrameDuration
	} else if off <= -FrameDuration/2 {
		off += FrameDuration
	}
	steady := time.Duration(p.frames) * FrameDuration
	budget := maxPhase + steady/driftPart
	phase := p.next.Sub(p.start) - steady - max(-maxSlew, min(maxSlew, off))
	p.next = p.start.Add(steady + max(-budget, min(budget, phase)))
}
