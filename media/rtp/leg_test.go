package rtp_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	pion "github.com/pion/rtp"

	"parley/media/dtmf"
	"parley/media/g711"
	"parley/media/mediatest"
	"parley/media/rtp"
)

// farEnd is a telephone for the conformance suite, over any socket.
type farEnd struct {
	pion.Header
	codec g711.Codec
	conn  rtp.PacketConn
	to    netip.AddrPort
}

func (f *farEnd) send(pt uint8, ts uint32, payload []byte) {
	h := f.Header
	h.PayloadType, h.Timestamp = pt, ts
	b, err := (&pion.Packet{Header: h, Payload: payload}).Marshal()
	if err != nil {
		panic(err)
	}
	_ = f.conn.Send(b, f.to)
	f.SequenceNumber++
}

func (f *farEnd) Send(samples []int16) {
	payload := make([]byte, len(samples))
	f.codec.Encode(payload, samples)
	f.send(f.codec.PayloadType(), f.Timestamp, payload)
	f.Timestamp += uint32(len(samples))
}

func (f *farEnd) Receive() (samples []int16) {
	buf := make([]byte, 2000)
	for {
		n, _, _, ok := f.conn.Recv(buf)
		if !ok {
			return samples
		}
		var p pion.Packet
		if p.Unmarshal(buf[:n]) != nil || p.PayloadType != f.codec.PayloadType() {
			continue
		}
		pcm := make([]int16, len(p.Payload))
		f.codec.Decode(pcm, p.Payload)
		samples = append(samples, pcm...)
	}
}

func (f *farEnd) Digit(d byte) bool {
	var s dtmf.Sender
	for s.Start(d); s.Active(); {
		if step := s.Next(); step.Send {
			b := make([]byte, dtmf.PayloadLen)
			step.Event.Put(b)
			f.send(101, f.Timestamp, b)
		}
	}
	f.Timestamp += 1600
	return true
}

// Hangup is signalling's word, not RTP's.
func (f *farEnd) Hangup() bool { return false }

func TestLegSimulatedConformance(t *testing.T) {
	for _, codec := range []g711.Codec{g711.PCMU, g711.PCMA} {
		t.Run(codec.String(), func(t *testing.T) {
			mediatest.TestLegSimulated(t, func(t *testing.T) mediatest.LegPair {
				n := newNetwork()
				n.delay = 3 * time.Millisecond
				return pair(t, n.host(ourAddr.String()), ourAddr, n.host(phoneAddr.String()), phoneAddr, codec)
			})
		})
	}
}

func TestLegConformance(t *testing.T) {
	mediatest.TestLeg(t, func(t *testing.T) mediatest.LegPair {
		ours, ourAddr := loopback(t)
		far, farAddr := loopback(t)
		return pair(t, ours, ourAddr, far, farAddr, g711.PCMU)
	})
}

func pair(t *testing.T, ours rtp.PacketConn, ourAddr netip.AddrPort, far rtp.PacketConn, farAddr netip.AddrPort, codec g711.Codec) mediatest.LegPair {
	s, err := rtp.New(rtp.Config{RTP: ours, Remote: farAddr, Codec: codec, EventPT: 101})
	if err != nil {
		t.Fatal(err)
	}
	return mediatest.LegPair{Leg: s, Far: &farEnd{
		Header: pion.Header{Version: 2, SSRC: 9, SequenceNumber: 65530, Timestamp: 1 << 31}, codec: codec, conn: far, to: ourAddr,
	}}
}

// loopback is a Socket of its own on the loopback interface.
func loopback(t testing.TB) (*rtp.Socket, netip.AddrPort) {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	addr := c.LocalAddr().(*net.UDPAddr).AddrPort()
	s, err := rtp.NewSocket(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
}
