package geminitest

import (
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// looking is text, then two calls.
var looking = Reply{Thinking: "They ask for Friday.", Text: "Let me look.", Tools: []ToolUse{{ID: "a", Name: "look", Input: `{"day":"fri"}`}, {ID: "b", Name: "look"}},
	In: 12, CacheRead: 2048, Out: 41}

func TestTextThenCalls(t *testing.T) {
	s := New(t, Script{Replies: []Reply{looking}})
	list := streamed(t, s, three, fieldsOf{"tools": []any{look}})
	h := joined(list)
	if h.text != "Let me look." || h.thought != "" || h.finish != "STOP" || h.signature != "" || len(h.calls) != 2 || len(list) != 5 {
		t.Fatalf("%+v in %d events", h, len(list))
	}
	if a, b := h.calls[0], h.calls[1]; a.Signature == "" || b.Signature != "" || a.Call.ID != "a" || a.Call.Name != "look" || string(a.Call.Args) != `{"day":"fri"}` || string(b.Call.Args) != "{}" {
		t.Errorf("%+v, %+v", a.Call, b.Call)
	}
	// Cached tokens are part of the prompt, thoughts are no part of the candidate.
	if u := list[0].Usage; u.In != 2060 || u.Cached != 2048 || u.Out != 2 || u.Thoughts != 4 || u.Total != 2066 {
		t.Errorf("%+v", u)
	}
	if u := list[4].Usage; u.Out != 37 || u.Thoughts != 4 || u.Total != 2101 {
		t.Errorf("%+v", u)
	}
	if b := s.Books(); b.TokensIn != 12 || b.CacheRead != 2048 || b.TokensOut != 41 || b.Reasoning != 4 || b.Requests != 1 || b.Cancels != 0 || len(b.Body) == 0 {
		t.Errorf("%+v", b)
	}
}

// TestThoughts: they are sent to those who include them, and the signature comes with an empty text at the end.
func TestThoughts(t *testing.T) {
	s := New(t, Script{Replies: []Reply{{Thinking: "They ask for Friday.", Text: "It is."}}})
	h := joined(streamed(t, s, two, fieldsOf{"generationConfig": fieldsOf{"thinkingConfig": fieldsOf{"includeThoughts": true}}}))
	if h.thought != "They ask for Friday." || h.text != "It is." || h.signature == "" {
		t.Errorf("%+v", h)
	}
	s = New(t, Script{})
	if h := joined(streamed(t, s, two, nil)); h.signature != "" || h.text != "OK" {
		t.Errorf("%+v", h)
	}
}

// TestSignaturesComeBackUnchanged: with the part that they came with, and no other.
func TestSignaturesComeBackUnchanged(t *testing.T) {
	s := New(t, Script{Replies: []Reply{looking, {Text: "It is free."}}, Expects: []string{"missing a thought_signature", "Corrupted thought signature"}})
	signature := joined(streamed(t, s, three, fieldsOf{"tools": []any{look}})).calls[0].Signature
	history := func(parts ...fieldsOf) fieldsOf {
		return contents(user(said("Is Friday free?")), model(parts...), user(result("a"), result("b")))
	}
	second := fieldsOf{"functionCall": fieldsOf{"id": "b", "name": "look", "args": fieldsOf{}}}
	other := signed(signature, fieldsOf{"functionCall": fieldsOf{"id": "a", "name": "look", "args": fieldsOf{"day": "mon"}}})
	for _, wrong := range []fieldsOf{
		history(said("Let me look."), call("a"), second),
		history(signed(signature, said("Let me look.")), call("a"), second),
		history(other, second),
	} {
		if e := failed(t, post(t, s, three, wrong)); e.Code != 400 {
			t.Errorf("%v: %+v", wrong, e)
		}
	}
	good := history(said("Let me look."), signed(signature, call("a")), second)
	if h := joined(streamed(t, s, three, good)); h.text != "It is free." || h.signature == "" {
		t.Errorf("%+v", h)
	}
	// Of an earlier turn they may be left out.
	old := history(call("a"), second)
	old["contents"] = append(old["contents"].([]fieldsOf), model(said("It is free.")), user(said("Thanks.")))
	streamed(t, s, three, old)
}

func TestOldModelsHaveNoIDs(t *testing.T) {
	s := New(t, Script{Replies: []Reply{{Tools: []ToolUse{{Name: "look"}}}}})
	if c := joined(streamed(t, s, two, fieldsOf{"tools": []any{look}})).calls[0]; c.Call.ID != "" || c.Signature != "" {
		t.Errorf("%+v", c)
	}
	if c := joined(streamed(t, s, three, fieldsOf{"tools": []any{look}})).calls[0]; c.Call.ID == "" || c.Signature == "" {
		t.Errorf("%+v", c)
	}
}

func TestTokensAreLimited(t *testing.T) {
	s := New(t, Script{Replies: []Reply{{Thinking: "two words", Text: "one two three four five six", Tools: []ToolUse{{Name: "look"}}}}})
	list := streamed(t, s, two, fieldsOf{"generationConfig": fieldsOf{"maxOutputTokens": 6}})
	h, u := joined(list), list[len(list)-1].Usage
	if h.text != "one two three four " || h.finish != "MAX_TOKENS" || len(h.calls) != 0 || u.Out != 4 || u.Thoughts != 2 || s.Books().TokensOut != 6 {
		t.Errorf("%+v, %+v", h, u)
	}
}

// TestStops: a prompt may be blocked, a reply stopped, and then there is no content.
func TestStops(t *testing.T) {
	s := New(t, Script{Replies: []Reply{{Block: "PROHIBITED_CONTENT"}, {Text: "I think", Stop: "SAFETY"}, {Stop: "MALFORMED_FUNCTION_CALL"}}})
	list := streamed(t, s, two, nil)
	if len(list) != 1 || list[0].Feedback.Block != "PROHIBITED_CONTENT" || len(list[0].Candidates) != 0 || list[0].Usage.In == 0 {
		t.Errorf("%+v", list)
	}
	for _, want := range []heard{{text: "I think", finish: "SAFETY"}, {finish: "MALFORMED_FUNCTION_CALL"}} {
		list = streamed(t, s, two, nil)
		h := joined(list)
		if h.text != want.text || h.finish != want.finish || len(list[len(list)-1].Candidates[0].Content.Parts) != 0 {
			t.Errorf("%+v, want %+v", h, want)
		}
	}
}

func TestRepliesInTurn(t *testing.T) {
	loopbacktest.TestRepliesInTurn(t, New, func(text string) Reply { return Reply{Text: text} },
		func(r Request) string { return *r.Contents[0].Parts[0].Text }, func(s *Server) string { return joined(streamed(t, s, two, nil)).text })
}
