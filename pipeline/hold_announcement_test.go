package pipeline_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"parley/media"
	onhold "parley/media/hold"
	"parley/pipeline/pipelinetest"
)

// onHold has the model transfer a caller who hears 1 kHz on hold, and each 20 s an announcement of 1.5 kHz, until somebody answers.
func onHold(s *pipelinetest.Scene, answers time.Duration) {
	handsOver(s, `{"to":"sales"}`)
	s.Leg.Keeps = true
	s.TTS.Tone = 1500
	s.Config.Turn.Announce = 20 * media.Second
	consults(s, func(*pipelinetest.Leg) {}, nil)
	consult := s.Config.Transfer.Consult
	s.Config.Transfer.Consult = func(ctx context.Context, to string) (media.Leg, func(media.Ended), error) {
		_ = rings(answers, nil)(ctx, to)
		return consult(ctx, to)
	}
	tone := make([]int16, 16000)
	for i := range tone {
		tone[i] = int16(4000 * math.Sin(2*math.Pi*1000*float64(i)/16000))
	}
	codes := onhold.Encode(tone)
	s.Config.Transfer.Hold = func(_ context.Context, rate media.Rate) *onhold.Player { return onhold.Recording(codes, rate) }
}

// TestHoldAnnouncement: who is on hold hears now and then that they are, in the agent's language or its own words, and the sound stops
// for that; it is in the transcript.
func TestHoldAnnouncement(t *testing.T) {
	for name, test := range map[string]struct {
		language, own, line string
	}{
		"in English": {"en", "", "You are still on hold. Somebody will be with you as soon as they can."},
		"in Spanish": {"es", "", "Sigue en espera. Le atenderán lo antes posible."},
		"its own":    {"en", "Please hold the line. We are looking for her.", "Please hold the line. We are looking for her."},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, 60000, func(s *pipelinetest.Scene) {
				onHold(s, 50*time.Second)
				s.Config.Agent.Language, s.Config.Turn.Language, s.ASR.Languages = test.language, test.language, []string{test.language}
				s.Config.Agent.Announcement = test.own
			}, func(t *testing.T, s *pipelinetest.Scene) {
				said := `agent_line "` + test.line + `"`
				has(t, s, `agent_line "I will put you through."`, said, said, "tool_ended call_1_1 ok")
				if n := strings.Count(s.Log(), said); n != 2 {
					t.Errorf("in 50 s it is said %d times", n)
				}
				// The agent has spoken until 3,940 ms.
				for _, at := range []time.Duration{24 * time.Second, 44 * time.Second} {
					if voice, sound := strength(s, at+200*ms, at+1700*ms, 1500), strength(s, at+200*ms, at+1700*ms, 1000); voice < 4000 || sound > 200 {
						t.Errorf("at %v the voice has %.0f and the sound %.0f", at, voice, sound)
					}
					if voice, sound := strength(s, at+3*time.Second, at+5*time.Second, 1500), strength(s, at+3*time.Second, at+5*time.Second, 1000); voice > 100 || sound < 3000 {
						t.Errorf("after %v the voice has %.0f and the sound %.0f", at, voice, sound)
					}
				}
			}, said(1000, 2500, "sales please"))
		})
	}
}

// TestHoldAnnouncementCutOff: what was heard of an announcement is in the transcript when somebody answers over it, and when the caller
// hangs up.
func TestHoldAnnouncementCutOff(t *testing.T) {
	for name, end := range map[string]func(*pipelinetest.Scene){
		"somebody answers":    func(s *pipelinetest.Scene) { onHold(s, 20800*ms) },
		"the caller hangs up": func(s *pipelinetest.Scene) { onHold(s, time.Minute); s.Leg.HangUp = 24900 * ms },
	} {
		t.Run(name, func(t *testing.T) {
			play(t, 30000, end, func(t *testing.T, s *pipelinetest.Scene) {
				has(t, s, `agent_line "I will put you through."`, `agent_line "You are still on hold."`)
			}, said(1000, 2500, "sales please"))
		})
	}
}
