package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/sip/simulated"
)

// Turn measures how long the server takes to answer and to fall silent.
type Turn struct {
	Leg           string // "ws" or "sip"
	Calls         int    // at a time
	Turns         int    // in all, at least one a call
	Interruptions int    // in all; 0: none
	// Speculative has replies begun in the pause that may be the turn's end, as agents do by
	// default.
	Speculative bool
}

// What the agents of a measurement of turns say.
const (
	shortReply = time.Second
	longReply  = 6 * time.Second
)

// turnBars are the bars in ms: overhead at p50 and p99, lowered, silent. Replies that wait
// for the turn's end have engines and a slot of the telephone still before them.
var turnBars = map[string]map[bool][4]float64{
	"ws":  {true: {5, 30, 150, 60}, false: {25, 60, 150, 60}},
	"sip": {true: {15, 40, 150, 60}, false: {35, 70, 150, 60}},
}

// Run measures and returns the rows.
func (t Turn) Run(ctx context.Context) ([]Row, error) {
	bars, ok := turnBars[t.Leg][t.Speculative]
	if !ok || t.Calls < 1 || t.Turns < 1 {
		return nil, fmt.Errorf("no measurement of %d turns in %d calls on a leg %q", t.Turns, t.Calls, t.Leg)
	}
	g := group(fmt.Sprintf("turn, %s, %d calls", t.Leg, t.Calls))
	if !t.Speculative {
		g += ", nothing begun in pauses"
	}
	var mu sync.Mutex
	var overhead, lowered, silent []time.Duration
	err := t.each(ctx, shortReply, func(c *caller, _ *benchAgent) error {
		took, err := c.turns(share(t.Turns, t.Calls), func() error { return c.pause(shortReply + gap) })
		mu.Lock()
		defer mu.Unlock()
		overhead = append(overhead, took...)
		return err
	})
	if err != nil {
		return nil, err
	}
	rows := g.latencies("overhead", overhead, bars[0], bars[1])
	if t.Interruptions == 0 {
		return rows, nil
	}
	err = t.each(ctx, longReply, func(c *caller, a *benchAgent) error {
		_, err := c.turns(share(t.Interruptions, t.Calls), func() error {
			i, err := c.interrupt(&a.asr)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				lowered, silent = append(lowered, i.lowered), append(silent, i.silent)
			}
			return err
		})
		return err
	})
	rows = append(rows, g.latencies("speech to lowered", lowered, 0, bars[2])...)
	return append(rows, g.latencies("verdict to silent", silent, 0, bars[3])...), err
}

// share is how many of all each of n has to do.
func share(all, n int) int { return max(1, (all+n-1)/n) }

// each starts a server, makes the calls and lets f conduct each caller, on a
// goroutine of its own; their frames are spread over the 20 ms.
func (t Turn) each(ctx context.Context, reply time.Duration, f func(*caller, *benchAgent) error) error {
	list := make(agents, t.Calls)
	for i := range list {
		list[i] = newAgent(reply)
		list[i].speculative = t.Speculative
	}
	dial, stop, err := t.server(list)
	if err != nil {
		return err
	}
	defer stop()
	errs := make([]error, t.Calls)
	var wg sync.WaitGroup
	for i, a := range list {
		l, err := dial(ctx, i)
		if err != nil {
			errs[i] = err
			break
		}
		wg.Go(func() {
			defer l.hangUp()
			start := time.Now().Truncate(media.FrameDuration).Add(time.Duration(i) * media.FrameDuration / time.Duration(t.Calls))
			errs[i] = f(newCaller(l, start), a)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// server starts what callers of the leg call.
func (t Turn) server(list agents) (dial func(context.Context, int) (line, error), stop func(), err error) {
	if t.Leg == "ws" {
		w, err := newWeb(list)
		if err != nil {
			return nil, nil, err
		}
		return func(ctx context.Context, i int) (line, error) { return dialWeb(ctx, w.addr, i) }, func() { _ = w.close() }, nil
	}
	server, err := newTelephone(list, codec.PCMU)
	if err != nil {
		return nil, nil, err
	}
	phone, err := newPhone(codec.PCMU)
	if err != nil {
		server.close()
		return nil, nil, err
	}
	dial = func(ctx context.Context, i int) (line, error) { return dialPhone(ctx, phone.Phone, server.uri(i)) }
	return dial, func() { phone.close(); server.close() }, nil
}

// phone is a softphone that runs until close.
type phone struct {
	*simulated.Phone
	close func()
}

func newPhone(c codec.Codec) (*phone, error) {
	p, err := simulated.NewPhone(loopback, c)
	if err != nil {
		return nil, err
	}
	return &phone{p, begin(func(ctx context.Context) { _ = p.Run(ctx) })}, nil // a lost listener shows as calls that are not answered
}
