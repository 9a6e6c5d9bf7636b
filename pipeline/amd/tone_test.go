package amd_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/media"
	"parley/media/denoise/noisetest"
	"parley/media/mediatest"
	"parley/media/resample"
	"parley/pipeline/amd"
)

// toned plays samples, as a leg at a rate brings them, to a detector that knows of a machine already, and returns
// when it noticed a tone; 0: never. The samples are shorter than its patience.
func toned(samples []int16, at media.Rate) time.Duration {
	samples = resample.All(samples, rate, at)
	d := amd.New("en", at)
	d.Words("voicemail")
	for range 50 {
		d.Step(true, -20)
	}
	size := at.FrameSamples()
	for n := time.Duration(1); len(samples) >= size; n, samples = n+1, samples[size:] {
		d.Listen(media.Frame{Samples: samples[:size], Rate: at})
		if d.Step(false, -50); d.Open() {
			return n * media.FrameDuration
		}
	}
	return 0
}

// mixed adds the second to the first.
func mixed(a, b []int16) []int16 {
	out := make([]int16, len(a))
	for i := range a {
		out[i] = a[i] + b[i]
	}
	return out
}

// legRates are those of telephone calls.
var legRates = []media.Rate{media.Rate8k, media.Rate16k}

func TestTones(t *testing.T) {
	two := func(low, high float64, ms int) []int16 { return mixed(beep(low, ms), beep(high, ms)) }
	for _, tt := range []struct {
		name  string
		tone  []int16
		noted bool
	}{
		{"the lowest", beep(405, 300), true}, {"the highest", beep(1990, 300), true},
		{"the shortest", beep(1000, 160), true}, {"the longest", beep(1000, 940), true},
		{"too low", beep(380, 300), false}, {"too high", beep(2100, 300), false},
		{"too short", beep(1000, 90), false}, {"too long", beep(1000, 1100), false},
		{"quiet", mediatest.Tone(1000, rate, 3200, 0.02), true},
		{"too quiet", mediatest.Tone(1000, rate, 3200, 0.002), false},
		{"ringback of Spain", beep(425, 1500), false}, {"ringback of Germany", beep(425, 1000), false}, {"ringback of France", beep(440, 1500), false},
		{"ringback of America", two(440, 480, 2000), false}, {"ringback of Britain", two(400, 450, 400), false},
		{"key 1", two(697, 1209, 200), false}, {"key 5", two(770, 1336, 200), false}, {"key 9", two(852, 1477, 200), false}, {"key D", two(941, 1633, 200), false},
		{"unequal key 1", mixed(beep(697, 200), mediatest.Tone(1209, rate, 1600, 0.12)), false},
		{"a siren", siren(600, 1200, 800), false},
	} {
		for shift := range 4 { // how it lies in the frames
			samples := append(silence(200+5*shift), tt.tone...)
			end := rate.Duration(len(samples)).Duration()
			carried := quiet.carry(append(samples, silence(600)...), 1)
			for _, rate := range legRates {
				at := toned(carried, rate)
				if (at != 0) != tt.noted {
					t.Errorf("at %v %s is taken for a beep: %t", rate, tt.name, at != 0)
				}
				if late := at - end; tt.noted && (late < 0 || late > 200*time.Millisecond) {
					t.Errorf("at %v %s is noticed %v after its end", rate, tt.name, late)
				}
			}
		}
	}
}

// siren is a tone that slides.
func siren(from, to float64, ms int) (out []int16) {
	for hz := from; hz < to; hz += (to - from) / float64(ms/20) {
		out = append(out, beep(hz, 20)...)
	}
	return out
}

// TestSpeechIsNoTone: whatever is said, however high, fast and loud, over whatever line,
// no tone is heard in it.
func TestSpeechIsNoTone(t *testing.T) {
	t.Parallel()
	v := newVoices(t)
	var texts [][]int16
	for _, voice := range []string{"F1", "M2", "F3", "M4", "F5"} {
		for language, text := range map[string]string{
			"en": "Oooh, who knew you too? Mmmm. Aaah, he sees three sheep. Beep! Doo, doo, doo.", "es": "Uuuh, ¿tú? Muy bien. Ooooh, no, no. Piii, mi, sí.",
			"de": "Uuuh, du gute Kuh. Nööö. Niemals, sieben Ziegen.", "fr": "Euh, oui, où ? Toutou, vous. Hmmm, bientôt.",
		} {
			texts = append(texts, v.say(voice, language, text))
		}
	}
	for _, u := range noisetest.Utterances(t) {
		texts = append(texts, noisetest.PCM(noisetest.Halve(u)))
	}
	lines := []line{quiet, white, pink, car, both}
	rapid.Check(t, func(r *rapid.T) {
		speech := texts[rapid.IntRange(0, len(texts)-1).Draw(r, "text")]
		pitch := rapid.Float64Range(0.6, 1.7).Draw(r, "pitch")
		gain := rapid.Float64Range(0.2, 4).Draw(r, "gain")
		from := rapid.IntRange(0, len(speech)/2).Draw(r, "from")
		said := faster(speech[from:], pitch, gain)
		l := lines[rapid.IntRange(0, len(lines)-1).Draw(r, "line")]
		carried, leg := l.carry(said[:min(len(said), 6*8000)], rapid.Uint64().Draw(r, "seed")), rapid.SampledFrom(legRates).Draw(r, "rate")
		if at := toned(carried, leg); at != 0 {
			r.Fatalf("a tone was heard that ended at %v", at)
		}
	})
}

// faster plays samples at another speed, and louder; what is too loud is clipped.
func faster(samples []int16, speed, gain float64) []int16 {
	out := make([]float64, 0, int(float64(len(samples))/speed))
	for at := 0.0; int(at)+1 < len(samples); at += speed {
		i, f := int(at), at-float64(int(at))
		out = append(out, gain*(float64(samples[i])*(1-f)+float64(samples[i+1])*f))
	}
	return noisetest.PCM(out)
}
