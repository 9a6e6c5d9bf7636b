package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/media/mediatest"
	"parley/pipeline"
	"parley/pipeline/bridge"
	"parley/pipeline/listen"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/scribe"
)

// loud is a front end that takes what is loud for speech.
type loud struct{}

func (loud) Hear(f media.Frame) (media.Frame, listen.Activity) {
	for _, v := range f.Samples {
		if v > 1000 {
			return f, listen.Activity{Speech: true, Level: -20}
		}
	}
	return f, listen.Activity{Level: -90}
}

// writes writes down texts, one for each utterance.
func writes(texts ...string) *scribe.Scribe {
	asr := enginetest.NewFakeASR()
	asr.Texts = texts
	return &scribe.Scribe{ASR: asr, FrontEnd: func(media.Rate) (listen.FrontEnd, error) { return loud{}, nil }}
}

// talks has a supervisor speak for so long, and then be silent.
func talks(s *bridge.Supervisor, voice, silence time.Duration) {
	n := media.Rate16k.FrameSamples()
	tone, quiet := mediatest.Tone(500, media.Rate16k, n, 0.3), make([]int16, n)
	for d := time.Duration(0); d < voice+silence; d += media.FrameDuration {
		if d < voice {
			s.Say(tone)
		} else {
			s.Say(quiet)
		}
		time.Sleep(media.FrameDuration)
	}
}

// TestSupervisor: who steps in stops the agent and is heard by the caller; what both say is kept, and the agent knows it when it has
// the call back.
func TestSupervisor(t *testing.T) {
	for name, leg := range map[string]func(*pipelinetest.Leg) *pipelinetest.Leg{
		"telephone": (*pipelinetest.Leg).Telephone, "socket": func(l *pipelinetest.Leg) *pipelinetest.Leg { return l },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(table, said(12000, 13000, "who is that"), said(17000, 18000, "thank you"))
				leg(s.Leg)
				s.Config.Scribe = writes("Carla here.", "I will help you.")
				s.Config.Turn.Idle = 4 * media.Second
				s.Act = func(c *pipeline.Call) {
					time.Sleep(time.Until(s.Leg.Start().Add(6000 * ms)))
					carla := c.Supervisor("usr_carla", media.Rate16k)
					if err := carla.StepIn(t.Context()); err != nil {
						t.Error(err)
						return
					}
					if err := c.Supervisor("usr_dora", media.Rate16k).StepIn(t.Context()); !errors.Is(err, bridge.ErrSupervised) {
						t.Errorf("a second supervisor: %v", err)
					}
					talks(carla, 2*time.Second, 6*time.Second)
					talks(carla, time.Second, 0)
					carla.StepOut()
					carla.StepOut()
				}
				s.Play(t, 23000*ms)
				has(t, s, "4990 speaking 1", "6000 interrupted", `6000 stepped_in "usr_carla"`)
				has(t, s, `stepped_in "usr_carla"`, `user_line "who is that"`, `supervisor_line "I will help you."`)
				has(t, s, `supervisor_line "Carla here."`, "stepped_out", `user_line "thank you"`, "thinking 2")
				if log := s.Log(); strings.Count(log, " thinking ") != 2 || strings.Count(log, "supervisor_line") != 2 || strings.Contains(log, "Are you still there?") {
					t.Errorf("the log is\n%s", log)
				}
				voiced := 0
				for _, f := range s.Leg.Sent() {
					if f.At >= 6000*ms && f.At < 14000*ms && !f.Silent {
						voiced++
					}
				}
				if voiced < 95 || voiced > 105 {
					t.Errorf("the caller hears %d frames of the supervisor's, want 100", voiced)
				}
				prompts := s.Prompts()
				said := ""
				for _, m := range prompts[len(prompts)-1] {
					said += string(m.Role) + ": " + m.Text + "\n"
				}
				for _, want := range []string{"Carla here.", "user: who is that", "I will help you.", "user: thank you"} {
					if _, after, found := strings.Cut(said, want); found {
						said = after
					} else {
						t.Errorf("the model does not know %q, or not in its turn: %s", want, said)
					}
				}
			})
		})
	}
}

// TestSupervisorRefused: nobody steps in before the conversation has begun, nor after it.
func TestSupervisorRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(table)
		s.Leg.Telephone().HangUp = 7000 * ms
		var call *pipeline.Call
		s.Act = func(c *pipeline.Call) { call = c }
		s.Play(t, 10*time.Second)
		if err := call.Supervisor("usr_carla", media.Rate16k).StepIn(t.Context()); !errors.Is(err, bridge.ErrNotTalking) {
			t.Errorf("after the end: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := call.Supervisor("usr_carla", media.Rate16k).StepIn(gone); err == nil {
			t.Error("a context that is over takes somebody in")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(table)
		s.Config.Agent.Goodbye = "Goodbye."
		s.Act = func(c *pipeline.Call) {
			time.Sleep(6000 * ms)
			c.Stop(media.MaxDuration, "", true)
			time.Sleep(100 * ms)
			if err := c.Supervisor("usr_carla", media.Rate16k).StepIn(t.Context()); !errors.Is(err, bridge.ErrNotTalking) {
				t.Errorf("while the call is closed: %v", err)
			}
		}
		s.Play(t, 20*time.Second)
	})
}

// TestSupervisorInAFunction: a function that runs when somebody steps in goes on, and nothing is said of its result.
func TestSupervisorInAFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(table, said(9000, 10000, "is it booked"))
		s.Config.ClientTools, s.Config.Agent.Tools = true, []inference.Tool{{Name: "book"}}
		s.LLM.Replies = [][]enginetest.Step{calls("", "book"), enginetest.Sentences(150*ms, "It is. ")}
		s.Act = func(c *pipeline.Call) {
			time.Sleep(5500 * ms)
			carla := c.Supervisor("usr_carla", media.Rate16k)
			if err := carla.StepIn(t.Context()); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(500 * ms)
			c.ToolResult("call_1_1", "booked")
			time.Sleep(2000 * ms)
			carla.StepOut()
		}
		s.Play(t, 13*time.Second)
		has(t, s, "tool_asked call_1_1 book {}", `stepped_in "usr_carla"`, "tool_ended call_1_1 ok", "stepped_out", `user_line "is it booked"`, `agent_line "It is."`)
	})
}

// TestAdvise: the agent knows what its supervisor tells it, and nobody hears it.
func TestAdvise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(table, said(9000, 10000, "how much"))
		s.Act = func(c *pipeline.Call) {
			time.Sleep(6000 * ms)
			c.Whisper("Offer them ten percent.")
		}
		s.Play(t, 12*time.Second)
		asked := s.LLM.Calls()
		if first, last := asked[0].Request.System, asked[len(asked)-1].Request.System; strings.Contains(first, "ten percent") || !strings.Contains(last, "does not hear it:\nOffer them ten percent.") {
			t.Errorf("the model is told %q, then %q", first, last)
		}
		if strings.Contains(s.Log(), "percent") {
			t.Errorf("the log is\n%s", s.Log())
		}
	})
}
