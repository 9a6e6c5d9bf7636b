package reply

import (
	"fmt"
	"strings"
	"testing"

	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/turn"
)

func user(text string) inference.Message {
	return inference.Message{Role: inference.RoleUser, Text: text}
}

func TestHistory(t *testing.T) {
	var h History
	h.Add(user("book it"))
	h.Add(inference.Message{Role: inference.RoleAgent, ToolCalls: []inference.ToolCall{{ID: "1", Name: "book"}, {ID: "2", Name: "call"}}})
	h.Result("2", "done")
	if before := h.ReplaceUser("book it now"); before != "book it" {
		t.Errorf("replaced %q", before)
	}
	var got string
	for _, m := range h.Messages() {
		got += fmt.Sprintf("%s %s%s; ", m.Role, m.Text, m.ToolCallID)
	}
	if want := `user book it now; agent ; tool {"status":"pending"}1; tool done2; `; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var empty History
	if before := empty.ReplaceUser("hello"); before != "" || len(empty.Messages()) != 1 {
		t.Errorf("replaced %q of nothing", before)
	}
}

// TestHistoryIsBounded: the oldest goes, and the results of its functions with it.
func TestHistoryIsBounded(t *testing.T) {
	var h History
	for i := range 3 * maxHistory {
		id := fmt.Sprint(i)
		h.Add(inference.Message{Role: inference.RoleAgent, Text: id, ToolCalls: []inference.ToolCall{{ID: id}}})
		h.Result(id, "ok")
	}
	if len(h.entries) != maxHistory || len(h.results) != maxHistory || h.entries[0].Text != fmt.Sprint(2*maxHistory) {
		t.Errorf("%d entries from %s on, %d results", len(h.entries), h.entries[0].Text, len(h.results))
	}
}

// TestHistoryIsBoundedInBytes: what is long makes it short, and functions keep their
// results or go with them; the newest entry stays.
func TestHistoryIsBoundedInBytes(t *testing.T) {
	var h History
	text, result := strings.Repeat("a", 4000), strings.Repeat("r", 16<<10)
	for i := range 500 {
		id := fmt.Sprint(i)
		h.Add(user(text))
		h.Add(inference.Message{Role: inference.RoleAgent, ToolCalls: []inference.ToolCall{{ID: id, Arguments: "{}"}}})
		h.Result(id, result)
		sent, calls := 0, 0
		for _, m := range h.Messages() {
			sent += len(m.Text)
			calls += len(m.ToolCalls)
			if m.Role == inference.RoleTool {
				if calls--; m.Text != result {
					t.Fatalf("turn %d: a function has the result %.20q", i, m.Text)
				}
			}
		}
		if sent > maxHistoryBytes || calls != 0 || len(h.results) > len(h.entries) {
			t.Fatalf("turn %d: %d bytes, %d results of %d entries, %d calls without one", i, sent, len(h.results), len(h.entries), calls)
		}
	}
	if len(h.entries) < 8 {
		t.Errorf("only %d entries are left", len(h.entries))
	}
	h.ReplaceUser(strings.Repeat("b", 2*maxHistoryBytes))
	if n := len(h.entries); n > 2 {
		t.Errorf("%d entries beside one that fills it", n)
	}
}

// TestOwnLines: every language has every line, and an agent's own goodbye counts.
func TestOwnLines(t *testing.T) {
	english := agent.Agent{Language: "en"}
	for _, language := range []string{"en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de"} {
		a := agent.Agent{Language: language}
		for _, l := range []turn.Line{turn.Sorry, turn.Reprompt, turn.Goodbye, turn.Trouble, turn.Reconnected} {
			if text := a.Line(l); len(Pieces(text, language)) == 0 || language != "en" && text == english.Line(l) {
				t.Errorf("%s has no line %d", language, l)
			}
		}
	}
	a := agent.Agent{Language: "xx", FirstMessage: "Hi."}
	if a.Line(turn.Greeting) != "Hi." || a.Line(turn.Goodbye) != english.Line(turn.Goodbye) || a.Line(turn.NoLine) != "" {
		t.Error("a language that is not known speaks English")
	}
	a.Goodbye = "Bye."
	if a.Line(turn.Goodbye) != "Bye." {
		t.Error("the agent's own goodbye is not said")
	}
}

// TestLineCache: the first message is forgotten when it was said, also when it is
// made later than that.
func TestLineCache(t *testing.T) {
	l := newLineCache()
	some := []inference.Chunk{{}}
	l.put(turn.Greeting, "a", some)
	l.put(turn.Goodbye, "b", some)
	if l.get("a") == nil || l.get("b") == nil || l.get("c") != nil {
		t.Error("the cache does not hold what it was given")
	}
	l.greeted()
	l.put(turn.Greeting, "c", some)
	if l.get("a") != nil || l.get("c") != nil || l.get("b") == nil {
		t.Error("the first message is still there, or something else is not")
	}
}
