package acceptance

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"parley/media"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/simulated"
)

// caller is somebody on the telephone: what they hear is kept from the answer on.
type caller struct {
	t      *testing.T
	leg    *sip.Leg
	speech script
	hangup context.CancelCauseFunc
	over   chan struct{} // the call has ended
	fault  error         // how; set before over is closed

	answered, ended time.Time

	mu    sync.Mutex
	heard []int16
	said  int // what had been heard when the caller's last sound was sent
}

var errBye = errors.New("the caller hangs up")

// newPhone is a softphone for the length of the test.
func newPhone(t *testing.T) *simulated.Phone {
	t.Helper()
	return newPhoneAt(t, "127.0.0.1")
}

// newPhoneAt is one at another address of this machine.
func newPhoneAt(t *testing.T, host string) *simulated.Phone {
	t.Helper()
	p, err := simulated.NewPhone(netip.MustParseAddr(host))
	return started(t, p, err)
}

// started runs a phone until the test ends.
func started(t *testing.T, p *simulated.Phone, err error) *simulated.Phone {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = p.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	return p
}

// dial calls a number of the server; the error is the refusal.
func dial(t *testing.T, s *server, p *simulated.Phone, number string) (*caller, error) {
	t.Helper()
	return dialAs(t, s, p, number, "+34600000001")
}

// dialAs does it from a number of the caller's own.
func dialAs(t *testing.T, s *server, p *simulated.Phone, number, from string) (*caller, error) {
	t.Helper()
	return dialAt(t, s.addrs["sip"], p, number, from)
}

// dialAt does it at an address that leads to the server.
func dialAt(t *testing.T, at string, p *simulated.Phone, number, from string) (*caller, error) {
	t.Helper()
	return dialOn(t, p, sip.Target{URI: "sip:" + number + "@" + at, From: header.Identity{Number: from}, Headers: map[string]string{"X-Caller": from}})
}

// dialOn calls a target.
func dialOn(t *testing.T, p *simulated.Phone, to sip.Target) (*caller, error) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	leg, err := p.Dial(ctx, to)
	if err != nil {
		return nil, err
	}
	c := &caller{t: t, leg: leg, over: make(chan struct{}), answered: time.Now()}
	life, hangup := context.WithCancelCause(context.Background())
	c.hangup = hangup
	go c.conduct(life)
	t.Cleanup(c.hangUp)
	return c, nil
}

// call dials and must be answered.
func call(t *testing.T, s *server, p *simulated.Phone, number string) *caller {
	t.Helper()
	c, err := dial(t, s, p, number)
	if err != nil {
		t.Fatalf("the call was not answered: %v", err)
	}
	return c
}

// refusalCode is the SIP response that a call to number gets; 200 when it is answered.
func refusalCode(t *testing.T, s *server, p *simulated.Phone, number string) int {
	t.Helper()
	c, err := dial(t, s, p, number)
	if err == nil {
		c.hangUp()
		return 200
	}
	if no, ok := errors.AsType[*sip.NotAnswered](err); ok {
		return no.Code
	}
	t.Fatal(err)
	return 0
}

func (c *caller) conduct(life context.Context) {
	defer close(c.over)
	defer func() { c.ended = time.Now() }()
	ended := make(chan error, 1)
	go func() { ended <- c.leg.Run(life) }()
	wake := time.NewTimer(0)
	defer wake.Stop()
	var frame [160]int16
	for {
		select {
		case c.fault = <-ended:
			return
		case <-c.leg.Events():
		case <-wake.C:
			now := time.Now()
			c.mu.Lock()
			for f, ok := c.leg.Read(now); ok; f, ok = c.leg.Read(now) {
				c.heard = append(c.heard, f.Samples...)
			}
			c.mu.Unlock()
			for n := c.leg.Due(now); n > 0; n-- {
				if n := c.speech.remaining(); 0 < n && n <= len(frame) {
					c.mu.Lock()
					c.said = len(c.heard)
					c.mu.Unlock()
				}
				c.speech.next(frame[:])
				c.leg.Write(media.Frame{Samples: frame[:], Rate: media.Rate8k})
			}
			wake.Reset(time.Until(c.leg.Next()))
		}
	}
}

// say speaks a clip and waits until it is said.
func (c *caller) say(clip []int16) {
	c.t.Helper()
	c.speech.add(clip)
	eventually(c.t, "the telephone sends", func() bool {
		select {
		case <-c.over:
			c.t.Fatalf("the call ended (%v) while the caller spoke", c.fault)
		default:
		}
		return c.speech.done()
	})
}

// mark is the present position of what the caller hears.
func (c *caller) mark() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.heard)
}

// hears says how much voice the caller has heard since mark.
func (c *caller) hears(mark int) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return voiced(c.heard[mark:], media.Rate8k)
}

// awaitVoice waits until the caller has heard so much voice since mark, and then
// a pause: the agent has said its piece.
func (c *caller) awaitVoice(what string, mark int, least time.Duration) {
	c.t.Helper()
	const pause = 600 * time.Millisecond
	n := media.FromDuration(pause).Samples(media.Rate8k)
	eventually(c.t, what, func() bool {
		select {
		case <-c.over:
			c.t.Fatalf("the call ended (%v) while waiting: %s", c.fault, what)
		default:
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.heard) < mark+n {
			return false
		}
		return voiced(c.heard[mark:], media.Rate8k) >= least && voiced(c.heard[len(c.heard)-n:], media.Rate8k) == 0
	})
}

// rested says that something was heard since mark, and then nothing for a while.
func (c *caller) rested(mark int) bool {
	const pause = 8000
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.heard)
	return n > mark+pause && voiced(c.heard[mark:], media.Rate8k) > 0 && voiced(c.heard[n-pause:], media.Rate8k) == 0
}

// awaitAnswer waits for a sound after the caller's last one, and returns for how many ms there was none, to 20 ms.
func (c *caller) awaitAnswer() (ms float64) {
	c.t.Helper()
	frame := media.Rate8k.FrameSamples()
	eventually(c.t, "an answer", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for at := c.said; at+frame <= len(c.heard); at += frame {
			if voiced(c.heard[at:at+frame], media.Rate8k) > 0 {
				ms = media.Rate8k.Duration(at-c.said).Duration().Seconds() * 1000
				return true
			}
		}
		return false
	})
	return ms
}

// hangUp ends the call and waits for its end. A call that has ended is left alone.
func (c *caller) hangUp() {
	c.hangup(errBye)
	<-c.over
}
