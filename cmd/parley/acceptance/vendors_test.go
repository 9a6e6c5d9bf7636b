package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/inference/anthropic/anthropictest"
	"parley/inference/cartesia/cartesiatest"
	"parley/inference/deepgram/deepgramtest"
)

// vendorsFile is a server's list of engines.
const vendorsFile = `engines:
  - {name: flux, stage: asr, vendor: deepgram, model: flux-general-multi, url: "%s", key: "%s", options: {eager_eot_threshold: 0.4}}
  - {name: haiku, stage: llm, vendor: anthropic, url: "%s", key: "%s"}
  - {name: sonic, stage: tts, vendor: cartesia, url: "%s", key: "%s", voices: {F1: "%s"}}
`

// TestVendors: three lines of its document take an agent from the embedded engines to those of vendors, on the
// web and by telephone, and commands know them.
func TestVendors(t *testing.T) {
	const asked, answered = "what time do you open on Monday", "We open at nine. Shall I book a table?"
	hears := deepgramtest.New(t, deepgramtest.Script{Utterances: []deepgramtest.Utterance{{Text: asked, Length: 1500 * time.Millisecond}}})
	thinks := anthropictest.New(t, anthropictest.Script{Replies: []anthropictest.Reply{{Text: answered}}})
	speaks := cartesiatest.New(t, cartesiatest.Script{})
	dir := newDataDir(t)
	file := filepath.Join(t.TempDir(), "parley.yaml")
	text := fmt.Sprintf(vendorsFile, hears.URL, hears.Key, thinks.URL, thinks.Key, speaks.URL, speaks.Key, cartesiatest.DefaultVoice)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"PARLEY_CONFIG=" + file}
	s := serve(t, dir, env)
	who := newCustomer(t, s, "10")
	change := filepath.Join(t.TempDir(), "change.yaml")
	if err := os.WriteFile(change, []byte("settings:\n  engines: {asr: [flux, pocketsphinx], llm: [haiku, scripted], tts: [sonic, espeak]}\n  turns: engine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := do(t, command(dir, env, "admin", "agent", "update", "--account", who.account, who.agent, "--file", change)); o.status != 0 {
		t.Fatalf("exit status %d, %s", o.status, o.errOut)
	}

	c := connect(t, s, who.key, who.agent)
	c.awaitStatus("listening")
	c.asksAndHears(asked, answered)
	c.awaitStatus("listening")
	c.hangUp()
	var past struct{ Engines map[string]any }
	readAs(t, s, who.key, "/v1/calls/"+openBooks(t, s).closed(who.account, 1)[0].ID, &past)
	if got := fmt.Sprint(past.Engines); !strings.Contains(got, "flux") || !strings.Contains(got, "haiku") || !strings.Contains(got, "sonic") {
		t.Errorf("served by %s", got)
	}

	p := call(t, s, newPhone(t), who.number)
	mark := p.mark()
	p.awaitVoice("the greeting", mark, 500*time.Millisecond)
	p.hangUp()

	for end := time.Now().Add(patience); hears.Books().Open > 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
	}
	if b := hears.Books(); b.Opened != 2 || b.Open != 0 {
		t.Errorf("the recogniser had %d sockets, %d are open", b.Opened, b.Open)
	}
	if b := thinks.Books(); b.Requests == 0 {
		t.Error("the model was not asked")
	}
	if o := do(t, command(dir, env, "engine", "list")); o.status != 0 || !strings.Contains(o.out, "flux") || !strings.Contains(o.out, "tried against a fake only") || strings.Contains(o.out, hears.Key) {
		t.Errorf("exit status %d, %s%s", o.status, o.out, o.errOut)
	}
	for _, name := range []string{"flux", "haiku", "sonic"} {
		if o := do(t, command(dir, env, "engine", "test", name)); o.status != 0 || !strings.Contains(o.out, name+" works") {
			t.Errorf("%s: exit status %d, %s%s", name, o.status, o.out, o.errOut)
		}
	}
	measureVendors(t, dir, env)
	for name, key := range map[string]string{"flux": hears.Key, "haiku": thinks.Key, "sonic": speaks.Key} {
		o := do(t, command(dir, env, "engine", "record", name))
		if lines := strings.Split(strings.TrimSpace(o.out), "\n"); o.status != 0 || len(lines) < 3 || !strings.Contains(lines[0], `"get":`) {
			t.Errorf("%s: exit status %d, %s%s", name, o.status, o.out, o.errOut)
		}
		for _, hidden := range []string{key, "Monday", "monday", "nine", "table"} {
			if strings.Contains(o.out, hidden) {
				t.Errorf("%s: the record has %q: %s", name, hidden, o.out)
			}
		}
	}
	for args, want := range map[string]string{"bench gone": "no engine", "record pocketsphinx": "this machine", "bench flux --times 0": "at least 1"} {
		if o := do(t, command(dir, env, append([]string{"engine"}, strings.Fields(args)...)...)); o.status == 0 || !strings.Contains(o.errOut, want) {
			t.Errorf("%s: exit status %d, %s", args, o.status, o.errOut)
		}
	}
}

// measureVendors has the engines that vendors make measured, for programs and for people.
func measureVendors(t *testing.T, dir string, env []string) {
	t.Helper()
	type spread struct{ P50, P90, P99 float64 }
	var measured struct {
		Engines []struct {
			Name, Stage   string
			Times, Failed int
			Connect       spread `json:"connect_ms"`
			First         spread `json:"first_ms"`
		}
	}
	o := do(t, command(dir, env, "engine", "bench", "--times", "2", "--json"))
	if err := json.Unmarshal([]byte(o.out), &measured); o.status != 0 || err != nil || len(measured.Engines) != 3 {
		t.Fatalf("exit status %d, %v, %s%s", o.status, err, o.out, o.errOut)
	}
	for _, e := range measured.Engines {
		rises := func(s spread) bool { return s.P50 > 0 && s.P50 <= s.P90 && s.P90 <= s.P99 }
		if e.Times != 2 || e.Failed != 0 || !rises(e.Connect) || !rises(e.First) {
			t.Errorf("%+v", e)
		}
	}
	if o := do(t, command(dir, env, "engine", "bench", "haiku", "--times", "1")); o.status != 0 || !strings.Contains(o.out, "haiku") || !strings.Contains(o.out, "P99") || strings.Contains(o.out, "sonic") {
		t.Errorf("exit status %d, %s%s", o.status, o.out, o.errOut)
	}
}
