package sip_test

import (
	"context"
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/g711"
	"parley/media/mediatest"
	"parley/sip"
)

// farEnd is a telephone of a few lines on the other side of a leg.
type farEnd struct {
	*peer
	to   netip.AddrPort // the leg's RTP
	seq  uint16
	time uint32
	buf  [2000]byte
}

func (f *farEnd) packet(pt byte, marker bool, time uint32, payload []byte) {
	p := f.buf[:12]
	p[0], p[1] = 0x80, pt
	if marker {
		p[1] |= 0x80
	}
	binary.BigEndian.PutUint16(p[2:], f.seq)
	binary.BigEndian.PutUint32(p[4:], time)
	binary.BigEndian.PutUint32(p[8:], 0xfeedface)
	f.seq++
	_, _ = f.rtp.WriteToUDPAddrPort(append(p, payload...), f.to)
}

func (f *farEnd) Send(samples []int16) {
	coded := make([]byte, len(samples))
	g711.PCMU.Encode(coded, samples)
	f.packet(0, false, f.time, coded)
	f.time += uint32(len(samples))
}

func (f *farEnd) Receive() (heard []int16) {
	_ = f.rtp.SetReadDeadline(time.Now().Add(time.Microsecond))
	for {
		n, err := f.rtp.Read(f.buf[:])
		if err != nil {
			return heard
		}
		if n == 172 && f.buf[1]&0x7f == 0 {
			samples := make([]int16, 160)
			g711.PCMU.Decode(samples, f.buf[12:n])
			heard = append(heard, samples...)
		}
	}
}

func (f *farEnd) Digit(d byte) bool {
	code := byte(0)
	for i, k := range []byte("0123456789*#ABCD") {
		if k == d {
			code = byte(i)
		}
	}
	for i := range 5 {
		end := byte(0)
		if i >= 2 {
			end = 0x80
		}
		f.packet(101, i == 0, f.time, []byte{code, end | 10, 0, 160})
	}
	f.time += 160
	return true
}

func (f *farEnd) Hangup() bool {
	f.peer.seq++
	f.write(f.request("BYE", ""))
	return true
}

// A leg over SIP keeps the contract of every leg.
func TestLegRealTime(t *testing.T) {
	mediatest.RealTime(t)
	mediatest.TestLeg(t, func(t *testing.T) mediatest.LegPair {
		legs := make(chan *sip.Leg, 1)
		ua := serve(t, sip.Config{OnCall: func(ctx context.Context, in *sip.Incoming) {
			leg, err := in.Answer(ctx)
			if err != nil {
				t.Error(err)
			}
			legs <- leg
			<-ctx.Done() // the suite conducts it
		}})
		p := newPeer(t, ua, "udp")
		_, rest, _ := strings.Cut(string(p.call().Body()), "m=audio ")
		port, _, _ := strings.Cut(rest, " ")
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			t.Fatal(err)
		}
		go p.confirmBye(t.Context())
		return mediatest.LegPair{
			Leg: wait(t, legs, "leg"), Far: &farEnd{peer: p, to: netip.AddrPortFrom(loopback, uint16(n))}}
	})
}

// confirmBye answers the BYE of a far end that is only listened to.
func (p *peer) confirmBye(ctx context.Context) {
	for {
		select {
		case m := <-p.msgs:
			if r, ok := m.(*gosip.Request); ok && r.Method == gosip.BYE {
				_, _ = p.udp.Write([]byte(gosip.NewResponseFromRequest(r, 200, "OK", nil).String()))
			}
		case <-ctx.Done():
			return
		}
	}
}
