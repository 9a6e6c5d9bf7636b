package session_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference/enginetest"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/session/sessiontest"
)

// TestTranscript: the history that is stored says what was said in the end.
func TestTranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		s := o.Call(web, func(s *pipelinetest.Scene) {
			s.Leg.Speech = []pipelinetest.Utterance{{From: 1000 * ms, To: 2500 * ms}, {From: 2720 * ms, To: 3500 * ms}}
			s.ASR.Plan = append(enginetest.Spoken(1000*ms, 2500*ms, "a table"), enginetest.Spoken(2720*ms, 3500*ms, "for two")...)
			s.Leg.HangUp = 9 * time.Second
		})
		o.Wait()
		var got []string
		for _, l := range o.Ledger.Talks[s.ID()].Transcript {
			got = append(got, l.Role+": "+l.Text)
		}
		if want := []string{"user: a table for two", "agent: Yes I can help. It takes two days. Is that all right?"}; !slices.Equal(got, want) {
			t.Errorf("stored %q", got)
		}
	})
}
