package quality

import "time"

const (
	frameEvery = 20 * time.Millisecond
	// lateSend is how late a frame may be sent: what most telephones' jitter buffers make
	// up for. What comes later they play no more.
	lateSend = 40 * time.Millisecond
)

// Outgoing counts the frames of a call that were sent late or not at all. A far end hears
// such stalls even when its carrier sends no reports. The zero value is ready to use.
type Outgoing struct {
	Late    uint64 // sent more than 40 ms after they were due
	Unsent  uint64 // never sent
	frames  uint64
	bursts  uint64
	missing bool // the latest frame was one of them
}

// Due counts n frames that are sent now, the first of them late by late, and unsent frames
// before them that were dropped.
func (o *Outgoing) Due(n int, late time.Duration, unsent uint64) {
	if unsent > 0 {
		o.Unsent += unsent
		o.frames += unsent
		o.miss()
	}
	for ; n > 0; n-- {
		o.frames++
		if late > lateSend {
			o.Late++
			o.miss()
		} else {
			o.missing = false
		}
		late -= frameEvery
	}
}

func (o *Outgoing) miss() {
	if !o.missing {
		o.bursts++
	}
	o.missing = true
}

// Counts are those of a stream whose far end misses what was late or not sent.
func (o *Outgoing) Counts() Counts {
	return Counts{Expected: o.frames, Lost: o.Late + o.Unsent, Bursts: o.bursts}
}
