package engine

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/billing"
	"parley/cmd/parley/config"
	"parley/inference"
	"parley/inference/deepgram/deepgramtest"
	"parley/pipeline/agent"
	"parley/pipeline/session"
)

// fakeKeys are keys by account and engine.
type fakeKeys struct {
	keys    map[string]map[string]string
	refused chan string
}

// Keys implements Keys.
func (k *fakeKeys) Keys(_ context.Context, account string) (map[string]string, error) {
	return k.keys[account], nil
}

// Refused implements Keys.
func (k *fakeKeys) Refused(_ context.Context, account, engine, key, why string) error {
	k.refused <- fmt.Sprint(account, " ", engine, " ", key, " ", why)
	return nil
}

// fakeVendor is a server that refuses keys that begin with bad, and wants to be left alone by those that begin with busy.
type fakeVendor struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string // keys, in order
}

func newVendor(t *testing.T) *fakeVendor {
	v := &fakeVendor{}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Api-Key")
		v.mu.Lock()
		v.seen = append(v.seen, key)
		v.mu.Unlock()
		switch {
		case strings.HasPrefix(key, "bad"):
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasPrefix(key, "busy"):
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(v.Close)
	return v
}

// sees are the keys with which a model asks.
func (v *fakeVendor) sees(t *testing.T, llm inference.LLM, want ...string) {
	t.Helper()
	v.mu.Lock()
	v.seen = nil
	v.mu.Unlock()
	for range llm.Complete(t.Context(), inference.Request{Messages: []inference.Message{{Role: inference.RoleUser, Text: "hello"}}, Language: "en"}) {
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Equal(v.seen, want) {
		t.Errorf("the vendor saw %q, want %q", v.seen, want)
	}
}

// configured are the engines of a server with that file.
func configured(t *testing.T, text string) *Set {
	t.Helper()
	file := filepath.Join(t.TempDir(), "parley.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Load(config.Sources{File: file})
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// keyed is a server's engines, whose model mind has a key of the server's and theirs has not.
func keyed(t *testing.T, v *fakeVendor) (*Set, *fakeKeys) {
	t.Helper()
	e := configured(t, `
engines:
  - {name: mind, stage: llm, vendor: anthropic, url: "`+v.URL+`", key: servers, model: claude-a, costs: {million_tokens_in: 3}}
  - {name: theirs, stage: llm, vendor: anthropic, url: "`+v.URL+`", key: account}
  - {name: local, stage: llm, vendor: openai, url: "`+v.URL+`"}
llm: [theirs, mind, scripted]
`)
	keys := &fakeKeys{keys: map[string]map[string]string{}, refused: make(chan string, 8)}
	e.Keys = keys
	return e, keys
}

func wants(engines ...agent.Engine) *agent.Engines { return &agent.Engines{LLM: engines} }

// TestKeysOfAccounts: an engine works with the account's key, or with the server's; one that has none of the server's is none
// for accounts without.
func TestKeysOfAccounts(t *testing.T) {
	v := newVendor(t)
	e, keys := keyed(t, v)
	keys.keys["a"] = map[string]string{"mind": "key-of-a", "local": "not-taken", "gone": "not-there"}
	keys.keys["b"] = map[string]string{"theirs": "key-of-b"}
	llm := func(account string, wanted *agent.Engines) inference.LLM {
		return e.For(t.Context(), account, wanted).LLM
	}
	mind, theirs := wants(agent.Engine{Name: "mind"}), wants(agent.Engine{Name: "theirs"})
	v.sees(t, llm("a", mind), "key-of-a")
	v.sees(t, llm("b", mind), "servers")
	v.sees(t, llm("nobody", mind), "servers")
	v.sees(t, llm("b", theirs), "key-of-b")
	v.sees(t, llm("b", nil), "key-of-b", "servers")
	v.sees(t, llm("a", nil), "key-of-a")
	v.sees(t, llm("a", wants(agent.Engine{Name: "local"})), "")
	v.sees(t, e.LLM, "servers")
	if name := e.LLM.Info().Name; name != "mind,scripted" {
		t.Errorf("those without a key have %s", name)
	}
	if got := e.TakeKeys(); !slices.Equal(got, []string{"mind", "theirs"}) {
		t.Errorf("%q take keys", got)
	}
	vendors := map[string]string{"mind": "anthropic", "theirs": "anthropic", "local": "openai"}
	for _, one := range e.Listed {
		if name := one.Info().Name; one.Vendor != vendors[name] || one.TakesKeys != slices.Contains(e.TakeKeys(), name) {
			t.Errorf("%s is of %q and takes keys: %v", name, one.Vendor, one.TakesKeys)
		}
	}
	if !slices.Contains(e.Names(agent.StageLLM), "theirs") {
		t.Error("agents cannot name what only some accounts may use")
	}
	if member, problem := e.Check(agent.StageLLM, agent.Engine{Name: "theirs", Options: []byte(`{"colour":1}`)}); member != "options.colour" {
		t.Errorf("%s: %s", member, problem)
	}

	// The same key is the same engine; another is not, nor is it another account's.
	if llm("a", mind) != llm("a", mind) || llm("a", mind) == llm("b", mind) || llm("b", mind) != llm("nobody", mind) || llm("nobody", nil) != e.LLM ||
		llm("a", theirs) != llm("a", nil) { // it is not there for them: the server's list

		t.Error("engines that are the same are different, or the other way round")
	}
	before := llm("a", mind)
	keys.keys["c"] = map[string]string{"mind": "key-of-a"}
	keys.keys["a"] = map[string]string{"mind": "new-key-of-a"}
	if llm("a", mind) == before || llm("c", mind) == before {
		t.Error("a key that is another, or another account's, has the same engine")
	}
	v.sees(t, before, "key-of-a") // a call goes on with what it began with
	v.sees(t, llm("a", mind), "new-key-of-a")
}

// TestVendorsAreLeftAlone: who is to be left alone is so for a key, whatever engines have it, and so is a key that is not taken.
func TestVendorsAreLeftAlone(t *testing.T) {
	v := newVendor(t)
	e, keys := keyed(t, v)
	keys.keys["a"] = map[string]string{"mind": "busy-key-of-a"}
	mind := e.For(t.Context(), "a", wants(agent.Engine{Name: "mind"})).LLM
	v.sees(t, mind, "busy-key-of-a")
	v.sees(t, mind)
	v.sees(t, e.For(t.Context(), "a", wants(agent.Engine{Name: "mind", Model: "claude-b"})).LLM)
	keys.keys["c"] = map[string]string{"mind": "bad-key-of-c"}
	mind = e.For(t.Context(), "c", wants(agent.Engine{Name: "mind"})).LLM
	v.sees(t, mind, "bad-key-of-c")
	v.sees(t, mind)
	v.sees(t, e.For(t.Context(), "b", wants(agent.Engine{Name: "mind"})).LLM, "servers")
	for i := range 2 * maxJoined {
		keys.keys["b"] = map[string]string{"mind": fmt.Sprint("key-of-b-", i)}
		e.For(t.Context(), "b", nil)
	}
	if n := len(e.pools.llm.joined); n > maxJoined {
		t.Errorf("%d lists are kept", n)
	}
}

// TestPlacesOfKeys: a key of an account has places of its own, which all engines with it share, and takes none of the server's.
func TestPlacesOfKeys(t *testing.T) {
	vendor := deepgramtest.New(t, deepgramtest.Script{})
	e := configured(t, `
engines:
  - {name: ears, stage: asr, vendor: deepgram, url: "`+vendor.URL+`", key: "`+vendor.Key+`", model: nova-3, concurrency: 3}
  - {name: others, stage: asr, vendor: deepgram, url: "`+vendor.URL+`", key: account, model: nova-2, concurrency: 1}
asr: ears
`)
	theirs := map[string]string{"ears": vendor.Key, "others": vendor.Key}
	e.Keys = &fakeKeys{keys: map[string]map[string]string{"a": theirs, "b": theirs}}
	opens := func(account, name, model string, want inference.Fault) {
		t.Helper()
		r, err := e.For(t.Context(), account, &agent.Engines{ASR: agent.EngineList{{Name: name, Model: model}}}).ASR.Open(t.Context(), inference.ASRConfig{Language: "en"})
		if inference.FaultOf(err) != want {
			t.Errorf("%s: %v", account, err)
		}
		if err == nil {
			t.Cleanup(r.Close)
		}
	}
	for range 3 {
		opens("", "ears", "", 0)
	}
	opens("", "ears", "nova-2", inference.ErrUnavailable)
	for _, account := range []string{"a", "b"} { // of two engines with one key the lower number counts
		opens(account, "ears", "", 0)
		opens(account, "ears", "nova-2", inference.ErrUnavailable)
		opens(account, "others", "", inference.ErrUnavailable)
	}
}

// TestRefusedKeys: the next engine of the list answers, and whose key it is gets to know why; nobody does of the server's own key,
// nor of what is no refusal of a key.
func TestRefusedKeys(t *testing.T) {
	v := newVendor(t)
	e, keys := keyed(t, v)
	ctx, stop := context.WithCancel(t.Context())
	noted := make(chan error, 1)
	go func() { noted <- e.NoteRefusals(ctx) }()
	keys.keys["a"], keys.keys["b"] = map[string]string{"mind": "bad-key-of-a", "theirs": "key-of-a"}, map[string]string{"mind": "key-of-b"}
	answers := func(account string) string {
		t.Helper()
		text := ""
		for d, err := range e.For(t.Context(), account, wants(agent.Engine{Name: "mind"}, agent.Engine{Name: "theirs"}, agent.Engine{Name: "scripted"})).LLM.
			Complete(t.Context(), inference.Request{Messages: []inference.Message{{Role: inference.RoleUser, Text: "hello"}}, Language: "en"}) {
			if err != nil {
				t.Error(err)
			}
			text += d.Text
		}
		return text
	}
	for _, account := range []string{"b", "nobody", "a"} {
		if answers(account) == "" {
			t.Errorf("%s: nobody answers", account)
		}
	}
	if got := <-keys.refused; got != "a mind bad-key-of-a status 401" {
		t.Error(got)
	}
	stop()
	if err := <-noted; err != nil || len(keys.refused) != 0 {
		t.Errorf("%v, %d more", err, len(keys.refused))
	}
}

// TestFactsOfEngines: what the books have to know.
func TestFactsOfEngines(t *testing.T) {
	v := newVendor(t)
	e, keys := keyed(t, v)
	keys.keys["a"] = map[string]string{"mind": "key-of-a"}
	costs := billing.Costs{billing.TokensIn: 3 * billing.USD}
	for _, c := range []struct {
		account string
		wanted  *agent.Engines
		name    string
		want    session.Engine
	}{
		{"a", nil, "mind", session.Engine{Name: "mind", Model: "claude-a", Own: true, Costs: costs}},
		{"b", nil, "mind", session.Engine{Name: "mind", Model: "claude-a", Costs: costs}},
		{"a", wants(agent.Engine{Name: "mind", Model: "claude-b"}), "", session.Engine{Name: "mind", Model: "claude-b", Own: true, Costs: costs}},
		{"a", nil, "scripted", session.Engine{Name: "scripted"}},
		{"a", nil, "gone", session.Engine{Name: "gone"}},
	} {
		choice := e.For(t.Context(), c.account, c.wanted)
		c.want.Stage = agent.StageLLM
		if got := choice.Engine(agent.StageLLM, c.name); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s, %q: %+v", c.account, c.name, got)
		}
	}
}

// TestFactsOfWork: what is no conversation works with an account's key where it names the engine, and otherwise with the server's.
func TestFactsOfWork(t *testing.T) {
	e := configured(t, `
engines:
  - {name: sonic, stage: tts, vendor: cartesia, url: "`+newVendor(t).URL+`", key: servers, model: sonic-3, voices: {F1: a}, costs: {million_characters: 30}}
tts: [sonic]
`)
	e.Keys = &fakeKeys{keys: map[string]map[string]string{"a": {"sonic": "key-of-a"}}}
	for _, c := range []struct {
		account, name string
		own           bool
	}{{"a", "sonic", true}, {"a", "", false}, {"b", "sonic", false}} {
		want := session.Engine{Stage: agent.StageTTS, Name: "sonic", Model: "sonic-3", Own: c.own, Costs: billing.Costs{billing.Characters: 30 * billing.USD}}
		if got := e.Serving(t.Context(), c.account, c.name)(agent.StageTTS, "sonic"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s, %q: %+v", c.account, c.name, got)
		}
	}
}

// TestVoice: an engine is found by its name, unless it serves accounts with a key of their own and this one has none.
func TestVoice(t *testing.T) {
	e := configured(t, `
engines:
  - {name: sonic, stage: tts, vendor: cartesia, url: "`+newVendor(t).URL+`", key: servers, voices: {F1: a}}
  - {name: theirs, stage: tts, vendor: cartesia, url: "`+newVendor(t).URL+`", key: account, voices: {F1: a}}
tts: [espeak, sonic, theirs]
`)
	e.Keys = &fakeKeys{keys: map[string]map[string]string{"a": {"theirs": "key-of-a"}}}
	for _, c := range []struct {
		account, name string
		found         bool
	}{
		{"a", "espeak", true}, {"a", "sonic", true}, {"a", "theirs", true}, {"a", "scripted", false}, {"b", "sonic", true}, {"b", "theirs", false},
	} {
		if tts, found := e.Voice(t.Context(), c.account, c.name); found != c.found || found && tts.Info().Name != c.name {
			t.Errorf("%s of %s: %v, %s", c.name, c.account, found, tts.Info().Name)
		}
	}
}
