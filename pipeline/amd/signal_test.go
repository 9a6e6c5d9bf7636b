package amd_test

import (
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
	"parley/pipeline/amd"
)

// cadence is a signal of ITU-T E.180: frequencies in Hz, and how long in ms it sounds and is silent in turns.
type cadence struct {
	name string
	hz   []float64
	ms   []int // sound, silence, ...
	want amd.Verdict
}

// cadences are those of Supplement 2 to E.180, and of faxes (ITU-T T.30).
var cadences = []cadence{
	{"ringing, Germany", []float64{425}, []int{1000, 4000}, amd.Unknown},
	{"ringing, Spain", []float64{425}, []int{1500, 3000}, amd.Unknown},
	{"ringing, France", []float64{440}, []int{1500, 3500}, amd.Unknown},
	{"ringing, Sweden", []float64{425}, []int{1000, 5000}, amd.Unknown},
	{"ringing, Britain", []float64{400, 450}, []int{400, 200, 400, 2000}, amd.Unknown},
	{"ringing, Australia", []float64{413, 438}, []int{400, 200, 400, 2000}, amd.Unknown},
	{"ringing, America", []float64{440, 480}, []int{2000, 4000}, amd.Unknown},
	{"ringing, China", []float64{450}, []int{1000, 4000}, amd.Unknown},
	{"call waiting, America", []float64{440}, []int{300, 10000}, amd.Unknown},
	{"busy, Europe", []float64{425}, []int{500, 500}, amd.Machine},
	{"busy, Germany", []float64{425}, []int{480, 480}, amd.Machine},
	{"busy, Spain", []float64{425}, []int{200, 200}, amd.Machine},
	{"busy, France", []float64{440}, []int{500, 500}, amd.Machine},
	{"busy, Britain", []float64{400}, []int{375, 375}, amd.Machine},
	{"busy, America", []float64{480, 620}, []int{500, 500}, amd.Machine},
	{"busy, China", []float64{450}, []int{350, 350}, amd.Machine},
	{"busy, Australia", []float64{425}, []int{375, 375}, amd.Machine},
	{"congestion, Germany", []float64{425}, []int{240, 240}, amd.Machine},
	{"congestion, Britain", []float64{400}, []int{400, 350, 225, 525}, amd.Machine},
	{"congestion, America", []float64{480, 620}, []int{250, 250}, amd.Machine},
	{"congestion, China", []float64{450}, []int{700, 700}, amd.Machine},
	{"unobtainable, Britain", []float64{400}, []int{10000}, amd.Machine},
	{"dial tone, Europe", []float64{425}, []int{10000}, amd.Machine},
	{"dial tone, America", []float64{350, 440}, []int{10000}, amd.Machine},
	{"a fax answers", []float64{2100}, []int{3000, 75}, amd.Machine},
	{"a fax calls", []float64{1100}, []int{500, 3000}, amd.Unknown},
}

// play is a signal of a length in ms after some silence.
func (c cadence) play(ms int) []int16 {
	samples := silence(310)
	for i := 0; len(samples) < 8*ms; i++ {
		if lasts := c.ms[i%len(c.ms)]; i%2 == 1 {
			samples = append(samples, silence(lasts)...)
		} else {
			samples = append(samples, chord(c.hz, lasts)...)
		}
	}
	return samples[:8*ms]
}

func chord(hz []float64, ms int) []int16 {
	sum := make([]int16, 8*ms)
	for _, hz := range hz {
		sum = mixed(sum, mediatest.Tone(hz, rate, 8*ms, 0.15))
	}
	return sum
}

// specialInformation is the tone before the announcement that a call failed.
func specialInformation() (samples []int16) {
	for _, hz := range []float64{950, 1400, 1800} {
		samples = append(samples, beep(hz, 330)...)
	}
	return samples
}

var signalLines = map[string]line{"a quiet line": quiet, "white noise": white, "pink noise": pink, "a car": car, "music": music}

// TestSignals: the signals of an exchange that has answered are no person, and no message is left after them.
func TestSignals(t *testing.T) {
	t.Parallel()
	for name, l := range signalLines {
		check := func(signal string, samples []int16, want amd.Verdict) {
			t.Helper()
			h := detect(t, "en", l.carry(samples, 7))
			if h.verdict != want && (want != amd.Unknown || h.verdict != amd.Undecided) || h.verdict == amd.Machine && h.open != 0 {
				t.Errorf("%s over %s: %v after %v, one may speak after %v", signal, name, h.verdict, h.at, h.open)
			}
		}
		for _, c := range cadences {
			check(c.name, c.play(18000), c.want)
		}
		check("special information", append(append(silence(400), specialInformation()...), silence(6000)...), amd.Machine)
	}
}

// TestRingingAfterTheAnswer: who answers an extension is known as if they had answered at once; nobody waits for ever.
func TestRingingAfterTheAnswer(t *testing.T) {
	t.Parallel()
	v := newVoices(t)
	hello := v.say("F1", "en", "Hello?")
	greeting := v.say("M1", "en", "You have reached the voicemail of Anna Miller. Please leave a message after the tone.")
	for _, c := range cadences[:8] {
		rings := append(c.play(9000), silence(300)...)
		for _, tt := range []struct {
			says []int16
			want amd.Verdict
		}{{hello, amd.Human}, {greeting, amd.Machine}} {
			samples := append(append(append([]int16{}, rings...), tt.says...), silence(4000)...)
			if h := detect(t, "en", quiet.carry(samples, 1)); h.verdict != tt.want || h.at < 9300*time.Millisecond {
				t.Errorf("after %s: %v after %v, want %v", c.name, h.verdict, h.at, tt.want)
			}
		}
		if h := detect(t, "en", quiet.carry(c.play(60000), 1)); h.verdict != amd.Unknown || h.at > 40*time.Second {
			t.Errorf("%s for a minute: %v after %v", c.name, h.verdict, h.at)
		}
	}
}

// TestBusyAfterAGreeting: an exchange that announces and then signals busy takes no message, but a beep of the same frequency does.
func TestBusyAfterAGreeting(t *testing.T) {
	busy := cadences[9].play(6000)
	if at := toned(quiet.carry(busy, 1), media.Rate8k); at != 0 {
		t.Errorf("busy is taken for a beep after %v", at)
	}
	if h := detect(t, "en", quiet.carry(cadences[9].play(29000), 1)); h.verdict != amd.Machine || h.open != 0 {
		t.Errorf("half a minute of busy: %v, one may speak after %v", h.verdict, h.open)
	}
	if at := toned(quiet.carry(append(append(silence(200), beep(425, 500)...), silence(2000)...), 1), media.Rate8k); at == 0 {
		t.Error("a beep of 425 Hz is not noticed")
	}
	if at := toned(quiet.carry(append(append(silence(200), specialInformation()...), silence(2000)...), 1), media.Rate8k); at != 0 {
		t.Errorf("special information is taken for a beep after %v", at)
	}
}
