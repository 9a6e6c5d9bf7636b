package dtmf

import "strings"

// How a key is sent, in frames of 20 ms: 100 ms down, 100 ms up.
const (
	framesDown   = 5
	framesTotal  = 10
	endCopies    = 3
	frameSamples = 160 // at the event clock of 8 kHz, which G.711 and G.722 have
	volume       = 10  // -10 dBm0, what most telephones send
)

// Sender gives the packets of one key, frame by frame. The zero Sender is idle; it
// belongs to one goroutine.
type Sender struct {
	code  uint8
	frame int // 1 to framesTotal while active
}

// Step is what to send in one frame.
type Step struct {
	Event Event
	Send  bool // false in the pause after the key: send silence
	First bool // set the marker; this frame's timestamp is the event's
	frame int  // of the key, from 0
}

// Start presses digit. It says false when digit is no key or one is still being sent.
func (s *Sender) Start(digit byte) bool {
	code := strings.IndexByte(digits, digit)
	if code < 0 || s.Active() {
		return false
	}
	s.code, s.frame = uint8(code), 1
	return true
}

// Active says whether Next has more to give.
func (s *Sender) Active() bool { return s.frame > 0 }

// Next is the step for the next 20 ms. The end is sent three times, 20 ms apart,
// with its final duration (RFC 4733 section 2.5.1.4). It must not be called unless
// the sender is active.
func (s *Sender) Next() Step {
	f := s.frame
	s.frame++
	if f == framesTotal {
		s.frame = 0
	}
	return Step{
		Event: Event{
			Code: s.code, Volume: volume, End: f >= framesDown,
			Duration: uint16(min(f, framesDown) * frameSamples),
		},
		Send:  f < framesDown+endCopies,
		First: f == 1,
		frame: f - 1,
	}
}
