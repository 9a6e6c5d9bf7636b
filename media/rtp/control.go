package rtp

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/dtmf"
	"parley/media/srtp"
)

// MaxDigits may wait to be sent: 13 s of them.
const MaxDigits = 64

// controlQueue holds what signalling changes. Any goroutine adds to it; the conductor's
// applies it at its next wake-up, so that the state of the media needs no lock.
type controlQueue struct {
	pending atomic.Bool
	waiting atomic.Int32 // digits

	mu     sync.Mutex
	next   change
	format Format    // in force, or about to be
	keys   srtp.Keys // in force, or about to be
	digits [MaxDigits]byte
	count  int
}

// change is the latest of each thing that signalling can change; nil: it stays.
type change struct {
	remote    *remote
	direction *direction
	format    *Format
	guard     *guard
}

type remote struct{ rtp, rtcp netip.AddrPort }

type direction struct{ send, receive bool }

// update edits what is to be applied.
func (q *controlQueue) update(edit func(*change)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	edit(&q.next)
	q.pending.Store(true)
}

// SetRemote gives the far end's media address, and that of its RTCP when it is not
// the port after it, after a new offer or answer. A new address lifts the latch; the
// same one changes nothing.
func (s *Session) SetRemote(rtp, rtcp netip.AddrPort) {
	s.control.update(func(c *change) { c.remote = &remote{unmap(rtp), unmap(rtcp)} })
}

// SetDirection says which ways media flows by the latest offer and answer, as seen
// from here. Without send the far end has us on hold: nothing is sent, nothing is
// heard, and no timeout runs. Without receive nothing is heard and none runs either.
func (s *Session) SetDirection(send, receive bool) {
	s.control.update(func(c *change) { c.direction = &direction{send, receive} })
}

// SetFormat gives the format after a new offer or answer. An invalid one changes nothing, nor does Opus in a session that was not made
// for it.
func (s *Session) SetFormat(f Format) {
	if f.check() != nil || f.has(codec.Opus) && !s.cfg.Opus {
		return
	}
	s.control.update(func(c *change) { s.control.format, c.format = f, &f })
}

// SetKeys gives the keys of SRTP after a new offer or answer; the same ones change
// nothing, and zero ones, or ones that are no keys, neither: a call that is
// encrypted stays so. With others our stream begins anew under another SSRC, and what
// is still under way with the far end's old key is opened until a packet came under
// the new one.
func (s *Session) SetKeys(k srtp.Keys) {
	s.control.update(func(c *change) {
		if k == s.control.keys || k.Suite == srtp.None {
			return
		}
		if g, err := newGuard(k); err == nil {
			c.guard, s.control.keys = &g, k
		}
	})
}

// MuteWhile has the session send no media while muted says so, which each packet asks on its way: it must not block or allocate. The far
// end hears nothing then, and no silence either.
func (s *Session) MuteWhile(muted func() bool) { s.muted.Store(&muted) }

// SendDigits presses keys, each for 100 ms with 100 ms between, as events, or as tones to a far end that takes no
// events. Either all are taken or, when one is no key or too many wait, an error says so.
func (s *Session) SendDigits(digits string) error {
	for i := range len(digits) {
		if !dtmf.Valid(digits[i]) {
			return ErrDigit
		}
	}
	q := &s.control
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.count+len(digits) > MaxDigits {
		return ErrDigitsFull
	}
	q.count += copy(q.digits[q.count:], digits)
	q.waiting.Store(int32(q.count))
	return nil
}

func (q *controlQueue) takeDigit() (digit byte, ok bool) {
	if q.waiting.Load() == 0 {
		return 0, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	digit = q.digits[0]
	q.count = copy(q.digits[:], q.digits[1:q.count])
	q.waiting.Store(int32(q.count))
	return digit, true
}

func (q *controlQueue) take() (c change) {
	if !q.pending.Load() {
		return c
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	c, q.next = q.next, change{}
	q.pending.Store(false)
	return c
}

// applyControl carries out what signalling has changed since the last wake-up.
func (s *Session) applyControl(now time.Time) {
	c := s.control.take()
	if c.guard != nil {
		s.rekey(*c.guard)
	}
	if f := c.format; f != nil && *f != s.format {
		if f.Codec != s.format.Codec {
			s.stream.Mark()
		}
		s.setFormat(*f)
	}
	if c.remote != nil {
		s.setRemote(*c.remote, now)
	}
	if c.direction != nil {
		s.setDirection(*c.direction, now)
	}
}

// setFormat changes the format, and begins another stream where that has another clock (RFC 7160 section 4.1). Keys are listened for in
// the audio of a far end that sends no events.
func (s *Session) setFormat(f Format) {
	if f.step() != s.format.step() {
		s.stream.Retime(f.step(), f.score())
		s.restart()
	}
	s.before, s.format = s.format, f
	s.out.encoder.follow(f.Opus)
	s.reporter.clock = f.Codec.Clock()
	switch {
	case f.Events != 0:
		s.ear = nil
	case s.ear == nil:
		s.ear = dtmf.NewDetector(int(s.cfg.Rate))
	}
}

func (s *Session) setRemote(to remote, now time.Time) {
	// 0.0.0.0 is how hold was once signalled: no new far end is to be found there.
	if to.rtp != s.latch.sdp && reachable(to.rtp) {
		s.latch.reset(to.rtp, now)
		s.rtcp.learned = netip.AddrPort{}
	}
	s.rtcp.sdp = to.rtcp
}

func (s *Session) setDirection(d direction, now time.Time) {
	if d.send != s.flow.send {
		kind := media.LegResume
		if !d.send {
			kind = media.LegHold
		}
		s.stream.Emit(media.LegEvent{Kind: kind})
	}
	wasListening := s.flow.both()
	s.flow = d
	if d.both() && !wasListening {
		s.alive.Store(int64(now.Sub(s.cfg.Start)))
	}
	s.listening.Store(d.both())
}

func (d direction) both() bool { return d.send && d.receive }
