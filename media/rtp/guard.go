package rtp

import (
	"net/netip"
	"sync"
	"time"

	"parley/media/srtp"
)

// guard is what protects a session's packets; the zero guard protects none.
type guard struct {
	keys     srtp.Keys
	sender   *srtp.Sender
	receiver *srtp.Receiver
}

func newGuard(k srtp.Keys) (g guard, err error) {
	if k.Suite == srtp.None {
		return guard{}, nil
	}
	g.keys = k
	if g.sender, err = srtp.NewSender(k.Suite, k.Send); err != nil {
		return guard{}, err
	}
	if g.receiver, err = srtp.NewReceiver(k.Suite, k.Receive); err != nil {
		return guard{}, err
	}
	return g, nil
}

func (g *guard) on() bool { return g.sender != nil }

// resume goes on with the far end's stream where another session has left it.
func (g *guard) resume(at srtp.Position) {
	if g.on() {
		g.receiver.Resume(at, g.keys.Suite, g.keys.Receive)
	}
}

// farPosition is how far the far end's stream has come, for other goroutines.
type farPosition struct {
	mu sync.Mutex
	at srtp.Position
}

// set gives way to a reader rather than wait: the next one sets it.
func (p *farPosition) set(at srtp.Position) {
	if p.mu.TryLock() {
		p.at = at
		p.mu.Unlock()
	}
}

// FarPosition is how far the far end's encrypted stream had come at the conductor's latest wake-up, for Config.Far of a session that goes on
// with it; zero: nothing has come, or it is plain. Any goroutine may call it.
func (s *Session) FarPosition() srtp.Position {
	s.far.mu.Lock()
	defer s.far.mu.Unlock()
	return s.far.at
}

// rekey changes over to g. A direction whose key is the same goes on as it is: its
// numbers must not be used with that key again.
func (s *Session) rekey(g guard) {
	old := s.guard
	if old.on() && old.keys.Suite == g.keys.Suite && old.keys.Receive == g.keys.Receive {
		g.receiver = old.receiver
	} else if old.on() {
		g.receiver.Follow(old.receiver, g.keys.Suite, g.keys.Receive)
	}
	if old.on() && old.keys.Suite == g.keys.Suite && old.keys.Send == g.keys.Send {
		g.sender = old.sender
	} else {
		s.restart()
	}
	s.guard = g
}

// open decrypts a packet of the media port; nil: it is refused and counted. A packet of
// another source is not tried: it must not cost time, and a copy of a packet must not make
// the packet itself a repetition.
func (s *Session) open(b []byte, from netip.AddrPort, at time.Time) []byte {
	if s.latch.bars(from, at, true) {
		s.counters().Foreign++
		return nil
	}
	plain, err := s.guard.receiver.RTP(b)
	if err != nil {
		s.counters().Refused++
		return nil
	}
	return plain
}
