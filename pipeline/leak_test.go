package pipeline_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/agent"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/tool"
)

// TestEndLeavesBehindWhatDoesNotReturn: a function that ignores its cancellation holds up
// the end of a call for 5 s, and is counted.
func TestEndLeavesBehindWhatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(said(1000, 2000, "look it up"))
		release := make(chan struct{})
		defer close(release)
		looksUp(s, tool.Function{Spec: inference.Tool{Name: "f"}, Run: func(context.Context, json.RawMessage) (string, error) {
			<-release
			return "", nil
		}}, "", "Fine. ")
		before, began := isolate.Leaked(), time.Now()
		ended := s.Play(t, 6000*ms)
		if took := time.Since(began); took < 11*time.Second || took > 12*time.Second {
			t.Errorf("it took %v, want 6 s and 5 s for the function", took)
		}
		if ended.Reason != media.APIHangup && ended.Reason != media.UserHangup {
			t.Errorf("it ended by %s", &ended)
		}
		if n := isolate.Leaked() - before; n != 1 {
			t.Errorf("%d goroutines are counted as left behind, want 1", n)
		}
	})
}

// TestPrepareFails: a call that could not be prepared takes everything that one does, and
// does nothing.
func TestPrepareFails(t *testing.T) {
	s := pipelinetest.NewScene()
	f := tool.Function{Spec: inference.Tool{Name: "f"}}
	s.Config.Functions = []tool.Function{f, f}
	c := s.Call()
	if err := c.Prepare(t.Context()); err == nil {
		t.Fatal("two functions of one name are taken")
	}
	c.Type("hello")
	c.Interrupt()
	c.ToolResult("call_1_1", "{}")
	c.Update(func(*agent.Agent) {})
	c.Stop(media.APIHangup, "", true)
	c.Stop(media.APIHangup, "", false)
}
