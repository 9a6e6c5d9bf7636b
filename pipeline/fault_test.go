package pipeline_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
)

// play conducts a scene in simulated time.
func play(t *testing.T, limit time.Duration, setup func(s *pipelinetest.Scene), check func(t *testing.T, s *pipelinetest.Scene), said ...pipelinetest.Said) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(said...)
		setup(s)
		s.Play(t, limit*ms+10*ms)
		check(t, s)
		if t.Failed() {
			t.Log("\n" + s.Log())
		}
	})
}

// has says whether the log holds these lines in this order.
func has(t *testing.T, s *pipelinetest.Scene, lines ...string) {
	t.Helper()
	rest := s.Log() + "\n"
	for _, l := range lines {
		_, after, found := strings.Cut(rest, l+"\n")
		if !found {
			t.Errorf("%q did not happen, or not in its turn", l)
			return
		}
		rest = after
	}
}

var broken = &inference.Error{Engine: "fake", Fault: inference.ErrFailed}

// TestRecogniserDies in mid-utterance: its successor hears the whole utterance, and
// the next one too.
func TestRecogniserDies(t *testing.T) {
	play(t, 12000, func(s *pipelinetest.Scene) {
		s.ASR.Plan, s.ASR.FinalAfter = nil, enginetest.FinalLag
		s.ASR.Texts = []string{"first", "second"}
		s.Act = func(*pipeline.Call) {
			time.Sleep(2010 * ms)
			s.ASR.Streams()[0].Fail(broken)
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		streams := s.ASR.Streams()
		if len(streams) != 2 {
			t.Fatalf("%d streams, want 2", len(streams))
		}
		// From 400 ms before the start to the end of the pause.
		if got := streams[1].Written() / 320; got != 20+75+5+20+50+5 {
			t.Errorf("the second stream heard %d frames", got)
		}
		has(t, s, "2010 fault fake: failed", `2720 user_line "first"`, `9220 user_line "second"`)
	}, said(1000, 2500, ""), said(8000, 9000, ""))
}

// TestRecogniserDiesBeforeItsText: the utterance is over, its text is not there.
func TestRecogniserDiesBeforeItsText(t *testing.T) {
	play(t, 8000, func(s *pipelinetest.Scene) {
		s.ASR.Plan, s.ASR.FinalAfter = nil, 200*ms
		s.ASR.Texts = []string{"first", "second"}
		s.Act = func(*pipeline.Call) {
			time.Sleep(2650 * ms)
			s.ASR.Streams()[0].Fail(broken)
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "2650 fault fake: failed", `2850 user_line "first"`)
	}, said(1000, 2500, ""))
}

// TestRecogniserKeepsDying: it is opened again more and more rarely, an utterance
// is not told for ever, and the call goes on.
func TestRecogniserKeepsDying(t *testing.T) {
	play(t, 40000, func(s *pipelinetest.Scene) {
		s.ASR.Plan, s.ASR.FinalAfter = nil, 100*ms
		s.Act = func(c *pipeline.Call) {
			at := time.Now()
			for n := 0; time.Since(at) < 30*time.Second; time.Sleep(10 * ms) {
				if streams := s.ASR.Streams(); len(streams) > n {
					n = len(streams)
					streams[n-1].Fail(broken)
				}
			}
			c.Type("are you there")
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		if n := len(s.ASR.Streams()); n < 8 || n > 14 {
			t.Errorf("%d streams in 30 s", n)
		}
		for i, stream := range s.ASR.Streams()[5:] {
			if stream.Written() > 0 {
				t.Errorf("stream %d heard it again", i+6)
			}
		}
		has(t, s, `30000 user_line "are you there"`, "30230 speaking 2")
	}, said(1000, 2500, ""))
}

// TestRecogniserComesBack: for a while it cannot be opened at all.
func TestRecogniserComesBack(t *testing.T) {
	play(t, 20000, func(s *pipelinetest.Scene) {
		s.ASR.Plan, s.ASR.FinalAfter = nil, 100*ms
		s.ASR.Texts = []string{"hello"}
		asr := &doors{FakeASR: s.ASR, closed: [2]time.Duration{500 * ms, 9900 * ms}, start: time.Now()}
		s.Recogniser = asr
		s.Act = func(*pipeline.Call) {
			time.Sleep(1510 * ms)
			s.ASR.Streams()[0].Fail(broken)
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "1510 fault fake: failed", `user_line "hello"`)
		if strings.Count(s.Log(), "fault") != 1 {
			t.Error("more than one fault")
		}
	}, said(1000, 2500, ""), said(15000, 16000, ""))
}

// TestRecogniserIsGivenUp: engines that refuse are not asked for ever. The caller, whom nobody hears any more, gets a goodbye.
func TestRecogniserIsGivenUp(t *testing.T) {
	refused := &inference.Error{Engine: "fake", Fault: inference.ErrRefused}
	ends := []string{`agent_line "I have to end the call now. Goodbye."`, "end failed: engine"}
	var asr *doors
	play(t, 20000, func(s *pipelinetest.Scene) {
		asr = &doors{FakeASR: s.ASR, closed: [2]time.Duration{500 * ms, time.Hour}, start: time.Now(), err: refused}
		s.Recogniser = asr
		s.Act = func(*pipeline.Call) {
			time.Sleep(1510 * ms)
			s.ASR.Streams()[0].Fail(broken)
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, append([]string{"1510 fault fake: failed"}, ends...)...)
		if asr.turned != 1 {
			t.Errorf("they were asked %d times", asr.turned)
		}
	}, said(1000, 2500, ""))
	play(t, 20000, func(s *pipelinetest.Scene) { // each stream opens, and is refused then
		s.Act = func(*pipeline.Call) {
			for n, at := 0, time.Now(); time.Since(at) < 15*time.Second; time.Sleep(10 * ms) {
				if streams := s.ASR.Streams(); len(streams) > n {
					n = len(streams)
					streams[n-1].Fail(refused)
				}
			}
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, ends...)
		if n := len(s.ASR.Streams()); n != 3 {
			t.Errorf("%d streams", n)
		}
	})
}

// doors is a recogniser that opens no stream for a time, by err or else because it is broken.
type doors struct {
	*enginetest.FakeASR
	start  time.Time
	closed [2]time.Duration
	err    error
	turned int // away
}

func (d *doors) Open(ctx context.Context, c inference.ASRConfig) (inference.Recognition, error) {
	if at := time.Since(d.start); at > d.closed[0] && at < d.closed[1] {
		if d.turned++; d.err != nil {
			return nil, d.err
		}
		return nil, broken
	}
	return d.FakeASR.Open(ctx, c)
}

// TestModelStallsInMidReply: what was said stays said, the rest is given up and the
// caller is heard again.
func TestModelStallsInMidReply(t *testing.T) {
	play(t, 25000, func(s *pipelinetest.Scene) {
		s.LLM.Replies = [][]enginetest.Step{{{After: 150 * ms, Text: "One moment please. "}, {Hang: true}}}
		s.Config.Turn.Idle = 3 * media.Second
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "2930 speaking 1", "18620 fault fake-llm: failed: nothing came in time", `18620 agent_line "One moment please."`,
			"18620 used 1 failed", "18620 listening", `agent_partial "Are you still there?"`)
	}, said(1000, 2500, "hello"))
}

// TestModelStallsAfterACall: the function has answered, the model that called it
// never ends.
func TestModelStallsAfterACall(t *testing.T) {
	play(t, 30000, func(s *pipelinetest.Scene) {
		s.Config.ClientTools = true
		s.Config.Agent.Tools = []inference.Tool{{Name: "book"}}
		s.LLM.Replies = [][]enginetest.Step{{{After: 150 * ms, Tool: &inference.ToolCall{Name: "book"}}, {Hang: true}},
			enginetest.Sentences(150*ms, "It is booked. ")}
		s.Observe = func(c *pipeline.Call, e event.Event) {
			if e.Kind == event.ToolAsked {
				time.AfterFunc(time.Second, func() { c.ToolResult(e.Call.ID, "{}") })
			}
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "3850 tool_ended call_1_1 ok", "17860 fault fake-llm: failed: nothing came in time", `agent_line "It is booked."`)
	}, said(1000, 2500, "book it"))
}

// TestVoiceStallsInMidSentence is the same for the voice.
func TestVoiceStallsInMidSentence(t *testing.T) {
	play(t, 25000, func(s *pipelinetest.Scene) { s.TTS.Limit = 5 }, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "2930 speaking 1", "recovered fake-tts: failed: nothing came in time", "fault fake-tts: failed: nothing came in time",
			`agent_line "Yes I can help."`, "used 1 failed", "listening")
	}, said(1000, 2500, "hello"))
}

// TestGoodbyeWithoutAVoice: the call does not wait for words that nobody speaks.
func TestGoodbyeWithoutAVoice(t *testing.T) {
	play(t, 15000, func(s *pipelinetest.Scene) {
		s.TTS.Limit, s.TTS.Err = 0, broken
		s.Act = func(c *pipeline.Call) {
			time.Sleep(1010 * ms)
			c.Stop(media.BalanceExhausted, "", true)
		}
	}, func(t *testing.T, s *pipelinetest.Scene) { has(t, s, "1300 end balance_exhausted") })
}

// TestStopTwice: a second stop without a goodbye does not wait for the first one's.
func TestStopTwice(t *testing.T) {
	play(t, 15000, func(s *pipelinetest.Scene) {
		s.Act = func(c *pipeline.Call) {
			time.Sleep(1010 * ms)
			c.Stop(media.BalanceExhausted, "", true)
			time.Sleep(500 * ms)
			c.Stop(media.APIHangup, "", false)
		}
	}, func(t *testing.T, s *pipelinetest.Scene) { has(t, s, "1510 end balance_exhausted") })
}

// TestRefusedCompletionCostsNothing: the server never began to answer.
func TestRefusedCompletionCostsNothing(t *testing.T) {
	play(t, 6000, func(s *pipelinetest.Scene) {
		s.LLM.Replies = [][]enginetest.Step{{{Err: broken}}}
		s.Observe = func(_ *pipeline.Call, e event.Event) {
			if e.Kind == event.Used && (e.Usage.Tokens.In != 0 || e.Usage.Tokens.Out != 0) {
				t.Errorf("it is charged %+v", e.Usage.Tokens)
			}
		}
	}, func(t *testing.T, s *pipelinetest.Scene) { has(t, s, "2700 used 1 failed") }, said(1000, 2500, "hello"))
}

// TestCutReplyIsCounted: what a reply has consumed that was interrupted while the model wrote it counts, by what it had said of its usage
// until then.
func TestCutReplyIsCounted(t *testing.T) {
	play(t, 8000, func(s *pipelinetest.Scene) {
		fourSentences(s)
		steps := s.LLM.Replies[0]
		steps[3].After, steps[1].Usage, steps[2].Usage = 20*time.Second, &inference.Usage{In: 100, Out: 10}, &inference.Usage{In: 100, Out: 15}
		s.Observe = func(_ *pipeline.Call, e event.Event) {
			if u := e.Usage; e.Kind == event.Used && u.Generation == 1 && (u.Tokens.In != 100 || u.Tokens.Out != 15) {
				t.Errorf("%+v", u)
			}
		}
	}, func(t *testing.T, s *pipelinetest.Scene) { has(t, s, "6340 interrupted", "used 1 interrupted") }, table, said(6000, 7200, "no wait, I meant Friday"))
}

// oddVoice speaks what it is told to.
type oddVoice struct {
	*enginetest.FakeTTS
	speak func(inference.Speech) []inference.Chunk
}

func (v oddVoice) Speak(ctx context.Context, s inference.Speech) iter.Seq2[inference.Chunk, error] {
	return func(yield func(inference.Chunk, error) bool) {
		for _, c := range v.speak(s) {
			c.Phones = slices.Clone(c.Phones) // the receiver owns them
			if !yield(c, nil) {
				return
			}
		}
	}
}

// TestOddVoices: what a voice gives breaks a reply at most.
func TestOddVoices(t *testing.T) {
	second := make([]int16, 24000)
	good := inference.Chunk{Samples: second, Rate: media.Rate24k}
	phones := inference.Chunk{Samples: second, Rate: media.Rate24k, Phones: []inference.Mark{{Text: "a", End: time.Second}}}
	for _, c := range []struct {
		name  string
		speak func(s inference.Speech) []inference.Chunk
		lines []string
	}{
		{"nothing", func(inference.Speech) []inference.Chunk { return nil }, []string{"used 1 committed", "listening"}},
		{"empty chunks", func(inference.Speech) []inference.Chunk { return []inference.Chunk{{}, {Rate: 24000}} }, []string{"used 1 committed", "listening"}},
		{"an impossible rate", func(inference.Speech) []inference.Chunk { return []inference.Chunk{{Samples: second, Rate: 11025}} },
			[]string{"2850 fault fake-tts: failed: a sample rate that no call has", "used 1 failed"}},
		{"no audio for the first sentence", func(s inference.Speech) []inference.Chunk {
			if strings.HasPrefix(s.Text, "Yes") {
				return nil
			}
			return []inference.Chunk{phones}
		}, []string{"phones", `agent_line "It takes two days. Is that all right?"`}},
		{"another rate for each sentence", func(s inference.Speech) []inference.Chunk {
			if strings.HasPrefix(s.Text, "It") {
				return []inference.Chunk{{Samples: make([]int16, 22050), Rate: media.Rate22k}}
			}
			return []inference.Chunk{good}
		}, []string{"2850 speaking 1", `agent_line "Yes I can help. It takes two days. Is that all right?"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, 8000, func(s *pipelinetest.Scene) {
				s.Voice = oddVoice{s.TTS, c.speak}
			}, func(t *testing.T, s *pipelinetest.Scene) { has(t, s, c.lines...) }, said(1000, 2500, "hello"))
		})
	}
}

// TestCauseOfTheEnd: engines learn why the call ended.
func TestCauseOfTheEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(s *pipelinetest.Scene)
		want  string
	}{
		{"hung up on", func(s *pipelinetest.Scene) { s.Leg.HangUp = 3000 * ms }, "user_hangup"},
		{"stopped", func(s *pipelinetest.Scene) {
			s.Act = func(c *pipeline.Call) { time.Sleep(3010 * ms); c.Stop(media.APIHangup, "someone", false) }
		}, "api_hangup: someone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var life context.Context
			play(t, 5000, func(s *pipelinetest.Scene) {
				s.Recogniser = lives{s.ASR, &life}
				c.setup(s)
			}, func(t *testing.T, s *pipelinetest.Scene) {
				if got := context.Cause(life).Error(); got != c.want {
					t.Errorf("the recogniser was told %q, want %q", got, c.want)
				}
			}, said(1000, 2500, "hello"))
		})
	}
}

// lives is a recogniser that shows the life of its stream.
type lives struct {
	*enginetest.FakeASR
	life *context.Context
}

func (l lives) Open(ctx context.Context, c inference.ASRConfig) (inference.Recognition, error) {
	*l.life = ctx
	return l.FakeASR.Open(ctx, c)
}

// TestStalledEngineIsTold: an engine learns that it was too slow, and not merely
// unwanted, so that another may take its place.
func TestStalledEngineIsTold(t *testing.T) {
	var cause error
	play(t, 20000, func(s *pipelinetest.Scene) {
		s.Model = slow{s.LLM, &cause}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		if !errors.Is(cause, inference.ErrStalled) {
			t.Errorf("the model was told %v", cause)
		}
	}, said(1000, 2500, "hello"))
}

// slow is a model that never answers and shows why it was stopped.
type slow struct {
	*enginetest.FakeLLM
	cause *error
}

func (m slow) Complete(ctx context.Context, _ inference.Request) iter.Seq2[inference.Delta, error] {
	return func(yield func(inference.Delta, error) bool) {
		<-ctx.Done()
		*m.cause = context.Cause(ctx)
		yield(inference.Delta{}, *m.cause)
	}
}

// TestEndedBeforeItBegan: a call whose life ends while it is prepared says nothing.
func TestEndedBeforeItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := pipelinetest.NewScene()
		s.Config.Agent.FirstMessage = "Hello."
		s.ASR.OpenDelay = time.Second
		s.Observe = func(_ *pipeline.Call, e event.Event) {
			if e.Kind != event.End {
				t.Errorf("%s", e.Kind)
			}
		}
		call := s.Call()
		time.AfterFunc(500*ms, func() { cancel(&media.Ended{Reason: media.MaxDuration}) })
		if err := call.Prepare(ctx); err == nil {
			t.Error("prepared after its end")
		}

		ctx, cancel = context.WithCancelCause(t.Context())
		call = s.Call()
		if err := call.Prepare(ctx); err != nil {
			t.Fatal(err)
		}
		cancel(&media.Ended{Reason: media.MaxDuration})
		if ended := call.Run(s.Leg); ended.Reason != media.MaxDuration {
			t.Errorf("ended as %v", ended)
		}
		// Nothing of these waits for anybody.
		call.Type("hello")
		call.Interrupt()
		call.ToolResult("call_1_1", "{}")
		call.Update(func(*agent.Agent) {})
		for range 3 {
			call.Stop(media.APIHangup, "", true)
			call.Stop(media.APIHangup, "", false)
		}
		for range 200 {
			call.Type("hello")
		}

		call = s.Call()
		if err := call.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		call.Close()
		if n := s.ASR.Busy() + s.TTS.Busy(); n != 0 {
			t.Errorf("%d engine streams are busy after Close", n)
		}
	})
}

// TestRecogniserRefuses: a call without its ears does not start.
func TestRecogniserRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene()
		s.ASR.OpenErr = broken
		if err := s.Call().Prepare(t.Context()); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	})
}

// TestDeafCall: nobody hears the language. Typed turns work, speech is not answered
// with an apology.
func TestDeafCall(t *testing.T) {
	play(t, 8000, func(s *pipelinetest.Scene) {
		s.Deaf = true
		s.Act = func(c *pipeline.Call) { time.Sleep(5010 * ms); c.Type("hello") }
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "0 listening", `5010 user_line "hello"`, "5010 thinking 1", "5240 speaking 1")
	}, said(1000, 2500, "hello"))
}

// TestDuckingFarEnd: a far end that lowers the voice itself is told, and only what
// it was told is taken back.
func TestDuckingFarEnd(t *testing.T) {
	for _, c := range []struct {
		name string
		can  func(n int) bool
		want []bool
		loud bool // the samples are left alone
	}{
		{"able", func(int) bool { return true }, []bool{true, false}, true},
		{"not able", func(int) bool { return false }, nil, false},
		{"able since the duck", func(n int) bool { return n > 0 }, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, 10000, func(s *pipelinetest.Scene) {
				fourSentences(s)
				asked := 0
				s.Leg.CanDuck = func() bool { asked++; return c.can(asked - 1) }
			}, func(t *testing.T, s *pipelinetest.Scene) {
				if got := s.Leg.Ducks(); !slices.Equal(got, c.want) {
					t.Errorf("the far end was told %v, want %v", got, c.want)
				}
				low := 0
				for _, f := range s.Leg.Sent() {
					if f.Level > 1 && f.Level < 4000 {
						low++
					}
					if f.At > 6600*ms && f.Level < 4000 {
						t.Fatalf("a frame at %v is still low", f.At)
					}
				}
				if (low == 0) != c.loud {
					t.Errorf("%d frames are low", low)
				}
			}, table, said(6000, 6350, "uh-huh"))
		})
	}
}

// TestFunctionOutlivedByATurn: the caller asks something else while a function runs
// and is answered; its result is told when it comes, and the agent is not asked
// whether it is still there.
func TestFunctionOutlivedByATurn(t *testing.T) {
	play(t, 20000, func(s *pipelinetest.Scene) {
		s.Config.ClientTools = true
		s.Config.Turn.Idle = 2 * media.Second
		s.Config.Agent.Tools = []inference.Tool{{Name: "book"}}
		s.LLM.Replies = [][]enginetest.Step{calls("", "book"), enginetest.Sentences(150*ms, "I am here. "), enginetest.Sentences(150*ms, "It is booked. ")}
		s.Observe = func(c *pipeline.Call, e event.Event) {
			if e.Kind == event.ToolAsked {
				time.AfterFunc(9*time.Second, func() { c.ToolResult(e.Call.ID, `{"ok":true}`) })
			}
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "2850 tool_asked call_1_1 book {}", `5200 user_line "are you there"`, `6440 agent_line "I am here."`,
			"11850 tool_ended call_1_1 ok", `13080 agent_line "It is booked."`, "13080 listening", `agent_partial "Are you still there?"`)
		last := s.Prompts()[2]
		if m := last[2]; m.Role != inference.RoleTool || m.Text != `{"ok":true}` {
			t.Errorf("the model was told %+v", last)
		}
	}, said(1000, 2500, "book it"), said(4000, 5000, "are you there"))
}

// TestTurnOverAnUnsaidReply: a reply that called a function has text whose voice is
// not there yet when the next turn comes. It is not said, and does not stand in the
// way of what is.
func TestTurnOverAnUnsaidReply(t *testing.T) {
	play(t, 12000, func(s *pipelinetest.Scene) {
		s.Config.ClientTools = true
		s.Config.Agent.Tools = []inference.Tool{{Name: "book"}}
		s.LLM.Replies = [][]enginetest.Step{{{After: 150 * ms, Tool: &inference.ToolCall{Name: "book"}}, {Text: "I am booking it now. "}, {Hang: true}},
			enginetest.Sentences(150*ms, "Yes. ")}
		s.TTS.FirstAudio = 1400 * ms
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `4200 user_line "are you there"`, "5750 speaking 2", `6760 agent_line "Yes."`)
		for _, m := range s.Prompts()[1] {
			if strings.Contains(m.Text, "booking") {
				t.Errorf("the model was told that %q was said", m.Text)
			}
		}
	}, said(1000, 2500, "book it"), said(3000, 4000, "are you there"))
}

// TestCutFunctions: the model learns that a function which it called may have run.
func TestCutFunctions(t *testing.T) {
	play(t, 10000, func(s *pipelinetest.Scene) {
		s.Config.ClientTools = true
		s.Config.Agent.Tools = []inference.Tool{{Name: "book"}}
		s.LLM.Replies = [][]enginetest.Step{calls("I am booking the table for you. ", "book"), enginetest.Sentences(150*ms, "Fine. ")}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "3670 interrupted", "3670 tool_ended call_1_1 cancelled", `3670 agent_line "I am booking"`, `4200 user_line "no wait"`)
		prompt := s.Prompts()[1]
		if m := prompt[1]; !m.Interrupted || m.Text != "I am booking" || len(m.ToolCalls) != 1 {
			t.Errorf("the model was told %+v", m)
		}
		if m := prompt[2]; m.Role != inference.RoleTool || !strings.Contains(m.Text, "not known") {
			t.Errorf("and of its function %+v", m)
		}
	}, said(1000, 2500, "book it"), said(3140, 4000, "no wait"))
}

// TestPartsOfCalls: a model gets back what it wants with its calls, also when the caller interrupts it.
func TestPartsOfCalls(t *testing.T) {
	part := func(name string) *inference.Part {
		return &inference.Part{Engine: "fake-llm", Provider: []byte(`"` + name + `"`)}
	}
	play(t, 10000, func(s *pipelinetest.Scene) {
		s.Config.ClientTools = true
		s.Config.Agent.Tools = []inference.Tool{{Name: "book"}}
		s.LLM.Replies = [][]enginetest.Step{{{After: 150 * ms, Part: part("thought")}, {Text: "I am booking the table for you. "}, {Tool: &inference.ToolCall{Name: "book"}, Part: part("signature")},
			{Tool: &inference.ToolCall{Name: "book"}}, {Part: part("rest")}}, enginetest.Sentences(150*ms, "Fine. ")}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		if m := s.Prompts()[1][1]; len(m.ToolCalls) != 2 || len(m.Parts) != 2 || string(m.Parts[0].Provider) != `"thought"` || string(m.Parts[1].Provider) != `"signature"` {
			t.Errorf("the model was told %+v", m)
		}
	}, said(1000, 2500, "book it"), said(3140, 4000, "no wait"))
}

// TestCallsWithoutEnd: a model that does nothing but call functions is stopped.
func TestCallsWithoutEnd(t *testing.T) {
	play(t, 10000, func(s *pipelinetest.Scene) {
		s.LLM.Answer = func(int, inference.Request) []enginetest.Step {
			var steps []enginetest.Step
			for range 40 {
				steps = append(steps, enginetest.Step{Tool: &inference.ToolCall{Name: "fly"}})
			}
			return steps
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		if n := len(s.LLM.Calls()); n != 4 {
			t.Errorf("the model was asked %d times, want 4", n)
		}
		if n := strings.Count(s.Log(), "tool_ended"); n != 3*16 {
			t.Errorf("%d results, want 16 for each of three completions", n)
		}
		has(t, s, "listening", "user_line \"book it\"", "listening")
	}, said(1000, 2500, "book it"))
}

// TestQuiet and the longest duration end a call.
func TestLimits(t *testing.T) {
	play(t, 90000, func(s *pipelinetest.Scene) { s.Config.Quiet = time.Minute },
		func(t *testing.T, s *pipelinetest.Scene) {
			has(t, s, `5940 agent_line "Yes I can help. It takes two days. Is that all right?"`, "65620 end agent_hangup: idle")
		},
		said(1000, 2500, "hello"))
	play(t, 90000, func(s *pipelinetest.Scene) { s.Config.MaxDuration = 10 * time.Second },
		func(t *testing.T, s *pipelinetest.Scene) {
			has(t, s, "10000 thinking 1", `agent_line "I have to end the call now. Goodbye."`, "12200 end max_duration")
		})
}

// TestRehearsed: a call may be answered when its first message is ready, or cannot
// be; the message is then spoken from memory.
func TestRehearsed(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := pipelinetest.NewScene()
			s.Config.Agent.FirstMessage = "Hello there. How are you?"
			s.TTS.FirstAudio = 300 * ms
			if fails {
				s.TTS.Limit, s.TTS.Err = 0, broken
			}
			call := s.Call()
			start := time.Now()
			if err := call.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-call.Rehearsed()
			if took := time.Since(start); took != 600*ms && !fails || took != 300*ms && fails {
				t.Errorf("rehearsed after %v", took)
			}
			call.Close()
			for _, c := range s.TTS.Calls() {
				if c.End.IsZero() {
					t.Errorf("%q is still being made", c.Speech.Text)
				}
			}
		})
	}
}
