package pipeline_test

import (
	"regexp"
	"testing"

	"parley/inference/enginetest"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/turn"
)

// TestQuotedFirstSentence: an agent that may be interrupted after its first sentence may be
// so after one that ends with a quotation or an ellipsis.
func TestQuotedFirstSentence(t *testing.T) {
	for _, first := range []string{`He said "yes." `, "He said «yes.» ", "Let me see… "} {
		play(t, 9000, func(s *pipelinetest.Scene) {
			s.Config.Turn.Barge = turn.AfterFirst
			s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(150*ms, first, "It takes two long and rainy days, ", "and two more, ", "and two more, ", "and that is all")}
		}, func(t *testing.T, s *pipelinetest.Scene) {
			if !regexp.MustCompile(`(?m)^\d+ interrupted$`).MatchString(s.Log()) {
				t.Errorf("nobody interrupts after %s", first)
			}
		}, table, said(6200, 7400, "no wait, I meant Friday"))
	}
}
