package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/enginetest"
)

func ask(text string) inference.Request {
	return inference.Request{System: trattoria, Language: "en", Messages: []inference.Message{{Role: inference.RoleUser, Text: text}}}
}

func TestConforms(t *testing.T) {
	tool := ask("what is the status of order 1234")
	tool.Tools = shop
	enginetest.TestLLM(t, New(), enginetest.LLMOptions{Request: ask("what time do you open on monday"), ToolRequest: tool})
}

func TestLabelled(t *testing.T) {
	if info := New().Info(); !info.Scripted || !strings.Contains(info.Description, "not a language model") || len(info.Languages) != 9 {
		t.Errorf("%+v", info)
	}
}

// TestStream: words one by one, usage a quarter of the characters, rounded up,
// and the tool call at the end.
func TestStream(t *testing.T) {
	r := ask("goodbye")
	r.Tools = []inference.Tool{{Name: "end_call"}}
	var texts []string
	var last inference.Delta
	for d, err := range New().Complete(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Text != "" {
			texts = append(texts, d.Text)
		}
		last = d
	}
	if want := []string{"Thank ", "you ", "for ", "calling. ", "Goodbye!"}; !reflect.DeepEqual(texts, want) {
		t.Errorf("texts %q", texts)
	}
	if last.ToolCall == nil || *last.ToolCall != (inference.ToolCall{ID: "call_1", Name: "end_call", Arguments: "{}"}) {
		t.Errorf("last delta %+v", last)
	}
	in := (utf8.RuneCountInString(trattoria) + len("goodbye") + len("end_call") + 3) / 4
	out := (len("Thank you for calling. Goodbye!") + len("end_call{}") + 3) / 4
	if want := (inference.Usage{In: in, Out: out, Source: inference.UsageCounted}); *last.Usage != want {
		t.Errorf("usage %+v, want %+v", *last.Usage, want)
	}
}

func TestMaxTokens(t *testing.T) {
	r := ask("what time do you open on monday")
	r.MaxTokens = 5
	text, out := "", 0
	for d := range New().Complete(t.Context(), r) {
		text += d.Text
		out = d.Usage.Out
	}
	if text != "We are open Monday " || out != 5 {
		t.Errorf("%q, %d tokens", text, out)
	}
}

func TestDeterministic(t *testing.T) {
	r := ask("do you have vegetarian dishes and where can i park for two on friday")
	r.Tools = shop
	want := respond(r)
	for range 50 {
		if got := respond(r); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, then %+v", want, got)
		}
	}
}

func TestCancelCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	why := errors.New("interrupted")
	var last error
	for _, err := range New().Complete(ctx, ask("hello")) {
		cancel(why)
		last = err
	}
	if last != why {
		t.Errorf("error %v", last)
	}
}

// FuzzRespond: whatever callers, prompts and tools say, the engine answers
// something, and its tool calls are JSON.
func FuzzRespond(f *testing.F) {
	f.Add(trattoria, "what time do you open", "en", `{"required":["a"],"properties":{"a":{"type":"integer"}}}`, `{"x":[1,{"y":2}]}`)
	f.Add(rules, "book a table for {number} on friday", "es", `{"required":[""],"properties":null}`, `"x"`)
	f.Add("When the caller says \"{a}{b}\": call x {\"q\":{a}} then say {result.q}{zz}", "at half past", "de", "", "null")
	f.Add("Q:\nA:\n#\n:\n- -", "quatre vingt", "fr", "[]", "{")
	f.Fuzz(func(t *testing.T, system, said, language, schema, result string) {
		r := inference.Request{System: system, Language: language, Tools: []inference.Tool{{Name: "book", Parameters: []byte(schema)}, {Name: "end_call"}, {}},
			Messages: []inference.Message{
				{Role: inference.RoleUser, Text: said},
				{Role: inference.RoleAgent, ToolCalls: []inference.ToolCall{{ID: "1", Name: "book"}}},
				{Role: inference.RoleTool, ToolCallID: "1", Text: result},
				{Role: inference.RoleUser, Text: said + " " + result}}}
		for n := range r.Messages {
			q := r
			q.Messages = r.Messages[:n+1]
			answer := respond(q)
			if answer.call != nil && !json.Valid([]byte(answer.call.Arguments)) {
				t.Errorf("arguments %q", answer.call.Arguments)
			}
		}
	})
}

func BenchmarkComplete(b *testing.B) {
	r := ask("what time do you open on monday")
	for i := range 20 {
		r.Messages = append(r.Messages, inference.Message{Role: []inference.Role{inference.RoleAgent, inference.RoleUser}[i%2], Text: "what time do you open on monday please"})
	}
	for b.Loop() {
		respond(r)
	}
}
