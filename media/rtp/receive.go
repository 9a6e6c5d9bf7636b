package rtp

import (
	"net/netip"
	"time"

	"parley/media"
	"parley/media/dtmf"
	"parley/media/jitter"
)

const (
	// maxPoll bounds the packets of one wake-up: a flood must not hold up the
	// call's audio. The rest waits in the kernel, which drops what is too much.
	maxPoll = 128
	// rtcpPoll is how often, in wake-ups, to look for RTCP: twice a second, since
	// the kernel timestamps it.
	rtcpPoll = 25
)

// Read implements media.Leg. The first call at a new now takes what the socket has
// received. On hold, and while the far end does not send to us by agreement, what
// comes is not the caller (music, mostly) and is given out as silence.
func (s *Session) Read(now time.Time) (media.Frame, bool) {
	if !now.Equal(s.polled) {
		s.polled = now
		s.applyControl(now)
		s.poll()
	}
	f, ok := s.stream.Read(now)
	switch {
	case !ok:
	case !s.flow.both():
		clear(f.Samples)
	case s.ear != nil && !s.out.key.Active(): // what comes back of our own keys is none
		s.listenForKeys(f)
	}
	return f, ok
}

// listenForKeys reports a key that sounds in a frame. The tones are for nobody else, and silence stands in their place.
func (s *Session) listenForKeys(f media.Frame) {
	if key, pressed := s.ear.Hear(f.Samples); pressed {
		s.counters().Digits++
		s.stream.Emit(media.LegEvent{Kind: media.LegDigit, Digit: key})
	}
	if s.ear.Down() {
		clear(f.Samples)
	}
}

func (s *Session) poll() {
	if s.ended.Load() {
		return
	}
	for range maxPoll {
		n, from, at, ok := s.cfg.RTP.Recv(s.in[:])
		if !ok {
			break
		}
		s.receive(s.in[:n], from, at)
	}
	s.polls++
	if s.cfg.RTCP == nil || s.polls%rtcpPoll != 0 {
		return
	}
	for range maxPoll {
		n, from, at, ok := s.cfg.RTCP.Recv(s.in[:])
		if !ok {
			break
		}
		if b := s.in[:n]; s.cfg.Path != nil && !IsMedia(b) {
			if at := s.cfg.Path.ReceiveControl(b, from); at.IsValid() {
				s.rtcp.learned = at
			}
			continue
		}
		s.receiveReport(s.in[:n], from, at)
	}
}

// receive takes one datagram from the media port.
func (s *Session) receive(b []byte, from netip.AddrPort, at time.Time) {
	if s.cfg.Path != nil && !IsMedia(b) {
		s.latch.move(s.cfg.Path.Receive(b, from))
		return
	}
	if s.cfg.Mux && isRTCP(b) {
		s.receiveReport(b, from, at)
		return
	}
	if s.guard.on() {
		if b = s.open(b, from, at); b == nil {
			return
		}
	}
	h, payload, ok := parse(b)
	if !ok {
		s.counters().Invalid++
		return
	}
	format := &s.format
	kind := format.kind(h.pt, payload)
	if kind == 0 {
		format = &s.before
		kind = format.kind(h.pt, payload)
	}
	if kind == 0 {
		s.counters().Invalid++
		return
	}
	switch s.latch.judge(from, h.ssrc, h.seq, at, s.guard.on()) {
	case foreign:
		s.counters().Foreign++
		return
	case onTrial:
		return
	}
	s.accept(format, jitter.Packet{Kind: kind, SSRC: h.ssrc, Seq: h.seq, Timestamp: h.timestamp, Type: h.pt, Payload: payload, Arrived: at})
}

// accept takes a packet of the far end, in a format.
func (s *Session) accept(f *Format, p jitter.Packet) {
	since := p.Arrived.Sub(s.cfg.Start)
	excused := time.Duration(0)
	if p.Kind == jitter.Noise {
		excused = max(0, NoiseTimeout-s.cfg.MediaTimeout)
	}
	s.alive.Store(int64(since + excused))
	if !s.heard.Load() {
		s.heard.Store(true)
		s.counters().FirstMedia = max(since, 1)
	}
	s.farSSRC = p.SSRC
	if p.Kind == jitter.Event {
		key, _ := dtmf.Parse(p.Payload) // kind has checked the length
		s.stream.ReceiveEvent(f.timed(p, &s.clock), key, p.Timestamp, f.eventUnits())
		return
	}
	s.stream.Receive(f.timed(p, &s.clock))
}
