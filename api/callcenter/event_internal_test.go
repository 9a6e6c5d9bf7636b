package callcenter

import (
	"encoding/json"
	"testing"

	"parley/api/apitest"
	"parley/api/wire"
)

// TestEventsAreDocumented holds every event of a call to the document of messages, which describes no other.
func TestEventsAreDocumented(t *testing.T) {
	t.Parallel()
	line := wire.SpokenLine{Role: "user", Text: "hello", At: 1.5}
	state := wire.CallState{Status: "connected", Transcript: []wire.SpokenLine{line}, Duration: 2}
	over := state
	over.Status, over.EndReason = ended, "user_hangup"
	doc := apitest.OperationMessages(t, "followCall")
	for kind := Snapshot; kind <= Speaking; kind++ {
		c := Change{Kind: kind, State: state, Line: line, Function: wire.CallFunction{ID: "call_1", Name: "lookup", Arguments: "{}"}}
		if kind == Over {
			c.State = over
		}
		event := eventOf(c)
		if event == nil && kind == Alive {
			continue // a comment
		}
		text, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		doc.Check(text)
	}
	for name := range doc.Unseen {
		t.Errorf("nothing that happens to a call is told as %s", name)
	}
}
