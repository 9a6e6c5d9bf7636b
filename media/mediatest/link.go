package mediatest

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// Link is how badly a direction of a network treats packets. The zero Link
// delivers all of them at once and in order. The same seed and the same packets
// meet the same fate.
type Link struct {
	Seed      uint64
	Loss      float64       // the part of the packets that vanish, 0 to 1
	Duplicate float64       // the part that arrive twice
	Reorder   float64       // the part held back by ReorderBy, so that others overtake
	ReorderBy time.Duration // 0 means 30 ms
	Delay     time.Duration // of every packet
	Jitter    time.Duration // more delay, spread evenly from 0 to this; order is kept
}

// LinkStats counts the packets that were sent into a link, by outcome.
type LinkStats struct {
	Sent, Lost, Duplicated, Reordered uint64
	Overflowed                        uint64 // dropped because maxInFlight others waited
}

// maxInFlight bounds the packets on their way in one direction, like the buffer
// of a socket: 20 s of a call. What comes on top is dropped and counted.
const maxInFlight = 1000

// defaultReorderBy lets a 20 ms packet be overtaken by the next one.
const defaultReorderBy = 30 * time.Millisecond

type packet struct {
	data []byte
	due  time.Time
	seq  uint64 // packets due at the same time keep the order of sending
}

// inFlight is the heap of packets on their way, the next one first. It also is
// the network's dice; its user holds the pipe's lock.
type inFlight struct {
	link    Link
	rng     *rand.Rand
	stats   LinkStats
	packets []packet
	seq     uint64
	last    time.Time // when the latest packet that kept its order is due
}

func newInFlight(link Link) *inFlight {
	return &inFlight{link: link, rng: rand.New(rand.NewPCG(link.Seed, 0x706970650a))}
}

// send decides the fate of a packet. Every packet rolls all the dice, so that one
// probability can change without changing the rest.
func (q *inFlight) send(data []byte, now time.Time) {
	q.stats.Sent++
	lost := q.rng.Float64() < q.link.Loss
	twice := q.rng.Float64() < q.link.Duplicate
	late := q.rng.Float64() < q.link.Reorder
	wait := q.link.Delay + time.Duration(q.rng.Float64()*float64(q.link.Jitter))
	if lost {
		q.stats.Lost++
		return
	}
	due := now.Add(wait)
	if late {
		q.stats.Reordered++
		by := q.link.ReorderBy
		if by == 0 {
			by = defaultReorderBy
		}
		due = due.Add(by)
	} else {
		if due.Before(q.last) {
			due = q.last
		}
		q.last = due
	}
	q.add(data, due)
	if twice {
		q.stats.Duplicated++
		q.add(data, due)
	}
}

func (q *inFlight) add(data []byte, due time.Time) {
	if len(q.packets) == maxInFlight {
		q.stats.Overflowed++
		return
	}
	q.seq++
	heap.Push(q, packet{append([]byte(nil), data...), due, q.seq})
}

// next takes out the first packet if it is due, else says when one will be; the
// zero time means that none is on its way.
func (q *inFlight) next(now time.Time) (p packet, ok bool, due time.Time) {
	if len(q.packets) == 0 {
		return packet{}, false, time.Time{}
	}
	if due = q.packets[0].due; due.After(now) {
		return packet{}, false, due
	}
	return heap.Pop(q).(packet), true, due
}

func (q *inFlight) Len() int      { return len(q.packets) }
func (q *inFlight) Swap(i, j int) { q.packets[i], q.packets[j] = q.packets[j], q.packets[i] }
func (q *inFlight) Push(x any)    { q.packets = append(q.packets, x.(packet)) }

func (q *inFlight) Less(i, j int) bool {
	a, b := q.packets[i], q.packets[j]
	if !a.due.Equal(b.due) {
		return a.due.Before(b.due)
	}
	return a.seq < b.seq
}

func (q *inFlight) Pop() any {
	last := len(q.packets) - 1
	p := q.packets[last]
	q.packets = q.packets[:last]
	return p
}
