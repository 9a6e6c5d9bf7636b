package webrtc

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"parley/media"
	"parley/media/g711"
	"parley/media/opus"
	"parley/media/quality"
)

// rateOut is the rate of what is said: no voice has anything above 12 kHz, and twice the
// samples would cost every stage on the way twice as much.
const rateOut = media.Rate24k

// complexity is what an encoder may cost: twice that of the cheapest, and no difference
// that one can hear in speech.
const complexity = 4

// sender is the outgoing stream. Its time is counted in slots of 20 ms, one for each
// deadline of the pacer whether something was sent then or not, so that timestamps keep
// the wall clock's pace.
type sender struct {
	rate  media.Rate
	mime  string
	step  uint32        // of the timestamp, for a frame
	opus  *opus.Encoder // nil: PCMU
	bound atomic.Pointer[binding]

	header  rtp.Header
	base    uint32
	slots   uint32 // deadlines passed so far
	next    uint32 // slot of the next frame
	payload [opus.MaxPacket]byte
	sent    uint64
	skipped uint64
	kept    quality.Outgoing
	errors  uint64
}

// binding is where packets go once there is a connection.
type binding struct {
	writer pion.TrackLocalWriter
	ssrc   uint32
	pt     uint8
	id     string
}

func (s *sender) init() error {
	s.header = rtp.Header{Version: 2, Marker: true, SequenceNumber: uint16(rand.Uint32() >> 17)}
	s.base = rand.Uint32()
	if !opus.Encodes {
		s.rate, s.mime, s.step = g711.Rate, pion.MimeTypePCMU, uint32(g711.Rate.FrameSamples())
		return nil
	}
	s.rate, s.mime, s.step = rateOut, pion.MimeTypeOpus, uint32(media.Rate(opus.ClockRate).FrameSamples())
	var err error
	s.opus, err = opus.NewEncoder(opus.EncoderConfig{Rate: s.rate, Complexity: complexity})
	return err
}

// pass moves past n deadlines whose frames come now, the first of them late by so much, and
// skipped ones before them.
func (s *sender) pass(n, skipped int, late time.Duration) {
	if s.bound.Load() != nil {
		s.kept.Due(n, late, uint64(skipped))
	}
	s.slots += uint32(n + skipped)
	s.skipped += uint64(skipped)
	if first := s.slots - uint32(n); int32(first-s.next) > 0 {
		s.next, s.header.Marker = first, true
	}
}

// expect says which share of the packets is lost.
func (s *sender) expect(percent int) {
	if s.opus != nil && s.opus.ExpectLoss(percent) != nil {
		s.errors++
	}
}

// send encodes a frame and sends it.
func (s *sender) send(samples []int16) {
	s.header.Timestamp = s.base + s.next*s.step
	s.next++
	b := s.bound.Load()
	if b == nil {
		return // no connection yet
	}
	n := 0
	if s.opus != nil {
		var err error
		if n, err = s.opus.Encode(s.payload[:], samples); err != nil {
			s.errors++
			return
		}
	} else {
		n = g711.PCMU.Encode(s.payload[:], samples)
	}
	s.header.SSRC, s.header.PayloadType = b.ssrc, b.pt
	_, err := b.writer.WriteRTP(&s.header, s.payload[:n])
	s.header.SequenceNumber++
	s.header.Marker = false
	if err != nil {
		s.errors++
		return
	}
	s.sent++
}
