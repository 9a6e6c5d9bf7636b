// Package monitor lets people listen in on a call: both sides of its audio go to any number of listeners, as the caller hears and
// says them, beside the recorder.
//
//	conductor ─▶ Monitor ─▶ record.Keeper
//	                │
//	                └─▶ a queue for each Listener ─▶ Next ─▶ who listens in
//
// The conductor only copies frames into bounded queues. A listener that is slow misses sound, and the call nothing.
package monitor

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/record"
	"parley/media/ring"
)

// MaxListeners may listen in on one call at once.
const MaxListeners = 8

// queueFrames bounds what waits for a listener: 1.2 s of both sides.
const queueFrames = 128

// Errors of Join.
var (
	ErrNotBegun = errors.New("monitor: the call has not begun")
	ErrOver     = errors.New("monitor: the call is over")
	ErrFull     = errors.New("monitor: as many listen in as may")
)

// Monitor gives a call's audio to a recorder and to those who listen in. It is a record.Keeper, whose methods belong to the conductor.
// Join may be called from any goroutine.
type Monitor struct {
	recorder  record.Keeper // nil: the call is not recorded
	onBegin   func()        // nil: nothing waits for it
	listeners atomic.Pointer[[]*Listener]

	mu     sync.Mutex // guards what follows, and changes of listeners
	format media.Format
	begun  bool
	over   chan struct{} // closed when the call is over
}

// New returns the monitor of a call that is recorded by recorder; nil: it is not recorded.
func New(recorder record.Keeper) *Monitor {
	return &Monitor{recorder: recorder, over: make(chan struct{})}
}

// OnBegin has f called when the call begins, by the conductor, whom f must not hold up. Join works from then on. It must be called before
// that, and once.
func (m *Monitor) OnBegin(f func()) { m.onBegin = f }

// Begin implements record.Keeper.
func (m *Monitor) Begin(f media.Format) {
	m.mu.Lock()
	m.format, m.begun = f, true
	m.mu.Unlock()
	if m.onBegin != nil {
		m.onBegin()
	}
	if m.recorder != nil {
		m.recorder.Begin(f)
	}
}

// Heard implements record.Keeper.
func (m *Monitor) Heard(f media.Frame, now time.Time) {
	if m.recorder != nil {
		m.recorder.Heard(f, now)
	}
	for _, l := range m.listening() {
		l.put(heard, f.At, f)
	}
}

// Spoke implements record.Keeper.
func (m *Monitor) Spoke(f media.Frame, now time.Time, ahead media.Time) {
	if m.recorder != nil {
		m.recorder.Spoke(f, now, ahead)
	}
	for _, l := range m.listening() {
		l.put(spoke, ahead, f)
	}
}

// Recalled implements record.Keeper.
func (m *Monitor) Recalled(d media.Time) {
	if m.recorder != nil {
		m.recorder.Recalled(d)
	}
	if d <= 0 {
		return
	}
	for _, l := range m.listening() {
		l.put(recalled, d, media.Frame{})
	}
}

// Close implements record.Keeper: those who listen in hear the rest, and then that the call is over.
func (m *Monitor) Close() {
	m.mu.Lock()
	select {
	case <-m.over:
	default:
		close(m.over)
	}
	m.mu.Unlock()
	if m.recorder != nil {
		m.recorder.Close()
	}
}

// listening are those who listen in now.
func (m *Monitor) listening() []*Listener {
	if all := m.listeners.Load(); all != nil {
		return *all
	}
	return nil
}

// Join begins to listen in, from the next frame on. The listener must leave.
func (m *Monitor) Join() (*Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.over:
		return nil, ErrOver
	default:
	}
	all := m.listening()
	switch {
	case !m.begun:
		return nil, ErrNotBegun
	case len(all) >= MaxListeners:
		return nil, ErrFull
	}
	l := newListener(m)
	all = append(slices.Clone(all), l)
	m.listeners.Store(&all)
	return l, nil
}

// leave ends the part of a listener.
func (m *Monitor) leave(l *Listener) {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(m.listening()), func(o *Listener) bool { return o == l })
	m.listeners.Store(&left)
}

// slot is one thing that happened.
type slot struct {
	kind    kind
	at      media.Time // heard: of the frame; spoke: how far ahead of now the caller hears it; recalled: how much
	rate    media.Rate
	samples []int16
}

type kind uint8

const (
	heard kind = iota
	spoke
	recalled
)

// newQueue is a queue whose slots have their memory.
func newQueue(f media.Format) *ring.Ring[slot] {
	q := ring.New[slot](queueFrames)
	size := max(f.In.FrameSamples(), f.Out.FrameSamples())
	samples := make([]int16, queueFrames*size)
	for i := range queueFrames {
		q.Slot(i).samples = samples[i*size : (i+1)*size : (i+1)*size]
	}
	return q
}
