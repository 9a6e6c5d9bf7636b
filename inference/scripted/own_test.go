package scripted

import (
	"fmt"
	"testing"

	"parley/inference"
)

// telephone are the functions that telephone calls have of their own.
func telephone(to string) []inference.Tool {
	return []inference.Tool{
		{Name: "end_call"},
		{Name: "transfer_call", Description: "Transfer the caller to another telephone.", Parameters: []byte(`{"properties":{"to":{"type":"string","enum":[` + to + `]},"summary":{"type":"string"}},"required":["to"]}`)},
		{Name: "send_dtmf", Description: "Press keys of the telephone.", Parameters: []byte(`{"properties":{"digits":{"type":"string"}},"required":["digits"]}`)},
		{Name: "collect_digits", Description: "Have the caller type a number on the keys of the telephone.", Parameters: []byte(`{"properties":{"prompt":{"type":"string"}}}`)},
		{Name: "opt_out", Description: "The person does not want to be called again.", Parameters: []byte(`{"properties":{}}`)},
	}
}

// TestOwnFunctions: a call's own functions are called by those who mean them, not by
// everybody who says a word of their names.
func TestOwnFunctions(t *testing.T) {
	for said, want := range map[string]string{
		"can i speak to a human":     `transfer_call{"to":"sales"} done`,
		"please transfer me":         `transfer_call{"to":"sales"} done`,
		"can you send me the menu":   "",
		"what is your phone number":  "",
		"can you call me back later": "",
		"i want to check out":        "",
	} {
		r := inference.Request{System: "You are a helpful assistant. We are open all day.", Language: "en", Tools: telephone(`"sales"`)}
		got := talkTo(t, r, map[string]string{"transfer_call": `"done"`}, said)
		if want != "" && fmt.Sprint(got) != "["+want+".]" && fmt.Sprint(got) != "["+want+"]" {
			t.Errorf("%s: %q, want %q", said, got, want)
		}
		if want == "" && len(got) == 1 && containsCall(got[0]) {
			t.Errorf("%s: %q", said, got)
		}
	}
	r := inference.Request{Language: "en", Tools: telephone(`"sales","support"`)}
	got := talkTo(t, r, map[string]string{"transfer_call": `"done"`}, "can i speak to a human", "support please")
	if len(got) != 2 || containsCall(got[0]) || got[1] != `transfer_call{"to":"support"} done.` && got[1] != `transfer_call{"to":"support"} done` {
		t.Errorf("of two: %q", got)
	}
}

func containsCall(reply string) bool {
	for _, name := range own {
		if len(reply) > len(name) && reply[:len(name)+1] == name+"{" {
			return true
		}
	}
	return false
}

// TestHandedOver: the agent that a caller was handed over to greets, in its language, and reads nothing of the result; where that failed
// the agent that is still there says so.
func TestHandedOver(t *testing.T) {
	ask := func(language, result string) string {
		call := inference.ToolCall{ID: "call_1", Name: "hand_over", Arguments: `{"to":"Billing"}`}
		said := ""
		for d, err := range New().Complete(t.Context(), inference.Request{System: "This is billing.", Language: language, Messages: []inference.Message{{Role: inference.RoleUser, Text: "about my invoice"},
			{Role: inference.RoleAgent, Text: "One moment.", ToolCalls: []inference.ToolCall{call}}, {Role: inference.RoleTool, ToolCallID: "call_1", Text: result}}}) {
			if err != nil {
				t.Fatal(err)
			}
			said += d.Text
		}
		return said
	}
	const done = `{"handed_over":true,"you_are":"Billing","note":"Go on from here.","summary":"An invoice."}`
	for language, want := range map[string]string{"en": english.lines.hello, "es": languages["es"].lines.hello} {
		if got := ask(language, done); got != want {
			t.Errorf("%s: %q, want %q", language, got, want)
		}
	}
	if got := ask("en", `{"error":"there is no such agent any more"}`); got != english.lines.failed {
		t.Errorf("that failed: %q", got)
	}
}
