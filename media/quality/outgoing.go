package quality

import "time"

const (
	frameEvery = 20 * time.Millisecond
	// lateSend is how late a frame may be sent: what most telephones' jitter buffers make
	// up for. What comes later they play no more.
	lateSend = 40 * time.Millisecond
)

// Outgoing counts the frames that a call had to send, and what became of them here: a far
// end whose carrier reports nothing hears our stalls all the same. Its zero value is ready.
type Outgoing struct {
	Late    uint64 // sent more than 40 ms after they were due
	Unsent  uint64 // never sent
	frames  uint64
	bursts  uint64
	missing bool // the latest frame was one of them
}

// Due counts n frames that are sent now, of which the first is late by so much, after unsent
// ones that are not sent any more.
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
