package rtp

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/dtmf"
	"parley/media/g711"
	"parley/media/srtp"
)

// MaxDigits may wait to be sent: 13 s of them.
const MaxDigits = 64

// orders are what signalling wants of a session. They are given by any goroutine and
// obeyed by the conductor's at its next wake-up, so that the state of the media needs
// no lock.
type orders struct {
	pending atomic.Bool
	waiting atomic.Int32 // digits

	mu           sync.Mutex
	moved        bool
	remote, rtcp netip.AddrPort
	turned       bool
	send, recv   bool
	formatted    bool
	format       format // in force, or about to be
	rekeyed      bool
	guard        guard
	keys         srtp.Keys // in force, or about to be
	digits       [MaxDigits]byte
	count        int
}

// SetRemote gives the far end's media address, and that of its RTCP when it is not
// the port after it, after a new offer or answer. A new address lifts the latch; the
// same one changes nothing.
func (s *Session) SetRemote(rtp, rtcp netip.AddrPort) {
	o := &s.orders
	o.mu.Lock()
	defer o.mu.Unlock()
	o.moved, o.remote, o.rtcp = true, unmap(rtp), unmap(rtcp)
	o.pending.Store(true)
}

// SetDirection says which ways media flows by the latest offer and answer, as seen
// from here. Without send the far end has us on hold: nothing is sent, nothing is
// heard, and no timeout runs. Without receive nothing is heard and none runs either.
func (s *Session) SetDirection(send, receive bool) {
	o := &s.orders
	o.mu.Lock()
	defer o.mu.Unlock()
	o.turned, o.send, o.recv = true, send, receive
	o.pending.Store(true)
}

// format is what the payloads of a stream are.
type format struct {
	codec  g711.Codec // of what we send
	events uint8      // payload type of telephone events; 0: none
	either bool       // the far end may send both laws
}

// SetFormat gives the codec, the payload type of telephone events, 0 for none, and whether
// the far end may send either law of G.711, after a new offer or answer. What is invalid
// changes nothing.
func (s *Session) SetFormat(codec g711.Codec, events uint8, either bool) {
	if !codec.Valid() || checkEvents(events) != nil {
		return
	}
	o := &s.orders
	o.mu.Lock()
	defer o.mu.Unlock()
	o.formatted, o.format = true, format{codec, events, either}
	o.pending.Store(true)
}

// SendDigits presses keys, each for 100 ms with 100 ms between. Either all are
// taken or, when one is no key, too many wait, or the far end takes none, an error
// says so.
func (s *Session) SendDigits(digits string) error {
	for i := range len(digits) {
		if !dtmf.Valid(digits[i]) {
			return ErrDigit
		}
	}
	o := &s.orders
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.format.events == 0 {
		return ErrNoEvents
	}
	if o.count+len(digits) > MaxDigits {
		return ErrDigitsFull
	}
	o.count += copy(o.digits[o.count:], digits)
	o.waiting.Store(int32(o.count))
	return nil
}

func (o *orders) takeDigit() (digit byte, ok bool) {
	if o.waiting.Load() == 0 {
		return 0, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	digit = o.digits[0]
	o.count = copy(o.digits[:], o.digits[1:o.count])
	o.waiting.Store(int32(o.count))
	return digit, true
}

// obey carries out what was ordered since the last time.
func (s *Session) obey(now time.Time) {
	o := &s.orders
	if !o.pending.Load() {
		return
	}
	o.mu.Lock()
	moved, remote, rtcp := o.moved, o.remote, o.rtcp
	turned, send, receive := o.turned, o.send, o.recv
	rekeyed, guard := o.rekeyed, o.guard
	formatted, format := o.formatted, o.format
	o.moved, o.turned, o.rekeyed, o.formatted = false, false, false, false
	o.pending.Store(false)
	o.mu.Unlock()

	if rekeyed {
		s.rekey(guard)
	}
	if formatted && format != s.format {
		s.out.marker = s.out.marker || format.codec != s.format.codec
		s.before, s.format = s.format, format
	}
	if moved {
		s.move(remote, rtcp, now)
	}
	if turned {
		s.turn(send, receive, now)
	}
}

func (s *Session) move(remote, rtcp netip.AddrPort, now time.Time) {
	// 0.0.0.0 is how hold was once signalled: no new far end is to be found there.
	if remote != s.latch.sdp && reachable(remote) {
		s.latch.reset(remote, now)
		s.rtcp.learned = netip.AddrPort{}
	}
	s.rtcp.sdp = rtcp
}

func (s *Session) turn(send, receive bool, now time.Time) {
	held, wasListening := !send, s.sending && s.receiving
	if held == s.sending {
		kind := media.LegResume
		if held {
			kind = media.LegHold
		}
		s.emit(media.LegEvent{Kind: kind})
	}
	s.sending, s.receiving = send, receive
	listening := send && receive
	if listening && !wasListening {
		s.alive.Store(int64(now.Sub(s.cfg.Start)))
	}
	s.listening.Store(listening)
}
