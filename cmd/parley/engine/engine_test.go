package engine

import (
	"log/slog"
	"testing"

	"parley/api/status"
	"parley/cmd/parley/config"
	"parley/inference"
	"parley/inference/enginetest"
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
	e.pools.llm.names, e.pools.llm.all = []string{"first", "second"}, []inference.LLM{first, second}
	chosen := func(names ...string) inference.LLM { return e.Chosen(&agent.Engines{LLM: names}).LLM }
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
