package anthropictest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// looking is the reply of the reference: text, then a call.
var looking = Reply{Text: "Let me look.", Tools: []ToolUse{{Name: "look", Input: `{"day":"fri"}`, Pieces: []string{`{"day":`, `"fri"}`}}}, In: 12, CacheRead: 2048, Out: 41}

func TestTextThenACall(t *testing.T) {
	s := New(t, Script{Replies: []Reply{looking}})
	list := streamed(t, s, fieldsOf{"tools": []any{look}})
	var got []string
	for _, d := range list {
		got = append(got, strings.TrimSpace(d.Type+" "+d.Block.Type+d.Delta.Text+d.Delta.JSON+d.Delta.Stop))
	}
	want := []string{"message_start", "content_block_start text", "ping", "content_block_delta Let me", "content_block_delta look.", "content_block_stop",
		"content_block_start tool_use", "content_block_delta", `content_block_delta {"day":`, `content_block_delta "fri"}`, "content_block_stop",
		"message_delta tool_use", "message_stop"}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	start, end := list[0].Message.Usage, list[11].Usage
	if start.In != 12 || start.Read != 2048 || start.Out != 1 || end.Out != 41 || end.In != 12 {
		t.Errorf("%+v, %+v", start, end)
	}
	if list[6].Index != 1 || list[6].Block.ID == "" || list[6].Block.Name != "look" {
		t.Errorf("%+v", list[6])
	}
	if b := s.Books(); b.TokensIn != 12 || b.CacheRead != 2048 || b.TokensOut != 41 || b.Requests != 1 || b.Cancels != 0 || s.Busy() != 0 || len(b.Body) == 0 {
		t.Errorf("%+v", b)
	}
}

func TestInputComesInAwkwardPieces(t *testing.T) {
	input := `{"name":"Ana \"la Ñandú\"","when":[2026,11,3]}`
	s := New(t, Script{Replies: []Reply{{Tools: []ToolUse{{Name: "a", Input: input}, {Name: "b"}}}}})
	list := streamed(t, s, nil)
	_, got, _, _ := joined(list)
	if n := len(slices.DeleteFunc(list, func(d data) bool { return d.Delta.Type != "input_json_delta" })); got != input || n < 8 {
		t.Errorf("%s in %d pieces", got, n)
	}
}

func TestRepliesInTurn(t *testing.T) {
	loopbacktest.TestRepliesInTurn(t, New, func(text string) Reply { return Reply{Text: text} },
		func(r Request) string { return r.Messages[0].Content[0].Text }, func(s *Server) string {
			text, _, _, _ := joined(streamed(t, s, nil))
			return text
		})
}

func TestWhatIsCached(t *testing.T) {
	s := New(t, Script{Replies: []Reply{{CacheWrite: 5}}})
	hour := fieldsOf{"system": []any{fieldsOf{"type": "text", "text": "Be kind.", "cache_control": fieldsOf{"type": "ephemeral", "ttl": "1h"}}}}
	if u := streamed(t, s, hour)[0].Message.Usage; u.Write != 5 || u.By.Hour != 5 || u.By.Five != 0 {
		t.Errorf("%+v", u)
	}
}

func TestTokensAreLimited(t *testing.T) {
	s := New(t, Script{Replies: []Reply{{Text: "one two three four five six"}}})
	list := streamed(t, s, fieldsOf{"max_tokens": 4})
	got, _, _, _ := joined(list)
	if end := list[len(list)-2]; got != "one two three four " || end.Delta.Stop != "max_tokens" || end.Usage.Out != 4 || s.Books().TokensOut != 4 {
		t.Errorf("%q, %+v", got, end)
	}
}

func TestThinkingComesBackUnchanged(t *testing.T) {
	s := New(t, Script{Replies: []Reply{{Thinking: "They ask for Friday.", Tools: []ToolUse{{ID: "toolu_a", Name: "look", Input: `{"day":"fri"}`}}}, {Text: "It is free."}},
		Expects: []string{"Expected `thinking`", "Invalid `signature`"}})
	thinking := fieldsOf{"thinking": fieldsOf{"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000, "tools": []any{look}}
	_, _, thought, signature := joined(streamed(t, s, thinking))
	if thought != "They ask for Friday." || signature == "" {
		t.Fatalf("%q %q", thought, signature)
	}
	history := func(blocks ...fieldsOf) []any {
		return []any{text("user", "Is Friday free?"), message("assistant", blocks...), message("user", result("toolu_a"))}
	}
	block := fieldsOf{"type": "thinking", "thinking": thought, "signature": signature}
	for _, wrong := range [][]any{
		history(use("toolu_a")),
		history(fieldsOf{"type": "thinking", "thinking": "They ask.", "signature": signature}, use("toolu_a")),
		history(fieldsOf{"type": "thinking", "thinking": thought, "signature": "made up"}, use("toolu_a")),
	} {
		thinking["messages"] = wrong
		if resp := post(t, s, headers(s.Key), body(thinking)); resp.StatusCode != 400 {
			t.Errorf("%v: %d", wrong, resp.StatusCode)
		}
	}
	thinking["messages"] = history(block, use("toolu_a"))
	if got, _, _, _ := joined(streamed(t, s, thinking)); got != "It is free." {
		t.Errorf("%q", got)
	}
}

func TestWithoutAStream(t *testing.T) {
	s := New(t, Script{Replies: []Reply{looking}})
	var m struct {
		Content []struct {
			Type, Text string
			Input      map[string]string
		}
		Stop  string `json:"stop_reason"`
		Usage usage
	}
	resp := post(t, s, headers(s.Key), body(fieldsOf{"stream": nil}))
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil || len(m.Content) != 2 || m.Content[1].Input["day"] != "fri" || m.Stop != "tool_use" || m.Usage.Out != 41 {
		t.Errorf("%v, %+v", err, m)
	}
}
