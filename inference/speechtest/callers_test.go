package speechtest

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"parley/media"
	"parley/media/codec"
	"parley/media/denoise"
	"parley/media/denoise/noisetest"
	"parley/media/resample"
	"parley/media/wav"
)

// agent is what an operator would write for a hairdresser's telephone: prompt,
// greeting and what callers are expected to say.
var agent = []string{
	`You answer the telephone of Bright Hair Studio. You are polite, you speak in short sentences.
Opening hours: Monday to Friday from nine in the morning to seven in the evening, Saturday from ten to four. On Sunday we are closed.
Prices: a haircut costs 35 dollars, a haircut for children 20 dollars, colour from 80 dollars, a beard trim 15 dollars.
We are at 12 Station Road, opposite the library. There is a car park in front of the shop. We take cash and credit cards.
To book an appointment ask for the service, the day, the time and the name, then repeat them. Our stylists are Anna, Robert and Laura.
Appointments can be changed or cancelled until the evening before.`,
	"Bright Hair Studio, good morning. What can I do for you?",
	"Which day would suit you? What time would you like? May I have your name? Would you like Anna, Robert or Laura?",
	"I'd like to book a haircut", "I want to change my appointment", "are you open on Sunday", "how much is a haircut",
	"is Laura free on Friday", "what time do you close",
}

// sentences are what callers say. Only a few of them are near what the agent's
// text says.
var sentences = [...]string{
	"good morning i would like to book an appointment",
	"what are your opening hours",
	"are you open on saturday afternoon",
	"how much does a haircut cost",
	"is anna free on thursday",
	"wednesday at four please",
	"my name is john taylor",
	"can i come tomorrow morning",
	"i need a haircut for my children",
	"do you have anything on friday evening",
	"yes please that would be great",
	"no thank you that's all",
	"where are you",
	"is there a car park",
	"i want to cancel my appointment on monday",
	"could you repeat that please",
	"what time do you close today",
	"at half past nine",
	"can i pay by credit card",
	"the twenty first of october at two",
}

// lead is how long the line is heard before the first word: a greeting.
const lead = 2.0 // seconds

// noises are what surrounds callers.
var noises = map[string]noisetest.Noise{"white": noisetest.White, "pink": noisetest.Pink, "car": noisetest.Car}

// line is what lies between the caller's mouth and the recogniser.
type line struct {
	noise   string  // empty: none
	snr     float64 // dB, where the caller speaks: before the line takes its band out
	denoise string  // name of the suppressor
	codec   codec.Codec
}

// track is the twenty sentences of one voice, laid out in time, at 16 kHz.
func track(t testing.TB, voice string) noisetest.Track {
	t.Helper()
	file := filepath.Join(t.TempDir(), "caller.wav")
	var utterances [][]float64
	for _, s := range sentences {
		u := flite(t, file, voice, s)
		// The same noise must mean the same ratio for each sentence.
		g := math.Pow(10, (noisetest.SpeechLevel-noisetest.ActiveLevel(u, noisetest.Rate))/20)
		for i := range u {
			u[i] *= g
		}
		utterances = append(utterances, u)
	}
	return noisetest.Lay(utterances, lead)
}

// flite has a synthetic caller say text, by way of file.
func flite(t testing.TB, file, voice, text string) []float64 {
	t.Helper()
	out, err := exec.Command("flite", "-voice", voice, "-t", text, "-o", file).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Fatal("flite makes the callers of this test; install it (apt install flite)")
	}
	if err != nil {
		t.Fatalf("flite: %v %s", err, out)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	clip, err := wav.Decode(f, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if clip.Rate != noisetest.Rate {
		t.Fatalf("flite: voice %s speaks at %v", voice, clip.Rate)
	}
	samples := make([]float64, len(clip.Samples))
	for i, v := range clip.Samples {
		samples[i] = float64(v)
	}
	return samples
}

// hear sends a track over the line and returns the utterances as the recogniser is
// given them, at 16 kHz, with the pauses that a voice detector leaves around them.
func (l line) hear(t testing.TB, spoken noisetest.Track) [][]int16 {
	t.Helper()
	samples := spoken.Samples
	if noise := noises[l.noise]; noise != nil {
		samples = noisetest.Mix(samples, noise(len(samples), 11), l.snr)
	}
	rate, share := l.codec.Rate(), 1
	if rate == media.Rate8k {
		samples, share = noisetest.Halve(samples), 2
	}
	received, delay := l.receive(t, noisetest.PCM(samples))
	var heard [][]int16
	for _, s := range spoken.Spans {
		before, after := int(rate)/5, int(rate)*2/5 // 200 and 400 ms
		from, to := s.First/share+delay-before, min(s.End/share+delay+after, len(received))
		heard = append(heard, resample.All(received[from:to], rate, media.Rate16k))
	}
	return heard
}

// receive codes samples as the telephone does and cleans them as a call does; what
// it returns lags by delay samples.
func (l line) receive(t testing.TB, samples []int16) (received []int16, delay int) {
	t.Helper()
	rate := l.codec.Rate()
	suppressor, err := denoise.New(l.denoise, rate)
	if err != nil {
		t.Fatal(err)
	}
	n := rate.FrameSamples()
	encoder, decoder := codec.NewEncoder(rate), codec.NewDecoder(rate)
	payload, frame := make([]byte, 160), make([]int16, n)
	for ; len(samples) >= n; samples = samples[n:] {
		encoder.Encode(l.codec, payload, samples[:n])
		decoder.Decode(frame, l.codec.PayloadType(), payload)
		received = append(received, suppressor.Process(media.Frame{Samples: frame, Rate: rate}).Samples...)
	}
	return received, suppressor.Delay().Samples(rate)
}
