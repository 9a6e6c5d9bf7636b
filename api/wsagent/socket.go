package wsagent

import "time"

// Bounds of a socket.
const (
	maxMessage = 1 << 20 // bytes a message; a longer one is answered with 1009
	// queueSize is what may wait for a slow client: some seconds of messages. A
	// client that lets it fill up is disconnected, for text is never dropped.
	queueSize  = 512
	bufferPool = 64                    // audio frames in flight: four times the default lead
	bufferSize = 2 * int(RateOut) / 50 // bytes of a frame
	writeWait  = 5 * time.Second
)
