package pipeline_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline/pipelinetest"
)

// behind is a voice that takes texts and gives limit chunks of each, with another one
// behind it. It counts what failed.
func behind(s *pipelinetest.Scene, limit int, failed *[]string) {
	silent := enginetest.NewFakeTTS()
	silent.Name, silent.Limit = "silent", limit
	s.Voice = inference.NewFailoverTTS(inference.FailoverConfig{Failed: func(engine string, _ error) { *failed = append(*failed, engine) }}, silent, s.TTS)
}

// TestSilentVoice: what a voice did not say another one says, once, and the far end
// waits no longer than the watchdog and that one's first sound.
func TestSilentVoice(t *testing.T) {
	const reply = `agent_line "Yes I can help. It takes two days. Is that all right?"`
	for _, c := range []struct {
		name  string
		limit int
		lines []string
		first string // what the second voice was given first
	}{
		{"from the first word", 0, []string{"4280 recovered silent,fake-tts: failed: nothing came in time", "4360 speaking 1", "7360 " + reply, "used 1 committed", "listening"}, "Yes I can help."},
		{"in mid-sentence", 5, []string{"2850 speaking 1", "recovered", `agent_partial "can help."`, reply, "used 1 committed"}, "can help."},
	} {
		t.Run(c.name, func(t *testing.T) {
			var failed []string
			play(t, 12000, func(s *pipelinetest.Scene) {
				ahead(s)
				behind(s, c.limit, &failed)
			}, func(t *testing.T, s *pipelinetest.Scene) {
				log := s.Log()
				for _, l := range c.lines {
					if !strings.Contains(log, l) {
						t.Errorf("%q did not happen", l)
					}
				}
				if strings.Contains(log, "fault") || len(failed) == 0 || failed[0] != "silent" {
					t.Errorf("failed: %q", failed)
				}
				var texts []string // of the reply
				for _, g := range s.TTS.Calls() {
					if strings.Contains("Yes I can help. It takes two days. Is that all right?", g.Speech.Text) {
						texts = append(texts, g.Speech.Text)
					}
				}
				if len(texts) != 3 || texts[0] != c.first {
					t.Errorf("the second voice was given %q", texts)
				}
				last, gap := time.Duration(0), time.Duration(0)
				for _, f := range s.Leg.Sent() {
					if last > 0 || c.limit == 0 {
						gap = max(gap, f.At-max(last, 2700*ms))
					}
					last = f.At
				}
				if gap > 1800*ms+300*ms*time.Duration(min(1, c.limit)) { // frames are sent 300 ms ahead
					t.Errorf("nothing was heard for %v", gap)
				}
			}, said(1000, 2500, "what time do you open"))
		})
	}
}

// TestStumblingVoice: a voice that breaks off is tried again with what it has left.
func TestStumblingVoice(t *testing.T) {
	play(t, 8000, func(s *pipelinetest.Scene) {
		s.Voice = stumbling{s.TTS}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "2930 recovered fake: failed", `agent_partial "can help."`, `agent_line "Yes I can help. It takes two days. Is that all right?"`, "used 1 committed")
	}, said(1000, 2500, "hello"))
}

// stumbling is a voice that breaks in the middle of the first sentence.
type stumbling struct{ *enginetest.FakeTTS }

func (v stumbling) Speak(ctx context.Context, s inference.Speech) iter.Seq2[inference.Chunk, error] {
	return func(yield func(inference.Chunk, error) bool) {
		n := 0
		for c, err := range v.FakeTTS.Speak(ctx, s) {
			if n++; n > 5 && strings.HasPrefix(s.Text, "Yes") {
				c, err = inference.Chunk{}, broken
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// TestSilentVoiceAlone: a voice that stays silent when it is tried again fails the turn.
func TestSilentVoiceAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(said(1000, 2500, "hello"))
		s.TTS.Limit = 0
		s.Play(t, 45*time.Second)
		has(t, s, "recovered fake-tts: failed: nothing came in time", "fault fake-tts: failed: nothing came in time", "used 1 failed", "listening")
		if n := strings.Count(s.Log(), "recovered"); n > 2 { // the reply, and the apology
			t.Errorf("%d sentences were spoken again", n)
		}
		if strings.Contains(s.Log(), "agent_line") {
			t.Error("something counts as said")
		}
		if t.Failed() {
			t.Log("\n" + s.Log())
		}
	})
}
