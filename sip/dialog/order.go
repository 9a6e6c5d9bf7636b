package dialog

import (
	"slices"
	"sync"
	"time"
)

// maxInOrder bounds the requests of a dialog that wait for those before them; more are
// taken as they come.
const maxInOrder = 32

// Order has the far end's requests handled in the order in which they came: the library
// gives each a goroutine of its own, and one that is overtaken would be refused for its
// CSeq (RFC 3261 section 12.2.2). Its methods may be called from several goroutines.
type Order struct {
	mu    sync.Mutex
	last  uint32   // the highest that came
	come  []uint32 // and were not handled yet, rising
	moved chan struct{}
	// patience is how long one waits for the one before it, since some never come so far: T1, after which the far end
	// sends a request again (RFC 3261 section 17.1.2.2).
	patience time.Duration
}

// NewOrder is that of a dialog to come. A request waits t1 at most for the one before it.
func NewOrder(t1 time.Duration) *Order { return &Order{moved: make(chan struct{}), patience: t1} }

// Arrived notes a request by its CSeq, unless it is a repetition.
func (o *Order) Arrived(seq uint32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if seq > o.last && len(o.come) < maxInOrder {
		o.last, o.come = seq, append(o.come, seq)
	}
}

// Await waits until those that came before are handled, or none is for as long as one waits.
func (o *Order) Await(seq uint32) {
	for {
		o.mu.Lock()
		first, moved := len(o.come) == 0 || o.come[0] >= seq, o.moved
		o.mu.Unlock()
		if first {
			return
		}
		select {
		case <-moved:
		case <-time.After(o.patience):
			return
		}
	}
}

// Handled lets the next one go, and forgets those before that never came so far.
func (o *Order) Handled(seq uint32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.come = slices.DeleteFunc(o.come, func(s uint32) bool { return s <= seq })
	close(o.moved)
	o.moved = make(chan struct{})
}
