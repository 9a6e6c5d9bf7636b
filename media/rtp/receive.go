package rtp

import (
	"net/netip"
	"time"

	"parley/media"
	"parley/media/dtmf"
	"parley/media/g711"
	"parley/media/jitter"
)

const (
	// maxPoll bounds the packets of one wake-up: a flood must not hold up the
	// call's audio. The rest waits in the kernel, which drops what is too much.
	maxPoll = 128
	// rtcpPoll is how often, in wake-ups, to look for RTCP: twice a second, since
	// the kernel tells when it came.
	rtcpPoll = 25
)

// Read implements media.Leg. The first call at a new now takes what the socket has
// received. On hold, and while the far end does not send to us by agreement, what
// comes is not the caller (music, mostly) and is given out as silence.
func (s *Session) Read(now time.Time) (media.Frame, bool) {
	if !now.Equal(s.polled) {
		s.polled = now
		s.obey(now)
		s.poll()
	}
	f, ok := s.buffer.Read(now)
	if ok && !(s.sending && s.receiving) {
		clear(f.Samples)
	}
	return f, ok
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
		s.receiveReport(s.in[:n], from, at)
	}
}

// receive takes one datagram from the media port.
func (s *Session) receive(b []byte, from netip.AddrPort, at time.Time) {
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
		s.stats.Invalid++
		return
	}
	p := jitter.Packet{SSRC: h.ssrc, Seq: h.seq, Timestamp: h.timestamp, Payload: payload, Arrived: at}
	var key dtmf.Event
	if p.Kind = s.kind(h.pt, payload); p.Kind == jitter.Event {
		key, _ = dtmf.Parse(payload)
		p.Payload, p.Duration, p.Open = nil, int(key.Duration), !key.End
	}
	if p.Kind == 0 {
		s.stats.Invalid++
		return
	}
	switch s.latch.judge(from, h.ssrc, h.seq, at, s.guard.on()) {
	case foreign:
		s.stats.Foreign++
		return
	case onTrial:
		return
	}
	if p.Kind == jitter.Audio {
		g711.Codec(h.pt).Recode(payload, s.cfg.Codec)
	}
	s.accept(p, key)
}

// kind is what a packet carries, 0 when it is not what was agreed on.
func (s *Session) kind(pt uint8, payload []byte) jitter.Kind {
	switch {
	case (s.format.hears(pt) || s.before.hears(pt)) && len(payload) >= minAudio && len(payload) <= jitter.MaxPayload:
		return jitter.Audio
	case pt == noisePT && len(payload) <= maxNoise:
		return jitter.Noise
	case pt != 0 && (pt == s.format.events || pt == s.before.events) && len(payload) >= dtmf.PayloadLen:
		return jitter.Event
	}
	return 0
}

// hears says whether audio may come under a payload type.
func (f format) hears(pt uint8) bool {
	return pt == f.codec.PayloadType() || f.either && g711.Codec(pt).Valid()
}

// accept takes a packet of the far end.
func (s *Session) accept(p jitter.Packet, key dtmf.Event) {
	since := p.Arrived.Sub(s.cfg.Start)
	s.alive.Store(int64(since))
	if !s.heard.Load() {
		s.heard.Store(true)
		s.stats.FirstMedia = max(since, 1)
	}
	s.farSSRC = p.SSRC
	switch p.Kind {
	case jitter.Audio:
		s.arrived = p.Arrived
	case jitter.Event:
		if digit, pressed := s.keys.Receive(p.SSRC, p.Timestamp, key, p.Arrived); pressed {
			s.stats.Digits++
			s.emit(media.LegEvent{Kind: media.LegDigit, Digit: digit})
		}
	}
	s.buffer.Push(p)
}

// receiveReport takes an RTCP packet. It must come from where the media goes; its
// port is learnt, once for each far end, since a NAT may have changed it.
func (s *Session) receiveReport(b []byte, from netip.AddrPort, at time.Time) {
	target := s.latch.target()
	if from.Addr() != target.Addr() || s.cfg.Mux && from != target {
		s.stats.Foreign++
		return
	}
	if s.guard.on() {
		plain, err := s.guard.receiver.RTCP(b)
		if err != nil {
			s.stats.Refused++
			return
		}
		b = plain
	}
	if !s.reporter.read(b, at) {
		s.stats.Invalid++
		return
	}
	// A far end that says nothing, because its microphone is off, is there all the same.
	s.alive.Store(int64(at.Sub(s.cfg.Start)))
	if !s.rtcp.learned.IsValid() || s.rtcp.learned.Addr() != from.Addr() {
		s.rtcp.learned = from
	}
}

// report sends our reports and closes an interval of the quality score.
func (s *Session) report(now time.Time) {
	if now.Before(s.reporter.next) {
		return
	}
	s.reporter.next = now.Add(reportEvery)
	j := s.buffer.Stats()
	s.quality.Close(counts(j), s.out.kept.Counts(), s.delay())
	conn := s.cfg.RTCP
	if conn == nil {
		if !s.cfg.Mux {
			return
		}
		conn = s.cfg.RTP
	}
	to := s.rtcp.target(s.latch.target(), s.latch.sdp, s.cfg.Mux)
	if s.ended.Load() || !reachable(to) {
		return
	}
	packet := s.reporter.write(now, s.out.account(now, s.pacer.Next()), incoming{
		ssrc: s.farSSRC, expected: j.Expected, received: j.Received,
		highest: s.buffer.HighestSeq(), jitter: j.Jitter,
	})
	if s.guard.on() {
		var err error
		if packet, err = s.guard.sender.RTCP(packet); err != nil {
			s.stats.SendErrors++
			return
		}
	}
	if conn.Send(packet, to) != nil {
		s.stats.SendErrors++
	}
}

// reachable says whether a is an address to send to: signalling may give 0.0.0.0.
func reachable(a netip.AddrPort) bool {
	return a.IsValid() && a.Port() != 0 && !a.Addr().IsUnspecified()
}
