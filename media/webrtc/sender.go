package webrtc

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"parley/media"
	"parley/media/g711"
	"parley/media/opus"
)

// rateOut is the rate of what is said: no voice has anything above 12 kHz, and twice the
// samples would cost every stage on the way twice as much.
const rateOut = media.Rate24k

// sender encodes and sends frames.
type sender struct {
	rate  media.Rate
	mime  string
	step  uint32        // of the timestamp, for a frame
	opus  *opus.Encoder // nil: PCMU
	bound atomic.Pointer[binding]

	header  rtp.Header
	payload [opus.MaxPacket]byte
}

// binding is where packets go once there is a connection.
type binding struct {
	writer pion.TrackLocalWriter
	ssrc   uint32
	pt     uint8
	id     string
}

func (s *sender) init() error {
	s.header = rtp.Header{Version: 2, SequenceNumber: uint16(rand.Uint32() >> 17)}
	if !opus.Encodes {
		s.rate, s.mime, s.step = g711.Rate, pion.MimeTypePCMU, uint32(g711.Rate.FrameSamples())
		return nil
	}
	s.rate, s.mime, s.step = rateOut, pion.MimeTypeOpus, uint32(media.Rate(opus.ClockRate).FrameSamples())
	var err error
	s.opus, err = opus.NewEncoder(opus.EncoderConfig{Rate: s.rate, Complexity: opus.Complexity})
	return err
}

// send encodes a frame for a far end that loses a share of the packets, and sends it unless
// there is no connection.
func (s *sender) send(samples []int16, timestamp uint32, marker bool, lost int) (sent bool, err error) {
	s.header.Timestamp, s.header.Marker = timestamp, s.header.Marker || marker
	b := s.bound.Load()
	if b == nil {
		return false, nil
	}
	n, err := s.encode(samples, lost)
	if err != nil {
		return false, err
	}
	s.header.SSRC, s.header.PayloadType = b.ssrc, b.pt
	_, err = b.writer.WriteRTP(&s.header, s.payload[:n])
	s.header.SequenceNumber++
	s.header.Marker = false
	return err == nil, err
}

// encode puts a frame into the payload and says how long it is. lost is in percent.
func (s *sender) encode(samples []int16, lost int) (int, error) {
	if s.opus == nil {
		return g711.PCMU.Encode(s.payload[:], samples), nil
	}
	_ = s.opus.ExpectLoss(lost) // else it expects what it did
	return s.opus.Encode(s.payload[:], samples)
}
