package mediasession

import (
	"time"

	"parley/media"
	"parley/media/rtp"
	"parley/sip/sdp"
)

// Early plays to a caller before the call is answered: tones of our own, an
// announcement. It belongs to one goroutine, until the call is answered or refused.
type Early struct{ session *rtp.Session }

// Early makes what plays to the far end of m before the answer. HasPath says whether it hears that.
func (s *Session) Early(p Peer, m sdp.Media) (*Early, error) {
	cfg := s.rtpConfig(p, m)
	cfg.Rate = media.Rate8k
	session, err := s.newRTP(cfg)
	if err != nil {
		return nil, err
	}
	return &Early{session}, nil
}

// Next is when audio is due again.
func (e *Early) Next() time.Time { return e.session.Next() }

// Due is how many frames are due.
func (e *Early) Due(now time.Time) int { return e.session.Due(now) }

// Write plays 20 ms at 8 kHz, whatever the codec is.
func (e *Early) Write(f media.Frame) { e.session.Write(f) }
