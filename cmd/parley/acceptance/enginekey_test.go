package acceptance

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference/anthropic/anthropictest"
	"parley/inference/cartesia/cartesiatest"
	"parley/inference/deepgram/deepgramtest"
	"parley/store/private"
)

// keysFile is a list of engines: one serves accounts with a key of their own, one has a key of the operator's that its vendor
// does not take, and one that it takes.
const keysFile = `engines:
  - {name: flux, stage: asr, vendor: deepgram, model: flux-general-multi, url: "%s", key: account}
  - {name: haiku, stage: llm, vendor: anthropic, model: claude-haiku-4-5, url: "%s", key: the-operators-key, costs: {million_tokens_in: 1}}
  - {name: sonic, stage: tts, vendor: cartesia, url: "%s", key: "%s", voices: {F1: "%s"}, costs: {million_characters: 30}}
`

// TestEngineKeys: an account's calls run on its own keys and nobody else's, at no price; one that is refused leaves the call to the
// next engine and is noted once; and no key is anywhere in clear.
func TestEngineKeys(t *testing.T) {
	t.Parallel()
	const asked, answered = "what time do you open on Monday", "We open at nine. Shall I book a table?"
	hears := deepgramtest.New(t, deepgramtest.Script{Key: "deepgram-hunter2-of-a", Utterances: []deepgramtest.Utterance{{Text: asked, Length: 1500 * time.Millisecond}}})
	thinks := anthropictest.New(t, anthropictest.Script{Key: "anthropic-hunter2-of-a", Replies: []anthropictest.Reply{{Text: answered}}})
	speaks := cartesiatest.New(t, cartesiatest.Script{})
	dir, home := newDataDir(t), t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	env := []string{"PARLEY_CONFIG=" + write("parley.yaml", fmt.Sprintf(keysFile, hears.URL, thinks.URL, speaks.URL, speaks.Key, cartesiatest.DefaultVoice))}
	s := serve(t, dir, env)
	change := write("change.yaml", "settings:\n  engines: {asr: [flux, pocketsphinx], llm: [haiku, scripted], tts: [sonic, espeak]}\n")
	customer := func() dialer {
		t.Helper()
		c := newDialer(t, s, "10")
		if o := do(t, command(dir, env, "admin", "agent", "update", "--account", c.who.account, c.who.agent, "--file", change)); o.status != 0 {
			t.Fatalf("exit status %d, %s", o.status, o.errOut)
		}
		return c
	}
	type key struct {
		Engine, Last4 string
		Refusal       *string
	}
	set := func(c dialer, engine, secret string) {
		t.Helper()
		var out key
		if status := c.ask("PUT", "/v1/engine-keys/"+engine, `{"key":"`+secret+`"}`, &out); status != http.StatusOK || out.Last4 != secret[len(secret)-4:] {
			t.Fatalf("%d, %+v", status, out)
		}
	}
	thought := func() string { return thinks.Books().Header.Get("X-Api-Key") }
	types := func(c dialer) {
		t.Helper()
		talk := connect(t, s, c.who.key, c.who.agent)
		talk.awaitStatus("listening")
		talk.send(`{"type":"text","data":"` + asked + `"}`)
		talk.awaitStatus("speaking")
		if line := talk.awaitLine("agent"); line == "" || strings.HasPrefix(answered, line) {
			t.Errorf("%q is the answer of an engine that it has no key for", line)
		}
		talk.hangUp()
	}

	a := customer()
	set(a, "flux", hears.Key)
	set(a, "haiku", thinks.Key)
	var test struct{ OK bool }
	if status := a.ask("POST", "/v1/engine-keys/haiku/test", "", &test); status != http.StatusOK || !test.OK {
		t.Errorf("%d, %+v", status, test)
	}
	talk := connect(t, s, a.who.key, a.who.agent)
	talk.awaitStatus("listening")
	talk.asksAndHears(asked, answered)
	talk.awaitStatus("listening")
	talk.hangUp()
	if got := hears.Books().Header.Get("Authorization"); got != "Token "+hears.Key {
		t.Errorf("the recogniser saw %q", got)
	}
	if thought() != thinks.Key || speaks.Books().Header.Get("X-Api-Key") != speaks.Key {
		t.Errorf("the model saw %q, the voice %q", thought(), speaks.Books().Header.Get("X-Api-Key"))
	}
	b := openBooks(t, s)
	bill := b.closed(a.who.account, 1)[0]
	b.checkAmount(bill)
	b.checkTokens(bill)
	var past struct {
		Usage []struct {
			Engine, Unit string
			Owner        string `json:"key_owner"`
			Quantity     float64
			Price, Cost  *float64
		}
	}
	readAs(t, s, a.who.key, "/v1/calls/"+bill.ID, &past)
	var used []string
	for _, u := range past.Usage {
		price := "included"
		if u.Price != nil {
			price = fmt.Sprint(*u.Price)
		}
		used = append(used, fmt.Sprint(u.Engine, " ", u.Owner, " ", u.Unit, " ", price))
		if u.Quantity <= 0 || u.Cost != nil {
			t.Errorf("%+v", u)
		}
	}
	for _, want := range []string{"flux account open_seconds 0", "haiku account tokens_in 0", "haiku account tokens_out 0", "sonic operator characters included"} {
		if !slices.Contains(used, want) {
			t.Errorf("%s is not in %q", want, used)
		}
	}
	var receipt struct {
		Lines []struct {
			Component string
			Amount    float64
		}
	}
	readAs(t, s, a.who.key, "/v1/calls/"+bill.ID+"/receipt", &receipt)
	if got := fmt.Sprint(receipt.Lines); !strings.Contains(got, "{llm_own_key_input 0}") || strings.Contains(got, "llm_reply") {
		t.Error(got)
	}
	var known bool
	if err := b.sql.QueryRow(b.ctx, "select bool_and(case engine when 'sonic' then cost_nano > 0 else cost_nano is null end) from call_engine_usage where unit in ('characters', 'tokens_in')").
		Scan(&known); err != nil || !known {
		t.Errorf("what engines cost the operator is not what it should be: %v", err)
	}

	// Work that is no call is counted, too.
	var totals struct {
		Data []struct {
			Engine, Unit string
			Owner        string `json:"key_owner"`
			Quantity     float64
			Sessions     int
			Cost         *float64
		}
	}
	spoken := func(path, key string) (characters float64, sessions int, cost bool) {
		t.Helper()
		readAs(t, s, key, path, &totals)
		for _, u := range totals.Data {
			if u.Engine == "sonic" && u.Unit == "characters" && u.Owner == "operator" {
				characters, sessions, cost = u.Quantity, u.Sessions, u.Cost != nil
			}
		}
		return characters, sessions, cost
	}
	before, sessions, _ := spoken("/v1/usage/engines", a.who.key)
	const text = `{"text":"Hello there.","voice":"F1","language":"en","engine":"sonic"}`
	if status, code := problemOf(t, s, a.who.key, "/tts/synthesize", "application/json", strings.NewReader(text), int64(len(text))); status != http.StatusOK {
		t.Errorf("%d %s", status, code)
	}
	after, now, costs := spoken("/v1/usage/engines", a.who.key)
	if after != before+float64(len("Hello there.")) || now != sessions+1 || costs {
		t.Errorf("%v characters in %d sessions, then %v in %d", before, sessions, after, now)
	}
	if all, _, costs := spoken("/v1/operator/usage/engines", newOperator(t, s, "operator@example.com")); all != after || !costs {
		t.Errorf("operators see %v characters, and what they cost: %v", all, costs)
	}

	// A key that is refused is noted once, and not used again: then the operator's serves, which is refused here, too.
	c := customer()
	set(c, "haiku", "bad-hunter2-of-c")
	types(c)
	if thought() != "bad-hunter2-of-c" {
		t.Errorf("the model saw %q", thought())
	}
	events := func() (n int) {
		t.Helper()
		var list struct {
			Data []struct{ Kind, Message string }
		}
		readAs(t, s, c.who.key, "/v1/events", &list)
		for _, e := range list.Data {
			if e.Kind == "engine_key.refused" && strings.Contains(e.Message, "haiku") {
				n++
			}
		}
		return n
	}
	eventually(t, "the refusal is noted", func() bool {
		var list struct{ Data []key }
		readAs(t, s, c.who.key, "/v1/engine-keys", &list)
		return len(list.Data) == 1 && list.Data[0].Refusal != nil && events() == 1
	})
	types(c)
	if thought() != "the-operators-key" || events() != 1 {
		t.Errorf("then the model saw %q, and there were %d events", thought(), events())
	}

	// Another account has none of them: the operator's would serve, which is known to be refused, and so the next of the list does.
	opened := hears.Books().Opened
	types(customer())
	if thought() != "the-operators-key" || hears.Books().Opened != opened {
		t.Errorf("the model saw %q, the recogniser %d sockets more", thought(), hears.Books().Opened-opened)
	}

	copied := filepath.Join(home, "copy")
	if o := do(t, command(dir, env, "backup", copied)); o.status != 0 {
		t.Fatalf("exit status %d, %s%s", o.status, o.out, o.errOut)
	}
	texts := map[string]string{"the log": s.text(), "the backup": dumped(t, filepath.Join(copied, "database.dump"))}
	for _, path := range []string{"/v1/calls.csv", "/v1/usage.csv", "/v1/ledger.csv", "/v1/engine-keys", "/v1/events", "/v1/calls/" + bill.ID + "/events"} {
		_, body := ask(t, s, a.who.key, path)
		texts[path] = string(body)
	}
	for what, text := range texts {
		if text == "" || strings.Contains(text, "hunter2") {
			t.Errorf("%s is empty, or holds a key", what)
		}
	}
	checkBooks(t, dir)
}

// dumped is a dump of a database as SQL.
func dumped(t *testing.T, path string) string {
	t.Helper()
	program, _, err := private.Client("pg_restore", 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-f", "-", path)
	cmd.Stderr = io.Discard
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "engine_keys") {
		t.Fatalf("the dump cannot be read: %v", err)
	}
	return string(out)
}
