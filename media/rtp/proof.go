package rtp

import (
	"net/netip"

	"parley/media/srtp"
)

// Proof recognises by its media that a far end is there and has our description: by the
// first SRTP packet that authenticates or, without keys, by the second RTP packet of one
// SSRC from exactly the address and port that the far end has described. A
// forger of the signalling's source learns neither our port nor our key. It belongs to
// one goroutine.
type Proof struct {
	remote   netip.AddrPort
	receiver *srtp.Receiver // nil: plain RTP
	ssrc     uint32
	once     bool
}

// NewProof awaits the far end that is described to be at remote, or that has keys.
func NewProof(remote netip.AddrPort, keys srtp.Keys) (*Proof, error) {
	p := &Proof{remote: unmap(remote)}
	if keys.Suite == srtp.None {
		return p, nil
	}
	var err error
	p.receiver, err = srtp.NewReceiver(keys.Suite, keys.Receive)
	return p, err
}

// Packet takes a datagram of the media port, which it does not keep, and says whether it
// proves that the far end is there.
func (p *Proof) Packet(b []byte, from netip.AddrPort) bool {
	if p.receiver != nil {
		_, err := p.receiver.RTP(b)
		return err == nil
	}
	h, _, ok := parse(b)
	if !ok || unmap(from) != p.remote {
		return false
	}
	again := p.once && h.ssrc == p.ssrc
	p.ssrc, p.once = h.ssrc, true
	return again
}
