package simulate_test

import (
	"strings"
	"testing"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline/simulate"
)

const judged = `
caller: [{say: when are you open}]
criteria:
- {name: hours, rubric: 'The agent says "from nine to six".'}
- {name: apology, rubric: 'The agent says "sorry".'}
`

// TestCriteria: each criterion is a check with a reason, of the scripted model by what its
// rubric quotes, and what was used is told apart by whom it was for.
func TestCriteria(t *testing.T) {
	r := simulate.Run(t.Context(), parse(t, judged), lola(t, `{}`), 1)
	if r.OK || r.Problem != "" || len(r.Checks) != 2 {
		t.Fatalf("%+v %s", r.Checks, r.Problem)
	}
	if c := r.Checks[0]; !c.OK || c.Expected != "meets hours" || c.Reason != "All that it quotes was said." {
		t.Errorf("%+v", c)
	}
	if c := r.Checks[1]; c.OK || !strings.Contains(c.Found, "sorry") {
		t.Errorf("%+v", c)
	}
	roles := map[simulate.Role]int{}
	for _, took := range r.Took {
		if roles[took.Role]++; took.Engine == "" || took.Usage.Out == 0 {
			t.Errorf("%+v", took)
		}
	}
	if roles[simulate.TheAgent] == 0 || roles[simulate.Judge] != 2 || roles[simulate.Caller] != 0 {
		t.Errorf("%v", roles)
	}
}

// TestJudge: a model of its own may judge. An answer that does not fit is asked for again,
// and the second one counts as not met; one that fails is the run's problem.
func TestJudge(t *testing.T) {
	subject := lola(t, `{}`)
	judge := enginetest.NewFakeLLM()
	judge.Answer = func(n int, r inference.Request) []enginetest.Step {
		if !strings.HasPrefix(r.System, inference.ExtractPrompt) || !strings.Contains(r.Messages[0].Text, "Agent: We are open") {
			t.Errorf("asked %q of %q", r.System, r.Messages[0].Text)
		}
		return []enginetest.Step{{Text: []string{"well", `{"met":true,"reason":"Nine to six."}`, "no", "no"}[min(n, 3)]}}
	}
	subject.Judge = judge
	r := simulate.Run(t.Context(), parse(t, judged), subject, 1)
	if len(r.Checks) != 2 || !r.Checks[0].OK || r.Checks[0].Reason != "Nine to six." || r.Checks[1].OK || !strings.Contains(r.Checks[1].Found, "no judgement") {
		t.Errorf("%+v %s", r.Checks, r.Problem)
	}
	judge = enginetest.NewFakeLLM()
	judge.Replies = [][]enginetest.Step{{{Err: enginetest.ErrFake}}}
	subject.Judge = judge
	if r := simulate.Run(t.Context(), parse(t, judged), subject, 1); r.OK || !strings.HasPrefix(r.Problem, "criterion hours: ") || len(r.Took) == 0 {
		t.Errorf("%+v", r)
	}
}
