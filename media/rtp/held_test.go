package rtp_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// Keys held for longer than an event can last (RFC 4733 section 2.5.1.3), whose ends
// are lost, one pressed again at once, all of it across a network that loses and
// reorders: each is one key.
func TestHeldKeys(t *testing.T) {
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork()
			n.rng = rand.New(rand.NewPCG(seed, 7))
			n.loss, n.delay, n.jitter = 0.05, 30*time.Millisecond, 60*time.Millisecond
			far := n.phone(phoneAddr.String(), 1)
			c := newCall(t, n)
			talk := func(d time.Duration) { c.conduct(d, func() { far.say(ourAddr, silent[:]) }) }
			hold := func(code byte, d time.Duration, ends int) {
				far.PayloadType = 101
				began, ts := far.Timestamp, far.Timestamp
				event := func(duration uint32, end byte) {
					far.Timestamp = ts
					far.raw(ourAddr, binary.BigEndian.AppendUint16([]byte{code, end | 10}, uint16(duration)))
				}
				c.conduct(d, func() {
					far.Timestamp = began
					began += 160
					if began-ts > 0xFFFF {
						event(0xFFFF, 0)
						ts += 0xFFFF
					}
					event(began-ts, 0)
				})
				for range ends {
					event(began-ts, 0x80)
				}
				far.PayloadType, far.Timestamp = 0, began
			}
			talk(time.Second)
			hold(5, 20*time.Second, 3)
			talk(200 * time.Millisecond)
			hold(5, 100*time.Millisecond, 0) // its end is lost
			talk(200 * time.Millisecond)
			hold(5, 9*time.Second, 0)
			talk(200 * time.Millisecond)
			hold(7, 100*time.Millisecond, 3)
			talk(time.Second)
			if got := c.digits(); got != "5557" {
				t.Errorf("network %d: pressed 5, 5, 5 and 7, heard %q", seed, got)
			}
			c.hangUp()
		})
	}
}
