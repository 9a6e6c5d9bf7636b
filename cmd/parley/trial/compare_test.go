package trial

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"parley/pipeline/agent"
	"parley/pipeline/pipelinetest"
)

// recorded is what is kept of a call in which the caller asks, is answered, interrupts and goes on.
func recorded(t *testing.T) (record []byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(
			pipelinetest.Said{From: time.Second, To: 2500 * time.Millisecond, Text: "what time do you open"},
			pipelinetest.Said{From: 4 * time.Second, To: 5200 * time.Millisecond, Text: "no wait I meant on Friday"})
		s.Leg.Telephone()
		s.Leg.HangUp = 12 * time.Second
		s.Play(t, time.Minute)
		record = s.Record()
	})
	return record
}

func withSettings(settings string) agent.Document {
	return agent.Document{Name: "Lola", Settings: json.RawMessage(settings)}
}

// TestCompare: a recorded call goes another way with other settings, and turn by turn that is said; the same settings change
// nothing, and what cannot be read is an outcome.
func TestCompare(t *testing.T) {
	record := recorded(t)
	patient, never := withSettings(`{"min_endpoint_ms":600}`), withSettings(`{"min_endpoint_ms":600,"interruptible":"never"}`)
	same, err := Compare(record, patient, patient)
	if err != nil || same.Outcome != "same" || len(same.Turns) != 0 || same.TurnsTotal < 2 || same.EndedThen != same.EndedNow {
		t.Errorf("with itself: %+v %v", same, err)
	}
	found, err := Compare(record, never, patient)
	if err != nil || found.Outcome != "differs" || len(found.Turns) == 0 {
		t.Fatalf("without interruptions: %+v %v", found, err)
	}
	for _, turn := range found.Turns {
		if turn.Now != nil && turn.Now.Interrupted {
			t.Errorf("the agent is interrupted though it may not be: %+v", turn.Now)
		}
	}
	was, err := Compare(record, patient, nil)
	if err != nil || was.Outcome != "differs" || was.EndedThen != "user_hangup" {
		t.Errorf("with the call as it was: %+v %v", was, err)
	}
	for _, turn := range was.Turns {
		if turn.Then != nil && turn.Now != nil && turn.Now.Heard == "what time do you open" && (turn.Now.LatencyMS == nil || *turn.Now.LatencyMS <= *turn.Then.LatencyMS) {
			t.Errorf("a longer pause makes no later answer: %+v %+v", turn.Then, turn.Now)
		}
	}
	if odd, err := Compare([]byte("no record"), patient, nil); err != nil || odd.Outcome != "unreadable" || odd.Turns == nil {
		t.Errorf("what is no record: %+v %v", odd, err)
	}
	if _, err := Compare(record, "no agent", nil); err == nil {
		t.Error("what is no agent is compared")
	}
}
