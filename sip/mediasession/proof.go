package mediasession

import (
	"net"
	"time"

	"parley/media/rtp"
	"parley/sip/sdp"
)

// Proof reads what comes to the port of RTP between the answer and the stream. It throws it away, as all that came before the
// answer, but for what concerns the path: the far end checks that now.
type Proof struct {
	conn  *net.UDPConn
	path  *path
	media *rtp.Proof // nil: a handshake is to bring the keys, which prove more
}

// Proof has media prove that the far end of m has our description, see rtp.Proof. An error: its keys are of no use.
func (s *Session) Proof(m sdp.Media) (*Proof, error) {
	proof := &Proof{conn: s.pair.RTP, path: s.path}
	if m.Keyless() {
		return proof, nil
	}
	var err error
	if proof.media, err = rtp.NewProof(m.Remote, m.Keys); err != nil {
		return nil, err
	}
	return proof, nil
}

// Await reads until media has proved the far end, or Stop.
func (p *Proof) Await() (proved bool) {
	var b [2048]byte
	for !proved {
		n, from, err := p.conn.ReadFromUDPAddrPort(b[:])
		if err != nil {
			break
		}
		if p.path != nil && !rtp.IsMedia(b[:n]) {
			p.path.Receive(b[:n], from)
			continue
		}
		proved = p.media != nil && p.media.Packet(b[:n], from)
	}
	return proved
}

// Stop has Await return, whose goroutine closes ended then, and waits for that. The port is the stream's from now on.
func (p *Proof) Stop(ended <-chan struct{}) {
	_ = p.conn.SetReadDeadline(time.Unix(1, 0))
	<-ended
	_ = p.conn.SetReadDeadline(time.Time{})
}
