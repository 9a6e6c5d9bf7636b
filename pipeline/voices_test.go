package pipeline_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/media/denoise/noisetest"
	"parley/pipeline/listen"
	"parley/pipeline/pipelinetest"
)

// microphone is what a telephone picks up, at 8 kHz.
type microphone struct{ x []float64 }

// put adds sound at a time and a level in dB above its own.
func (m *microphone) put(at time.Duration, sound []float64, db float64) {
	from := int(at * 8000 / time.Second)
	if n := from + len(sound); n > len(m.x) {
		m.x = append(m.x, make([]float64, n-len(m.x))...)
	}
	g := math.Pow(10, db/20)
	for i, v := range sound {
		m.x[from+i] += g * v
	}
}

// sentence is utterance i of a voice (0 to 2), and how long it takes.
func utterance(t *testing.T, voice, i int) ([]float64, time.Duration) {
	u := noisetest.Utterances(t)
	x := noisetest.Halve(u[(3*i+voice)%len(u)])
	return x, time.Duration(len(x)) * time.Second / 8000
}

// onTelephone makes the scene a telephone call with a real detector and denoiser.
func onTelephone(t *testing.T, s *pipelinetest.Scene) {
	s.Leg.Telephone()
	l, err := listen.NewFrontEnd("spectral", "spectral", media.Rate8k)
	if err != nil {
		t.Fatal(err)
	}
	s.FrontEnd = l
	s.TTS.Rate = media.Rate8k
}

// count is how many lines of the log say what.
func count(s *pipelinetest.Scene, what string) int { return strings.Count(s.Log()+"\n", " "+what+"\n") }

// when is the time of the first line after from that says what; false: there is none.
func when(s *pipelinetest.Scene, what string, from time.Duration) (time.Duration, bool) {
	for line := range strings.Lines(s.Log()) {
		at, said, _ := strings.Cut(strings.TrimSpace(line), " ")
		if d, err := time.ParseDuration(at + "ms"); err == nil && d >= from && said == what {
			return d, true
		}
	}
	return 0, false
}

// hearsAt is a recogniser that says of each utterance what somebody said when it ended.
type hearsAt struct {
	start time.Time
	text  func(at time.Duration) string
}

func (h *hearsAt) Info() inference.Info {
	return inference.Info{Name: "hears-at", Languages: []string{"en"}}
}

func (h *hearsAt) Open(context.Context, inference.ASRConfig) (inference.Recognition, error) {
	return &hearing{hearsAt: h, results: make(chan inference.Result, 64)}, nil
}

type hearing struct {
	inference.NoContext
	*hearsAt
	results   chan inference.Result
	utterance int
	answer    *time.Timer
}

func (h *hearing) Write([]int16) {}

func (h *hearing) Finish() int {
	h.utterance++
	n, at := h.utterance, time.Since(h.start)
	h.answer = time.AfterFunc(enginetest.FinalLag, func() {
		h.results <- inference.Result{Utterance: n, Text: h.text(at), Final: true, Last: true, Confidence: 0.9}
	})
	return n
}

func (h *hearing) Resume() {
	if h.answer.Stop() {
		h.utterance--
	}
}

func (h *hearing) Results() <-chan inference.Result { return h.results }
func (h *hearing) Close() {
	if h.answer != nil {
		h.answer.Stop()
	}
	close(h.results)
}

// TestBabble: after one spoken turn nobody in a room full of people interrupts the
// agent, and the caller does.
func TestBabble(t *testing.T) { playBabble(t, 12*time.Second, 1, "") }

// TestBabbleInWords is the same with a recogniser that is sure of words in the babble.
func TestBabbleInWords(t *testing.T) { playBabble(t, 12*time.Second, 1, overheard) }

// overheard is what somebody else in the room says.
const overheard = "and then we went to the other place"

// TestSoakBabble is the same for five minutes.
func TestSoakBabble(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set")
	}
	playBabble(t, 5*time.Minute, 3, "")
	playBabble(t, 5*time.Minute, 3, overheard)
}

func playBabble(t *testing.T, lasts time.Duration, voices int, overheard string) {
	u := noisetest.Utterances(t)
	for voice := range voices {
		playStop(t, voice, 0, lasts, overheard, func(m *microphone, begins time.Duration) {
			m.put(begins, noisetest.HalveNoise(noisetest.Babble(u)(int((lasts+3*time.Second).Seconds()*noisetest.Rate), uint64(voice))),
				20*math.Log10(32768)+noisetest.SpeechLevel-10)
		})
	}
}

// TestStopWord: on a quiet line the word alone stops the agent, in every voice; and where
// the caller speaks so low that only their turn before tells that it is them.
func TestStopWord(t *testing.T) {
	nobody := func(*microphone, time.Duration) {}
	for voice := range 3 {
		playStop(t, voice, 0, 2*time.Second, "", nobody)
	}
	playStop(t, 0, -12, 2*time.Second, "", nobody)
}

// playStop has a caller say one turn at a level, in dB above the usual, and then, while the
// agent speaks and others have been heard for a while, "stop".
func playStop(t *testing.T, voice int, level float64, lasts time.Duration, overheard string, others func(m *microphone, begins time.Duration)) {
	word := noisetest.Halve(noisetest.Say(t, voice, "Stop."))
	turn, length := utterance(t, voice, 0)
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene()
		onTelephone(t, s)
		var m microphone
		m.put(time.Second, turn, level)
		begins := time.Second + length + 2*time.Second
		others(&m, begins)
		stop := begins + lasts
		m.put(stop, word, level)
		s.Leg.Audio = noisetest.PCM(m.x)
		s.Recogniser = &hearsAt{start: s.Leg.Start(), text: func(at time.Duration) string {
			switch {
			case at < begins:
				return "a table for four people"
			case at < stop:
				return overheard
			}
			return "stop"
		}}
		s.TTS.Sentence = lasts + time.Minute
		s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(150*ms, "This is a long story. ")}
		s.Play(t, stop+2*time.Second)
		t.Logf("voice %d: ducked %d times", voice, count(s, "ducked true"))
		ends := stop + time.Duration(len(word))*time.Second/8000
		if cut, ok := when(s, "interrupted", 0); !ok || cut < stop || cut > ends+time.Second {
			t.Errorf("voice %d: cut at %v, want the word at %v alone\n%s", voice, cut, stop, s.Log())
		}
	})
}

// TestLoudspeaker is the design's scenario 8: for 20 s the far end hears the agent and
// gives its voice back 20 dB lower and 180 ms later, which is no speech. Then the caller
// speaks.
func TestLoudspeaker(t *testing.T) {
	u := noisetest.Utterances(t)
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
		t.Run(rate.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playLoudspeaker(t, rate, u[0], u[1]) })
		})
	}
}

func playLoudspeaker(t *testing.T, rate media.Rate, agent, caller []float64) {
	speaks := 21 * time.Second
	s, ends := loudspeaker(t, rate, speaks, agent, caller)
	s.Play(t, ends+3*time.Second)
	for _, what := range []string{"ducked true", "interrupted"} {
		bar := 250 * ms // the detector's and 60 ms of speech
		if what == "interrupted" {
			bar = 900 * ms
		}
		if at, ok := when(s, what, 0); !ok || at < speaks || at > speaks+bar {
			t.Errorf("%s at %v, want it within %v of %v", what, at, bar, speaks)
		}
	}
	if t.Failed() {
		t.Log("\n" + s.Log())
	}
}

// loudspeaker is such a conversation, in which the caller speaks from speaks to ends.
func loudspeaker(t *testing.T, rate media.Rate, speaks time.Duration, agent, caller []float64) (s *pipelinetest.Scene, ends time.Duration) {
	s = pipelinetest.NewScene()
	sound := append(make([]float64, int(speaks.Seconds()*noisetest.Rate)), caller...)
	if rate == media.Rate8k {
		s.Leg.Telephone()
		sound = noisetest.Halve(sound)
	}
	l, err := listen.NewFrontEnd("spectral", "spectral", rate)
	if err != nil {
		t.Fatal(err)
	}
	s.FrontEnd, s.Leg.Audio = l, noisetest.PCM(sound)
	s.Leg.Echo, s.Leg.EchoGain = 180*ms, 0.1
	ends = speaks + time.Duration(len(caller))*time.Second/noisetest.Rate
	s.ASR.Plan = enginetest.Spoken(speaks, ends, "no wait I would like a table for six")
	s.Config.Agent.FirstMessage = "This is a long story."
	s.Voice = oddVoice{s.TTS, func(inference.Speech) (list []inference.Chunk) {
		for n := 0; n < 30*noisetest.Rate; n += len(agent) {
			list = append(list, inference.Chunk{Samples: noisetest.PCM(agent), Rate: media.Rate16k})
		}
		return list
	}}
	return s, ends
}

// TestQuietCaller: who speaks low interrupts the first message all the same, before
// anything is known of their voice.
func TestQuietCaller(t *testing.T) {
	for _, level := range []float64{0, -6, -10, -14} { // dB from the usual -24 dBFS
		for voice := range 3 {
			t.Run(fmt.Sprintf("voice %d %v dB", voice, level), func(t *testing.T) {
				x := noisetest.Halve(noisetest.Say(t, voice, "I only need to know the address."))
				length := time.Duration(len(x)) * time.Second / 8000
				synctest.Test(t, func(t *testing.T) {
					const speaks = 5 * time.Second
					s := firstMessage(t, func(m *microphone) {
						m.put(0, noisetest.HalveNoise(noisetest.White(11*noisetest.Rate, uint64(voice))), 20*math.Log10(32768)-65)
						m.put(speaks, x, level)
					})
					s.Recogniser = &hearsAt{start: s.Leg.Start(), text: func(time.Duration) string { return "I only need to know the address" }}
					s.Play(t, speaks+length+time.Second)
					if cut, ok := when(s, "interrupted", 0); !ok || cut < speaks || cut > speaks+length+500*ms {
						t.Errorf("cut at %v, want it from %v to %v\n%s", cut, speaks, speaks+length, s.Log())
					}
				})
			})
		}
	}
}

// TestBabbleBeforeTheFirstTurn: a room of people does not interrupt the first message.
func TestBabbleBeforeTheFirstTurn(t *testing.T) {
	u := noisetest.Utterances(t)
	for seed, level := range []float64{-10, -16, -22, -28} {
		t.Run(fmt.Sprintf("%v dB", level), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := firstMessage(t, func(m *microphone) {
					m.put(0, noisetest.HalveNoise(noisetest.Babble(u)(30*noisetest.Rate, uint64(seed))), 20*math.Log10(32768)+noisetest.SpeechLevel+level)
				})
				s.Recogniser = &hearsAt{start: s.Leg.Start(), text: func(time.Duration) string { return overheard }}
				s.Play(t, 30*time.Second)
				if n := count(s, "interrupted"); n > 0 {
					t.Errorf("interrupted\n%s", s.Log())
				}
			})
		})
	}
}

// firstMessage is a telephone call with a long first message.
func firstMessage(t *testing.T, hears func(*microphone)) *pipelinetest.Scene {
	s, m := pipelinetest.NewScene(), &microphone{}
	onTelephone(t, s)
	hears(m)
	s.Leg.Audio = noisetest.PCM(m.x)
	s.Config.Agent.FirstMessage = "This is a long story."
	s.TTS.Sentence = time.Minute
	return s
}
