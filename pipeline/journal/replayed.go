package journal

import (
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/listen"
)

// Replayed is the World of a call that is conducted from inputs in place of a leg and engines. It has no clock and starts no
// goroutine: an input comes when it came. It implements listen.FrontEnd, too.
type Replayed struct {
	leg      silentLeg
	start    time.Time
	now      time.Time
	heard    []Heard
	frame    Heard // being dealt with
	observed []Observation
	parted   bool // the call goes another way: what is read counts
}

// NewReplayed returns the World of a call that began at start on a leg of that format.
func NewReplayed(start time.Time, f media.Format) *Replayed {
	r := &Replayed{start: start, now: start}
	r.leg = silentLeg{format: f, clock: r.Now}
	return r
}

// Next is the input that comes now. Of its frames the leg has those that the agent hears or, while the caller is connected to
// somebody else, those that are carried there.
func (r *Replayed) Next(in *Input, bridged bool) {
	r.now = r.start.Add(in.At)
	r.heard, r.observed = in.Heard(), in.Observed()
	r.leg.ready = len(r.heard)
	if bridged {
		r.leg.ready = in.Carried
	}
}

// Done is the end of the input: what was recorded and not observed shows that the call goes another way.
func (r *Replayed) Done() {
	if len(r.observed) > 0 {
		r.parted = true
	}
}

// Part has the call go its own way: what was recorded does not count from here on. A quantity that was not observed in the recorded call
// has the same effect.
func (r *Replayed) Part() { r.parted = true }

// Parted says whether the call goes its own way.
func (r *Replayed) Parted() bool { return r.parted }

// Leg is the caller's leg.
func (r *Replayed) Leg() media.Leg { return &r.leg }

// Second is the leg of somebody whom the caller is connected to. It never has a frame.
func (r *Replayed) Second() media.Leg { return &silentLeg{format: r.leg.format, clock: r.Now} }

// Now implements World.
func (r *Replayed) Now() time.Time { return r.now }

// Observe implements World.
func (r *Replayed) Observe(q Quantity, read int64) int64 {
	if r.parted || len(r.observed) == 0 || r.observed[0].Of != q {
		r.parted = true
		return read
	}
	v := r.observed[0].Value
	r.observed = r.observed[1:]
	r.leg.follow(q, read, v)
	return v
}

// Screened implements World.
func (r *Replayed) Screened(uint8, bool) (uint8, bool) { return r.frame.Verdict, r.frame.Open }

// Hear implements listen.FrontEnd: it is what was made of the frame that the leg gave last.
func (r *Replayed) Hear(f media.Frame) (media.Frame, listen.Activity) {
	r.frame, r.heard = r.heard[0], r.heard[1:]
	return f, listen.Activity{Speech: r.frame.Speech, Echo: r.frame.Echo, Level: r.frame.Level, Tone: r.frame.Tone}
}

// Recognition is a stream of the recogniser, whose results are inputs.
func (r *Replayed) Recognition() inference.Recognition { return stream{of: r} }

type stream struct {
	inference.NoContext
	of *Replayed
}

func (stream) Write([]int16)                    {}
func (stream) Finish() int                      { return 0 }
func (stream) Resume()                          {}
func (stream) Results() <-chan inference.Result { return nil }
func (stream) Close()                           {}

// Lag implements inference.Lagging: it is that of the next frame.
func (s stream) Lag() time.Duration {
	if len(s.of.heard) > 0 && s.of.heard[0].Behind {
		return media.FrameDuration
	}
	return 0
}

// Engine is a recogniser, a language model or a voice that is asked for nothing but its name: what it said are inputs.
type Engine struct {
	inference.ASR
	inference.LLM
	inference.TTS
	Name string
}

// Info has the name alone.
func (e Engine) Info() inference.Info { return inference.Info{Name: e.Name} }

// Voice is how long a simulated voice takes for a text at a speed, 0 is its own: 65 ms a character.
func Voice(text string, speed float64) (rate media.Rate, samples int) {
	if speed == 0 {
		speed = 1
	}
	const perCharacter = 0.065 // seconds
	return media.Rate16k, int(float64(len([]rune(text))) * perCharacter / speed * float64(media.Rate16k))
}
