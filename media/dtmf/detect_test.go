package dtmf_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"

	"parley/media/dtmf"
	"parley/media/g711"
	"parley/media/mediatest"
)

// press is a key as it sounds.
type press struct {
	key       byte
	ms, pause int     // how long it sounds, and the silence after it
	low, high float64 // levels, in dBm0
	off       float64 // by how much both tones are beside their frequency
}

// keys are presses of digits, all alike.
func keys(digits string, p press) (all []press) {
	for i := range digits {
		p.key = digits[i]
		all = append(all, p)
	}
	return all
}

// usual is a key as most telephones send it.
var usual = press{ms: 100, pause: 100, low: -9, high: -7}

var tones = func() map[byte][2]float64 {
	all := map[byte][2]float64{}
	for i, low := range []float64{697, 770, 852, 941} {
		for k, high := range []float64{1209, 1336, 1477, 1633} {
			all["123A456B789C*0#D"[4*i+k]] = [2]float64{low, high}
		}
	}
	return all
}()

// sound is what presses sound like after a silence of so many samples.
func sound(rate, lead int, presses ...press) []int16 {
	samples := make([]int16, lead)
	amplitude := func(dbm0 float64) float64 { return 32767 * math.Pow(10, (dbm0-3.14)/20) } // ITU-T G.711: a full sine has 3.14 dBm0
	for _, p := range presses {
		f := tones[p.key]
		for i := range rate * p.ms / 1000 {
			t := 2 * math.Pi * float64(i) / float64(rate) * (1 + p.off)
			samples = append(samples, int16(amplitude(p.low)*math.Sin(f[0]*t)+amplitude(p.high)*math.Sin(f[1]*t)))
		}
		samples = append(samples, make([]int16, rate*p.pause/1000)...)
	}
	return samples
}

// heard are the keys that a detector hears in frames of 20 ms.
func heard(rate int, samples []int16) (digits string) {
	d := dtmf.NewDetector(rate)
	for len(samples) > 0 {
		n := min(len(samples), rate/50)
		if key, pressed := d.Hear(samples[:n]); pressed {
			digits += string(key)
		}
		samples = samples[n:]
	}
	return digits
}

// TestDetect: all keys, at both rates, as loud and soft, short, uneven and impure as ITU-T Q.24 has receivers take them, wherever they
// begin, and through either law of G.711.
func TestDetect(t *testing.T) {
	const all = "1234567890*#ABCD1122"
	with := func(change func(*press)) press {
		p := usual
		change(&p)
		return p
	}
	for name, p := range map[string]press{
		"usual":     usual,
		"short":     with(func(p *press) { p.ms, p.pause = 40, 40 }),
		"long":      with(func(p *press) { p.ms = 900 }),
		"loud":      with(func(p *press) { p.low, p.high = -3, -3 }),
		"soft":      with(func(p *press) { p.low, p.high = -25, -25 }),
		"high over": with(func(p *press) { p.low, p.high = -14, -10 }),
		"low over":  with(func(p *press) { p.low, p.high = -6, -14 }),
		"sharp":     with(func(p *press) { p.off = 0.015 }),
		"flat":      with(func(p *press) { p.off = -0.015 }),
	} {
		for _, rate := range []int{8000, 16000} {
			for lead := 0; lead < rate/50; lead += rate / 400 {
				if got := heard(rate, sound(rate, lead, keys(all, p)...)); got != all {
					t.Errorf("%s at %d Hz after %d samples: heard %q", name, rate, lead, got)
				}
			}
		}
	}
	for _, law := range []g711.Codec{g711.PCMU, g711.PCMA} {
		samples := sound(8000, 33, keys(all, usual)...)
		coded := make([]byte, len(samples))
		law.Encode(coded, samples)
		law.Decode(samples, coded)
		if got := heard(8000, samples); got != all {
			t.Errorf("by %v: heard %q", law, got)
		}
	}
}

// TestDetectInNoise: 15 dB below the tones it changes nothing (ITU-T Q.24).
func TestDetectInNoise(t *testing.T) {
	const all = "1234567890*#ABCD"
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 50 {
		samples := sound(8000, round, keys(all, usual)...)
		for i := range samples {
			samples[i] += int16(r.NormFloat64() * 32767 * math.Pow(10, (-9-3.14-15)/20) / math.Sqrt2)
		}
		if got := heard(8000, samples); got != all {
			t.Errorf("round %d: heard %q", round, got)
		}
	}
}

// TestSound: our own keys are heard as what they are.
func TestSound(t *testing.T) {
	const all = "1234567890*#ABCD11"
	for _, rate := range []int{8000, 16000} {
		var s dtmf.Sender
		var samples []int16
		for i := range all {
			s.Start(all[i])
			for s.Active() {
				frame := make([]int16, rate/50)
				s.Next().Sound(frame, rate)
				samples = append(samples, frame...)
			}
		}
		if got := heard(rate, samples); got != all {
			t.Errorf("at %d Hz: heard %q", rate, got)
		}
	}
}

// TestDetectOnce: a press is one however long, also when it breaks off for 10 ms, and the same key again after 40 ms is another.
func TestDetectOnce(t *testing.T) {
	broken := press{key: '5', ms: 60, pause: 10, low: -9, high: -7}
	for lead := range 160 {
		if got := heard(8000, sound(8000, lead, broken, broken, broken)); got != "5" {
			t.Errorf("broken off, after %d samples: heard %q", lead, got)
		}
	}
}

// TestNoKey: what is too short, too soft, too uneven, or one tone alone is none.
func TestNoKey(t *testing.T) {
	for name, p := range map[string]press{
		"20 ms":        {ms: 20, pause: 100, low: -9, high: -9},
		"-40 dBm0":     {ms: 100, pause: 100, low: -40, high: -40},
		"high by 9 dB": {ms: 100, pause: 100, low: -18, high: -9},
		"low by 12 dB": {ms: 100, pause: 100, low: -6, high: -18},
		"low alone":    {ms: 100, pause: 100, low: -9, high: -90},
		"high alone":   {ms: 100, pause: 100, low: -90, high: -9},
	} {
		for lead := range 160 {
			if got := heard(8000, sound(8000, lead, keys("1234567890*#ABCD", p)...)); got != "" {
				t.Errorf("%s after %d samples: heard %q", name, lead, got)
			}
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	noise := make([]int16, 8000*60)
	for i := range noise {
		noise[i] = int16(r.NormFloat64() * 3000)
	}
	if got := heard(8000, noise); got != "" {
		t.Errorf("in a minute of noise: heard %q", got)
	}
}

// TestTalkOff: nobody who talks presses a key.
func TestTalkOff(t *testing.T) {
	texts := map[string]string{
		"en": "We open at nine in the morning and close at eight in the evening, every day but Sunday. My number is one two three four five six seven eight nine zero. How may I help you today? She sells sea shells by the sea shore.",
		"es": "Abrimos a las nueve de la mañana y cerramos a las ocho de la tarde, todos los días menos el domingo. Mi número es el uno dos tres cuatro cinco seis siete ocho nueve cero. ¿En qué puedo ayudarle hoy?",
		"de": "Wir öffnen um neun Uhr morgens und schließen um acht Uhr abends, jeden Tag außer Sonntag. Meine Nummer ist eins zwei drei vier fünf sechs sieben acht neun null. Wie kann ich Ihnen heute helfen?",
		"fr": "Nous ouvrons à neuf heures du matin et fermons à huit heures du soir, tous les jours sauf le dimanche. Mon numéro est un deux trois quatre cinq six sept huit neuf zéro. Comment puis-je vous aider?",
	}
	minutes := 0.0
	for language, text := range texts {
		for _, voice := range []string{"+m1", "+f1", "+f3"} {
			file := filepath.Join(t.TempDir(), "said.wav")
			if out, err := exec.Command("espeak-ng", "-v", language+voice, "-w", file, text).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			for _, rate := range []int{8000, 16000} {
				pcm, err := exec.Command("ffmpeg", "-v", "error", "-i", file, "-ar", fmt.Sprint(rate), "-ac", "1", "-f", "s16le", "-").Output()
				if err != nil {
					t.Fatal(err)
				}
				samples := make([]int16, len(pcm)/2)
				for i := range samples {
					samples[i] = int16(binary.LittleEndian.Uint16(pcm[2*i:]))
				}
				minutes += float64(len(samples)) / float64(rate) / 60
				if got := heard(rate, samples); got != "" {
					t.Errorf("%s%s at %d Hz: heard %q", language, voice, rate, got)
				}
			}
		}
	}
	t.Logf("%.1f minutes of speech", minutes)
}

// TestDetectAllocatesNothing: it is in the path of each frame.
func TestDetectAllocatesNothing(t *testing.T) {
	d, frame := dtmf.NewDetector(8000), sound(8000, 0, press{key: '1', ms: 20, low: -9, high: -9})
	mediatest.NoAllocs(t, func() { d.Hear(frame) })
}

func BenchmarkDetect(b *testing.B) {
	for _, rate := range []int{8000, 16000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			d, frame := dtmf.NewDetector(rate), sound(rate, 0, press{key: '1', ms: 20, low: -9, high: -9})
			for b.Loop() {
				d.Hear(frame)
			}
		})
	}
}
