package pipeline_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/reply"
)

// heldTalk are the lines of a conversation with their words, in milliseconds, and its timings.
type heldTalk struct {
	lines   []string
	timings []reply.Timing
}

func (o *heldTalk) observe(e event.Event) {
	switch e.Kind {
	case event.Timed:
		o.timings = append(o.timings, e.Timing)
	case event.UserLine, event.UserLineAgain, event.AgentLine:
		var b strings.Builder
		b.WriteString(e.Kind.String())
		var text []string
		if e.Said != nil {
			for _, w := range e.Said.Words {
				text = append(text, w.Text)
				fmt.Fprintf(&b, " %s[%d-%d]", w.Text, w.From.Milliseconds(), w.To.Milliseconds())
			}
			if e.Said.Estimated {
				b.WriteString(" ~")
			}
			if e.Said.Interrupted {
				fmt.Fprintf(&b, " cut at %d, not %q", e.Said.Cut.Milliseconds(), e.Said.Unheard)
			}
			if got := strings.Join(text, " "); got != strings.Join(strings.Fields(e.Text), " ") {
				fmt.Fprintf(&b, " (words of %q)", e.Text)
			}
		}
		o.lines = append(o.lines, b.String())
	}
}

// hold is what was told of a conversation.
func hold(t *testing.T, limit time.Duration, setup func(*pipelinetest.Scene), said ...pipelinetest.Said) (o heldTalk, scene *pipelinetest.Scene) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		scene = pipelinetest.NewScene(said...)
		setup(scene)
		act := scene.Observe
		scene.Observe = func(c *pipeline.Call, e event.Event) {
			o.observe(e)
			if act != nil {
				act(c, e)
			}
		}
		scene.Play(t, limit*ms+10*ms)
	})
	return o, scene
}

func wordMark(text string, from, to time.Duration) inference.Mark {
	return inference.Mark{Text: text, Start: from * ms, End: to * ms, Char: -1}
}

// TestWordTimes: when each word of a line was said, in media time of the call.
func TestWordTimes(t *testing.T) {
	reply := func(text string) [][]enginetest.Step { return [][]enginetest.Step{enginetest.Sentences(150*ms, text)} }
	for _, tt := range []struct {
		name            string
		said            []pipelinetest.Said
		setup           func(*pipelinetest.Scene)
		user, web, line string // line: on the telephone, whose frames have their beat
	}{
		{"shares of the caller's speech, and the voice's marks", []pipelinetest.Said{said(1000, 2500, "what time do you open")},
			func(s *pipelinetest.Scene) { s.LLM.Replies = reply("We open at nine.") },
			"user_line what[1000-1285] time[1357-1642] do[1714-1857] you[1928-2142] open[2214-2500] ~",
			"agent_line We[2930-3180] open[3180-3430] at[3430-3680] nine.[3680-3930]",
			"agent_line We[2940-3190] open[3190-3440] at[3440-3690] nine.[3690-3940]"},
		{"pauses left out", []pipelinetest.Said{said(1000, 2000, "I would like"), said(2300, 3300, "a table please")},
			func(s *pipelinetest.Scene) {
				s.ASR.Plan = []enginetest.Heard{{At: 3420 * ms, Text: "I would like a table please", Final: true}}
				s.LLM.Replies = reply("Fine.")
				s.Config.Turn.Complete = func(string) float64 { return 0.4 }
			},
			"user_line I[1000-1074] would[1148-1518] like[1592-1888] a[1962-2337] table[2411-2781] please[2855-3299] ~",
			"agent_line Fine.[5050-5300]", "agent_line Fine.[5060-5310]"},
		{"the recogniser's times", []pipelinetest.Said{said(1000, 2500, "")},
			func(s *pipelinetest.Scene) {
				// The first sample that it gets is 400 ms older than the speech.
				s.ASR.Plan = []enginetest.Heard{{At: 2620 * ms, Text: "what time", Final: true, Words: []inference.Mark{wordMark("what", 400, 700), wordMark("time", 1200, 1800)}}}
				s.LLM.Replies = reply("Nine.")
			}, "user_line what[1000-1300] time[1800-2400]", "agent_line Nine.[2930-3180]", "agent_line Nine.[2940-3190]"},
		{"a voice without marks, and words that are long to say", []pipelinetest.Said{said(1000, 2500, "hello")},
			func(s *pipelinetest.Scene) {
				s.TTS.MarkEvery = 0
				s.LLM.Replies = reply("It costs $12 now.")
			}, "user_line hello[1000-2500] ~", "agent_line It[2930-3001] costs[3037-3215] $12[3251-3751] now.[3787-3930] ~",
			"agent_line It[2940-3011] costs[3047-3225] $12[3261-3761] now.[3797-3940] ~"},
		{"a voice that falls behind", []pipelinetest.Said{said(1000, 2500, "hello")},
			func(s *pipelinetest.Scene) {
				s.TTS.Chunk, s.TTS.Every = 500*ms, 1000*ms
				s.LLM.Replies = reply("We open at nine.")
			}, "user_line hello[1000-2500] ~", "agent_line We[2930-3180] open[3180-3430] at[3930-4180] nine.[4180-4430]",
			"agent_line We[2940-3190] open[3190-3440] at[3940-4190] nine.[4190-4440]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, telephone := range []bool{false, true} {
				o, _ := hold(t, 7000, func(s *pipelinetest.Scene) {
					if tt.setup(s); telephone {
						s.Leg.Telephone()
					}
				}, tt.said...)
				want := tt.user + "\n" + tt.web
				if telephone {
					want = tt.user + "\n" + tt.line
				}
				if got := strings.Join(o.lines, "\n"); got != want {
					t.Errorf("telephone %v:\n%s\nwant\n%s", telephone, got, want)
				}
			}
		})
	}
}

// TestInterruptionMarks: a line that was cut off says where, and keeps what nobody heard
// apart: neither the line nor what the model is asked next has it.
func TestInterruptionMarks(t *testing.T) {
	o, s := hold(t, 8000, fourSentences, table, said(6000, 7200, "no wait, I meant Friday"))
	const want = `agent_line We[5000-5250] have[5250-5500] a[5500-5750] table.[5750-6000] It[6000-6250] cut at 6340, not "is for four. It is by the window."
user_line no[6000-6104] wait,[6156-6417] I[6469-6521] meant[6573-6834] Friday[6886-7199] ~`
	if got := strings.Join(o.lines, "\n"); !strings.Contains(got, want) {
		t.Errorf("%s\nis not\n%s", got, want)
	}
	for _, prompt := range s.Prompts() {
		for _, m := range prompt {
			if strings.Contains(m.Text, "four") || strings.Contains(m.Text, "window") {
				t.Errorf("the model was told %q", m.Text)
			}
		}
	}
	// A function's wait was filled, and the caller spoke over the filler.
	o, _ = hold(t, 6000, func(s *pipelinetest.Scene) {
		s.Config.ClientTools = true
		s.Config.Agent.Tools = []inference.Tool{{Name: "book"}}
		s.LLM.Replies = [][]enginetest.Step{calls("", "book")}
		s.TTS.FirstAudio = 0
	}, said(1000, 2500, "book it"), said(4300, 5000, "hurry up"))
	if got := strings.Join(o.lines, "\n"); !strings.Contains(got, `One[`) || !strings.Contains(got, `not "`) {
		t.Error(got)
	}
}

// TestPoints: the six points of a turn, of one that was begun in advance, of one that was
// typed and of one that goes on after a function.
func TestPoints(t *testing.T) {
	points := func(o heldTalk) string {
		var list []string
		for _, x := range o.timings {
			p := []string{fmt.Sprint(x.SpeechEnd.Milliseconds())}
			for _, d := range []time.Duration{x.FinalText, x.FirstToken, x.FirstSentence, x.FirstAudio, x.FirstPacket} {
				if d == reply.Never {
					p = append(p, "-")
				} else {
					p = append(p, fmt.Sprint(d.Milliseconds()))
				}
			}
			list = append(list, strings.Join(p, " "))
		}
		return strings.Join(list, "; ")
	}
	slowly := func(s *pipelinetest.Scene) {
		s.LLM.Replies = [][]enginetest.Step{{{After: 150 * ms, Text: "We open "}, {After: 100 * ms, Text: "at nine. Come "}, {After: 900 * ms, Text: "early."}}}
	}
	for name, tt := range map[string]struct {
		setup func(*pipelinetest.Scene)
		want  string
	}{
		"answered": {slowly, "2500 120 350 450 530 530"},
		"in advance": {func(s *pipelinetest.Scene) {
			slowly(s)
			s.Config.Speculation = reply.SpeculateText
		}, "2500 120 270 370 450 450"},
		"before the final text": {func(s *pipelinetest.Scene) {
			slowly(s)
			s.ASR.Plan = s.ASR.Plan[:len(s.ASR.Plan)-1]
		}, "2500 - 750 850 930 930"},
		"typed": {func(s *pipelinetest.Scene) {
			slowly(s)
			s.Act = func(c *pipeline.Call) {
				time.Sleep(510 * ms)
				c.Type("what time do you open")
			}
			s.Leg.HangUp = 2 * time.Second
		}, "510 - 150 250 330 330"},
		"after a function": {func(s *pipelinetest.Scene) {
			s.Config.ClientTools = true
			s.Config.Agent.Tools = []inference.Tool{{Name: "book"}}
			s.LLM.Replies = [][]enginetest.Step{calls("", "book"), enginetest.Sentences(150*ms, "Booked. ")}
			s.Observe = func(c *pipeline.Call, e event.Event) {
				if e.Kind == event.ToolAsked {
					c.ToolResult(e.Call.ID, `{"ok":true}`)
				}
			}
		}, "2500 120 500 500 580 580"},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := hold(t, 6000, tt.setup, said(1000, 2500, "what time do you open"))
			if got := points(o); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
