package bridge

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"parley/media"
)

// A caller who is being transferred hears the tone of a telephone that rings, from the
// moment at which the second leg is called until it is connected: silence would sound as if
// they had been forgotten. It is the tone of the country that is called. Where the Transfer has something
// else for them, they hear that instead as soon as it is there.

// ringLevel is the amplitude of a tone, of 32,767: some -19 dBFS with all its frequencies.
const ringLevel = 3600

// cadence is a country's tone (ITU-T E.180): its frequencies in Hz, and how long it sounds
// and is silent, in turns, in milliseconds.
type cadence struct {
	prefix string
	hz     []float64
	ms     []int
}

// cadences are those that differ from what E.180 recommends, which is the last.
var cadences = []cadence{
	{"+1", []float64{440, 480}, []int{2000, 4000}},
	{"+44", []float64{400, 450}, []int{400, 200, 400, 2000}},
	{"+34", []float64{425}, []int{1500, 3000}},
	{"+351", []float64{425}, []int{1000, 5000}},
	{"+33", []float64{440}, []int{1500, 3500}},
	{"", []float64{425}, []int{1000, 4000}},
}

// Ringback is the tone of a transfer. Its zero value is that of none. It belongs to the conductor.
type Ringback struct {
	call    string // the transfer that it is for
	cadence *cadence
	since   time.Time
	frame   [media.MaxFrameSamples]int16
}

// Next is the next frame of what the caller hears during a call of the function, by its identifier and arguments; false while it is
// silent. It is valid until the next call of Next.
func (r *Ringback) Next(t *Transfer, call, arguments string, now time.Time, rate media.Rate) (media.Frame, bool) {
	if p := t.held.Load(); p != nil {
		return p.Next(), true
	}
	if r.call != call {
		r.call, r.since, r.cadence = call, now, t.cadence(arguments)
	}
	return r.sound(now, rate)
}

// sound is the next frame of the tone that was chosen.
func (r *Ringback) sound(now time.Time, rate media.Rate) (media.Frame, bool) {
	from, on := r.cadence.at(now.Sub(r.since))
	if !on {
		return media.Frame{}, false
	}
	f := media.Frame{Samples: r.frame[:rate.FrameSamples()], Rate: rate}
	for i := range f.Samples {
		t := from.Seconds() + float64(i)/float64(rate)
		sum := 0.0
		for _, hz := range r.cadence.hz {
			sum += math.Sin(2 * math.Pi * hz * t)
		}
		f.Samples[i] = int16(ringLevel * sum / math.Sqrt(float64(len(r.cadence.hz))))
	}
	return f, true
}

// at says whether the tone sounds so long after its beginning, and since when. Frames that
// it does not fill are silent.
func (c *cadence) at(since time.Duration) (from time.Duration, on bool) {
	whole := 0
	for _, ms := range c.ms {
		whole += ms
	}
	from = since.Round(media.FrameDuration) % (time.Duration(whole) * time.Millisecond)
	for i, ms := range c.ms {
		d := time.Duration(ms) * time.Millisecond
		if from < d {
			return from, i%2 == 0
		}
		from -= d
	}
	return 0, false
}

// cadence is the tone of whom a call of transfer_call means.
func (t *Transfer) cadence(written string) *cadence {
	var in arguments
	number := ""
	if json.Unmarshal([]byte(written), &in) == nil {
		if to, err := t.find(in.To); err == nil {
			number = to.Number
		}
	}
	return toneOf(number)
}

// toneOf is the tone of a number's country.
func toneOf(number string) *cadence {
	for i := range cadences {
		if strings.HasPrefix(number, cadences[i].prefix) {
			return &cadences[i]
		}
	}
	return &cadences[len(cadences)-1]
}
