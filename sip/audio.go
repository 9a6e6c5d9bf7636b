package sip

import (
	"math/rand/v2"
	"net"

	"parley/media/rtp"
	"parley/sip/rtpport"
	"parley/sip/sdp"
)

// audio is the media of a call: its ports, what is negotiated for them, and the leg once both
// ends have agreed. It belongs to the call's goroutine.
type audio struct {
	pair *rtpport.Pair // nil: none is open yet; the leg's, once there is one
	path *path         // nil: nothing but media comes to them
	sdp  *sdp.Session
	leg  *Leg // nil until there is media
}

// open takes a pair of ports, and begins a negotiation about them in which we are local.
func (a *audio) open(ports *rtpport.Pool, local sdp.Local) (err error) {
	if a.pair, err = ports.Open(); err != nil {
		return err
	}
	local.Port, local.ID = a.pair.Port, rand.Uint64()>>2
	a.sdp = sdp.New(local)
	return nil
}

// release ends the handshake, and gives back ports that no leg has taken over.
func (a *audio) release() {
	a.path.close()
	if a.pair != nil && a.leg == nil {
		a.pair.Release()
	}
}

// session is an RTP session on the ports.
func (a *audio) session(cfg rtp.Config) (*rtp.Session, error) {
	var err error
	if cfg.RTP, err = rtp.NewSocket(a.pair.RTP); err != nil {
		return nil, err
	}
	if !cfg.Mux {
		if cfg.RTCP, err = rtp.NewSocket(a.pair.RTCP); err != nil {
			return nil, err
		}
	}
	return rtp.New(cfg)
}

// apply puts what was negotiated into the leg's session, which reports hold and resume.
func (a *audio) apply(m sdp.Media) {
	s, c := a.leg.session, a.leg.call
	switch {
	case m.ICE != sdp.ICE{}:
		a.path.change(m)
	case m.Remote.IsValid():
		s.SetRemote(c.reached(m.Remote), c.reached(m.RTCP))
	}
	s.SetFormat(format(m))
	s.SetKeys(m.Keys)
	s.SetDirection(m.Sends(), m.Receives())
}

// discard throws away what has come to a port: the tones and announcements of a ringing line,
// or the end of someone else's call. It does not wait, so a busy machine does not hold it up.
func discard(conn *net.UDPConn) {
	const most = 1024 // as many as a socket buffer holds
	s, err := rtp.NewSocket(conn)
	if err != nil {
		return // it is closed
	}
	var b [1]byte
	for range most {
		if _, _, _, more := s.Recv(b[:]); !more {
			return
		}
	}
}
