package sip

import (
	"net/netip"
	"sync"
	"time"

	"parley/sip/dialog"
)

// Hands are a clock that a test turns, for what takes minutes: session timers,
// back-off, transfers. Sockets keep their own time.
type Hands struct {
	mu     sync.Mutex
	now    time.Time
	alarms map[*hand]struct{}
}

type hand struct {
	at  time.Time
	due chan time.Time
}

// NewHands is a clock that stands.
func NewHands() *Hands {
	return &Hands{now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), alarms: map[*hand]struct{}{}}
}

// On returns cfg with this clock.
func (h *Hands) On(cfg Config) Config {
	cfg.clock = h
	return cfg
}

// Now is the time it shows.
func (h *Hands) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// Timer is that of clock.
func (h *Hands) Timer(at time.Time) (<-chan time.Time, func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := &hand{at: at, due: make(chan time.Time, 1)}
	h.alarms[n] = struct{}{}
	h.ringLocked()
	return n.due, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.alarms, n)
	}
}

// Next is how long until it rings for somebody; 0: for nobody.
func (h *Hands) Next() (d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n := range h.alarms {
		if left := n.at.Sub(h.now); d == 0 || left < d {
			d = left
		}
	}
	return d
}

// Turn moves the clock on.
func (h *Hands) Turn(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
	h.ringLocked()
}

func (h *Hands) ringLocked() {
	for n := range h.alarms {
		if !n.at.After(h.now) {
			delete(h.alarms, n)
			n.due <- h.now
		}
	}
}

// Watched returns cfg with a watch that looks as often, and calls so long a silence one
// from the beginning.
func Watched(cfg Config, every, silence time.Duration) Config {
	cfg.watchEvery, cfg.noRTPAfter = every, silence
	return cfg
}

// Keeping returns cfg with so much time between keepalives.
func Keeping(cfg Config, every time.Duration) Config {
	cfg.keepEvery = every
	return cfg
}

// Facing is the address under which peer can reach ua.
func Facing(ua *UserAgent, peer netip.Addr) netip.Addr { return ua.layer.Facing(peer) }

// Reached is where media goes that a far end behind peer has described.
func Reached(peer, described netip.AddrPort) netip.AddrPort {
	c := &call{dialog: dialog.Dialog{State: dialog.State{Peer: peer}}}
	return c.reached(described)
}

// Crossed says whether a call that was given up counts as answered.
func Crossed(answered, ended <-chan struct{}) bool { return crossed(answered, ended, 0) }

// Connected says whether a connection of a trunk to an address is there, over TLS.
func Connected(ua *UserAgent, trunk string, at netip.AddrPort) bool {
	return ua.layer.Connected(ua.trunks.Named(trunk).Far(nil).By, "TLS", at.String())
}
