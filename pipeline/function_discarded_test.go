package pipeline_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/tool"
)

// TestFunctionInVain: a function that a reply begun in advance asks for is not run when
// the caller goes on, and is run once when the reply that answers them asks for it.
func TestFunctionInVain(t *testing.T) {
	var ran []time.Duration
	play(t, 8000, func(s *pipelinetest.Scene) {
		unfinished(0.4)(s)
		begun := time.Now()
		s.Config.Functions = []tool.Function{{Spec: inference.Tool{Name: "book"}, Run: func(context.Context, json.RawMessage) (string, error) {
			ran = append(ran, time.Since(begun))
			return "", nil
		}}}
		book := []enginetest.Step{{Tool: &inference.ToolCall{Name: "book", Arguments: "{}"}}}
		s.LLM.IgnoreCancel = true
		s.LLM.Replies = [][]enginetest.Step{book, book, enginetest.Sentences(150*ms, "For two. ")}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		asked(2120, 3720, 3800)(t, s)
		if len(ran) != 1 || ran[0] < 3800*ms || strings.Count(s.Log(), "tool_ended") != 1 {
			t.Errorf("it was run at %v", ran)
		}
		has(t, s, "2960 used speculative 1 discarded", "3800 thinking 1", `agent_line "For two."`)
	}, firstHalf, secondHalf)
}
