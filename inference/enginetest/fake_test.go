package enginetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
)

func TestFakeLLMConforms(t *testing.T) {
	fake := NewFakeLLM()
	tool := inference.Tool{Name: "look_up"}
	fake.Answer = func(_ int, r inference.Request) []Step {
		if len(r.Tools) > 0 && !r.NoTools {
			return []Step{{After: time.Second, Tool: &inference.ToolCall{ID: "1", Name: "look_up", Arguments: "{}"}}}
		}
		return fake.Replies[0]
	}
	request := inference.Request{Messages: []inference.Message{{Role: inference.RoleUser, Text: "Hello"}}}
	withTool := request
	withTool.Tools = []inference.Tool{tool}
	TestLLM(t, fake, LLMOptions{Request: request, ToolRequest: withTool, Busy: fake.Busy, Run: synctest.Test})
}

func TestFakeTTSConforms(t *testing.T) {
	fake := NewFakeTTS()
	TestTTS(t, fake, TTSOptions{Busy: fake.Busy, Run: synctest.Test})
}

func TestFakeASRConforms(t *testing.T) {
	fake := NewFakeASR()
	heard := func(text string) bool { return text == "hello" }
	TestASR(t, fake, ASROptions{Heard: heard, Busy: fake.Busy, Run: synctest.Test})
}

// TestLLMTiming checks what a test of a conversation counts on: the times.
func TestLLMTiming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := NewFakeLLM()
		start := time.Now()
		var log []string
		for d, err := range fake.Complete(t.Context(), inference.Request{}) {
			log = append(log, fmt.Sprint(time.Since(start), d.Text, err))
		}
		want := []string{"150msYes I can help. <nil>", "150msIt takes two days. <nil>", "150msIs that all right?<nil>"}
		if !slices.Equal(log, want) {
			t.Errorf("got %q", log)
		}
	})
}

func TestLateAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		llm, tts := NewFakeLLM(), NewFakeTTS()
		llm.IgnoreCancel, tts.IgnoreCancel = true, true
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		start, texts, chunks := time.Now(), 0, 0
		for _, err := range llm.Complete(ctx, inference.Request{}) {
			if err == nil {
				texts++
			}
		}
		for _, err := range tts.Speak(ctx, inference.Speech{Text: "One.", VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "en"}}) {
			if err == nil {
				chunks++
			}
		}
		if texts != 3 || chunks != 10 || time.Since(start) != 230*time.Millisecond {
			t.Errorf("%d texts and %d chunks in %v", texts, chunks, time.Since(start))
		}
	})
}

func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		llm, tts := NewFakeLLM(), NewFakeTTS()
		llm.Replies = [][]Step{{{Text: "One. "}, {Hang: true}}}
		tts.Limit = 2
		for name, run := range map[string]func(context.Context) int{
			"llm": func(ctx context.Context) (n int) {
				for _, err := range llm.Complete(ctx, inference.Request{}) {
					if err == nil {
						n++
					}
				}
				return n
			},
			"tts": func(ctx context.Context) (n int) {
				for _, err := range tts.Speak(ctx, inference.Speech{Text: "One.", VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "en"}}) {
					if err == nil {
						n++
					}
				}
				return n - 1
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			start := time.Now()
			if n := run(ctx); n != 1 || time.Since(start) != time.Hour {
				t.Errorf("%s: %d, then silence until %v", name, n, time.Since(start))
			}
			cancel()
		}
	})
}

func TestTTSMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := NewFakeTTS()
		start := time.Now()
		var log []string
		var first time.Duration
		for c, err := range fake.Speak(t.Context(), inference.Speech{Text: "Sí, we do. It takes just under two whole days", VoiceConfig: inference.VoiceConfig{Voice: "M1", Language: "en"}}) {
			if err != nil {
				t.Fatal(err)
			}
			if first == 0 {
				first = time.Since(start)
			}
			for _, m := range c.Words {
				log = append(log, fmt.Sprintf("%d-%d %s@%d", m.Start.Milliseconds(), m.End.Milliseconds(), m.Text, m.Char))
			}
		}
		want := []string{"0-250 Sí,@0", "250-500 we@4", "500-750 do.@7",
			"1000-1250 It@11", "1250-1500 takes just@14", "1500-1750 under two@25", "1750-2000 whole days@35"}
		if first != 80*time.Millisecond || fake.Calls()[0].Given != 2*time.Second || !slices.Equal(log, want) {
			t.Errorf("first audio after %v, %v of audio, marks %q", first, fake.Calls()[0].Given, log)
		}
	})
}

// TestPlan plays the timing of an acceptance test: words spoken from 1,000 to
// 2,500 ms, finished by the voice activity detector 100 ms later.
func TestPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := NewFakeASR()
		fake.Plan = append(Spoken(1000*time.Millisecond, 2500*time.Millisecond, "a table please"),
			Heard{At: 3300 * time.Millisecond, Text: "for two", Final: true})
		fake.Plan[3].More = true
		start := time.Now()
		r, err := fake.Open(t.Context(), inference.ASRConfig{Language: "en"})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		time.AfterFunc(2600*time.Millisecond, func() { r.Finish() })
		var log []string
		for x := range r.Results() {
			log = append(log, fmt.Sprintf("%d %d %s %v %v", time.Since(start).Milliseconds(), x.Utterance, x.Text, x.Final, x.Last))
			if x.Last {
				break
			}
		}
		want := []string{"1600 1 a false false", "2100 1 a table false false", "2600 1 a table please false false",
			"2620 1 a table please true false", "3300 1 for two true true"}
		if !slices.Equal(log, want) {
			t.Errorf("got %q", log)
		}
	})
}

func TestInjected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := NewFakeASR()
		fake.FinalAfter = -1
		r, err := fake.Open(t.Context(), inference.ASRConfig{})
		if err != nil {
			t.Fatal(err)
		}
		s := fake.Streams()[0]
		go func() {
			s.Partial("no")
			s.Final("no wait")
			time.Sleep(time.Second)
			r.Finish()
			s.Fail(ErrFake)
		}()
		var log []string
		for x := range r.Results() {
			log = append(log, fmt.Sprintf("%d %q %v %v %v", x.Utterance, x.Text, x.Final, x.Last, x.Err))
		}
		// The final came before the end was known, so the end is said separately.
		want := []string{`1 "no" false false <nil>`, `1 "no wait" true false <nil>`, `1 "" true true <nil>`,
			`2 "" false false ` + ErrFake.Error()}
		if !slices.Equal(log, want) {
			t.Errorf("got %q", log)
		}
		r.Close()
	})
}

func TestFakeStreamingTTSConforms(t *testing.T) {
	fake := NewFakeStreamingTTS()
	TestTTS(t, fake, TTSOptions{Busy: fake.Busy, Run: synctest.Test})
	TestStreamingTTS(t, fake, TTSOptions{Busy: fake.Busy, Run: synctest.Test})
}

// TestWholeTextsConform: a voice that takes whole texts is made into one that streams.
func TestWholeTextsConform(t *testing.T) {
	fake := NewFakeTTS()
	TestStreamingTTS(t, inference.Streaming(fake), TTSOptions{Busy: fake.Busy, Run: synctest.Test})
}

func TestFakeTurnsConform(t *testing.T) {
	fake := NewFakeASR()
	fake.Feed, fake.Caps = inference.FeedContinuous, inference.Caps{Partials: true, Turns: true, Eager: true}
	turn := SpokenTurn(0, time.Second, 400*time.Millisecond, "hello")
	heard := func(text string) bool { return text == "hello" }
	synctest.Test(t, func(t *testing.T) { // the other checks are for an engine that answers Finish
		fake.Plan = turn
		asrSuite{fake, ASROptions{Language: "en", Audio: make([]int16, 16000), Heard: heard}}.turns(t)
	})
}

func TestFakeRealtimeConforms(t *testing.T) {
	fake := NewFakeRealtime()
	fake.Turns = []HeardTurn{{100 * time.Millisecond, time.Second, "hello"}}
	TestRealtime(t, fake, RealtimeOptions{Busy: fake.Busy, Run: synctest.Test})
}

func TestFakeTurnScorerConforms(t *testing.T) {
	TestTurnScorer(t, &FakeTurnScorer{After: 50 * time.Millisecond}, synctest.Test)
}
