// Package ring is a bounded queue from one goroutine to another, without a lock. The producer
// fills slots in place and hands them over with Put; the consumer looks at them with Peek and
// gives them back with Drop. Slots keep what they own from round to round, so nothing
// allocates. What happens when a ring is full is for its producer to say.
package ring

import "sync/atomic"

// Ring is a queue of a fixed size. Free, Slot and Put belong to the producer, Peek and Drop to
// the consumer; Len may be called by both.
type Ring[T any] struct {
	slots      []T
	head, tail atomic.Uint64 // dropped and put so far
}

// New returns an empty ring for size things; size is a power of two.
func New[T any](size int) *Ring[T] { return &Ring[T]{slots: make([]T, size)} }

// Len is how many things wait for the consumer.
func (r *Ring[T]) Len() int { return int(r.tail.Load() - r.head.Load()) }

// Free is how many more fit.
func (r *Ring[T]) Free() int { return len(r.slots) - r.Len() }

// Slot is the i-th free slot; i is less than Free.
func (r *Ring[T]) Slot(i int) *T { return r.at(r.tail.Load() + uint64(i)) }

// Put hands the first n free slots to the consumer.
func (r *Ring[T]) Put(n int) { r.tail.Add(uint64(n)) }

// Peek is the i-th thing that waits; i is less than Len. It is valid until its Drop.
func (r *Ring[T]) Peek(i int) *T { return r.at(r.head.Load() + uint64(i)) }

// Drop gives the first n things back to the producer.
func (r *Ring[T]) Drop(n int) { r.head.Add(uint64(n)) }

func (r *Ring[T]) at(n uint64) *T { return &r.slots[n&uint64(len(r.slots)-1)] }
