package inference_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
)

var (
	hello   = inference.Request{Messages: []inference.Message{{Role: inference.RoleUser, Text: "Hello"}}}
	speech  = inference.Speech{Text: "One two.", VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "en"}}
	down    = &inference.Error{Engine: "a", Fault: inference.ErrUnavailable}
	refused = &inference.Error{Engine: "a", Fault: inference.ErrRefused}
)

// pair is two models behind a failover and the failures it reports.
type pair struct {
	a, b   *enginetest.FakeLLM
	llm    *inference.FailoverLLM
	failed []string
}

func newPair(c inference.FailoverConfig) *pair {
	p := &pair{a: enginetest.NewFakeLLM(), b: enginetest.NewFakeLLM()}
	p.a.Name, p.b.Name = "a", "b"
	p.b.Replies = [][]enginetest.Step{{{Text: "from b"}}}
	c.Failed = func(engine string, err error) { p.failed = append(p.failed, engine+" "+err.Error()) }
	p.llm = inference.NewFailoverLLM(c, p.a, p.b)
	return p
}

// ask returns the text of a reply and its error.
func (p *pair) ask(ctx context.Context) (text string, err error) {
	for d, e := range p.llm.Complete(ctx, hello) {
		if err != nil {
			return text, errors.New("something after the error")
		}
		text, err = text+d.Text, e
	}
	return text, err
}

// TestFailover: what the first engine does decides who answers, what comes out
// and who is asked next time.
func TestFailover(t *testing.T) {
	text := enginetest.Step{Text: "from a"}
	for name, c := range map[string]struct {
		first  time.Duration
		steps  []enginetest.Step
		want   string
		err    error
		next   string // who answers the next request
		failed int
	}{
		"well":               {steps: []enginetest.Step{text}, want: "from a", next: "a"},
		"empty reply":        {steps: nil, want: "", next: "a"},
		"fails at once":      {steps: []enginetest.Step{{Err: down}}, want: "from b", next: "b", failed: 1},
		"unknown error":      {steps: []enginetest.Step{{Err: enginetest.ErrFake}}, want: "from b", next: "b", failed: 1},
		"fails after usage":  {steps: []enginetest.Step{{}, {Err: down}}, want: "from b", next: "b", failed: 1},
		"refuses":            {steps: []enginetest.Step{{Err: refused}}, want: "from b", next: "a", failed: 1},
		"fails midway":       {steps: []enginetest.Step{text, {Err: down}}, want: "from a", err: down, next: "b", failed: 1},
		"slow, no limit":     {steps: []enginetest.Step{{After: time.Hour, Text: "from a"}}, want: "from a", next: "a"},
		"silent":             {first: time.Second, steps: []enginetest.Step{{Hang: true}}, want: "from b", next: "b", failed: 1},
		"silent after usage": {first: time.Second, steps: []enginetest.Step{{}, {Hang: true}}, want: "from b", next: "b", failed: 1},
		"slow after a start": {first: time.Second, steps: []enginetest.Step{text, {After: time.Hour}}, want: "from a", next: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(inference.FailoverConfig{First: c.first})
				p.a.Replies = [][]enginetest.Step{c.steps, {text}}
				if got, err := p.ask(t.Context()); got != c.want || err != c.err {
					t.Errorf("got %q and %v, want %q and %v", got, err, c.want, c.err)
				}
				if len(p.failed) != c.failed {
					t.Errorf("failures %q", p.failed)
				}
				if got, err := p.ask(t.Context()); got != "from "+c.next || err != nil {
					t.Errorf("then %q and %v, want %s", got, err, c.next)
				}
				time.Sleep(31 * time.Second)
				if got, err := p.ask(t.Context()); got != "from a" || err != nil {
					t.Errorf("after the rest %q and %v", got, err)
				}
				synctest.Wait()
				if p.a.Busy() != 0 || p.b.Busy() != 0 {
					t.Error("an engine is still busy")
				}
			})
		})
	}
}

// TestFailoverNobodyWell: every engine is tried, and the worst error is returned,
// and rest is never a reason to refuse.
func TestFailoverNobodyWell(t *testing.T) {
	p := newPair(inference.FailoverConfig{})
	p.a.Replies = [][]enginetest.Step{{{Err: refused}}}
	p.b.Replies = [][]enginetest.Step{{{Err: down}}, {{Text: "back"}}}
	if _, err := p.ask(t.Context()); err != down {
		t.Errorf("error %v", err)
	}
	if got, err := p.ask(t.Context()); got != "back" || err != nil {
		t.Errorf("got %q and %v", got, err)
	}
}

// TestFailoverCancelled: an interruption is nobody's fault, unless silence was
// the reason for it.
func TestFailoverCancelled(t *testing.T) {
	for name, c := range map[string]struct {
		cause error
		next  string
	}{
		"interrupted": {nil, "a"},
		"stalled":     {fmt.Errorf("watchdog: %w", inference.ErrStalled), "b"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(inference.FailoverConfig{})
				p.a.Replies = [][]enginetest.Step{{{Hang: true}}, {{Text: "from a"}}}
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(1500*time.Millisecond, func() { cancel(c.cause) })
				if got, err := p.ask(ctx); got != "" || err == nil {
					t.Errorf("got %q and %v", got, err)
				}
				if len(p.b.Calls()) != 0 {
					t.Error("another engine was asked for a cancelled reply")
				}
				if got, _ := p.ask(t.Context()); got != "from "+c.next {
					t.Errorf("then %q", got)
				}
			})
		})
	}
}

// TestFailoverConforms runs the suites over failovers whose first engine is down.
func TestFailoverConforms(t *testing.T) {
	t.Run("llm", func(t *testing.T) {
		p := newPair(inference.FailoverConfig{First: 50 * time.Millisecond})
		p.a.Replies = [][]enginetest.Step{{{Hang: true}}}
		p.b.Replies = enginetest.NewFakeLLM().Replies
		p.b.Replies[0][0].After = 0
		llm := inference.NewFailoverLLM(inference.FailoverConfig{First: 50 * time.Millisecond}, p.a, p.b)
		busy := func() int { return p.a.Busy() + p.b.Busy() }
		enginetest.TestLLM(t, llm, enginetest.LLMOptions{Request: hello, Busy: busy, Run: synctest.Test})
	})
	t.Run("tts", func(t *testing.T) {
		a, b := enginetest.NewFakeTTS(), enginetest.NewFakeTTS()
		a.Limit = 0
		b.Rate = 44100
		tts := inference.NewFailoverTTS(inference.FailoverConfig{First: 300 * time.Millisecond}, a, b)
		busy := func() int { return a.Busy() + b.Busy() }
		enginetest.TestTTS(t, tts, enginetest.TTSOptions{Busy: busy, Run: synctest.Test})
	})
	t.Run("asr", func(t *testing.T) {
		a, b := enginetest.NewFakeASR(), enginetest.NewFakeASR()
		a.Plan = []enginetest.Heard{{At: 50 * time.Millisecond, Err: enginetest.ErrFake}}
		asr := inference.NewFailoverASR(inference.FailoverConfig{}, a, b)
		busy := func() int { return a.Busy() + b.Busy() }
		heard := func(text string) bool { return text == "hello" }
		enginetest.TestASR(t, asr, enginetest.ASROptions{Heard: heard, Busy: busy, Run: synctest.Test})
	})
}

func TestFailoverTTS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := enginetest.NewFakeTTS(), enginetest.NewFakeTTS()
		b.VoiceIDs = append(b.VoiceIDs, "own")
		a.Limit, a.Err = 2, enginetest.ErrFake
		tts := inference.NewFailoverTTS(inference.FailoverConfig{}, a, b)
		if v := tts.Voices(); len(v) != 11 || v[10].ID != "own" {
			t.Errorf("voices %v", v)
		}
		count := func(s inference.Speech) (chunks int, err error) {
			for _, e := range tts.Speak(t.Context(), s) {
				if err = e; e == nil {
					chunks++
				}
			}
			return chunks, err
		}
		own := speech
		own.Voice = "own"
		if n, err := count(own); n != 10 || err != nil || len(a.Calls()) != 0 {
			t.Errorf("another engine's voice: %d chunks, %v", n, err)
		}
		if n, err := count(speech); n != 2 || err != enginetest.ErrFake {
			t.Errorf("failure midway: %d chunks, %v", n, err)
		}
		if n, err := count(speech); n != 10 || err != nil || len(a.Calls()) != 1 {
			t.Errorf("after it: %d chunks, %v", n, err)
		}
	})
}

func TestFailoverInfo(t *testing.T) {
	p := newPair(inference.FailoverConfig{})
	p.a.Languages = []string{"en", "es"}
	p.b.Languages = []string{"es", "eu"}
	info := p.llm.Info()
	if info.Name != "a,b" || !reflect.DeepEqual(info.Languages, []string{"en", "es", "eu"}) {
		t.Errorf("%+v", info)
	}
}

// normalising is a voice that may read numbers by itself.
type normalising struct {
	inference.TTS
	does bool
}

func (n normalising) Info() inference.Info {
	info := n.TTS.Info()
	info.NormalisesText = n.does
	return info
}

// TestFailoverNormalises: a text is made for any of the voices, so all must normalise it.
func TestFailoverNormalises(t *testing.T) {
	for _, does := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
		f := inference.NewFailoverTTS(inference.FailoverConfig{}, normalising{&enginetest.FakeTTS{}, does[0]}, normalising{&enginetest.FakeTTS{}, does[1]})
		if got := f.Info().NormalisesText; got != (does[0] && does[1]) {
			t.Errorf("%v: %v", does, got)
		}
	}
}
