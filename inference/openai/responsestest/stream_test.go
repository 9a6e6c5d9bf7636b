package responsestest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// looking is reasoning, then text, then a call.
var looking = Reply{Thinking: "They ask for Friday.", Text: "Let me look.", Tools: []ToolUse{{ID: "call_a", Name: "look", Input: `{"day":"fri"}`, Pieces: []string{`{"day":`, `"fri"}`}}},
	In: 12, CacheRead: 2048, CacheWrite: 100, Out: 41}

func TestTextThenACall(t *testing.T) {
	s := New(t, Script{Replies: []Reply{looking}})
	list := streamed(t, s, reasoning(nil))
	var got []string
	for i, d := range list {
		if d.Number != i {
			t.Errorf("event %s has the number %d", d.Type, d.Number)
		}
		got = append(got, strings.TrimPrefix(d.short(), "response."))
	}
	want := []string{"created in_progress", "in_progress in_progress", "output_item.added reasoning", "output_item.done reasoning",
		"output_item.added message", "content_part.added", "output_text.delta Let me ", "output_text.delta look.", "output_text.done", "content_part.done", "output_item.done message",
		"output_item.added function_call", `function_call_arguments.delta {"day":`, `function_call_arguments.delta "fri"}`, `function_call_arguments.done {"day":"fri"}`, "output_item.done function_call",
		"completed completed"}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	begun, items := list[2].Item, ended(list)
	if items[0].Encrypted == "" || begun.Encrypted == items[0].Encrypted || len(items[0].Summary) != 0 {
		t.Errorf("%+v, then %+v", begun, items[0])
	}
	if m := items[1]; m.Status != "completed" || len(m.Content) != 1 || m.Content[0].Text != "Let me look." {
		t.Errorf("%+v", m)
	}
	if c := items[2]; c.Status != "completed" || c.CallID != "call_a" || c.Name != "look" || c.Arguments != `{"day":"fri"}` || c.ID == c.CallID {
		t.Errorf("%+v", c)
	}
	r := last(list).Response
	if u := r.Usage; u.In != 2160 || u.Details.Read != 2048 || u.Details.Write != 100 || u.Out != 41 || u.By.Reasoning != 4 || u.Total != 2201 || len(r.Output) != 3 {
		t.Errorf("%+v, %d items", u, len(r.Output))
	}
	if b := s.Books(); b.TokensIn != 12 || b.CacheRead != 2048 || b.CacheWrite != 100 || b.TokensOut != 41 || b.Reasoning != 4 || b.Requests != 1 || b.Cancels != 0 || len(b.Body) == 0 {
		t.Errorf("%+v", b)
	}
}

func TestArgumentsComeInAwkwardPieces(t *testing.T) {
	arguments := `{"name":"Ana \"la Ñandú\"","when":[2026,11,3]}`
	s := New(t, Script{Replies: []Reply{{Tools: []ToolUse{{Name: "a", Input: arguments}, {Name: "b"}}}}})
	got, pieces := "", 0
	list := streamed(t, s, fieldsOf{"tools": []any{look}})
	for _, d := range list {
		if d.Type == "response.function_call_arguments.delta" {
			got, pieces = got+d.Delta, pieces+1
		}
	}
	items := ended(list)
	if got != arguments+"{}" || pieces < 8 || len(items) != 2 || items[0].CallID == items[1].CallID || items[1].Arguments != "{}" {
		t.Errorf("%s in %d pieces, %+v", got, pieces, items)
	}
}

// TestReasoningComesBack: unchanged, sealed, once, and before what came after it.
func TestReasoningComesBack(t *testing.T) {
	s := New(t, Script{Replies: []Reply{looking, {Text: "It is free."}}, Expects: []string{"without its required 'reasoning' item", "without its required following item",
		"could not be verified", "Items are not persisted", "Duplicate item"}})
	list := streamed(t, s, reasoning(nil))
	thought, early, open := ended(list)[0], list[2].Item, ended(list)[0]
	open.Encrypted = ""
	ask := text("user", "Is Friday free?")
	for want, items := range map[string][]any{
		"400 its required 'reasoning' item": {ask, call("call_a"), result("call_a")},
		"400 required following item":       {ask, thought, ask, call("call_a"), result("call_a")},
		"400 could not be verified":         {ask, early, call("call_a"), result("call_a")},
		"404 Items are not persisted":       {ask, open, call("call_a"), result("call_a")},
		"400 Duplicate item":                {ask, thought, call("call_a"), result("call_a"), thought, call("call_b"), result("call_b")},
	} {
		resp := post(t, s, headers(s.Key), reasoning(input(items...)))
		if e := failed(t, resp); resp.Status[:3] != want[:3] || !strings.Contains(e.Message, want[4:]) {
			t.Errorf("%s: %d, %+v", want, resp.StatusCode, e)
		}
	}
	good := input(ask, thought, text("assistant", "Let me look."), call("call_a"), result("call_a"))
	if got := said(streamed(t, s, reasoning(good))); got != "It is free." {
		t.Errorf("%q", got)
	}
}

// TestReasoningStays: who does not include it need not bring it back.
func TestReasoningStays(t *testing.T) {
	s := New(t, Script{Replies: []Reply{looking, {Text: "It is free."}}})
	list := streamed(t, s, fieldsOf{"model": thinking, "tools": []any{look}})
	if r := ended(list)[0]; r.Type != "reasoning" || r.Encrypted != "" {
		t.Errorf("%+v", r)
	}
	streamed(t, s, fieldsOf{"model": thinking, "tools": []any{look}, "input": []any{text("user", "Is Friday free?"), call("call_a"), result("call_a")}})
}

func TestSummaries(t *testing.T) {
	s := New(t, Script{Replies: []Reply{looking}})
	list := streamed(t, s, reasoning(fieldsOf{"reasoning": fieldsOf{"summary": "auto"}}))
	summary := ""
	for _, d := range list {
		if d.Type == "response.reasoning_summary_text.delta" {
			summary += d.Delta
		}
	}
	if items := ended(list); summary != "They ask for Friday." || len(items[0].Summary) != 1 || items[0].Summary[0] != (part{"summary_text", summary}) {
		t.Errorf("%q, %+v", summary, items[0])
	}
}

// TestTokensAreLimited: whatever is being said then is incomplete, a call without its end.
func TestTokensAreLimited(t *testing.T) {
	words := "one two three four five six seven eight nine ten "
	s := New(t, Script{Replies: []Reply{{Text: words + words}, {Text: words, Tools: []ToolUse{{Name: "look", Pieces: []string{"{", `"a":"b c d e f g h"`, "}"}}}}, {Thinking: words + words, Text: "Yes."}}})
	limited := fieldsOf{"max_output_tokens": 16, "tools": []any{look}}
	for i, want := range []struct {
		text, arguments string
		out, items      int
	}{{words + "one two three four five six ", "", 16, 1}, {words, "{", 11, 2}, {"", "", 16, 0}} {
		list := streamed(t, s, limited)
		r, items := last(list).Response, ended(list)
		if said(list) != want.text || r.Status != "incomplete" || r.Incomplete.Reason != "max_output_tokens" || r.Usage.Out != want.out || len(items) != want.items {
			t.Errorf("%d: %q, %+v", i, said(list), r)
		}
		if n := len(items); n > 0 && (items[n-1].Status != "incomplete" || items[n-1].Arguments != want.arguments) {
			t.Errorf("%d: %+v", i, items)
		}
	}
}

func TestEnds(t *testing.T) {
	s := New(t, Script{Replies: []Reply{{Text: "I think", Stop: "content_filter"}, {Text: "I think", Fail: "server_error"}}})
	if end := last(streamed(t, s, nil)); end.Type != "response.incomplete" || end.Response.Incomplete.Reason != "content_filter" || end.Response.Usage.Out != 2 {
		t.Errorf("%+v", end)
	}
	if end := last(streamed(t, s, nil)); end.Type != "response.failed" || end.Response.Error.Code != "server_error" || end.Response.Usage.Out != 0 {
		t.Errorf("%+v", end)
	}
}

func TestRepliesInTurn(t *testing.T) {
	loopbacktest.TestRepliesInTurn(t, New, func(text string) Reply { return Reply{Text: text} },
		func(r Request) string { return r.Input[0].Content[0].Text }, func(s *Server) string { return said(streamed(t, s, nil)) })
}

// TestItemsGoBackAsTheyCame: a client may send the output again as it is.
func TestItemsGoBackAsTheyCame(t *testing.T) {
	s := New(t, Script{Replies: []Reply{looking, {Text: "It is free."}}})
	sent := streamed(t, s, reasoning(nil))
	items := []any{text("user", "Is Friday free?")}
	for _, i := range ended(sent) {
		b, err := json.Marshal(i)
		if err != nil {
			t.Fatal(err)
		}
		var back fieldsOf
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if i.Type != "reasoning" {
			delete(back, "summary")
		}
		if i.Type == "message" {
			back["role"] = "assistant"
		}
		items = append(items, back)
	}
	if got := said(streamed(t, s, reasoning(input(append(items, result("call_a"))...)))); got != "It is free." {
		t.Errorf("%q", got)
	}
}
