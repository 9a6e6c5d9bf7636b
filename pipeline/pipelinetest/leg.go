// Package pipelinetest holds conversations: a leg whose caller speaks by a script,
// a listener that knows the script, and the log of a call. They are meant for
// simulated time, in testing/synctest bubbles, but for short ones with things that
// cannot be in there.
package pipelinetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/media"
	"parley/pipeline/bridge"
	"parley/pipeline/listen"
)

// Utterance is caller speech from From to To after the start of the call.
type Utterance struct {
	From, To time.Duration
	Level    float32 // dBFS; 0 means -20
}

// Leg is a caller in simulated time. Its audio is silence, or a tone; what it "says" is
// known to the FrontEnd. It is not continuous, its lead is 300 ms and its far end
// plays at once what it is sent. The exported fields may be changed until it runs.
type Leg struct {
	Speech []Utterance
	Digits map[time.Duration]byte
	Tone   [2]time.Duration // from when to when there is a tone of 1 kHz; else the audio is silence
	// Audio is what the caller's microphone picks up from the start of the call, at the
	// rate of the leg; nil: the tone. Echo adds to it, that much later and times EchoGain,
	// what the far end plays; 0: nothing.
	Audio    []int16
	Echo     time.Duration
	EchoGain float64
	Hold     [2]time.Duration // from when to when the caller has the agent on hold
	HangUp   time.Duration    // the caller hangs up then; 0: never
	Keeps    bool             // what is sent is kept to the sample
	// Late is how much later than 20 ms after the one before a frame arrives; nil:
	// not at all. Frames keep their order, so that late ones come in bursts.
	Late func(n int64) time.Duration
	// Linger is how long Run goes on after its context has ended, as a leg does
	// whose goodbye nobody answers.
	Linger time.Duration
	// CanDuck says whether the far end lowers the voice itself.
	CanDuck func() bool
	// Moves is the outcome of a transfer to a number; nil: the far end does none.
	Moves func(ctx context.Context, number string) error
	// Joins is the outcome of joining the far end to that of another leg; nil: it does not.
	Joins func(ctx context.Context, other media.Leg) error

	format   media.Format
	start    time.Time
	pacer    media.Pacer
	heard    int64     // frames given out
	arrives  time.Time // the next one
	measured int64     // the frame that arrives is of
	end      time.Time
	written  media.Time
	events   chan media.LegEvent
	samples  [media.MaxFrameSamples]int16
	air      []int16 // what the far end plays, from the start, at the rate of Out

	mu      sync.Mutex
	frames  []Sent
	flushes []time.Duration
	ducks   []bool
	pressed string
}

// Sent is a frame the agent sent.
type Sent struct {
	At     time.Duration // after the start
	Silent bool
	Level  float64 // mean magnitude
	// Samples are the frame's, of a leg that keeps them.
	Samples []int16
}

// NewLeg returns a leg that speaks as told.
func NewLeg(speech ...Utterance) *Leg {
	return &Leg{Speech: speech, measured: -1, events: make(chan media.LegEvent, media.EventQueue),
		start: time.Now(), pacer: media.NewPacer(time.Now().Add(media.FrameDuration)),
		format: media.Format{In: media.Rate16k, Out: media.Rate24k, Lead: 300 * time.Millisecond}}
}

// Telephone makes the leg continuous, without lead, at 8 kHz.
func (l *Leg) Telephone() *Leg {
	l.format = media.Format{In: media.Rate8k, Out: media.Rate8k, Continuous: true}
	return l
}

// Wideband is Telephone at 16 kHz.
func (l *Leg) Wideband() *Leg {
	l.format = media.Format{In: media.Rate16k, Out: media.Rate16k, Continuous: true}
	return l
}

// Start is when the leg was made: its times count from there.
func (l *Leg) Start() time.Time { return l.start }

// Run implements media.Leg.
func (l *Leg) Run(ctx context.Context) error {
	var hangup <-chan time.Time
	if l.HangUp > 0 {
		t := time.NewTimer(time.Until(l.start.Add(l.HangUp)))
		defer t.Stop()
		hangup = t.C
	}
	for at, digit := range l.Digits {
		t := time.AfterFunc(time.Until(l.start.Add(at)), func() { l.events <- media.LegEvent{Kind: media.LegDigit, Digit: digit} })
		defer t.Stop()
	}
	if l.Hold[1] > 0 {
		for i, kind := range []media.LegEventKind{media.LegHold, media.LegResume} {
			t := time.AfterFunc(time.Until(l.start.Add(l.Hold[i])), func() { l.events <- media.LegEvent{Kind: kind} })
			defer t.Stop()
		}
	}
	select {
	case <-ctx.Done():
		time.Sleep(l.Linger)
	case <-hangup:
	}
	return nil
}

// Format implements media.Leg.
func (l *Leg) Format() media.Format { return l.format }

// Next implements media.Leg.
func (l *Leg) Next() time.Time {
	if l.Late == nil {
		return l.arrival()
	}
	return l.pacer.Next()
}

// arrival is when the next frame can be read.
func (l *Leg) arrival() time.Time {
	if l.measured == l.heard {
		return l.arrives
	}
	at := l.start.Add(time.Duration(l.heard+1) * media.FrameDuration)
	if l.Late != nil {
		at = at.Add(l.Late(l.heard))
	}
	if at.After(l.arrives) {
		l.arrives = at
	}
	l.measured = l.heard
	return l.arrives
}

// Read implements media.Leg.
func (l *Leg) Read(now time.Time) (media.Frame, bool) {
	if now.Before(l.arrival()) {
		return media.Frame{}, false
	}
	f := media.Frame{Samples: l.samples[:l.format.In.FrameSamples()], Rate: l.format.In, At: media.Time(l.heard) * media.FrameTime}
	clear(f.Samples)
	if at := f.At.Duration(); at >= l.Tone[0] && at < l.Tone[1] {
		for i := range f.Samples { // each frame holds whole periods
			f.Samples[i] = int16(8000 * math.Sin(2*math.Pi*1000*float64(i)/float64(f.Rate)))
		}
	}
	at := int(l.heard) * len(f.Samples)
	copy(f.Samples, l.Audio[min(at, len(l.Audio)):])
	if l.EchoGain != 0 {
		l.echo(f)
	}
	l.heard++
	return f, true
}

// echo adds what came out of the far end's loudspeaker.
func (l *Leg) echo(f media.Frame) {
	for i := range f.Samples {
		at := f.At.Duration() - l.Echo + f.Rate.Duration(i).Duration()
		if n := int(at * time.Duration(l.format.Out) / time.Second); at >= 0 && n < len(l.air) {
			f.Samples[i] += int16(l.EchoGain * float64(l.air[n]))
		}
	}
}

// play puts a frame on the air, from when the ones before it end.
func (l *Leg) play(f media.Frame, from time.Duration) {
	n := int(from * time.Duration(f.Rate) / time.Second)
	if n > len(l.air) {
		l.air = append(l.air, make([]int16, n-len(l.air))...)
	}
	l.air = append(l.air[:n], f.Samples...)
}

// Due implements media.Leg.
func (l *Leg) Due(now time.Time) int {
	n := l.pacer.Due(now)
	if at := now.Sub(l.start); at >= l.Hold[0] && at < l.Hold[1] {
		return 0
	}
	if l.format.Continuous {
		return n
	}
	ahead := max(0, l.end.Sub(now))
	return int((l.format.Lead - ahead + media.FrameDuration - 1) / media.FrameDuration)
}

// Write implements media.Leg.
func (l *Leg) Write(f media.Frame) {
	now := time.Now()
	if l.end.Before(now) {
		l.end = now
	}
	if l.EchoGain != 0 {
		l.play(f, l.end.Sub(l.start))
	}
	l.end = l.end.Add(media.FrameDuration)
	l.written += media.FrameTime
	sum := 0
	for _, s := range f.Samples {
		sum += max(int(s), -int(s))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	sent := Sent{At: now.Sub(l.start), Silent: sum == 0, Level: float64(sum) / float64(len(f.Samples))}
	if l.Keeps {
		sent.Samples = slices.Clone(f.Samples)
	}
	l.frames = append(l.frames, sent)
}

// Flush implements media.Leg.
func (l *Leg) Flush(now time.Time) media.Time {
	l.mu.Lock()
	l.flushes = append(l.flushes, now.Sub(l.start))
	l.mu.Unlock()
	if l.format.Continuous || !l.end.After(now) {
		return 0
	}
	d := media.FromDuration(l.end.Sub(now))
	l.air = l.air[:min(len(l.air), int(now.Sub(l.start)*time.Duration(l.format.Out)/time.Second))]
	l.end = now
	l.written -= d
	return d
}

// Played implements media.Leg.
func (l *Leg) Played(now time.Time) media.Time {
	if l.format.Continuous || !l.end.After(now) {
		return l.written
	}
	return l.written - media.FromDuration(l.end.Sub(now))
}

// Duck implements media.Ducker.
func (l *Leg) Duck(on bool) bool {
	if l.CanDuck == nil || !l.CanDuck() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ducks = append(l.ducks, on)
	return true
}

// Transfer implements bridge.Transferrer.
func (l *Leg) Transfer(ctx context.Context, number string) error {
	if l.Moves == nil {
		return bridge.ErrNoReferral
	}
	return l.Moves(ctx, number)
}

// Join implements bridge.Joiner.
func (l *Leg) Join(ctx context.Context, other media.Leg) error {
	if l.Joins == nil {
		return bridge.ErrNoReferral
	}
	return l.Joins(ctx, other)
}

// SendDigits implements media.Keypad.
func (l *Leg) SendDigits(digits string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pressed += fmt.Sprintf("%d:%s ", time.Since(l.start).Milliseconds(), digits)
	return nil
}

// Pressed is the keys the agent pressed, each group with its time in ms. Safe for use
// from any goroutine.
func (l *Leg) Pressed() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(l.pressed)
}

// Events implements media.Leg.
func (l *Leg) Events() <-chan media.LegEvent { return l.events }

// Sent is every frame the agent sent so far. Safe for use from any goroutine.
func (l *Leg) Sent() []Sent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Sent(nil), l.frames...)
}

// Flushes is when audio was recalled. Safe for use from any goroutine.
func (l *Leg) Flushes() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]time.Duration(nil), l.flushes...)
}

// Ducks lists the requests to the far end: to lower the voice, or to restore it. Safe
// for use from any goroutine.
func (l *Leg) Ducks() []bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]bool(nil), l.ducks...)
}

// FrontEnd hears what the leg's script says, exactly.
type FrontEnd struct{ Leg *Leg }

// Hear implements listen.FrontEnd.
func (h FrontEnd) Hear(f media.Frame) (media.Frame, listen.Activity) {
	at := f.At.Duration()
	for _, u := range h.Leg.Speech {
		if at >= u.From && at < u.To {
			level := u.Level
			if level == 0 {
				level = -20
			}
			return f, listen.Activity{Speech: true, Level: level}
		}
	}
	return f, listen.Activity{Level: -90}
}
