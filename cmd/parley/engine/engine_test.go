package engine

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"parley/api/status"
	"parley/cmd/parley/config"
	"parley/inference"
	"parley/inference/cartesia"
	"parley/inference/cartesia/cartesiatest"
	"parley/inference/deepgram/deepgramtest"
	"parley/inference/enginetest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/pipeline/agent"
)

// TestEnginesOfAnAgent: of those that are offered, in the agent's order; the same list is
// the same engine, so that what is known of failures is shared.
func TestEnginesOfAnAgent(t *testing.T) {
	t.Parallel()
	cfg, _, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	first, second := enginetest.NewFakeLLM(), enginetest.NewFakeLLM()
	first.Name, second.Name = "first", "second"
	e.pools.llm.names, e.pools.llm.all, e.pools.llm.listed = []string{"first", "second"}, []inference.LLM{first, second}, make([]config.Engine, 2)
	chosen := func(names ...string) inference.LLM {
		var list agent.EngineList
		for _, name := range names {
			list = append(list, agent.Engine{Name: name})
		}
		return e.Chosen(&agent.Engines{LLM: list}).LLM
	}
	if e.Chosen(nil).LLM != e.LLM || chosen() != e.LLM || chosen("gone") != e.LLM {
		t.Error("who chooses nothing that there is gets another engine than the server's")
	}
	if chosen("second") != second || chosen("gone", "first", "first") != first {
		t.Error("one engine is not itself")
	}
	both := chosen("second", "gone", "first")
	if both.Info().Name != "second,first" || chosen("second", "first") != both || chosen("first", "second") == both {
		t.Errorf("%+v", both.Info())
	}
	second.Answer = func(int, inference.Request) []enginetest.Step {
		return []enginetest.Step{{Err: &inference.Error{Engine: "second", Fault: inference.ErrUnavailable}}}
	}
	first.Replies = [][]enginetest.Step{{{Text: "Yes."}}}
	text, by := "", ""
	for d, err := range both.Complete(t.Context(), inference.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
		text += d.Text
		if d.Engine != "" {
			by = d.Engine
		}
	}
	if text != "Yes." || by != "first" {
		t.Errorf("%q of %q", text, by)
	}
}

// TestEnginesAreListed has two engines of a kind, of which calls know the pair only.
func TestEnginesAreListed(t *testing.T) {
	cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_LLM=openai,scripted", "PARLEY_LLM_URL=http://127.0.0.1:1/v1", "PARLEY_LLM_MODEL=m"}})
	if err != nil {
		t.Fatal(err)
	}
	engines, err := New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	var list []status.ModelEntry
	for _, m := range (&status.Server{Engines: engines.Listed}).Models().Models {
		m.Description = ""
		list = append(list, m)
	}
	if len(list) != 4 || list[0].Kind != status.TTS || list[1].Kind != status.STT || list[2].Kind != status.LLM || !list[2].Default ||
		list[2].Scripted || list[3].Name != "scripted" || list[3].Default || !list[3].Scripted {
		t.Errorf("%+v", list)
	}
	if engines.Listed[0].Ready == nil || engines.Listed[1].Ready == nil || engines.Listed[3].Ready != nil {
		t.Error("it is the embedded engines that say whether they are ready")
	}
}

// TestOwnModelAndOptions: an agent has an engine with a model and options of its own, which are made once; what the engine
// does not take is named by its place in the agent's document.
func TestOwnModelAndOptions(t *testing.T) {
	var asked atomic.Int32
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer vendor.Close()
	e := configured(t, `
engines:
  - {name: ears, stage: asr, vendor: deepgram, key: k, model: nova-3, options: {tag: ours, mip_opt_out: true}}
  - {name: mind, stage: llm, vendor: anthropic, url: "`+vendor.URL+`", key: k, options: {temperature: 0.5}}
  - {name: few, stage: llm, vendor: openai, url: "http://127.0.0.1:1/v1", model: a, models: [b, c]}
`)
	wanted := func(engines string) *agent.Engines {
		s, err := agent.ParseSettings([]byte(`{"engines":` + engines + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return s.Engines
	}
	llm := func(engines string) inference.LLM { return e.Chosen(wanted(engines)).LLM }
	own := `{"llm":{"engine":"mind","model":"claude-x","options":{"max_tokens":90}}}`
	if got := llm(own).Info(); got.Name != "mind" || !strings.Contains(got.Description, "claude-x") {
		t.Errorf("%+v", got)
	}
	if llm(own) != llm(own) || llm(own) == llm(`{"llm":"mind"}`) || llm(`{"llm":"mind"}`) != llm(`{"llm":[{"engine":"mind"}]}`) {
		t.Error("engines that are the same are different, or the other way round")
	}
	if got := llm(`{"llm":[{"engine":"mind","options":{"colour":1}},"scripted"]}`).Info().Name; got != "mind,scripted" {
		t.Errorf("options that are taken no more lead to %s", got)
	}
	for _, engines := range []string{`{"llm":"mind"}`, own} {
		for range llm(engines).Complete(t.Context(), inference.Request{}) {
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("a vendor that wants to be left alone was asked %d times", n)
	}
	for i := range 2 * maxJoined {
		llm(fmt.Sprintf(`{"llm":{"engine":"mind","options":{"max_tokens":%d}}}`, i+1))
	}
	if n := len(e.pools.llm.joined); n > maxJoined {
		t.Errorf("%d lists are kept", n)
	}
	if !e.EndsTurns(agent.Engine{Name: "ears", Model: "flux-general-en"}) || e.EndsTurns(agent.Engine{Name: "ears"}) || e.EndsTurns(agent.Engine{Name: "gone"}) {
		t.Error("it is the model that ends turns")
	}
	for engines, want := range map[string]string{
		`{"llm":{"engine":"mind","options":{"temperature":0.3,"cache_ttl":"1h"}}}`: ": ",
		`{"llm":{"engine":"mind","options":{"temperature":2}}}`:                    "options.temperature: allowed: 0 to 1",
		`{"llm":{"engine":"mind","options":{"temperature":"hot"}}}`:                "options.temperature: allowed: 0 to 1",
		`{"llm":{"engine":"mind","options":{"url":"http://evil"}}}`:                "options.url: is not known",
		`{"llm":{"engine":"few","model":"b"}}`:                                     ": ",
		`{"llm":{"engine":"few","model":"d"}}`:                                     `model: "d", allowed are b and c`,
		`{"llm":{"engine":"scripted","model":"d"}}`:                                "model: this engine has no models",
		`{"llm":{"engine":"scripted","options":{"temperature":1}}}`:                "options: this engine has none",
	} {
		if member, problem := e.Check(agent.StageLLM, wanted(engines).LLM[0]); member+": "+problem != want {
			t.Errorf("%s: %s: %s", engines, member, problem)
		}
	}
	for options, want := range map[string]string{`{"tag":"theirs","mip_opt_out":true}`: ": ",
		`{"mip_opt_out":false}`: "options.mip_opt_out: the operator has set it, and agents cannot change it"} {
		if member, problem := e.Check(agent.StageASR, agent.Engine{Name: "ears", Options: []byte(options)}); member+": "+problem != want {
			t.Errorf("%s: %s: %s", options, member, problem)
		}
	}
}

// TestConcurrency: a stream above the limit of a key is served by the next engine of the list. Engines with the same key share the
// limit, those that an agent wants otherwise, too.
func TestConcurrency(t *testing.T) {
	near, far := deepgramtest.New(t, deepgramtest.Script{}), deepgramtest.New(t, deepgramtest.Script{})
	e := configured(t, `
engines:
  - {name: ears, stage: asr, vendor: deepgram, url: "`+near.URL+`", key: "`+near.Key+`", model: nova-3, concurrency: 9}
  - {name: same, stage: asr, vendor: deepgram, url: "`+near.URL+`", key: "`+near.Key+`", concurrency: 1}
  - {name: spare, stage: asr, vendor: deepgram, url: "`+far.URL+`", key: "`+far.Key+`", model: nova-3}
asr: [ears, spare]
`)
	wanted := func(one agent.Engine) inference.ASR {
		return e.Chosen(&agent.Engines{ASR: agent.EngineList{one}}).ASR
	}
	english := inference.ASRConfig{Language: "en"}
	for range 2 {
		r, err := e.ASR.Open(t.Context(), english)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
	}
	for _, one := range []agent.Engine{{Name: "same"}, {Name: "ears", Model: "nova-2"}} {
		if _, err := wanted(one).Open(t.Context(), english); inference.FaultOf(err) != inference.ErrUnavailable {
			t.Errorf("%+v: %v", one, err)
		}
	}
	if a, b := near.Books(), far.Books(); a.Attempts != 1 || a.Open != 1 || b.Open != 1 {
		t.Errorf("%d streams of %d are at the first, %d at the second", a.Open, a.Attempts, b.Open)
	}
}

// TestClose: connections that engines keep open end with the server.
func TestClose(t *testing.T) {
	cfg, _, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := cartesiatest.New(t, cartesiatest.Script{})
	voice, err := cartesia.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: synthesiser.Voices{"F1": cartesiatest.DefaultVoice}})
	if err != nil {
		t.Fatal(err)
	}
	e.pools.tts.all = append(e.pools.tts.all, voice)
	voice.Warm(t.Context())
	loopbacktest.Await(t, "the beginning of a socket", func() bool { return s.Books().Open == 1 })
	e.Close()
	loopbacktest.Await(t, "the end of the socket", func() bool { return s.Books().Open == 0 })
}
