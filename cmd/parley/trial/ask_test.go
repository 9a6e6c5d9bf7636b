package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	routes "parley/api/cases"
	"parley/api/wire"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/media/isolate/isolatetest"
	"parley/pipeline/agent"
	"parley/pipeline/journal"
	"parley/store"
)

// spoken is what is kept of a call in which the agent greets, looks up when it opens, and says goodbye.
func spoken(t *testing.T) []byte {
	t.Helper()
	hours := &inference.ToolCall{ID: "call_1_1", Name: "hours", Arguments: `{"day": "Friday"}`}
	var w journal.Writer
	w.Begin(journal.Origin{Start: time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC), Format: media.Format{In: media.Rate16k, Out: media.Rate16k}, Agent: journal.Person{Voice: "F1", Language: "en"}})
	for _, e := range []journal.Event{{Kind: "agent_line", Text: "Casa Lola, hello."}, {Kind: "user_line", Turn: 1, Text: "when do you open on Friday"},
		{Kind: "tool_begun", Turn: 1, Call: hours}, {Kind: "tool_ended", Turn: 1, Call: hours, Text: "ok"}, {Kind: "agent_line", Turn: 1, Text: "At nine."},
		{Kind: "user_line", Turn: 2, Text: "thanks bye"}, {Kind: "agent_line", Turn: 2, Text: "Goodbye."}, {Kind: "end", Turn: 2, Reason: "user_hangup"}} {
		w.Event(e)
	}
	w.Input(&journal.Input{Kind: journal.Began})
	w.Close()
	return w.Bytes()
}

// clerk answers by the prompt: it looks up the day that is in it, says what it reads, and hangs up when the caller says goodbye.
func clerk(_ int, r inference.Request) []enginetest.Step {
	last := r.Messages[len(r.Messages)-1]
	day, usage := strings.TrimSuffix(strings.TrimPrefix(r.System, "Look up "), "."), &inference.Usage{In: 100, Out: 10, Source: inference.UsageProvider}
	switch {
	case strings.HasPrefix(r.System, "Break"):
		return []enginetest.Step{{Err: errors.New("it broke")}}
	case last.Role == inference.RoleTool:
		return []enginetest.Step{{Text: "It says " + last.Text, Usage: usage}}
	case strings.Contains(last.Text, "bye"):
		return []enginetest.Step{{Text: fmt.Sprintf("Goodbye after %d lines.", len(r.Messages))}, {Tool: &inference.ToolCall{Name: "end_call"}, Usage: usage}}
	}
	return []enginetest.Step{{Text: "Let me see."}, {Tool: &inference.ToolCall{Name: "hours", Arguments: `{"day":"` + day + `"}`}, Usage: usage}}
}

func prompted(prompt string) agent.Document {
	return agent.Document{Name: "Lola", Voice: "F1", Language: "en", FirstMessage: prompt, Prompt: prompt,
		Tools: json.RawMessage(`[{"type":"function","function":{"name":"hours","parameters":{"type":"object","properties":{"day":{"type":"string"}}}}}]`)}
}

func asking(d *desk) Asking {
	model := enginetest.NewFakeLLM()
	model.Answer = clerk
	d.model = model
	return Asking{Sessions: d.work.Sessions, Model: d.work.Model, Log: d.work.Log}
}

func shown(a wire.ComparedAnswer) string {
	side := func(s *wire.AnswerSide) string {
		if s == nil {
			return "-"
		}
		text := s.Text
		for _, f := range s.Functions {
			text += fmt.Sprintf(" %s(%s)%v", f.Name, f.Arguments, f.Recorded)
		}
		if s.Failed {
			text += " failed"
		}
		return text
	}
	return fmt.Sprintf("%d %v: %s | %s | %s", a.Turn, a.Differs, side(&a.Recorded), side(a.Then), side(&a.Now))
}

// TestAsk: the models of two agents answer each turn after what was recorded before it; a function that was called so gives what it
// gave, another one ends the answer; and what they take is charged.
func TestAsk(t *testing.T) {
	d := newDesk(t)
	asked, err := asking(d).Ask(t.Context(), routes.Asking{Account: d.account, Agent: d.agent, Of: prompted("Look up Friday."), Other: prompted("Look up Monday."), Turns: 10})
	d.ok(err)
	answers, left := asked.Answer(spoken(t), map[string]string{"call_1_1": "from nine"})
	in, out, stopped := asked.Close()
	var got []string
	for _, a := range answers {
		got = append(got, shown(a))
	}
	const want = `0 true: Casa Lola, hello. | Look up Monday. | Look up Friday.
1 true: At nine. hours({"day": "Friday"})true | Let me see. hours({"day":"Monday"})false | Let me see. It says from nine hours({"day":"Friday"})true
2 false: Goodbye. | Goodbye after 6 lines. end_call()false | Goodbye after 6 lines. end_call()false`
	if text := strings.Join(got, "\n"); text != want || left != 0 || stopped != "" {
		t.Errorf("%d left, %q:\n%s\nwant\n%s", left, stopped, text, want)
	}
	if in != 500 || out != 50 || d.spent() <= 0 {
		t.Errorf("%d and %d tokens, paid %v", in, out, d.spent())
	}
	charged, err := store.List[string](t.Context(), d.db, "read usage", "select kind from sessions order by 1")
	d.ok(err)
	if strings.Join(charged, " ") != "test test" {
		t.Errorf("charged as %q", charged)
	}
}

// TestAskCallsAsTheyWere: one agent is compared with what was said, and turns beyond the bound are left out.
func TestAskCallsAsTheyWere(t *testing.T) {
	d := newDesk(t)
	asked, err := asking(d).Ask(t.Context(), routes.Asking{Account: d.account, Agent: d.agent, Of: prompted("Look up Friday."), Turns: 1})
	d.ok(err)
	answers, left := asked.Answer(spoken(t), map[string]string{"call_1_1": "from nine"})
	if _, _, stopped := asked.Close(); len(answers) != 2 || left != 1 || stopped != "turns" {
		t.Fatalf("%+v, %d left, %q", answers, left, stopped)
	}
	if a := answers[1]; a.Then != nil || !a.Differs || a.Recorded.Text != "At nine." || a.Heard != "when do you open on Friday" {
		t.Errorf("%+v", a)
	}
	odd, err := asking(d).Ask(t.Context(), routes.Asking{Account: d.account, Agent: d.agent, Of: prompted("Look up Friday."), Turns: 1})
	d.ok(err)
	if answers, left := odd.Answer([]byte("no record"), nil); answers == nil || len(answers) != 0 || left != 0 {
		t.Errorf("of what is no record: %+v, %d left", answers, left)
	}
	odd.Close()
}

// TestAskRefused: without money nothing is asked, and what is no agent is not compared.
func TestAskRefused(t *testing.T) {
	d := newDesk(t)
	order := routes.Asking{Account: d.account, Agent: d.agent, Of: prompted("Look up Friday."), Calls: 1 << 24, Turns: 1 << 24}
	if _, err := asking(d).Ask(t.Context(), order); !errors.Is(err, store.ErrInsufficientBalance) {
		t.Errorf("without money: %v", err)
	}
	if order.Of, order.Calls = "no agent", 1; d.spent() != 0 {
		t.Errorf("paid %v", d.spent())
	}
	if _, err := asking(d).Ask(t.Context(), order); err == nil {
		t.Error("what is no agent is compared")
	}
}

// TestModelFails: a model that does not answer is shown as such, and costs nothing.
func TestModelFails(t *testing.T) {
	d := newDesk(t)
	asked, err := asking(d).Ask(t.Context(), routes.Asking{Account: d.account, Agent: d.agent, Of: prompted("Break."), Turns: 10})
	d.ok(err)
	answers, _ := asked.Answer(spoken(t), nil)
	asked.Close()
	if len(answers) != 3 || !answers[1].Now.Failed || !answers[1].Differs || answers[0].Now.Failed || d.spent() != 0 {
		t.Errorf("%+v, paid %v", answers, d.spent())
	}
}

// TestPanicOfAnAnswer: a turn in which our code fails is one that the model did not answer.
func TestPanicOfAnAnswer(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		d := alone(t)
		asked, err := asking(d).Ask(t.Context(), routes.Asking{Account: d.account, Agent: d.agent, Of: prompted("Look up Friday."), Turns: 10})
		d.ok(err)
		isolatetest.Inject(t, site.Name)
		answers, left := asked.Answer(spoken(t), nil)
		if asked.Close(); len(answers) != 3 || left != 0 || !answers[1].Now.Failed && !answers[2].Now.Failed {
			t.Errorf("%+v, %d left", answers, left)
		}
	})
}
