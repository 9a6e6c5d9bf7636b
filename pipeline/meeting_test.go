package pipeline_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/media"
	"parley/media/mediatest"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/listen"
	"parley/pipeline/pipelinetest"
)

// The tones of a meeting, in Hz: a frame holds whole periods of each.
const (
	callersTone     = 400
	supervisorsTone = 500
	officesTone     = 700
	agentsTone      = 1500
)

// meeting is a transfer in which the agent introduces the two to each other. The office answers with a short greeting 2 s before it is
// introduced, and does what setup says.
func meeting(s *pipelinetest.Scene, setup func(office *pipelinetest.Leg)) *colleague {
	handsOver(s, `{"to":"sales","summary":"Sales, here is Mister Ruiz. He wants two chairs."}`)
	s.Config.Transfer.To = []agent.Destination{{Number: "+34911234567", Name: "sales", Stay: true}}
	s.TTS.Tone = agentsTone
	s.Leg.Keeps, s.Leg.Audio = true, mediatest.Tone(callersTone, media.Rate8k, 40*8000, 0.2)
	o := consults(s, func(l *pipelinetest.Leg) {
		l.Keeps, l.Audio = true, append(make([]int16, 2*8000), mediatest.Tone(officesTone, media.Rate8k, 40*8000, 0.2)...) // a machine would begin so
		l.Speech = []pipelinetest.Utterance{{From: 300 * ms, To: 900 * ms}}
		setup(l)
	}, nil)
	s.Config.Transfer.Listen = func(media.Rate) (listen.FrontEnd, error) { return pipelinetest.FrontEnd{Leg: o.Leg}, nil }
	return o
}

// tonesOf says which tones of a meeting somebody hears all the time between two moments of the call, which began before their leg.
func tonesOf(leg *pipelinetest.Leg, call time.Time, from, to time.Duration) (tones []int) {
	for _, hz := range []int{callersTone, supervisorsTone, officesTone, agentsTone} {
		least := math.Inf(1)
		for _, f := range leg.Sent() {
			if at := f.At + leg.Start().Sub(call); at < from || at >= to {
				continue
			}
			least = min(least, mediatest.ToneLevel(f.Samples, leg.Format().Out, float64(hz)))
		}
		if least > -35 && !math.IsInf(least, 1) {
			tones = append(tones, hz)
		}
	}
	return tones
}

// wantTones wants somebody to hear such tones and no other.
func wantTones(t *testing.T, who string, leg *pipelinetest.Leg, call time.Time, from, to time.Duration, want ...int) {
	t.Helper()
	got := tonesOf(leg, call, from, to)
	same := len(got) == len(want)
	for i := 0; same && i < len(want); i++ {
		same = got[i] == want[i]
	}
	if !same {
		t.Errorf("from %v to %v %s hears %v Hz, want %v", from, to, who, got, want)
	}
}

// begins is when a line of the log was written.
func begins(t *testing.T, s *pipelinetest.Scene, line string) time.Duration {
	t.Helper()
	for l := range strings.Lines(s.Log()) {
		at, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		if d, err := time.ParseDuration(at + "ms"); err == nil && strings.HasPrefix(rest, line) {
			return d
		}
	}
	t.Fatalf("no %s:\n%s", line, s.Log())
	return 0
}

// TestMeeting: the caller, the agent and the person who was called hear one another from the first moment, and nobody themselves; when
// the person has spoken, or does not in time, the agent leaves and the two talk on.
func TestMeeting(t *testing.T) {
	const introduction = `agent_line "Sales, here is Mister Ruiz. He wants two chairs."`
	for name, test := range map[string]struct {
		speaks  []pipelinetest.Utterance // of the office's leg, beside its greeting
		atMost  time.Duration            // after the introduction the agent is gone
		atLeast time.Duration
	}{
		"the person answers":           {[]pipelinetest.Utterance{{From: 5500 * ms, To: 7000 * ms}}, 2 * time.Second, time.Second},
		"the person speaks in between": {[]pipelinetest.Utterance{{From: 3000 * ms, To: 3600 * ms}}, 100 * ms, 0},
		"the person says nothing":      {nil, 10100 * ms, 9900 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			var o *colleague
			play(t, 30000, func(s *pipelinetest.Scene) {
				o = meeting(s, func(l *pipelinetest.Leg) {
					l.Speech = append(l.Speech, test.speaks...)
					l.HangUp = 20 * time.Second
				})
			}, func(t *testing.T, s *pipelinetest.Scene) {
				has(t, s, `agent_line "I will put you through."`, "tool_ended call_1_1 ok")
				in, out := begins(t, s, "stepped_in"), begins(t, s, "stepped_out")
				if begins(t, s, introduction) > out {
					t.Error("the agent left before it was done")
				}
				said := in + 2*time.Second // two sentences
				if gone := out - said; gone > test.atMost+100*ms || gone < test.atLeast-100*ms {
					t.Errorf("it leaves %v after the introduction", gone)
				}
				call := s.Leg.Start()
				wantTones(t, "the office", o.Leg, call, in+200*ms, said-100*ms, callersTone, agentsTone)
				wantTones(t, "the caller", s.Leg, call, in+200*ms, said-100*ms, officesTone, agentsTone)
				if out > said+500*ms {
					wantTones(t, "the office", o.Leg, call, said+300*ms, out-100*ms, callersTone)
					wantTones(t, "the caller", s.Leg, call, said+300*ms, out-100*ms, officesTone)
				}
				wantTones(t, "the office", o.Leg, call, out+200*ms, out+2*time.Second, callersTone)
				wantTones(t, "the caller", s.Leg, call, out+200*ms, out+2*time.Second, officesTone)
				if !strings.HasSuffix(s.Log(), " end completed: transferred") {
					t.Error("the two are not connected")
				}
			}, said(1000, 2500, "sales please"))
		})
	}
}

// TestMeetingFails: when the person hangs up before the two have met, the agent goes on with the caller, and knows what the caller said
// meanwhile.
func TestMeetingFails(t *testing.T) {
	var o *colleague
	play(t, 25000, func(s *pipelinetest.Scene) {
		o = meeting(s, func(l *pipelinetest.Leg) { l.HangUp = 8 * time.Second })
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `stepped_in "sales"`, `user_line "good morning"`, "stepped_out", "tool_ended call_1_1 error", `agent_line "It is busy."`)
		wantResult(t, s.Prompts()[1], "before the two had met")
		if all := s.Prompts()[1]; !strings.Contains(textsOf(all), "good morning") {
			t.Errorf("the model does not know what the caller said: %+v", all)
		}
		if e := <-o.ended; e.Reason == "" {
			t.Error("the second call has no end")
		}
	}, said(1000, 2500, "sales please"), said(9000, 10000, "good morning"))
}

// TestMeetingWithASupervisor: where somebody else has the caller, the person alone is told, and then the two are connected.
func TestMeetingWithASupervisor(t *testing.T) {
	play(t, 25000, func(s *pipelinetest.Scene) {
		meeting(s, func(l *pipelinetest.Leg) { l.HangUp = 10 * time.Second })
		s.Act = func(c *pipeline.Call) {
			time.Sleep(time.Until(s.Leg.Start().Add(5 * time.Second)))
			if err := c.Supervisor("usr_carla", media.Rate16k).StepIn(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `stepped_in "usr_carla"`, "stepped_out", "tool_ended call_1_1 ok")
		if strings.Contains(s.Log(), `agent_line "Sales`) || !strings.HasSuffix(s.Log(), " end completed: transferred") {
			t.Error("the caller heard the introduction, or was not connected")
		}
	}, said(1000, 2500, "sales please"))
}

// TestMeetingIsPrivate: the person who was called is recorded only where transfers are.
func TestMeetingIsPrivate(t *testing.T) {
	for _, record := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := pipelinetest.NewScene(said(1000, 2500, "sales please"))
			meeting(s, func(l *pipelinetest.Leg) { l.HangUp = 8 * time.Second })
			s.Config.Transfer.Record = record
			got := played(t, s, 20*time.Second)
			at := begins(t, s, "stepped_in") + 2500*ms
			side := got.sides[1]
			second := side[int(at.Seconds()*float64(got.rate)):int((at+time.Second).Seconds()*float64(got.rate))]
			if heard := mediatest.ToneLevel(second, got.rate, officesTone) > -35; heard != record {
				t.Errorf("recorded %v, and the person's voice is in it: %v", record, heard)
			}
		})
	}
}

// textsOf is what a model was told, in one text.
func textsOf(messages []inference.Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m.Text + "\n")
	}
	return b.String()
}
