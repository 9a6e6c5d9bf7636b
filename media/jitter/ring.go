package jitter

import "time"

// slot holds one packet. It remembers the number of the packet it held last, by
// which a duplicate differs from a late packet.
type slot struct {
	Packet        // its payload is in the store
	known   bool  // its number was received
	waiting bool  // and not yet taken
	store   uint8 // of stores
}

// ring keeps the last 64 packets by sequence number. head is the next to hand on,
// end the one after the highest received; both are extended to 32 bits, so that
// their difference is a count and their upper half the cycles.
type ring struct {
	slots [ringSlots]slot
	// Payloads are apart, and the store freed last is used first: a stream in order
	// lives in one of them, and a thousand calls in the processor's cache.
	stores []byte
	size   int // of one store
	free   [ringSlots]uint8
	unused int // how many of free are

	head, end  uint32
	first      uint32
	held       int // packets waiting
	gone       int // numbers passed over by the last put, for want of room
	goneUnread int // those of them that had a packet
}

type placing uint8

const (
	fresh placing = iota
	late
	duplicate
)

// init makes room for payloads of size bytes.
func (r *ring) init(size int) { r.stores, r.size = make([]byte, ringSlots*size), size }

func (r *ring) at(seq uint32) *slot { return &r.slots[seq%ringSlots] }

// reset empties the ring and expects seq next.
func (r *ring) reset(seq uint16) {
	r.empty()
	// One cycle up, so that a packet before the first does not wrap below zero.
	r.head = 1<<16 | uint32(seq)
	r.end, r.first = r.head, r.head
}

// jump empties the ring and expects seq next, of the same stream. It returns how many
// numbers it passed beyond the end.
func (r *ring) jump(seq uint16) (n int) {
	to := r.extend(seq)
	n = int(to - r.end)
	r.empty()
	r.head, r.end = to, to
	return n
}

func (r *ring) empty() {
	for i := range r.slots {
		r.slots[i].known, r.slots[i].waiting = false, false
		r.free[i] = uint8(ringSlots - 1 - i)
	}
	r.unused, r.held = ringSlots, 0
}

// extend finds the 32-bit number nearest to the end that ends in seq.
func (r *ring) extend(seq uint16) uint32 {
	return r.end + uint32(int32(int16(seq-uint16(r.end))))
}

// put stores p, copying its payload.
func (r *ring) put(p *Packet) placing {
	r.gone, r.goneUnread = 0, 0
	seq := r.extend(p.Seq)
	s := r.at(seq)
	if before(seq, r.head) {
		if s.known && s.Seq == p.Seq {
			return duplicate
		}
		if before(seq, r.end-ringSlots) {
			return late // too old to remember; its slot is another's
		}
		s.Seq, s.known = p.Seq, true
		return late
	}
	for !before(seq, r.head+ringSlots) {
		r.gone++
		if r.at(r.head).waiting {
			r.drop()
			r.goneUnread++
			continue
		}
		r.head++
	}
	if r.gone > 0 && r.held == 0 {
		// An outage longer than the ring: nothing of it will come any more.
		r.gone += int(seq - r.head)
		r.head = seq
	}
	if before(r.end, r.head) {
		r.end = r.head
	}
	if s.waiting { // within the window a slot can only hold this very number
		return duplicate
	}
	r.unused--
	*s = slot{Packet: *p, known: true, waiting: true, store: r.free[r.unused]}
	s.Payload = append(r.stores[int(s.store)*r.size:][:0:r.size], p.Payload...)
	r.held++
	if !before(seq, r.end) {
		r.end = seq + 1
	}
	return fresh
}

// next is the packet at the head, nil when it is missing.
func (r *ring) next() *slot {
	if s := r.at(r.head); s.waiting && s.Seq == uint16(r.head) {
		return s
	}
	return nil
}

// drop moves past the packet at the head. Slot and payload stay intact until put.
func (r *ring) drop() {
	s := r.at(r.head)
	s.waiting = false
	r.free[r.unused] = s.store
	r.unused++
	r.held--
	r.head++
}

// oldest is when the first of the waiting packets arrived.
func (r *ring) oldest() (t time.Time) {
	for seq := r.head; before(seq, r.end); seq++ {
		if s := r.at(seq); s.waiting && (t.IsZero() || s.Arrived.Before(t)) {
			t = s.Arrived
		}
	}
	return t
}

// skip moves the head to the next waiting packet and says how many it passed.
func (r *ring) skip() (n int) {
	for r.held > 0 && r.next() == nil {
		r.head++
		n++
	}
	return n
}

// run is how many ticks of audio wait in order from the head.
func (r *ring) run() (ticks int64) {
	for seq := r.head; before(seq, r.end); seq++ {
		s := r.at(seq)
		if !s.waiting {
			break
		}
		if s.Kind.Sounds() {
			ticks += int64(s.Duration)
		}
	}
	return ticks
}

// missing is how many numbers below the end are still waited for.
func (r *ring) missing() int { return int(r.end-r.head) - r.held }

// span is how many numbers the stream has used since the reset.
func (r *ring) span() int { return int(r.end - r.first) }

// highest is the extended highest number, counting cycles from zero.
func (r *ring) highest() uint32 { return r.end - 1 - 1<<16 }

// before compares extended sequence numbers, which may themselves wrap.
func before(a, b uint32) bool { return int32(a-b) < 0 }
