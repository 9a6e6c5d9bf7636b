package rtp

import (
	"math/rand/v2"
	"time"

	"parley/media"
	"parley/media/dtmf"
	"parley/media/g711"
	"parley/media/quality"
	"parley/media/srtp"
)

const frameSamples = int(g711.Rate) / 50

// sender is the outgoing stream. Its time is counted in slots of 20 ms, one for each
// deadline of the pacer whether something was sent then or not, so that timestamps
// keep the wall clock's pace.
type sender struct {
	ssrc     uint32
	seq      uint16
	base     uint32 // timestamp of slot 0
	slots    uint32 // deadlines passed so far
	next     uint32 // slot of the next frame
	marker   bool   // the next packet begins a talkspurt
	due      int    // frames that Due has asked for
	kept     quality.Outgoing
	deadline time.Time

	packets, octets uint32

	key   dtmf.Sender
	keyTS uint32 // timestamp of the key being sent

	buf [headerLen + frameSamples + srtp.Overhead]byte
}

func (o *sender) begin() {
	o.base = rand.Uint32()
	o.restart()
}

// restart begins a new stream at the time of the old one. Its numbers begin in the
// lower half, so that a far end that misses the first packets still counts the wraps
// as we do (RFC 3711 section 3.3.1).
func (o *sender) restart() {
	o.ssrc, o.seq, o.marker = newSSRC(), uint16(rand.Uint32()>>17), true
	o.packets, o.octets = 0, 0
}

// take moves on to the slot of a frame that is sent now.
func (o *sender) take() (timestamp uint32) {
	timestamp = o.base + o.next*uint32(frameSamples)
	o.next++
	return timestamp
}

// account is what reports say; next is the pacer's next deadline, whose slot is the
// one after those passed.
func (o *sender) account(now, next time.Time) outgoing {
	ahead := int64(next.Sub(now)) * int64(g711.Rate) / int64(time.Second)
	return outgoing{
		timestamp: o.base + o.slots*uint32(frameSamples) - uint32(ahead),
		packets:   o.packets, octets: o.octets,
	}
}

// Due implements media.Leg. After a stall it asks for two frames at most; the
// timestamps of the others are skipped. While a key is being sent, its packets take
// the place of audio and Due sends them itself: what the agent has to say waits.
// On hold nothing is due.
func (s *Session) Due(now time.Time) int {
	s.obey(now)
	o := &s.out
	deadline, skipped := s.pacer.Next(), s.pacer.Skipped()
	n := s.pacer.Due(now)
	if !s.arrived.IsZero() {
		// Not before Due: a deadline that moved past now would cost a second
		// wake-up for this very frame.
		s.pacer.Observe(s.arrived)
		s.arrived = time.Time{}
	}
	if n == 0 {
		s.show()
		return 0
	}
	skipped = s.pacer.Skipped() - skipped
	o.slots += uint32(n) + uint32(skipped)
	o.deadline = deadline.Add(time.Duration(skipped) * media.FrameDuration)
	s.stats.Skipped += skipped
	// Slots that passed without a frame: skipped, or on hold.
	if first := o.slots - uint32(n); int32(first-o.next) > 0 {
		o.next, o.marker = first, true
	}
	o.due = 0
	if s.sending {
		o.kept.Due(n, now.Sub(o.deadline), skipped)
		for range n {
			if !s.sendKey() {
				o.due++
			}
		}
	}
	s.report(now)
	if o.due == 0 {
		s.show() // else Write does
	}
	return o.due
}

// sendKey uses one slot for a telephone event, if there is one to send.
func (s *Session) sendKey() bool {
	o := &s.out
	if !o.key.Active() {
		digit, ok := s.orders.takeDigit()
		if !ok || !o.key.Start(digit) {
			return false
		}
	}
	step := o.key.Next()
	timestamp := o.take()
	o.deadline = o.deadline.Add(media.FrameDuration)
	if step.First {
		o.keyTS = timestamp
	}
	if !step.Send {
		// The pause that tells two keys apart: silence.
		s.sendAudio(timestamp, nil)
		return true
	}
	step.Event.Put(o.buf[headerLen:])
	s.send(header{marker: step.First, pt: s.format.events, timestamp: o.keyTS}, dtmf.PayloadLen)
	o.marker = true // the audio after it is a new talkspurt
	return true
}

// Write implements media.Leg.
func (s *Session) Write(f media.Frame) {
	if !s.sending {
		return
	}
	o := &s.out
	s.sendAudio(o.take(), f.Samples)
	now := time.Now()
	s.told.Add(now)
	if o.due > 0 {
		o.due--
		s.stats.Lateness.add(now.Sub(o.deadline))
		o.deadline = o.deadline.Add(media.FrameDuration)
	}
	s.show()
}

// sendAudio sends samples, and silence for what they lack of a frame.
func (s *Session) sendAudio(timestamp uint32, samples []int16) {
	o := &s.out
	payload := o.buf[headerLen : headerLen+frameSamples]
	for i := s.format.codec.Encode(payload, samples); i < frameSamples; i++ {
		payload[i] = s.format.codec.Silence()
	}
	s.send(header{marker: o.marker, pt: s.format.codec.PayloadType(), timestamp: timestamp}, frameSamples)
	o.marker = false
}

// send sends n bytes of payload that are in the buffer already.
func (s *Session) send(h header, n int) {
	o := &s.out
	to := s.latch.target()
	if s.ended.Load() || !reachable(to) {
		return
	}
	h.seq, h.ssrc = o.seq, o.ssrc
	o.seq++
	h.put(o.buf[:])
	packet := o.buf[:headerLen+n]
	if s.guard.on() {
		var err error
		if packet, err = s.guard.sender.RTP(packet); err != nil {
			s.stats.SendErrors++
			return
		}
	}
	if s.cfg.RTP.Send(packet, to) != nil {
		s.stats.SendErrors++
		return
	}
	o.packets++
	o.octets += uint32(n)
	s.stats.Sent++
}

const (
	// playoutDelay is what a far end needs to play a frame besides the network: its
	// jitter buffer, 40 ms in most telephones, and the frame itself.
	playoutDelay = 60 * time.Millisecond
	maxPlayout   = 400 * time.Millisecond
)

// Played implements media.Leg. It is an estimate: what was sent, less the network's
// delay and what a telephone's own buffer holds.
func (s *Session) Played(now time.Time) media.Time {
	return s.told.Until(now, min(playoutDelay+s.reporter.rtt/2, maxPlayout))
}
