package rtp_test

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	pion "github.com/pion/rtp"

	"parley/media"
	"parley/media/codec"
	"parley/media/g711"
	"parley/media/mediatest"
	"parley/media/rtp"
)

// network carries datagrams in memory by the clock of the test, and may delay,
// reorder and lose them, the same ones each time.
type network struct {
	mu     sync.Mutex
	hosts  map[netip.AddrPort]*host
	rng    *rand.Rand
	loss   float64
	drop   func(p []byte) bool // instead of loss, when it is set
	sender *host               // of the packet that drop judges
	spy    func(p []byte, from, to netip.AddrPort)
	delay  time.Duration
	jitter time.Duration
}

func newNetwork() *network {
	return &network{hosts: map[netip.AddrPort]*host{}, rng: rand.New(rand.NewPCG(1, 2))}
}

// host is one socket of the network: a rtp.PacketConn.
type host struct {
	net     *network
	addr    netip.AddrPort
	waiting []datagram
}

type datagram struct {
	data []byte
	from netip.AddrPort
	at   time.Time
}

func (n *network) host(addr string) *host {
	h := &host{net: n, addr: netip.MustParseAddrPort(addr)}
	n.hosts[h.addr] = h
	return h
}

func (h *host) Send(p []byte, to netip.AddrPort) error {
	n := h.net
	n.mu.Lock()
	defer n.mu.Unlock()
	peer := n.hosts[to]
	if n.spy != nil {
		n.spy(p, h.addr, to)
	}
	lost := n.rng.Float64() < n.loss
	if n.drop != nil {
		n.sender = h
		lost = n.drop(p)
	}
	if peer == nil || lost {
		return nil
	}
	at := time.Now().Add(n.delay)
	if n.jitter > 0 {
		at = at.Add(time.Duration(n.rng.Int64N(int64(n.jitter))))
	}
	peer.waiting = append(peer.waiting, datagram{append([]byte(nil), p...), h.addr, at})
	return nil
}

// Recv gives what has arrived by now, in the order of arrival.
func (h *host) Recv(buf []byte) (int, netip.AddrPort, time.Time, bool) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	first := -1
	for i, d := range h.waiting {
		if !d.at.After(time.Now()) && (first < 0 || d.at.Before(h.waiting[first].at)) {
			first = i
		}
	}
	if first < 0 {
		return 0, netip.AddrPort{}, time.Time{}, false
	}
	d := h.waiting[first]
	h.waiting = append(h.waiting[:first], h.waiting[first+1:]...)
	return copy(buf, d.data), d.from, d.at, true
}

// take empties the host and parses what it got as RTP.
func (h *host) take(t *testing.T) (packets []*pion.Packet) {
	t.Helper()
	buf := make([]byte, 2000)
	for {
		n, _, _, ok := h.Recv(buf)
		if !ok {
			return packets
		}
		p := &pion.Packet{}
		if err := p.Unmarshal(append([]byte(nil), buf[:n]...)); err != nil {
			t.Fatalf("received a packet that is not RTP: %v", err)
		}
		packets = append(packets, p)
	}
}

// phone is a far end that sends the RTP of its script.
type phone struct {
	*host
	pion.Header
	encoder *codec.Encoder // of its tone
}

func (n *network) phone(addr string, ssrc uint32) *phone {
	return &phone{host: n.host(addr), Header: pion.Header{Version: 2, SSRC: ssrc, SequenceNumber: 65500, Timestamp: 4_294_960_000}}
}

// say sends one packet of samples in mu-law.
func (p *phone) say(to netip.AddrPort, samples []int16) {
	payload := make([]byte, len(samples))
	g711.PCMU.Encode(payload, samples)
	p.raw(to, payload)
	p.Timestamp += uint32(len(samples))
}

func (p *phone) raw(to netip.AddrPort, payload []byte) {
	b, err := (&pion.Packet{Header: p.Header, Payload: payload}).Marshal()
	if err != nil {
		panic(err)
	}
	_ = p.Send(b, to)
	p.SequenceNumber++
}

var (
	ourAddr   = netip.MustParseAddrPort("10.0.0.1:4000")
	phoneAddr = netip.MustParseAddrPort("192.0.2.7:5000")
)

// call is a session on the network, and the conductor that the test plays.
type call struct {
	t     *testing.T
	s     *rtp.Session
	net   *network
	heard []int16
	speak func(i int) []int16 // the i-th frame to write; nil: silence
	wrote int
	end   chan error
	stop  context.CancelCauseFunc
}

// newCall starts a session towards phoneAddr. It runs until hangUp.
func newCall(t *testing.T, n *network, change ...func(*rtp.Config)) *call {
	t.Helper()
	cfg := rtp.Config{Remote: phoneAddr, Format: rtp.Format{Events: 101}, CNAME: "a@b"}
	for _, f := range change {
		f(&cfg)
	}
	if cfg.RTP == nil {
		cfg.RTP = n.host(ourAddr.String())
	}
	s, err := rtp.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, n, s)
}

func serve(t *testing.T, n *network, s *rtp.Session) *call {
	c := &call{t: t, s: s, net: n, end: make(chan error, 1)}
	ctx, stop := context.WithCancelCause(t.Context())
	c.stop = stop
	go func() { c.end <- s.Run(ctx) }()
	return c
}

func (c *call) hangUp() {
	c.t.Helper()
	c.stop(&media.Ended{Reason: media.APIHangup})
	if err := <-c.end; err != nil {
		c.t.Errorf("Run returned %v after its context ended", err)
	}
}

// conduct plays the conductor for d. Each 20 ms of its own clock it calls also, which
// may be nil.
func (c *call) conduct(d time.Duration, also func()) {
	c.t.Helper()
	until := time.Now().Add(d)
	for beat := time.Now(); ; {
		next := c.s.Next()
		if also != nil && beat.Before(next) {
			next = beat
		}
		if !next.Before(until) {
			time.Sleep(time.Until(until))
			return
		}
		time.Sleep(time.Until(next))
		if also != nil && next.Equal(beat) {
			also()
			beat = beat.Add(20 * time.Millisecond)
			continue
		}
		c.wake()
	}
}

func (c *call) wake() {
	now := time.Now()
	for f, ok := c.s.Read(now); ok; f, ok = c.s.Read(now) {
		c.heard = append(c.heard, f.Samples...)
	}
	for n := c.s.Due(now); n > 0; n-- {
		f := media.Frame{Samples: silent[:], Rate: media.Rate8k}
		if c.speak != nil {
			f.Samples = c.speak(c.wrote)
		}
		c.s.Write(f)
		c.wrote++
	}
}

// digits takes the events that wait; hold and resume show as H and R.
func (c *call) digits() (s string) {
	for {
		select {
		case e := <-c.s.Events():
			switch e.Kind {
			case media.LegDigit:
				s += string(e.Digit)
			case media.LegHold:
				s += "H"
			case media.LegResume:
				s += "R"
			}
		default:
			return s
		}
	}
}

var (
	silent [160]int16
	tone   = mediatest.Tone(440, media.Rate8k, 160*100, 0.3)
)

// toneFrame is the i-th 20 ms of a tone of 440 Hz, which repeats without a seam.
func toneFrame(i int) []int16 { return tone[i%100*160:][:160] }
