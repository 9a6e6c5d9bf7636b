package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/inference/openai/realtimetest"
)

// realtimePrices are what a rate card needs beside the built-in one's.
const realtimePrices = `
realtime:
  audio_input_per_million_tokens: 40
  cached_audio_input_per_million_tokens: 0.5
  audio_output_per_million_tokens: 80
`

// TestRealtimeEngine: an agent on an engine that hears and speaks by itself holds a conversation on the web: it greets, hears,
// answers, is interrupted, and is charged for each token of audio. A server whose rate card has no prices for that does not start.
func TestRealtimeEngine(t *testing.T) {
	t.Parallel()
	const first, second, story, end = "what time do you open on Monday", "thank you", "We open at nine. But let me tell you a story first. It is a long one.", "You are welcome."
	vendor := realtimetest.NewConversation(t, realtimetest.ConversationScript{
		Utterances: []realtimetest.Utterance{{Text: first, Length: 1500 * time.Millisecond}, {Text: second, Length: 1500 * time.Millisecond}},
		Replies:    []realtimetest.Reply{{Text: "Hello.", Length: time.Second}, {Text: story, Length: 20 * time.Second}, {Text: end, Length: time.Second}}})
	dir, home := newDataDir(t), t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	env := []string{"PARLEY_CONFIG=" + write("parley.yaml", fmt.Sprintf("engines:\n  - {name: live, stage: realtime, vendor: openai, url: \"%s/v1\", key: \"%s\"}\n", vendor.URL, vendor.Key))}
	if o := do(t, command(dir, env, "serve")); o.status == 0 || !strings.Contains(o.out+o.errOut, "no prices of realtime engines") {
		t.Fatalf("without prices: exit status %d, %s%s", o.status, o.out, o.errOut)
	}
	builtIn, err := os.ReadFile("../../../billing/ratecard.yaml")
	if err != nil {
		t.Fatal(err)
	}
	prices := strings.Replace(string(builtIn), "version: 2026-01-15.1", "version: 2026-01-16.1", 1) + realtimePrices
	card, err := billing.ParseRateCard([]byte(prices))
	if err != nil {
		t.Fatal(err)
	}
	env = append(env, "PARLEY_RATE_CARD="+write("card.yaml", prices))
	s := serve(t, dir, env)
	who := newCustomer(t, s, "10")
	if o := do(t, command(dir, env, "admin", "agent", "update", "--account", who.account, who.agent, "--file", write("change.yaml", "settings:\n  engines: {realtime: live}\n"))); o.status != 0 {
		t.Fatalf("exit status %d, %s", o.status, o.errOut)
	}

	c := connect(t, s, who.key, who.agent)
	c.awaitLine("agent")
	c.awaitStatus("listening")
	c.say(question(t, micRate))
	if line := c.awaitLine("user"); line != first {
		t.Errorf("the caller said %q", line)
	}
	c.awaitStatus("speaking")
	c.say(silence(time.Second, micRate))
	c.say(question(t, micRate))
	c.awaitStatus("interrupted")
	if line := c.awaitLine("agent"); !strings.HasPrefix(story, line) || line == story {
		t.Errorf("the agent was heard to say %q", line)
	}
	if line := c.awaitLine("user"); line != second {
		t.Errorf("the caller said %q", line)
	}
	if line := c.awaitLine("agent"); line != end {
		t.Errorf("the agent said %q", line)
	}
	c.awaitStatus("listening")
	c.hangUp()

	b := openBooks(t, s)
	bill := b.closed(who.account, 1)[0]
	b.checkAmountBy(card, bill)
	b.checkTokens(bill)
	var want billing.Usage
	for _, r := range vendor.Responses() {
		want[billing.AudioIn] += int64(r.Usage.AudioIn - r.Usage.AudioCached)
		want[billing.AudioCached] += int64(r.Usage.AudioCached)
		want[billing.AudioOut] += int64(r.Usage.AudioOut)
	}
	for _, component := range []billing.Component{billing.AudioIn, billing.AudioCached, billing.AudioOut} {
		if got := bill.Usage[component]; got != want[component] || got == 0 {
			t.Errorf("%s: %d tokens are charged, the engine has used %d", component, got, want[component])
		}
	}
	cut := false
	for _, i := range vendor.Items() {
		cut = cut || i.Role == "assistant" && i.Text == "" && i.Audio < 20*time.Second && i.Audio > 500*time.Millisecond
	}
	if !cut {
		t.Errorf("the engine does not know where it was interrupted: %+v", vendor.Items())
	}
	var past struct{ Engines map[string]any }
	readAs(t, s, who.key, "/v1/calls/"+bill.ID, &past)
	if got := fmt.Sprint(past.Engines); strings.Count(got, "live") != 3 {
		t.Errorf("served by %s", got)
	}
	if o := do(t, command(dir, env, "engine", "list")); o.status != 0 || !strings.Contains(o.out, "realtime") || strings.Contains(o.out, vendor.Key) {
		t.Errorf("exit status %d, %s%s", o.status, o.out, o.errOut)
	}
	if o := do(t, command(dir, env, "engine", "test", "live")); o.status != 0 || !strings.Contains(o.out, "live works") {
		t.Errorf("exit status %d, %s%s", o.status, o.out, o.errOut)
	}
	checkBooks(t, dir)
}
