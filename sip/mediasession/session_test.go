package mediasession_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/dtls"
	"parley/media/mediatest"
	"parley/media/rtp"
	"parley/media/srtp"
	"parley/sip/mediasession"
	"parley/sip/rtpport"
	"parley/sip/sdp"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// ranges gives each test ports of its own.
var ranges atomic.Uint32

func ports(t *testing.T) *rtpport.Pool {
	t.Helper()
	first := 34000 + uint16(ranges.Add(1)%40)*20
	p, err := rtpport.New(rtpport.Config{Addr: loopback, First: first, Last: first + 19})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// config is that of a user agent on loopback that logs nothing.
func config(t *testing.T) mediasession.Config {
	t.Helper()
	id, err := dtls.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return mediasession.Config{Ports: ports(t), Identity: id, Log: slog.New(slog.DiscardHandler), Counters: new(mediasession.Counters)}
}

// peer signals from where it can be reached.
var peer = mediasession.Peer{Addr: loopback, Reach: func(a netip.AddrPort) netip.AddrPort { return a }}

// pair is the media of both ends of a call.
type pair struct {
	t            *testing.T
	cfg          mediasession.Config
	ours, theirs *mediasession.Session
	m, far       sdp.Media // that was agreed on, seen from ours and from theirs
}

// negotiated are two ends of which ours has made the offer.
func negotiated(t *testing.T, policy sdp.Policy) *pair {
	t.Helper()
	p := &pair{t: t, cfg: config(t)}
	local := sdp.Local{Addr: loopback, Codecs: []codec.Codec{codec.PCMU}, SRTP: policy, DTLS: p.cfg.Identity.Fingerprint()}
	for _, s := range []**mediasession.Session{&p.ours, &p.theirs} {
		var err error
		if *s, err = mediasession.Open(p.cfg, local); err != nil {
			t.Fatal(err)
		}
		t.Cleanup((*s).Close)
	}
	offer, err := p.ours.SDP.Offer()
	if err != nil {
		t.Fatal(err)
	}
	answer, far, err := p.theirs.SDP.Answer(offer)
	if err != nil {
		t.Fatal(err)
	}
	if p.m, err = p.ours.SDP.Accept(answer); err != nil {
		t.Fatal(err)
	}
	p.far = far
	return p
}

// begin begins the stream of one end.
func (p *pair) begin(s *mediasession.Session, m sdp.Media) *mediasession.Stream {
	p.t.Helper()
	stream, err := s.Begin(peer, m)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(stream.Release)
	return stream
}

// conduct has streams send a tone and hear, as a call's conductor does, until done says so.
func conduct(t *testing.T, done func() bool, heard func(i int, samples []int16), streams ...*mediasession.Stream) {
	t.Helper()
	tone := mediatest.Tone(440, media.Rate8k, 8000, 0.3)
	sent := make([]int, len(streams))
	for end := time.Now().Add(30 * time.Second); !done(); {
		if time.Now().After(end) {
			t.Fatal("it does not come")
		}
		next := time.Now().Add(20 * time.Millisecond)
		for i, s := range streams {
			for f, ok := s.Read(time.Now()); ok; f, ok = s.Read(time.Now()) {
				heard(i, f.Samples)
			}
			for range s.Due(time.Now()) {
				s.Write(media.Frame{Samples: tone[sent[i]*160%8000:][:160], Rate: media.Rate8k})
				sent[i]++
			}
			if at := s.Next(); at.Before(next) {
				next = at
			}
		}
		time.Sleep(time.Until(next))
	}
}

func none(int, []int16) {}

// datagram is an RTP packet of silence, PCMU, as anybody can send it.
func datagram(seq byte) []byte {
	return append([]byte{0x80, 0, 0, seq, 0, 0, seq, 0, 0xfe, 0xed, 0xfa, 0xce}, make([]byte, 160)...)
}

// stranger sends from a port of its own.
func stranger(t *testing.T, to netip.AddrPort) *net.UDPConn {
	t.Helper()
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// Both ends hear each other, and what had come to the ports before is not heard.
func TestCall(t *testing.T) {
	p := negotiated(t, sdp.SRTPOff)
	early := stranger(t, p.far.Remote)
	for i := range byte(5) {
		_, _ = early.Write(datagram(i))
	}
	ours, theirs := p.begin(p.ours, p.m), p.begin(p.theirs, p.far)
	var heard [2][]int16
	clear := func(i int) bool {
		n := len(heard[i])
		return n > 4000 && mediatest.SNR(heard[i][n-1600:], media.Rate8k, 440) > 20
	}
	conduct(t, func() bool { return clear(0) && clear(1) }, func(i int, f []int16) { heard[i] = append(heard[i], f...) }, ours, theirs)
	for _, s := range []rtp.Stats{ours.Stats(), theirs.Stats()} {
		if s.Foreign != 0 || s.Latched.IsValid() && s.Latched != s.Remote {
			t.Errorf("%+v", s)
		}
	}
	ours.Release()
	theirs.Release()
	p.ours.Close() // the ports are the streams'
	if s := p.cfg.Ports.Stats(); s.InUse != 0 {
		t.Errorf("%+v", s)
	}
}

// A session that never comes to have a stream gives its ports back.
func TestClose(t *testing.T) {
	p := negotiated(t, sdp.SRTPOff)
	p.ours.Close()
	p.theirs.Close()
	if s := p.cfg.Ports.Stats(); s.InUse != 0 {
		t.Errorf("%+v", s)
	}
	(*mediasession.Session)(nil).Close()
}

// A later offer holds the stream, and the next one resumes it.
func TestApply(t *testing.T) {
	p := negotiated(t, sdp.SRTPOff)
	ours := p.begin(p.ours, p.m)
	ctx, stop := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() { defer close(watched); _, _ = ours.Watch(ctx, nil) }()
	for _, step := range []struct {
		direction string
		want      media.LegEventKind
	}{{"sendonly", media.LegHold}, {"sendrecv", media.LegResume}} {
		offer, err := p.theirs.SDP.Offer()
		if err != nil {
			t.Fatal(err)
		}
		_, m, err := p.ours.SDP.Answer([]byte(strings.Replace(string(offer), "sendrecv", step.direction, 1)))
		if err != nil {
			t.Fatal(err)
		}
		p.ours.Apply(peer, m)
		var got media.LegEvent
		conduct(t, func() bool {
			select {
			case got = <-ours.Events():
				return true
			default:
				return false
			}
		}, none, ours)
		if got.Kind != step.want {
			t.Errorf("%s: %+v", step.direction, got)
		}
	}
	stop()
	<-watched
}

// Early media is heard before the answer.
func TestEarly(t *testing.T) {
	p := negotiated(t, sdp.SRTPOff)
	ours := p.begin(p.ours, p.m)
	early, err := p.theirs.Early(peer, p.far)
	if err != nil {
		t.Fatal(err)
	}
	conduct(t, func() bool {
		for range early.Due(time.Now()) {
			early.Write(media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k})
		}
		return ours.Stats().Received > 2
	}, none, ours)
}

// awaited begins to await a proof, and says when that has ended and how.
func awaited(t *testing.T, s *mediasession.Session, m sdp.Media) (proof *mediasession.Proof, ended chan struct{}, proved *bool) {
	t.Helper()
	proof, err := s.Proof(m)
	if err != nil {
		t.Fatal(err)
	}
	ended, proved = make(chan struct{}), new(bool)
	go func() { defer close(ended); *proved = proof.Await() }()
	return proof, ended, proved
}

// Media of the far end proves that it has our description, that of a stranger does not.
func TestProof(t *testing.T) {
	p := negotiated(t, sdp.SRTPOff)
	proof, ended, proved := awaited(t, p.theirs, p.far)
	other := stranger(t, p.m.Remote)
	for i := range byte(3) {
		_, _ = other.Write(datagram(i))
	}
	proof.Stop(ended)
	if *proved {
		t.Error("a stranger is believed")
	}
	ours := p.begin(p.ours, p.m)
	_, ended, proved = awaited(t, p.theirs, p.far)
	conduct(t, func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	}, none, ours)
	if !*proved {
		t.Error("the far end is not believed")
	}
}

// A handshake brings the keys while both ends await them, and their streams speak by these.
func TestHandshake(t *testing.T) {
	p := negotiated(t, sdp.SRTPHandshake)
	type end struct {
		s      *mediasession.Session
		m      sdp.Media
		keys   chan srtp.Keys
		stream *mediasession.Stream
	}
	ends := []*end{{s: p.ours, m: p.m, keys: make(chan srtp.Keys, 1)}, {s: p.theirs, m: p.far, keys: make(chan srtp.Keys, 1)}}
	var stops []func()
	for _, e := range ends {
		if !e.m.Keyless() || e.s.HasPath() {
			t.Fatalf("%+v", e.m)
		}
		e.s.OpenPath(peer, e.m)
		proof, ended, proved := awaited(t, e.s, e.m)
		stops = append(stops, func() {
			if proof.Stop(ended); *proved {
				t.Error("media has proved what keys are to prove")
			}
		})
	}
	for _, e := range ends {
		e.s.Handshake(e.m, func(k srtp.Keys, err error) {
			if err != nil {
				t.Error(err)
			}
			e.keys <- k
		})
	}
	for i, e := range ends {
		e.m.Keys = <-e.keys
		stops[i]()
		e.stream = p.begin(e.s, e.m)
	}
	if a, b := ends[0].m.Keys, ends[1].m.Keys; a.Send != b.Receive || a.Receive != b.Send || ends[0].m.Keyless() {
		t.Error("each has other keys")
	}
	conduct(t, func() bool { return ends[0].stream.Stats().Received > 2 && ends[1].stream.Stats().Received > 2 }, none, ends[0].stream, ends[1].stream)
	if s := ends[0].stream.Stats(); !s.Encrypted || s.Invalid != 0 {
		t.Errorf("%+v", s)
	}
}

// Where a pool has no ports there is no session.
func TestOpenWithoutPorts(t *testing.T) {
	cfg := config(t)
	for range 10 {
		s, err := mediasession.Open(cfg, sdp.Local{Addr: loopback})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
	}
	if _, err := mediasession.Open(cfg, sdp.Local{Addr: loopback}); !errors.Is(err, rtpport.ErrExhausted) {
		t.Errorf("got %v", err)
	}
}
