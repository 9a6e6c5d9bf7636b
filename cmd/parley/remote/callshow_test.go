package remote

import (
	"encoding/json"
	"strings"
	"testing"

	"parley/api/client/clienttest"
	"parley/cmd/parley/command"
)

// TestCallsShow: for people and as JSON, and a call that is not there.
func TestCallsShow(t *testing.T) {
	fakeServer(t)
	o := run("", "calls", "show", clienttest.Analyzed)
	for _, want := range []string{"user_hangup after 1m1s", "asr: pocketsphinx; llm: openai, scripted; tts: espeak", "failed: answer: data.day: is missing",
		"They come on Friday.", `{"day":"Friday"}`, "+34612345678 attested A", "diverted by  ", "+34911234569", "X-Customer-Id ", "0.1s agent", "2.0s user", "Friday, please.",
		`0.9s function  order {"id":7}`, "ok after 250 ms: on its way", "2.5s function  look", "no result is known",
		`cut off at 0.50s; not heard: "How are you?"`, "speech ended 2.16s; after ms: text 120, token -, sentence 360, audio 430, packet 440"} {
		if !strings.Contains(o.Out, want) {
			t.Errorf("%q is not in\n%s", want, o.Out)
		}
	}
	if o := run("", "calls", "show", clienttest.Analyzed, "--words"); !strings.Contains(o.Out, "~ Hello. 0.12-0.48") {
		t.Errorf("without the words' times:\n%s", o.Out)
	}
	o = run("", "calls", "show", clienttest.Analyzed, "--json")
	var a, b any
	if json.Unmarshal([]byte(o.Out), &a) != nil || json.Unmarshal([]byte(clienttest.AnalyzedText), &b) != nil || o.Status != command.ExitDone {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if x, y := canonical(t, a), canonical(t, b); x != y {
		t.Errorf("%s, want %s", x, y)
	}
	if o = run("", "calls", "show", "ses_nobody"); o.Status != command.ExitNotFound {
		t.Errorf("exit status %d: %s", o.Status, o.ErrOut)
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

// TestCallsCompletions: the questions to the model in a line each, one as the model got it, and neither of a call nor
// with a number that is not there.
func TestCallsCompletions(t *testing.T) {
	fakeServer(t)
	for args, want := range map[string][]string{
		clienttest.Analyzed:        {"0 2.3s haiku done first 310 ms took 640 ms", `function order {"id":7}`, "1 3.1s - failed first - took -", "failed refused"},
		clienttest.Analyzed + " 0": {"system You answer the telephone of a restaurant.", "function order: Looks up an order.", "agent Hello.", "user Friday, please."},
	} {
		o := run("", append([]string{"calls", "completions"}, strings.Fields(args)...)...)
		for _, w := range want {
			if !strings.Contains(strings.Join(strings.Fields(o.Out), " "), w) || o.Status != command.ExitDone {
				t.Errorf("%s: exit status %d: %q is not in\n%s%s", args, o.Status, w, o.Out, o.ErrOut)
			}
		}
	}
	var one struct{ System string }
	if o := run("", "calls", "completions", clienttest.Analyzed, "0", "--json"); json.Unmarshal([]byte(o.Out), &one) != nil || !strings.Contains(one.System, "\n") {
		t.Errorf("%s%s", o.Out, o.ErrOut)
	}
	for _, args := range []string{"ses_nobody", clienttest.Analyzed + " 7"} {
		if o := run("", append([]string{"calls", "completions"}, strings.Fields(args)...)...); o.Status != command.ExitNotFound {
			t.Errorf("%s: exit status %d: %s", args, o.Status, o.ErrOut)
		}
	}
}
