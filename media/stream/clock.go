package stream

import (
	"parley/media/jitter"
	"parley/media/opus"
)

// OpusUnits is how many units of an Opus timestamp make a tick of the jitter buffer.
const OpusUnits = opus.ClockRate / int(jitter.Rate)

// Clock turns timestamps of Opus, which wrap, into those of the jitter buffer, which wrap, too, but
// elsewhere. The zero Clock is ready.
type Clock struct {
	known bool
	last  uint32
	total int64 // timestamps since long before the first
}

// Ticks is a timestamp in ticks of the jitter buffer.
func (c *Clock) Ticks(timestamp uint32) uint32 {
	if !c.known {
		c.known, c.last, c.total = true, timestamp, int64(OpusUnits)<<40
	}
	c.total += int64(int32(timestamp - c.last))
	c.last = timestamp
	return uint32(c.total / int64(OpusUnits))
}
