package conversation

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"parley/billing"
	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
	"parley/media"
	"parley/pipeline/reply"
)

// TestRealtimeEngineOfAnAgent: it serves in calls in place of the three, where the rate card has its prices, and leaves
// what comes after calls to the model.
func TestRealtimeEngineOfAnAgent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "parley.yaml")
	if err := os.WriteFile(file, []byte(`engines: [{name: live, stage: realtime, vendor: openai, url: "http://127.0.0.1:1/v1", key: k}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, _, err := config.Load(config.Sources{File: file})
	if err != nil {
		t.Fatal(err)
	}
	engines, err := engine.New(settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	sells, err := billing.ParseRateCard(append([]byte(`{"realtime":{"audio_input_per_million_tokens":32,"cached_audio_input_per_million_tokens":0.4,`+
		`"audio_output_per_million_tokens":64},`), billing.DefaultRateCard().JSON()[1:]...))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, engines string
		card          *billing.RateCard
		llm, tts      string
	}{
		{"named", `{"realtime":"live","tts":"espeak"}`, sells, "live", "live"},
		{"without prices", `{"realtime":"live"}`, billing.DefaultRateCard(), "scripted", "espeak"},
		{"not named", `{}`, sells, "scripted", "espeak"},
	} {
		stored := NewAgent()
		stored.Settings = json.RawMessage(`{"engines":` + c.engines + `}`)
		plan := PlanOf(&stored, slog.New(slog.DiscardHandler))
		m := Maker{Engines: engines, Card: func() *billing.RateCard { return c.card }}
		cfg, deaf, err := m.config(*m.chosen(t.Context(), "", &plan), &plan, media.Rate16k, nil)
		if err != nil || deaf {
			t.Fatalf("%s: deaf %v, %v", c.name, deaf, err)
		}
		if llm, tts := cfg.LLM.Info().Name, cfg.TTS.Info().Name; llm != c.llm || tts != c.tts {
			t.Errorf("%s: %s answers and %s speaks", c.name, llm, tts)
		}
		if by := c.llm == "live"; cfg.Turn.EngineTurns != by || (cfg.Speculation == reply.SpeculationOff) != by || (cfg.Interrupted != nil) != by || (cfg.Begins != nil) != by {
			t.Errorf("%s: %+v", c.name, cfg.Turn)
		}
		if name := engines.Chosen(plan.Settings.Engines).LLM.Info().Name; name != "scripted" {
			t.Errorf("%s: after the call %s serves", c.name, name)
		}
	}
}
