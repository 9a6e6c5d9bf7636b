package recogniser

import (
	"time"

	"parley/media"
)

// clock tells where on the tape a vendor's time lies. The vendor counts what it was sent on this socket:
// audio of the tape, and silence that is not on it.
type clock struct {
	rate      media.Rate
	stretches []stretch
	sent      int64 // samples on this socket
}

// stretch begins where the tape and the vendor's count part ways.
type stretch struct{ vendor, tape int64 }

// maxStretches bounds the list; of what is older than that nobody speaks any more.
const maxStretches = 64

// samples is how many there are in d.
func (c *clock) samples(d time.Duration) int64 { return int64(media.FromDuration(d).Samples(c.rate)) }

// audio notes that n samples of the tape from position at on are sent.
func (c *clock) audio(at int64, n int) {
	if k := len(c.stretches); k == 0 || c.stretches[k-1].tape+c.sent-c.stretches[k-1].vendor != at {
		if k == maxStretches {
			c.stretches = append(c.stretches[:0], c.stretches[1:]...)
		}
		c.stretches = append(c.stretches, stretch{c.sent, at})
	}
	c.sent += int64(n)
}

// silence notes n samples that are not on the tape.
func (c *clock) silence(n int) { c.sent += int64(n) }

// position is where on the tape the vendor's time lies.
func (c *clock) position(t time.Duration) int64 {
	n := c.samples(t)
	at := int64(0)
	for i, s := range c.stretches {
		if i > 0 && s.vendor > n {
			break
		}
		at = s.tape + n - s.vendor
		if i+1 < len(c.stretches) { // silence belongs to the end of what was before it
			at = min(at, c.stretches[i+1].tape)
		}
	}
	return at
}
