package main

import (
	"encoding/json"
	"strings"
	"testing"

	"parley/api/client/clienttest"
)

// TestCallsShow: for people and as JSON, and a call that is not there.
func TestCallsShow(t *testing.T) {
	fakeServer(t)
	o := run("", "calls", "show", clienttest.Analyzed)
	for _, want := range []string{"user_hangup after 1m1s", "asr: pocketsphinx; llm: openai, scripted; tts: espeak", "failed: answer: data.day: is missing",
		"They come on Friday.", `{"day":"Friday"}`, "0.5s agent", "Friday, please."} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%q is not in\n%s", want, o.out)
		}
	}
	o = run("", "calls", "show", clienttest.Analyzed, "--json")
	var a, b any
	if json.Unmarshal([]byte(o.out), &a) != nil || json.Unmarshal([]byte(clienttest.AnalyzedText), &b) != nil || o.status != exitDone {
		t.Errorf("exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if x, y := canonical(t, a), canonical(t, b); x != y {
		t.Errorf("%s, want %s", x, y)
	}
	if o = run("", "calls", "show", "ses_nobody"); o.status != exitNotFound {
		t.Errorf("exit status %d: %s", o.status, o.errOut)
	}
}

func canonical(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
