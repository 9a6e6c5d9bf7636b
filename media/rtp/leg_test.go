package rtp_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	pion "github.com/pion/rtp"

	"parley/media"
	"parley/media/codec"
	"parley/media/dtmf"
	"parley/media/mediatest"
	"parley/media/rtp"
)

// farEnd is a telephone for the conformance suite, over any socket.
type farEnd struct {
	pion.Header
	codec   codec.Codec
	encoder *codec.Encoder // at the codec's rate
	decoder *codec.Decoder
	conn    rtp.PacketConn
	to      netip.AddrPort
}

// ticks is how long samples of the far end's are, in its RTP clock and in bytes.
func (f *farEnd) ticks(samples int) int { return samples * 8000 / int(f.codec.Rate()) }

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
	payload := make([]byte, f.ticks(len(samples)))
	f.encoder.Encode(f.codec, payload, samples)
	f.send(f.codec.PayloadType(), f.Timestamp, payload)
	f.Timestamp += uint32(len(payload))
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
		pcm := make([]int16, len(p.Payload)*int(f.codec.Rate())/8000)
		f.decoder.Decode(pcm, p.PayloadType, p.Payload)
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

func TestLegConformance(t *testing.T) {
	for _, codec := range codec.Default() {
		t.Run(codec.String(), func(t *testing.T) {
			mediatest.TestLegSimulated(t, func(t *testing.T) mediatest.LegPair {
				n := newNetwork()
				n.delay = 3 * time.Millisecond
				return pair(t, n.host(ourAddr.String()), ourAddr, n.host(phoneAddr.String()), phoneAddr, codec)
			})
		})
	}
}

// The same two over real sockets, by a clock that does not wait for anyone.
func TestOverSockets(t *testing.T) {
	ours, ourAddr := loopback(t)
	far, farAddr := loopback(t)
	p := pair(t, ours, ourAddr, far, farAddr, codec.PCMU)
	var heard, played []int16
	now, said := time.Now(), 0
	for i := range 100 {
		p.Far.Send(toneFrame(i))
		now = now.Add(media.FrameDuration)
		for f, ok := p.Leg.Read(now); ok; f, ok = p.Leg.Read(now) {
			heard = append(heard, f.Samples...)
		}
		for n := p.Leg.Due(now); n > 0; n-- {
			p.Leg.Write(media.Frame{Samples: toneFrame(said), Rate: media.Rate8k})
			said++ // the pacer follows what comes, whose time is the sockets'
		}
		played = append(played, p.Far.Receive()...)
	}
	for who, samples := range map[string][]int16{"we": heard, "they": played} {
		if len(samples) < 98*160 {
			t.Fatalf("%s hear %d samples of 2 s", who, len(samples))
		}
		if snr := mediatest.SNR(samples[1600:], media.Rate8k, 440); snr < 30 {
			t.Errorf("%s hear the tone at %.1f dB", who, snr)
		}
	}
}

func pair(t *testing.T, ours rtp.PacketConn, ourAddr netip.AddrPort, far rtp.PacketConn, farAddr netip.AddrPort, c codec.Codec) mediatest.LegPair {
	s, err := rtp.New(rtp.Config{RTP: ours, Remote: farAddr, Format: rtp.Format{Codec: c, Events: 101}})
	if err != nil {
		t.Fatal(err)
	}
	return mediatest.LegPair{Leg: s, Far: &farEnd{
		Header: pion.Header{Version: 2, SSRC: 9, SequenceNumber: 65530, Timestamp: 1 << 31}, codec: c, encoder: codec.NewEncoder(c.Rate()), decoder: codec.NewDecoder(c.Rate()), conn: far, to: ourAddr,
	}}
}

// listen binds a port of the loopback interface.
func listen(tb testing.TB) *net.UDPConn {
	tb.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return c
}

// loopback is a Socket on such a port.
func loopback(tb testing.TB) (*rtp.Socket, netip.AddrPort) {
	tb.Helper()
	c := listen(tb)
	s, err := rtp.NewSocket(c)
	if err != nil {
		tb.Fatal(err)
	}
	return s, c.LocalAddr().(*net.UDPAddr).AddrPort()
}
