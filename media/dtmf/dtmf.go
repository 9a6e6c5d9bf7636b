// Package dtmf carries the keys of a telephone: as named events (RFC 4733), and as tones in the audio (ITU-T Q.23, Q.24) for far ends
// that take no events.
//
// A key held down is a run of packets with one timestamp and a growing duration,
// the last of them three times. Any may be lost, late or doubled, and senders
// differ in what they mark: so SSRC and timestamp alone identify a press.
package dtmf

import (
	"slices"
	"strings"
	"time"
)

// PayloadLen is the length of an event's payload in bytes (RFC 4733 section 2.3).
const PayloadLen = 4

// digits are the keys by their event codes, 0 to 15 (RFC 4733 section 3.2).
const digits = "0123456789*#ABCD"

// Valid says whether digit is a key: 0-9, *, # or A-D.
func Valid(digit byte) bool { return strings.IndexByte(digits, digit) >= 0 }

// Event is the payload of one packet.
type Event struct {
	Code     uint8
	End      bool   // the last packet of the event, or a repetition of it
	Volume   uint8  // of the tone, 0 to 63 below 0 dBm0
	Duration uint16 // so far, in samples of the RTP clock
}

// Parse reads a payload. It says false when it is too short; what follows the
// first four bytes is other events, which are not used and are ignored.
func Parse(payload []byte) (e Event, ok bool) {
	if len(payload) < PayloadLen {
		return Event{}, false
	}
	return Event{
		Code:     payload[0],
		End:      payload[1]&0x80 != 0,
		Volume:   payload[1] & 0x3F,
		Duration: uint16(payload[2])<<8 | uint16(payload[3]),
	}, true
}

// Put writes the payload to dst, which has room for PayloadLen bytes.
func (e Event) Put(dst []byte) {
	_ = dst[PayloadLen-1]
	dst[0], dst[1] = e.Code, e.Volume&0x3F
	if e.End {
		dst[1] |= 0x80
	}
	dst[2], dst[3] = byte(e.Duration>>8), byte(e.Duration)
}

const (
	// remembered presses: enough for the repetitions of a few digits to arrive
	// out of order, few enough to search each time.
	remembered = 8
	// minSegment is the shortest duration after which a long press may go on
	// under a new timestamp: the field is full at 0xFFFF, and a packet may step
	// over it by its own length (RFC 4733 section 2.5.1.3).
	minSegment = 0xFFFF - 60*8
	// goesOn is how long after the last packet of a segment that ended with none the
	// next one may begin: its first packets may be lost or late. A new press so soon
	// would have another timestamp.
	goesOn = time.Second
)

type press struct {
	ssrc, timestamp uint32
}

// Receiver turns packets into presses. The zero Receiver is ready; it belongs to
// one goroutine.
type Receiver struct {
	known [remembered]press
	count int // presses seen; the last ones are in known

	open     bool // the latest press lasts
	code     uint8
	current  press
	lastSeen time.Time
}

// Receive takes a packet's event and says which key was pressed, once per press,
// on the first packet of it that arrives. It need not be the first sent, have the
// marker, or come in order. Events that are no keys are not reported.
func (r *Receiver) Receive(ssrc, timestamp uint32, e Event, now time.Time) (digit byte, pressed bool) {
	if int(e.Code) >= len(digits) {
		return 0, false
	}
	p := press{ssrc, timestamp}
	if r.open && p == r.current {
		r.lastSeen, r.open = now, !e.End
		return 0, false
	}
	if slices.Contains(r.known[:min(r.count, remembered)], p) {
		return 0, false
	}
	segment := r.continued(p, e, now)
	r.known[r.count%remembered] = p
	r.count++
	r.open, r.code, r.current, r.lastSeen = !e.End, e.Code, p, now
	if segment {
		return 0, false
	}
	return digits[e.Code], true
}

// continued says whether p is the next segment of a key held for over 8 s.
func (r *Receiver) continued(p press, e Event, now time.Time) bool {
	step := int32(p.timestamp - r.current.timestamp)
	return r.open && now.Sub(r.lastSeen) < goesOn && e.Code == r.code && p.ssrc == r.current.ssrc &&
		step >= minSegment && step <= 0xFFFF+60*8
}
