package rtp

import (
	"math/rand/v2"
	"time"

	"parley/media"
	"parley/media/dtmf"
	"parley/media/opus"
)

// sender numbers the packets of the outgoing stream.
type sender struct {
	ssrc            uint32
	seq             uint16
	packets, octets uint32 // of this SSRC

	encoder encoder

	key   dtmf.Sender
	keyTS uint32 // timestamp of the key being sent

	buf []byte // a packet, with room for what encrypts it
}

// longestPayload is that of a packet of ours.
func longestPayload(withOpus bool) int {
	if withOpus {
		return opus.MaxPacket
	}
	return frameTicks
}

// restart begins a new stream at the time of the old one. Its numbers are random so that
// they cannot be guessed (RFC 3550 section 5.1), and begin in the lower half, so that a far
// end that misses the first packets still counts the wraps as we do (RFC 3711 section 3.3.1).
func (s *Session) restart() {
	o := &s.out
	o.ssrc, o.seq = rand.Uint32(), uint16(rand.Uint32()>>17)
	o.packets, o.octets = 0, 0
	s.stream.Mark()
	s.reporter.name(o.ssrc)
}

// Due implements media.Leg. After a stall it asks for two frames at most; the
// timestamps of the others are skipped. While a key is being sent, its packets take
// the place of audio and Due sends them itself: what the agent has to say waits.
// On hold nothing is due.
func (s *Session) Due(now time.Time) (due int) {
	s.applyControl(now)
	passed := s.stream.Advance(now, s.flow.send)
	if s.flow.send {
		for range passed {
			if !s.sendKey() {
				due++
			}
		}
	}
	if passed > 0 {
		s.report(now)
	}
	if due == 0 { // else Write does
		s.publish()
	}
	return due
}

// sendKey uses one slot for a key, if there is one to send.
func (s *Session) sendKey() bool {
	o := &s.out
	if !o.key.Active() {
		digit, ok := s.control.takeDigit()
		if !ok || !o.key.Start(digit) {
			return false
		}
	}
	step := o.key.Next()
	if s.format.Events == 0 {
		s.sendTone(step)
		return true
	}
	if !step.Send {
		s.sendAudio(nil) // the pause that tells two keys apart
		return true
	}
	if timestamp, _ := s.stream.Slot(); step.First {
		o.keyTS = timestamp
	}
	step.Event.Duration *= uint16(s.format.eventUnits())
	step.Event.Put(o.buf[headerLen:])
	s.send(header{marker: step.First, pt: s.format.Events, timestamp: o.keyTS}, dtmf.PayloadLen)
	s.stream.Mark() // the audio after it is a new talkspurt
	return true
}

// sendTone uses a slot for a frame of a key that sounds.
func (s *Session) sendTone(step dtmf.Step) {
	frame := s.out.encoder.scratch[:s.out.encoder.frame]
	if !step.Sound(frame, int(s.cfg.Rate)) {
		frame = nil
	}
	s.sendAudio(frame)
}

// Write implements media.Leg.
func (s *Session) Write(f media.Frame) {
	if !s.flow.send {
		return
	}
	s.sendAudio(s.out.encoder.audible(f.Samples))
	s.stream.Wrote(time.Now())
	s.publish()
}

// sendAudio sends samples in the next slot, and silence for what they lack of a frame.
func (s *Session) sendAudio(samples []int16) {
	timestamp, marker := s.stream.Slot()
	n, err := s.out.encoder.encode(s.out.buf[headerLen:], s.format, samples, s.stream.ExpectedLoss())
	if err != nil {
		s.counters().SendErrors++
		return
	}
	s.send(header{marker: marker, pt: s.format.payloadType(), timestamp: timestamp}, n)
}

// send sends n bytes of payload that are in the buffer already.
func (s *Session) send(h header, n int) {
	o := &s.out
	to := s.latch.target()
	if muted := s.muted.Load(); s.ended.Load() || !reachable(to) || muted != nil && (*muted)() {
		return
	}
	h.seq, h.ssrc = o.seq, o.ssrc
	o.seq++
	h.put(o.buf)
	packet, err := o.buf[:headerLen+n], error(nil)
	if s.guard.on() {
		packet, err = s.guard.sender.RTP(packet)
	}
	if err == nil {
		err = s.cfg.RTP.Send(packet, to)
	}
	if err != nil {
		s.counters().SendErrors++
		return
	}
	o.packets++
	o.octets += uint32(n)
	s.counters().Sent++
}
