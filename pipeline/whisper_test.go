package pipeline_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
	"parley/pipeline"
	"parley/pipeline/bridge"
	"parley/pipeline/pipelinetest"
)

// TestWhisperToAColleague: what a supervisor says to the person to whom the caller was connected, in writing or by their own voice, that
// person alone hears.
func TestWhisperToAColleague(t *testing.T) {
	var o *colleague
	play(t, 30000, func(s *pipelinetest.Scene) {
		handsOver(s, `{"to":"sales","summary":"A caller wants two chairs."}`)
		s.TTS.Tone = agentsTone
		s.Leg.Keeps, s.Leg.Audio = true, mediatest.Tone(callersTone, media.Rate8k, 40*8000, 0.2)
		o = consults(s, func(l *pipelinetest.Leg) {
			l.Keeps, l.Audio = true, mediatest.Tone(officesTone, media.Rate8k, 40*8000, 0.2)
		}, nil)
		s.Act = func(c *pipeline.Call) {
			time.Sleep(time.Until(s.Leg.Start().Add(9 * time.Second)))
			c.Whisper("Offer them ten percent.")
			time.Sleep(4 * time.Second)
			carla := c.Coach("usr_carla", media.Rate16k)
			if err := carla.StepIn(context.Background()); err != nil {
				t.Error(err)
				return
			}
			if err := c.Coach("usr_dora", media.Rate16k).StepIn(context.Background()); !errors.Is(err, bridge.ErrSupervised) {
				t.Errorf("a second one: %v", err)
			}
			if err := c.Supervisor("usr_dora", media.Rate16k).StepIn(context.Background()); !errors.Is(err, bridge.ErrNotTalking) {
				t.Errorf("somebody takes over: %v", err)
			}
			talks(carla, 2*time.Second, 0)
			carla.StepOut()
			talks(carla, time.Second, 0)
			dora := c.Coach("usr_dora", media.Rate16k)
			if err := dora.StepIn(context.Background()); err != nil {
				t.Errorf("another one afterwards: %v", err)
			}
			dora.StepOut()
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "tool_ended call_1_1 ok")
		call := s.Leg.Start()
		for _, phase := range []struct {
			from, to time.Duration
			aside    []int
		}{
			{7000 * ms, 8900 * ms, nil}, {9300 * ms, 9900 * ms, []int{agentsTone}}, {10500 * ms, 12900 * ms, nil},
			{13300 * ms, 14800 * ms, []int{supervisorsTone}}, {15300 * ms, 16000 * ms, nil},
		} {
			wantTones(t, "the office", o.Leg, call, phase.from, phase.to, append([]int{callersTone}, phase.aside...)...)
			wantTones(t, "the caller", s.Leg, call, phase.from, phase.to, officesTone)
		}
	}, said(1000, 2500, "sales please"))
}

// TestCoachRefused: where no person has the caller, nobody is to be spoken to.
func TestCoachRefused(t *testing.T) {
	play(t, 12000, func(s *pipelinetest.Scene) {
		s.Act = func(c *pipeline.Call) {
			time.Sleep(6 * time.Second)
			if err := c.Coach("usr_carla", media.Rate16k).StepIn(context.Background()); !errors.Is(err, bridge.ErrNotTalking) {
				t.Errorf("while the agent speaks: %v", err)
			}
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `agent_line "Yes I can help. It takes two days. Is that all right?"`)
	}, table)
}
