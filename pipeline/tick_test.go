package pipeline

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"parley/inference/enginetest"
	"parley/media"
	"parley/media/denoise"
	"parley/media/vad"
	"parley/pipeline/agent"
	"parley/pipeline/journal"
	"parley/pipeline/listen"
	"parley/pipeline/turn"
)

// steadyLeg has one frame to read and one to write each time it is asked.
type steadyLeg struct {
	format  media.Format
	samples []int16
	at      media.Time
	given   bool
	written media.Time
}

func newSteadyLeg(rate media.Rate) *steadyLeg {
	l := &steadyLeg{format: media.Format{In: rate, Out: rate, Continuous: true}, samples: make([]int16, 50*rate.FrameSamples())}
	for i := range l.samples { // a vowel, more or less
		x := 0.0
		for k := 1.0; k < 20; k++ {
			x += math.Sin(2*math.Pi*120*k*float64(i)/float64(rate)) / k
		}
		l.samples[i] = int16(4000 * x)
	}
	return l
}

func (l *steadyLeg) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (l *steadyLeg) Format() media.Format          { return l.format }
func (l *steadyLeg) Next() time.Time               { return time.Now() }
func (l *steadyLeg) Write(media.Frame)             { l.written += media.FrameTime }
func (l *steadyLeg) Flush(time.Time) media.Time    { return 0 }
func (l *steadyLeg) Played(time.Time) media.Time   { return l.written }
func (l *steadyLeg) Events() <-chan media.LegEvent { return nil }
func (l *steadyLeg) frame(n media.Time) (s []int16) {
	f := l.format.In.FrameSamples()
	return l.samples[int(n)%50*f:][:f]
}

func (l *steadyLeg) Read(time.Time) (media.Frame, bool) {
	if l.given = !l.given; !l.given {
		return media.Frame{}, false
	}
	f := media.Frame{Samples: l.frame(l.at / media.FrameTime), Rate: l.format.In, At: l.at}
	l.at += media.FrameTime
	return f, true
}

func (l *steadyLeg) Due(time.Time) int { return 1 }

// steadily hears speech all the time, or never.
type steadily bool

func (s steadily) Hear(f media.Frame) (media.Frame, listen.Activity) {
	return f, listen.Activity{Speech: bool(s), Level: -20}
}

// longUtterance is more frames than are kept of one.
const longUtterance = 800

// steadyCall is a call in a steady state: the agent speaks, or not, and the caller
// as the listener says.
func steadyCall(t testing.TB, rate media.Rate, hears listen.FrontEnd, speaks bool, kept journal.Sink) *Call {
	tts := enginetest.NewFakeTTS()
	tts.FirstAudio, tts.Rate = 0, media.Rate22k
	tts.Sentence = 5 * time.Minute
	asr := enginetest.NewFakeASR()
	cfg := Config{Agent: agent.Agent{Voice: "F1", Language: "en"}, ASR: asr, LLM: enginetest.NewFakeLLM(), TTS: tts, FrontEnd: hears,
		Turn: turn.DefaultConfig("en"), Journal: kept}
	cfg.Turn.Idle, cfg.Turn.Barge, cfg.Turn.Greeting = 0, turn.Never, turn.Never
	c := New(cfg)
	c.crew.Life, c.crew.Kill = context.WithCancelCause(t.Context())
	stream, err := c.recogniser("en")()
	if err != nil {
		t.Fatal(err)
	}
	c.attach(stream)
	t.Cleanup(c.Close)
	c.begin(newSteadyLeg(rate))
	c.step(turn.Event{Kind: turn.Ready})
	if speaks {
		c.agent.FirstMessage = "A very long sentence."
		c.say(turn.Greeting)
		c.state.Phase = turn.Thinking
		for !c.replies.Latest.Made() {
			c.take(*<-c.crew.Box)
		}
	}
	for range 200 { // grow what grows
		c.empty(journal.Received, c.deliver)
		c.tick()
	}
	if got := c.playout.Unplayed(); got != speaks {
		t.Fatalf("the agent speaks: %v, want %v", got, speaks)
	}
	return c
}

// TestAllocTick: hearing one frame and speaking one costs no memory.
func TestAllocTick(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	clean := func(rate media.Rate) listen.FrontEnd {
		l, err := listen.NewFrontEnd(denoise.Spectral, vad.Spectral, rate)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
		for _, c := range []struct {
			name   string
			hears  listen.FrontEnd
			speaks bool
		}{
			{"silence", steadily(false), false}, {"the agent speaks", steadily(false), true}, {"the caller speaks", steadily(true), false},
			{"both speak", steadily(true), true}, {"denoised and detected", clean(rate), true},
		} {
			t.Run(fmt.Sprintf("%s at %v", c.name, rate), func(t *testing.T) {
				call := steadyCall(t, rate, c.hears, c.speaks, nil)
				for range longUtterance { // an utterance as long as one is kept
					call.tick()
				}
				if n := testing.AllocsPerRun(200, func() { call.tick() }); n != 0 {
					t.Errorf("allocates %v times", n)
				}
			})
		}
	}
}

// BenchmarkTick is one frame heard and one spoken, silence or the agent's words. The
// difference between the two is mostly the resampler from the voice's rate.
func BenchmarkTick(b *testing.B) {
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
		for _, c := range []struct {
			name, denoiser, detector string
			speaks                   bool
		}{
			{"silence", "", "", false}, {"off", "", "", true}, {"vad", denoise.Off, vad.Spectral, true}, {"vad+denoise", denoise.Spectral, vad.Spectral, true},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, rate), func(b *testing.B) {
				hears := listen.FrontEnd(steadily(false))
				if c.detector != "" {
					var err error
					if hears, err = listen.NewFrontEnd(c.denoiser, c.detector, rate); err != nil {
						b.Fatal(err)
					}
				}
				call := steadyCall(b, rate, hears, c.speaks, nil)
				n := 0
				b.ReportAllocs()
				for b.Loop() {
					if n++; n%10000 == 0 { // the sentence is not endless
						b.StopTimer()
						call = steadyCall(b, rate, hears, c.speaks, nil)
						b.StartTimer()
					}
					call.tick()
				}
			})
		}
	}
}

// shelf is a journal that keeps the latest inputs, in memory of its own.
type shelf struct {
	inputs [64]journal.Input
	n      int
}

func (s *shelf) Begin(journal.Origin) {}
func (s *shelf) Input(in *journal.Input) {
	s.inputs[s.n%len(s.inputs)] = *in
	s.n++
}
func (s *shelf) Note(journal.Note)   {}
func (s *shelf) Event(journal.Event) {}
func (s *shelf) Close()              {}

// TestAllocTickJournal: nor does keeping what the frames were for a replay.
func TestAllocTickJournal(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	for _, speaks := range []bool{false, true} {
		kept := &shelf{}
		call := steadyCall(t, media.Rate8k, steadily(true), speaks, kept)
		for range longUtterance {
			call.tick()
		}
		before := kept.n
		if n := testing.AllocsPerRun(200, call.tick); n != 0 {
			t.Errorf("allocates %v times", n)
		}
		if last := kept.inputs[(kept.n-1)%len(kept.inputs)]; kept.n-before < 200 || last.Kind != journal.Ticked || len(last.Heard()) != 1 || len(last.Observed()) == 0 {
			t.Errorf("%d inputs were kept, the last of them %+v", kept.n-before, last)
		}
	}
}
