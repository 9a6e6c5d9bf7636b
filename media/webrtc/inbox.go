package webrtc

import (
	"sync"
	"sync/atomic"
	"time"

	"parley/media/ring"
)

// inboxSize is the packets that may wait for the conductor: over two seconds, which is
// how long engines may take to open. A packet that finds it full is dropped and counted.
const inboxSize = 128

// maxPayload is more than crosses an Ethernet.
const maxPayload = 1500

// packet is what the reader passes on of an RTP packet.
type packet struct {
	ssrc, timestamp uint32
	seq             uint16
	pt              uint8
	at              time.Time
	payload         []byte
}

// inbox passes packets from the reader to the conductor, who takes no lock.
type inbox struct {
	*ring.Ring[packet]
	putting sync.Mutex // of readers: when a far end goes on with another stream there are two
	dropped atomic.Uint64
}

// put copies a packet, on a reader.
func (b *inbox) put(p packet) {
	b.putting.Lock()
	defer b.putting.Unlock()
	if b.Free() == 0 || len(p.payload) > maxPayload {
		b.dropped.Add(1)
		return
	}
	s := b.Slot(0)
	p.payload = append(s.payload[:0], p.payload...)
	*s = p
	b.Put(1)
}
