package trunk

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Full says that a trunk takes no further call just now.
type Full struct {
	Trunk string
	Limit string // "channels" or "cps"
}

func (e *Full) Error() string { return fmt.Sprintf("sip: trunk %s: no free %s", e.Trunk, e.Limit) }

const (
	// rateWait is how long a call may wait for its token under Config.CPS.
	rateWait = time.Second
	// channelRetry is how soon to ask again for a channel.
	channelRetry = time.Second
)

// Share divides what trunks take, Channels and CPS, by how many user agents use them,
// this one counted: each keeps to its part, so that together they keep to the whole.
// A part is one channel at least. Calls that are up stay. At first, and below 1, it is
// one user agent's alone.
func (set *Set) Share(agents int) {
	set.mu.Lock()
	defer set.mu.Unlock()
	set.agents = max(1, agents)
	for _, t := range set.all() {
		t.share(set.agents)
	}
}

func (t *Trunk) share(agents int) {
	if c := t.Channels; c > 0 {
		t.channels.Store(int64(max(1, c/agents)))
	}
	if t.pace != nil {
		t.pace.SetLimit(rate.Limit(float64(t.CPS) / float64(agents)))
	}
}

// enter takes a channel, if there is one.
func (t *Trunk) enter() bool {
	if n, most := t.Calls.Add(1), t.channels.Load(); most > 0 && n > most {
		t.Calls.Add(-1)
		return false
	}
	return true
}

// Reserve reserves a channel for a call, and waits a little for a token of the trunk's calls a
// second; Release gives the channel back. The error is a *Full, or the cause of ctx.
func (t *Trunk) Reserve(ctx context.Context) error {
	if !t.enter() {
		return &Full{t.Name, "channels"}
	}
	if err := t.await(ctx); err != nil {
		t.Calls.Add(-1)
		return err
	}
	return nil
}

// Release gives a channel back.
func (t *Trunk) Release() { t.Calls.Add(-1) }

// await waits for a token.
func (t *Trunk) await(ctx context.Context) error {
	if t.pace == nil {
		return nil
	}
	r := t.pace.Reserve()
	d := r.Delay()
	if d > rateWait {
		r.Cancel()
		return &Full{t.Name, "cps"}
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		r.Cancel()
		return context.Cause(ctx)
	}
}

// Reservation is a channel of a trunk and a token of its calls a second, reserved before a
// call. It is for calls that can wait, so that they wait
// before anything else is spent on them, and behind everybody who does not. A nil
// Reservation is none. Its methods may be called from several goroutines.
type Reservation struct {
	trunk *Trunk
	gone  atomic.Bool // used, or given back
}

// Reserve reserves for a call from number, on the first trunk of those that a call would
// try that has room. When there is none it says how soon to ask again. Without a
// trunk that carries the number it returns neither: the call says what is wrong.
func (set *Set) Reserve(from Caller) (r *Reservation, wait time.Duration) {
	for _, t := range set.For(from) {
		w := t.tryReserve()
		if w == 0 {
			return &Reservation{trunk: t}, 0
		}
		if wait == 0 || w < wait {
			wait = w
		}
	}
	return nil, wait
}

// tryReserve is Reserve without waiting: 0, or how soon to ask again. A token is left to those
// who wait for theirs already.
func (t *Trunk) tryReserve() time.Duration {
	if !t.enter() {
		return channelRetry
	}
	if t.pace != nil && !t.pace.Allow() {
		t.Calls.Add(-1)
		return max(time.Millisecond, time.Duration((1-t.pace.Tokens())/float64(t.pace.Limit())*float64(time.Second)))
	}
	return 0
}

// Use says whether the reservation is on t, and hands it over.
func (r *Reservation) Use(t *Trunk) bool { return r != nil && r.trunk == t && !r.gone.Swap(true) }

// Free gives a reservation back that was not used. The token is spent.
func (r *Reservation) Free() {
	if r != nil && !r.gone.Swap(true) {
		r.trunk.Release()
	}
}
