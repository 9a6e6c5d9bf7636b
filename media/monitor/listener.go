package monitor

import (
	"context"
	"io"
	"slices"
	"sync/atomic"

	"parley/media"
	"parley/media/record"
	"parley/media/resample"
	"parley/media/ring"
)

// Channels of what a listener hears: the caller, then the other side.
const Channels = 2

// overdue is how late a frame of the agent's may be before it is left out, so that a listener does not fall behind for good.
const overdue = 3 * media.FrameTime

// Listener is somebody who listens in. put belongs to the conductor, Missed to anybody, the rest to one goroutine.
type Listener struct {
	monitor *Monitor
	queue   *ring.Ring[slot]
	woken   chan struct{} // something is in the queue
	missed  atomic.Uint64

	rate          media.Rate
	caller, agent *resample.Resampler
	now           media.Time // of the caller's frame heard last
	waiting       []waiting  // the agent's frames that the caller does not hear yet, in order
	spare         [][]int16
}

// waiting is a frame of the agent's, at the rate of the listener.
type waiting struct {
	due     media.Time
	samples []int16
}

func newListener(m *Monitor) *Listener {
	f := m.format
	rate := record.Rate(f)
	return &Listener{monitor: m, queue: newQueue(f), woken: make(chan struct{}, 1), rate: rate, caller: resample.New(f.In, rate), agent: resample.New(f.Out, rate)}
}

// Rate is that of what is heard: 8 or 16 kHz.
func (l *Listener) Rate() media.Rate { return l.rate }

// Missed is how many frames of either side were lost because Next was called too late.
func (l *Listener) Missed() uint64 { return l.missed.Load() }

// At is when the frame that Next gave last began, in the caller's media time.
func (l *Listener) At() media.Time { return l.now - media.FrameTime }

// Leave ends the listening. It may be called again.
func (l *Listener) Leave() { l.monitor.leave(l) }

// put copies something into the queue, or counts that it is full.
func (l *Listener) put(k kind, at media.Time, f media.Frame) {
	if l.queue.Free() == 0 {
		l.missed.Add(1)
		return
	}
	s := l.queue.Slot(0)
	s.kind, s.at, s.rate = k, at, f.Rate
	room := s.samples[:cap(s.samples)]
	s.samples = room[:copy(room, f.Samples)]
	l.queue.Put(1)
	select {
	case l.woken <- struct{}{}:
	default:
	}
}

// Next waits for the next 20 ms of the call and fills frame with them, samples of the two channels in turn; it has room for
// Channels frames of Rate. io.EOF: the call is over.
func (l *Listener) Next(ctx context.Context, frame []int16) error {
	for {
		for l.queue.Len() > 0 {
			done := l.take(l.queue.Peek(0), frame)
			l.queue.Drop(1)
			if done {
				return nil
			}
		}
		select {
		case <-l.woken:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.monitor.over:
			if l.queue.Len() == 0 {
				return io.EOF
			}
		}
	}
}

// take makes something that happened part of what is heard; done says that frame is full.
func (l *Listener) take(s *slot, frame []int16) (done bool) {
	f := media.Frame{Samples: s.samples, Rate: s.rate, At: s.at}
	switch s.kind {
	case spoke:
		l.wait(l.now+max(0, s.at), l.agent.Process(f).Samples)
	case recalled:
		for d := s.at; d > 0 && len(l.waiting) > 0; d -= media.FrameTime {
			last := len(l.waiting) - 1
			l.spare, l.waiting = append(l.spare, l.waiting[last].samples), l.waiting[:last]
		}
	case heard:
		l.now = s.at + media.FrameTime
		n := l.rate.FrameSamples()
		frame = frame[:Channels*n]
		clear(frame)
		interleave(frame, 0, l.caller.Process(f).Samples)
		l.play(frame)
		return true
	}
	return false
}

// wait keeps a frame of the agent's until the caller hears it.
func (l *Listener) wait(due media.Time, samples []int16) {
	var room []int16
	if n := len(l.spare); n > 0 {
		room, l.spare = l.spare[n-1][:0], l.spare[:n-1]
	}
	l.waiting = append(l.waiting, waiting{due, append(room, samples...)})
}

// play puts the frame of the agent's that the caller hears now on the right.
func (l *Listener) play(frame []int16) {
	late := 0
	for late+1 < len(l.waiting) && l.waiting[late].due < l.now-overdue {
		late++
	}
	if late == len(l.waiting) || l.waiting[late].due > l.now {
		return
	}
	interleave(frame, 1, l.waiting[late].samples)
	for _, w := range l.waiting[:late+1] {
		l.spare = append(l.spare, w.samples)
	}
	l.waiting = slices.Delete(l.waiting, 0, late+1)
}

// interleave puts samples on a channel.
func interleave(frame []int16, channel int, samples []int16) {
	for i, v := range samples[:min(len(samples), len(frame)/Channels)] {
		frame[Channels*i+channel] = v
	}
}
