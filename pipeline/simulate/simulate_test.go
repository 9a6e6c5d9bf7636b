package simulate_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/scripted"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/reply"
	"parley/pipeline/simulate"
	"parley/pipeline/tool"
	"parley/pipeline/toolbox"
)

const prompt = `You answer for Casa Lola.
When the caller says "opening hours", "when are you open": We are open from nine to six. On Sundays we are closed.
When the caller says "book a table for {number}": call book {"people":"{number}"} then say Your table is {result.table}.
When nothing matches: I can only tell you about Casa Lola.`

// lola is an agent as a server would make it of its settings.
func lola(t *testing.T, settings string) simulate.Subject {
	t.Helper()
	s, err := agent.ParseSettings([]byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	return simulate.Subject{Config: pipeline.Config{
		Agent: agent.Agent{Prompt: prompt, FirstMessage: "Casa Lola, hello.", Voice: "F1", Language: "en"},
		LLM:   scripted.New(), Turn: s.Turn("en"), Speculation: reply.SpeculateText.With(&s),
		Functions: []tool.Function{{Spec: inference.Tool{Name: "book", Description: "Book a table.",
			Parameters: []byte(`{"type":"object","properties":{"people":{"type":"integer"}}}`)}}},
	}}
}

func parse(t *testing.T, text string) *simulate.Script {
	t.Helper()
	s, err := simulate.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// said is a conversation, a line each.
func said(r simulate.Result) string {
	var b strings.Builder
	for _, l := range r.Lines {
		fmt.Fprintf(&b, "%s: %s\n", l.Role, l.Text)
	}
	return b.String()
}

func failed(r simulate.Result) (list []string) {
	for _, c := range r.Checks {
		if !c.OK {
			list = append(list, c.Expected+": "+c.Found)
		}
	}
	return list
}

// TestConversation: the caller asks, pauses, books and hangs up; the functions give what
// the script says; all that is expected comes about, and the same again.
func TestConversation(t *testing.T) {
	s := parse(t, `
caller:
- say: When are <700> you open
  expect: [from nine to SIX, "/on sundays? we/"]
- say: I would like to book a table for four
  after_ms: 1000
  expect: [terrace]
functions: {book: {table: on the terrace}}
expect:
- says: hello
- never_says: only tell you
- hears: book a table
- calls: book
- never_calls: web_search
- ended: user_hangup
- interruptions: 0
- turn_ms: 1500
- seconds: 60
`)
	r := simulate.Run(t.Context(), s, lola(t, `{}`), 1)
	if want := `agent: Casa Lola, hello.
user: When are you open
agent: We are open from nine to six. On Sundays we are closed.
user: I would like to book a table for four
agent: Your table is on the terrace.
`; said(r) != want || !r.OK || r.Problem != "" || len(failed(r)) > 0 || len(r.Checks) != 12 {
		t.Errorf("%s%v %q", said(r), failed(r), r.Problem)
	}
	if len(r.Functions) != 1 || !strings.Contains(r.Functions[0].Arguments, "4") || len(r.Turns) != 2 {
		t.Errorf("functions %v, turns %v", r.Functions, r.Turns)
	}
	for _, turn := range r.Turns[:1] {
		if turn.TotalMS < 300 || turn.TotalMS > 1500 {
			t.Errorf("the answer took %d ms", turn.TotalMS)
		}
	}
	if again := simulate.Run(t.Context(), s, lola(t, `{}`), 1); !reflect.DeepEqual(r, again) {
		t.Error("the same script gives another conversation")
	}
}

// TestFailedExpectations: each that is not met is reported with what was there instead.
func TestFailedExpectations(t *testing.T) {
	s := parse(t, `
caller: [{say: when are you open, expect: [at midnight]}]
expect:
- {says: welcome}
- {never_says: nine}
- {hears: goodbye}
- {calls: book}
- {ended: agent_hangup}
- {interruptions: 1}
- {turn_ms: 10}
- {seconds: 1}
`)
	r := simulate.Run(t.Context(), s, lola(t, `{}`), 1)
	if r.OK || len(failed(r)) != 9 {
		t.Errorf("%v\n%s", failed(r), said(r))
	}
	for _, want := range []string{`step 1: says "at midnight": "We are open`, `says "welcome": never`, `ends with agent_hangup: user_hangup`, `1 interruptions: 0`} {
		if !strings.Contains(strings.Join(failed(r), "\n"), want) {
			t.Errorf("%s is not in %v", want, failed(r))
		}
	}
}

// TestTalkedOver: a caller who speaks over the agent cuts it off, unless it must not be
// interrupted; noise never does.
func TestTalkedOver(t *testing.T) {
	text := `
caller:
- {say: when are you open, expect: [we are open]}
- {say: "no wait stop please", over_ms: 800}
- {say: when are you open}
- {noise_ms: 300, over_ms: 600}
expect: [{interruptions: %d}]
`
	for settings, interruptions := range map[string]int{`{}`: 1, `{"interruptible": "never"}`: 0} {
		r := simulate.Run(t.Context(), parse(t, fmt.Sprintf(text, interruptions)), lola(t, settings), 1)
		if !r.OK {
			t.Errorf("%s: %v\n%s", settings, failed(r), said(r))
		}
		whole := strings.Count(said(r), "agent: We are open from nine to six. On Sundays we are closed.\n")
		if want := 2 - interruptions; whole != want {
			t.Errorf("%s: the answer was heard %d times to its end, want %d\n%s", settings, whole, want, said(r))
		}
	}
}

// TestKeys: what the caller types reaches the function that collects it.
func TestKeys(t *testing.T) {
	subject := lola(t, `{}`)
	subject.Config.Keys = []string{toolbox.CollectDigits}
	model := enginetest.NewFakeLLM()
	model.Answer = func(_ int, r inference.Request) []enginetest.Step {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == inference.RoleTool {
			return []enginetest.Step{{Text: "Thank you, I have " + last.Text + "."}}
		}
		return []enginetest.Step{{Text: "Type your number."}, {Tool: &inference.ToolCall{Name: "collect_digits", Arguments: `{"max_digits":4}`}}}
	}
	subject.Config.LLM = model
	r := simulate.Run(t.Context(), parse(t, `
caller:
- {say: I want my balance}
- {press: "1234", expect: ["1234", max_digits]}
expect: [{calls: collect_digits}]
`), subject, 1)
	if !r.OK {
		t.Errorf("%v %s\n%s", failed(r), r.Problem, said(r))
	}
}

// TestPersona: a model plays the caller, hears the agent, and hangs up when it is done.
func TestPersona(t *testing.T) {
	subject := lola(t, `{}`)
	caller := enginetest.NewFakeLLM()
	var heard []string
	caller.Answer = func(n int, r inference.Request) []enginetest.Step {
		if !strings.Contains(r.System, "a hungry person") {
			t.Errorf("the caller is %q", r.System)
		}
		heard = append(heard, string(r.Messages[len(r.Messages)-1].Role)+" "+r.Messages[len(r.Messages)-1].Text)
		return []enginetest.Step{{Text: []string{"When are you open?", "Thanks, goodbye. [hang up]"}[min(n, 1)]}}
	}
	subject.Caller = caller
	r := simulate.Run(t.Context(), parse(t, "persona: You are a hungry person.\nexpect: [{says: nine}, {hears: thanks}, {ended: agent_hangup}, {calls: end_call}]"), subject, 1)
	if want := []string{"user Casa Lola, hello.", "user We are open from nine to six. On Sundays we are closed."}; !r.OK || !reflect.DeepEqual(heard, want) {
		t.Errorf("%v %s, heard %q\n%s", failed(r), r.Problem, heard, said(r))
	}
}

// TestChance: runs with chance differ from each other, and not from themselves.
func TestChance(t *testing.T) {
	s := parse(t, "runs: 20\nseed: 7\ncaller: [{say: when are <400> you open, expect: [nine]}]")
	totals := map[int64]bool{}
	for run := 1; run <= s.Runs; run++ {
		r := simulate.Run(t.Context(), s, lola(t, `{}`), run)
		if !r.OK {
			t.Errorf("run %d: %v\n%s", run, failed(r), said(r))
		}
		if again := simulate.Run(t.Context(), s, lola(t, `{}`), run); !reflect.DeepEqual(r, again) {
			t.Errorf("run %d is another one the second time", run)
		}
		totals[r.LengthMS] = true
	}
	if len(totals) < 5 {
		t.Errorf("20 runs have %d lengths", len(totals))
	}
}

// TestModelsProblem: a model that fails ends the run, and says why.
func TestModelsProblem(t *testing.T) {
	subject := lola(t, `{}`)
	model := enginetest.NewFakeLLM()
	model.Replies = [][]enginetest.Step{{{Err: enginetest.ErrFake}}}
	subject.Config.LLM = model
	s := parse(t, "caller: [{say: hello there}]")
	if r := simulate.Run(t.Context(), s, subject, 1); r.OK || r.Problem != enginetest.ErrFake.Error() {
		t.Errorf("ok %v, %q", r.OK, r.Problem)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := simulate.Run(ctx, s, lola(t, `{}`), 1); r.OK || r.Problem != context.Canceled.Error() {
		t.Errorf("ok %v, %q", r.OK, r.Problem)
	}
}

// TestMistakes: each mistake in a script is named by its path.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"caller: []":                                                                 "caller: is missing",
		"caller: [{}]":                                                               "caller[0]: must have one of",
		"caller: [{say: a, press: '1'}]":                                             "caller[0]: must have one of",
		"caller: [{press: 'x'}]":                                                     "caller[0].press",
		"caller: [{shout: a}]":                                                       "caller[0].shout",
		"caller: [{say: 'a <b> c'}]":                                                 "caller[0].say",
		"caller: [{say: a, over_ms: -1}]":                                            "caller[0].over_ms",
		"caller: [{say: a, expect: ['/(/']}]":                                        "caller[0].expect[0]",
		"caller: [{say: a}]\nexpect: [{}]":                                           "expect[0]: must have one of",
		"caller: [{say: a}]\nexpect: [{says: '/(/'}]":                                "expect[0].says",
		"caller: [{say: a}]\nexpect: [{says: a, calls: b}]":                          "expect[0]: must have one of",
		"caller: [{say: a}]\nruns: 0":                                                "runs",
		"caller: [{say: a}]\n---\ncaller: [{say: b}]":                                "more than one document",
		"caller: [{say: a}]\ncriteria: [{name: a}]":                                  "criteria[0].rubric",
		"caller: [{say: a}]\ncriteria: [{name: ' ', rubric: b}]":                     "criteria[0].name",
		"caller: [{say: a}]\ncriteria: [{name: a, rubric: b}, {name: a, rubric: c}]": "criteria[1].name",
		"persona: 7": "persona",
		"- a":        "",
		"a: [":       "",
		"":           "",
	} {
		if _, err := simulate.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
