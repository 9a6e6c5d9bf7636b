package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"parley/pipeline/agent"
	"parley/pipeline/bridge"
)

// TestWhoIsMeant: the model names people by their names, their numbers however written, and their addresses as these are.
func TestWhoIsMeant(t *testing.T) {
	t.Parallel()
	var checked string
	x := &bridge.Transfer{To: []agent.Destination{{Number: "sip:200@pbx2.example.com"}, {Number: "sip:201@pbx.example.com", Name: "ward"}, {Number: "+34911234567", Name: "sales"}},
		Check: func(_ context.Context, number string) (string, error) {
			checked = number
			return "", errors.New("not now")
		}}
	for to, want := range map[string]string{
		"Ward": "sip:201@pbx.example.com", "sip:200@pbx2.example.com": "sip:200@pbx2.example.com", "+34 911 23 45 67": "+34911234567", "34911234567": "+34911234567",
		"2002": "", "sip:201@elsewhere.example.com": "", "": "",
	} {
		checked = ""
		written, err := json.Marshal(map[string]string{"to": to})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Move(t.Context(), new(bridge.Transferee), written); err == nil || checked != want {
			t.Errorf("%q: %q was checked, %v", to, checked, err)
		}
	}
}
