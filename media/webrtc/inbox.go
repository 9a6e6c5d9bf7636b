package webrtc

import (
	"sync"
	"sync/atomic"
	"time"
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

// inbox passes packets from the reader to the conductor, who takes no lock. Its slots keep
// their memory.
type inbox struct {
	putting    sync.Mutex // of readers: when a far end goes on with another stream there are two
	slots      [inboxSize]packet
	head, tail atomic.Uint64 // packets taken and put
	dropped    atomic.Uint64
}

// put copies a packet, on a reader.
func (b *inbox) put(p packet) {
	b.putting.Lock()
	defer b.putting.Unlock()
	tail := b.tail.Load()
	if tail-b.head.Load() == inboxSize || len(p.payload) > maxPayload {
		b.dropped.Add(1)
		return
	}
	s := &b.slots[tail%inboxSize]
	p.payload = append(s.payload[:0], p.payload...)
	*s = p
	b.tail.Store(tail + 1)
}

// peek is the oldest packet, nil when there is none; it is valid until drop.
func (b *inbox) peek() *packet {
	head := b.head.Load()
	if head == b.tail.Load() {
		return nil
	}
	return &b.slots[head%inboxSize]
}

func (b *inbox) drop() { b.head.Add(1) }
