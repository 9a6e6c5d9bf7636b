package journal

import (
	"sync/atomic"
	"time"

	"parley/inference"
	"parley/media"
	"parley/media/record"
	"parley/pipeline/agent"
)

// World is what the conductor's inputs come from: the real one is Live.
type World interface {
	// Now is when the next input comes.
	Now() time.Time
	// Observe is the value that counts for one that was read.
	Observe(q Quantity, read int64) int64
	// Screened is likewise the verdict of the answering-machine detection on the latest frame, and whether
	// the callee may be spoken to.
	Screened(verdict uint8, open bool) (uint8, bool)
}

// Live is the real World: it has the clock of the machine, and what was read counts.
type Live struct{}

// Now implements World.
func (Live) Now() time.Time { return time.Now() }

// Observe implements World.
func (Live) Observe(_ Quantity, read int64) int64 { return read }

// Screened implements World.
func (Live) Screened(verdict uint8, open bool) (uint8, bool) { return verdict, open }

// Observer is what a conductor learns the world through. It belongs to the conductor, but for NoSpeculation, and
// does not block; for a frame it does not allocate.
type Observer struct {
	// NoSpeculation is set while no speculative reply may be begun, from any goroutine. It counts from the next input on.
	NoSpeculation atomic.Bool

	sink  Sink // nil: nothing is kept
	world World
	start time.Time // the call's first moment
	now   time.Time
	input Input // being dealt with
}

// NewObserver returns the Observer of a call that is recorded to sink; nil: it is not.
func NewObserver(sink Sink, world World) *Observer { return &Observer{sink: sink, world: world} }

// Begin is the call's first moment.
func (o *Observer) Begin(origin func() Origin) {
	o.start = o.world.Now()
	o.now = o.start
	if o.sink != nil {
		begun := origin()
		begun.Start = o.start
		o.sink.Begin(begun)
	}
}

// Next begins an input, of which Next sets the time: until the one after it, it is Now. The input before it is
// handed to the Sink.
func (o *Observer) Next(in Input) {
	o.flush()
	o.now = o.world.Now()
	in.At, in.NoSpeculation = o.now.Sub(o.start), o.NoSpeculation.Load()
	o.input = in
}

func (o *Observer) flush() {
	if o.sink != nil && o.input.Kind != 0 {
		o.sink.Input(&o.input)
		o.input = Input{}
	}
}

// Close hands the last input on and ends the journal.
func (o *Observer) Close() {
	if o.sink != nil {
		o.flush()
		o.sink.Close()
	}
}

// Now is when the present input came.
func (o *Observer) Now() time.Time { return o.now }

// Since is how long after the call's first moment t was; nil where t is zero.
func (o *Observer) Since(t time.Time) *time.Duration {
	if t.IsZero() {
		return nil
	}
	d := t.Sub(o.start)
	return &d
}

// MaySpeculate says whether a speculative reply may be begun in the present input.
func (o *Observer) MaySpeculate() bool { return !o.input.NoSpeculation }

// Message records the message of the present input.
func (o *Observer) Message(m func() *Message) {
	if o.sink != nil {
		o.input.Message = m()
	}
}

// Updated records what the message of the present input made of the agent.
func (o *Observer) Updated(a *agent.Agent) {
	if o.input.Message != nil {
		o.input.Message.Agent = PersonOf(a)
	}
}

// TakenOver records the agent that the message of the present input has conduct the call.
func (o *Observer) TakenOver(by func() Origin) {
	if o.input.Message != nil {
		o.input.Message.Origin = new(by())
	}
}

// Carried records how many frames of the caller's passed to another person.
func (o *Observer) Carried(frames int) { o.input.Carried = frames }

// Frame records what was made of a frame.
func (o *Observer) Frame(h Heard) {
	if o.sink != nil {
		o.input.AddHeard(h)
	}
}

// Screened observes the verdict of the answering-machine detection on the latest frame.
func (o *Observer) Screened(verdict uint8, open bool) (uint8, bool) {
	verdict, open = o.world.Screened(verdict, open)
	if o.sink != nil {
		h := o.input.heard.last()
		h.Verdict, h.Open = verdict, open
	}
	return verdict, open
}

// Observe returns the value that counts for one that was read, and records it.
func (o *Observer) Observe(q Quantity, read int64) int64 {
	v := o.world.Observe(q, read)
	if o.sink != nil {
		o.input.AddObserved(Observation{q, v})
	}
	return v
}

// ObserveBool is Observe for a quantity that is 0 or 1.
func (o *Observer) ObserveBool(q Quantity, read bool) bool {
	v := int64(0)
	if read {
		v = 1
	}
	return o.Observe(q, v) == 1
}

// ObserveAudio observes how much audio there is. In a replay that is silence, as long as it was.
func (o *Observer) ObserveAudio(made []inference.Chunk) []inference.Chunk {
	if n := int(o.Observe(Pieces, int64(len(made)))); n != len(made) {
		made = make([]inference.Chunk, n)
	}
	for i := range made {
		chunk := &made[i]
		chunk.Rate = media.Rate(o.Observe(PieceRate, int64(chunk.Rate)))
		if n := int(o.Observe(PieceLength, int64(len(chunk.Samples)))); n != len(chunk.Samples) {
			chunk.Samples = make([]int16, n)
		}
	}
	return made
}

// Note records what the call did.
func (o *Observer) Note(n Note) {
	if o.sink != nil {
		n.At = o.now.Sub(o.start)
		o.sink.Note(n)
	}
}

// Event records an event of the call.
func (o *Observer) Event(e func() Event) {
	if o.sink != nil {
		o.sink.Event(e())
	}
}

// Leg is a leg whose answers are observed.
type Leg struct {
	media.Leg
	observer *Observer
	written  media.Time // all frames written less those flushed
	ducks    bool       // the far end has lowered the agent's voice
}

// NewLeg returns leg, observed by o.
func NewLeg(leg media.Leg, o *Observer) *Leg { return &Leg{Leg: leg, observer: o} }

// Due implements media.Leg.
func (l *Leg) Due(now time.Time) int { return int(l.observer.Observe(Due, int64(l.Leg.Due(now)))) }

// Write implements media.Leg.
func (l *Leg) Write(f media.Frame) { l.Send(f, false) }

// Send writes a frame; private: the recording has silence in its place.
func (l *Leg) Send(f media.Frame, private bool) {
	if private {
		record.WriteUnheard(l.Leg, f)
	} else {
		l.Leg.Write(f)
	}
	l.written += media.FrameTime
}

// Flush implements media.Leg.
func (l *Leg) Flush(now time.Time) media.Time {
	d := media.Time(l.observer.Observe(Flushed, int64(l.Leg.Flush(now))))
	l.written -= d
	return d
}

// Played implements media.Leg.
func (l *Leg) Played(now time.Time) media.Time {
	return l.written - media.Time(l.observer.Observe(Lag, int64(l.written-l.Leg.Played(now))))
}

// Duck implements media.Ducker, also for a leg that is none. What was not lowered is not restored.
func (l *Leg) Duck(on bool) bool {
	leg, able := l.Leg.(media.Ducker)
	able = able && (on || l.ducks) && leg.Duck(on)
	if on {
		able = l.observer.ObserveBool(Ducks, able)
	}
	l.ducks = on && able
	return able
}
