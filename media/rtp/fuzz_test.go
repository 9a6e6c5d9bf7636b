package rtp

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/pion/rtcp"
	pion "github.com/pion/rtp"

	"parley/media"
	"parley/media/codec"
	"parley/media/jitter"
	"parley/media/opus"
	"parley/media/stream"
)

// FuzzParse: whatever we take for RTP another parser reads the same way.
func FuzzParse(f *testing.F) {
	for _, h := range []pion.Header{
		{Version: 2, PayloadType: 0, SequenceNumber: 1, Timestamp: 2, SSRC: 3},
		{Version: 2, Marker: true, PayloadType: 101, CSRC: []uint32{1, 2, 3}},
		{Version: 2, Extension: true, ExtensionProfile: 0xBEDE},
	} {
		if h.Extension {
			if err := h.SetExtension(1, []byte{1, 2, 3}); err != nil {
				f.Fatal(err)
			}
		}
		b, err := (&pion.Packet{Header: h, Payload: make([]byte, 160)}).Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-159])
	}
	f.Add(append([]byte{0xA0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}, 3))
	f.Add([]byte{0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, payload, ok := parse(b)
		if !ok {
			return
		}
		var p pion.Packet
		if err := p.Unmarshal(append([]byte(nil), b...)); err != nil {
			t.Skip() // it also checks the inside of extensions, which we skip
		}
		if h.marker != p.Marker || h.pt != p.PayloadType || h.seq != p.SequenceNumber ||
			h.timestamp != p.Timestamp || h.ssrc != p.SSRC || !bytes.Equal(payload, p.Payload) {
			t.Errorf("read as %+v with %d bytes, want %v", h, len(payload), &p)
		}
		if p.Version != 2 {
			t.Errorf("version %d", p.Version)
		}
	})
}

// blackHole is a PacketConn that takes everything and returns the packets of its script.
type blackHole struct{ waiting [][]byte }

func (c *blackHole) Send([]byte, netip.AddrPort) error { return nil }

func (c *blackHole) Recv(buf []byte) (int, netip.AddrPort, time.Time, bool) {
	if len(c.waiting) == 0 {
		return 0, netip.AddrPort{}, time.Time{}, false
	}
	n := copy(buf, c.waiting[0])
	c.waiting = c.waiting[1:]
	return n, fuzzPeer, fuzzStart, true
}

var (
	fuzzPeer  = netip.MustParseAddrPort("192.0.2.1:4000")
	fuzzStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// FuzzSession: no run of datagrams from the far end itself makes a session panic,
// stop its frames or run away with the time. Each datagram begins with its length.
func FuzzSession(f *testing.F) {
	valid := make([]byte, 172)
	header{seq: 1, ssrc: 1}.put(valid)
	event := append(append([]byte(nil), valid[:12]...), 5, 0x80, 255, 255)
	event[1] = 101
	f.Add(append(append([]byte{172}, valid...), append([]byte{16}, event...)...))
	wide := append([]byte(nil), valid...)
	header{pt: codec.G722.PayloadType(), seq: 2, timestamp: 160, ssrc: 1}.put(wide)
	f.Add(append(append([]byte{172}, valid...), append([]byte{172}, wide...)...))
	tone := append([]byte(nil), valid[:12]...) // 20 ms of Opus, then plain audio
	tone[1] = 96
	tone = append(tone, 0x48, 1, 2, 3, 4)
	f.Add(append(append([]byte{byte(len(tone))}, tone...), append([]byte{172}, valid...)...))
	sr, err := rtcp.Marshal([]rtcp.Packet{&rtcp.SenderReport{SSRC: 1, Reports: []rtcp.ReceptionReport{{SSRC: 2}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append([]byte{byte(len(sr))}, sr...))
	f.Fuzz(func(t *testing.T, data []byte) {
		conn := &blackHole{}
		rate := [...]media.Rate{media.Rate8k, media.Rate16k}[len(data)%2]
		format := Format{Events: 101, Takes: codec.SetOf(codec.Default()...)}
		if len(data)%3 == 0 && opus.Encodes {
			format.Codec, format.Takes, format.Opus = codec.Opus, codec.SetOf(codec.Opus, codec.PCMU), codec.OpusParams{Type: 96}
		}
		s, err := New(Config{RTP: conn, Mux: true, Remote: fuzzPeer, Format: format, Rate: rate, Start: fuzzStart})
		if err != nil {
			t.Fatal(err)
		}
		now, at := fuzzStart, media.Time(0)
		wake := func() {
			now = now.Add(media.FrameDuration)
			for f, ok := s.Read(now); ok; f, ok = s.Read(now) {
				if f.At != at || len(f.Samples) != rate.FrameSamples() {
					t.Fatalf("frame at %v, want %v", f.At, at)
				}
				at += media.FrameTime
			}
			if lag := now.Sub(fuzzStart) - at.Duration(); lag >= 160*time.Millisecond || lag < -3*time.Second {
				t.Fatalf("lag %v", lag)
			}
			for n := s.Due(now); n > 0; n-- {
				s.Write(media.Frame{})
			}
		}
		for len(data) > 0 {
			n := min(int(data[0]), len(data)-1)
			conn.waiting = append(conn.waiting, data[1:1+n])
			data = data[1+n:]
			if n%3 == 0 {
				wake()
			}
		}
		for range 20 {
			wake()
		}
	})
}

// FuzzReports: another parser finds in our reports what we put in, and no bytes from
// the network upset the reader.
func FuzzReports(f *testing.F) {
	seed := newReporter("someone@example.net", fuzzStart)
	seed.name(7)
	ours, err := seed.write(fuzzStart, 0, &sender{packets: 1}, 0, jitter.Stats{Received: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ours, uint64(10), uint64(9), "a")
	f.Fuzz(func(t *testing.T, b []byte, expected, received uint64, cname string) {
		r := newReporter(cname[:min(len(cname), maxCNAME)], fuzzStart)
		r.name(7)
		s, at := stream.New(stream.Config{Step: uint32(frameTicks)}), fuzzStart.Add(time.Second)
		about, _ := r.read(b, at)
		for _, block := range about {
			s.Reported(block, r.middle(at))
		}
		s.Publish()
		if rtt := s.Stats().RTT; rtt < 0 || rtt > 10*time.Second {
			t.Errorf("round trip %v", rtt)
		}
		out, err := r.write(fuzzStart.Add(5*time.Second), 0, &sender{packets: uint32(received)}, 3, jitter.Stats{
			Expected: expected, Received: received, Highest: uint32(expected), Jitter: time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		packets, err := rtcp.Unmarshal(out)
		if err != nil || len(packets) != 2 {
			t.Fatalf("% x: %v", out, err)
		}
		if _, ok := r.read(out, at); !ok {
			t.Errorf("we would not take our own % x", out)
		}
	})
}
