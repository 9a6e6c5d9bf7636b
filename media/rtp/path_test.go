package rtp_test

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"parley/media/rtp"
)

// checks is a path whose far end is where its latest check came from.
type checks struct {
	checked  bool
	passed   netip.AddrPort
	received []string
}

func (c *checks) Checked() bool { return c.checked }

func (c *checks) Passed(from netip.AddrPort) bool { return from == c.passed }

func (c *checks) Receive(b []byte, from netip.AddrPort) netip.AddrPort {
	c.received = append(c.received, string(b))
	if b[0] != 0 {
		return netip.AddrPort{}
	}
	return from
}

func (c *checks) ReceiveControl(b []byte, from netip.AddrPort) netip.AddrPort {
	return c.Receive(b, from)
}

// A far end that makes connectivity checks is where they say: media from elsewhere is not its, and what we say goes nowhere else.
func TestCheckedPathDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far, other := n.phone(phoneAddr.String(), 1), n.phone("192.0.2.8:9000", 2)
		path := &checks{checked: true}
		c := newCall(t, n, func(cfg *rtp.Config) { cfg.Path = path })
		talk := func() { far.say(ourAddr, silent[:]); other.say(ourAddr, silent[:]) }
		c.conduct(2*time.Second, talk)
		if got := c.s.Stats().Latched; got != phoneAddr || len(other.take(t)) != 0 || len(far.take(t)) < 95 {
			t.Errorf("the far end is taken to be at %s", got)
		}
		before := c.s.Stats()
		path.passed = other.addr // it has checked that way, and may use it
		c.conduct(time.Second, func() { other.say(ourAddr, silent[:]) })
		if got := c.s.Stats(); got.Foreign != before.Foreign || got.Latched != phoneAddr || len(other.take(t)) != 0 {
			t.Errorf("after a check that nominates nothing: %+v", got)
		}
		_ = other.Send([]byte("\x00a check"), ourAddr)
		_ = far.Send([]byte("\x16a handshake"), ourAddr)
		c.conduct(20*time.Millisecond, nil)
		far.take(t)
		c.conduct(2*time.Second, talk)
		if got := c.s.Stats(); got.Latched != other.addr || len(other.take(t)) < 95 || len(far.take(t)) != 0 {
			t.Errorf("after a check: %+v", got)
		}
		if len(path.received) != 2 || path.received[0] != "\x00a check" || path.received[1] != "\x16a handshake" {
			t.Errorf("the path got %q", path.received)
		}
		c.hangUp()
	})
}

// Without checks the path gets what is no media, and the latch decides as it does.
func TestUncheckedPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far, other := n.phone(phoneAddr.String(), 1), n.host("192.0.2.8:9000")
		path := &checks{}
		c := newCall(t, n, func(cfg *rtp.Config) { cfg.Path = path })
		_ = other.Send([]byte("\x00a check"), ourAddr)
		c.conduct(time.Second, func() { far.say(ourAddr, silent[:]) })
		if got := c.s.Stats(); got.Latched != phoneAddr || got.Invalid != 0 || len(path.received) != 1 {
			t.Errorf("%+v", got)
		}
		c.hangUp()
	})
}
