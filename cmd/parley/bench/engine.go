package bench

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"parley/inference"
	"parley/media"
)

// The engines of a measurement take no time: what remains is the server's. They
// are named instant because they are no engines to talk to.

func instant(description string) inference.Info {
	return inference.Info{Name: "instant", Description: description, Languages: []string{"en"}}
}

// stopAfter is how much of an utterance instantASR has when it believes to hear
// "stop": the 400 ms of audio from before the start of speech was noticed, and
// 300 ms of speech.
const stopAfter = 700 * media.Millisecond

// resultQueue holds the results of an utterance, a partial and a final one, for
// more utterances than the conversation can be behind.
const resultQueue = 64

// instantASR hears the same sentence in every utterance, and before its end the
// word "stop".
type instantASR struct {
	verdict atomic.Int64 // when "stop" was said last, in Unix ns
}

func (*instantASR) Info() inference.Info { return instant("hears the same at once") }

// stopped is when "stop" was believed last.
func (a *instantASR) stopped() time.Time { return time.Unix(0, a.verdict.Load()) }

func (a *instantASR) Open(context.Context, inference.ASRConfig) (inference.Recognition, error) {
	return &instantStream{asr: a, utterance: 1, results: make(chan inference.Result, resultQueue)}, nil
}

type instantStream struct {
	inference.NoContext
	asr       *instantASR
	results   chan inference.Result
	utterance int
	written   int
	said      bool
}

func (s *instantStream) Write(samples []int16) {
	s.written += len(samples)
	if s.said || s.written < stopAfter.Samples(media.Rate16k) {
		return
	}
	s.said = true
	s.asr.verdict.Store(time.Now().UnixNano())
	s.results <- inference.Result{Utterance: s.utterance, Text: "stop", Confidence: 0.9}
}

func (s *instantStream) Finish() int {
	n := s.utterance
	s.results <- inference.Result{Utterance: n, Text: "can you help me please", Final: true, Last: true, Confidence: 0.9}
	s.utterance++
	s.written, s.said = 0, false
	return n
}

func (s *instantStream) Resume() { s.utterance-- }

func (s *instantStream) Results() <-chan inference.Result { return s.results }
func (s *instantStream) Close()                           { close(s.results) }

// instantLLM answers every request with one sentence.
type instantLLM struct{}

func (instantLLM) Info() inference.Info { return instant("answers the same at once") }

func (instantLLM) Complete(context.Context, inference.Request) iter.Seq2[inference.Delta, error] {
	return func(yield func(inference.Delta, error) bool) {
		yield(inference.Delta{Text: "We are open all day.", Usage: &inference.Usage{In: 10, Out: 5, Source: inference.UsageCounted}}, nil)
	}
}

// instantTTS says a tone instead of every text: a short one for the greeting.
type instantTTS struct {
	tone []int16
}

const (
	greeting     = "Hello."
	greetingTime = time.Second
)

// ttsRate is the rate of most neural voices.
const ttsRate = media.Rate24k

func newInstantTTS(length time.Duration) instantTTS {
	return instantTTS{tone(440, ttsRate, media.FromDuration(length).Samples(ttsRate), 0.25)}
}

func (instantTTS) Info() inference.Info { return instant("a tone at once") }

func (instantTTS) Voices() []inference.Voice { return []inference.Voice{{ID: "F1", Gender: "female"}} }

func (t instantTTS) Speak(_ context.Context, s inference.Speech) iter.Seq2[inference.Chunk, error] {
	return func(yield func(inference.Chunk, error) bool) {
		said := t.tone
		if s.Text == greeting {
			said = said[:min(len(said), media.FromDuration(greetingTime).Samples(ttsRate))]
		}
		yield(inference.Chunk{Samples: slices.Clone(said), Rate: ttsRate}, nil)
	}
}
