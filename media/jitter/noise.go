package jitter

import "parley/media/comfort"

// noise is the background that a far end describes instead of sending it (RFC 3389). It is heard, and not silence in its place:
// what detects speech and removes noise would take each change to nothing and back for an event.
type noise struct {
	on bool // the far end has announced a pause, and nothing has come since
	comfort.Noise
}

// set takes the payload of a comfort noise packet, whose first byte is the level (RFC 3389 section 3).
func (n *noise) set(payload []byte) {
	if n.on = true; len(payload) == 0 {
		n.Silence()
		return
	}
	n.Set(payload[0] & 0x7F)
}
