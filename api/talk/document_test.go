package talk_test

import (
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/api/talk"
	"parley/api/tts"
	"parley/inference"
	"parley/media"
)

// TestMessagesAreDocumented holds every message that a client of a conversation may get to the document of messages,
// which describes no other.
func TestMessagesAreDocumented(t *testing.T) {
	t.Parallel()
	doc := apitest.OperationMessages(t, "hearAgent")
	c := talk.NewClient(func(text []byte) { doc.Check(text) })
	c.Rates(44100, 16000)
	c.Session("ses_1", "ses_1.1.2.x", true)
	for _, status := range []string{"prompt_set", "listening", "interrupted"} {
		c.Status(status, 0)
	}
	c.Status("thinking", 1)
	c.Status("speaking", 1)
	c.Transcript("user", "hello")
	c.Correction("user", "hello there", "hello")
	c.Caption("agent", "Good morning.")
	c.ToolCall(inference.ToolCall{ID: "1", Name: "book_table"}, 2)
	c.Visemes(nil, 2)
	c.Visemes([]tts.Viseme{{V: 1, C: "a", T: 0.5}}, 2)
	c.Insight("cost", 0, map[string]any{"usd": 0.01})
	c.Error(api.ErrVoice, "")
	c.Error(api.ErrVoice, "F9")
	code, why := c.Goodbye(&media.Ended{Reason: media.AgentHangup})
	c.Closed(code, why)
	c.Ducks()
	c.Duck(true)
	c.Duck(false)
	for name := range doc.Unseen {
		t.Errorf("no client gets the message %s", name)
	}
}

// TestExamplesOfMessages: what the document shows of clients is what it says of them.
func TestExamplesOfMessages(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"converse", "speak", "transcribe"} {
		doc := apitest.OperationMessages(t, operation)
		for name, examples := range doc.Examples {
			for _, e := range examples {
				if got := doc.Check(e); got != name {
					t.Errorf("the example of %s is a %s", name, got)
				}
			}
		}
		for name := range doc.Unseen {
			t.Errorf("%s has no example", name)
		}
	}
}
