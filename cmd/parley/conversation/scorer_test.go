package conversation

import (
	"log/slog"
	"testing"

	"parley/billing"
	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
)

// knowing is a scorer of some languages.
type knowing struct {
	enginetest.FakeTurnScorer
	languages []string
}

func (k *knowing) Info() inference.Info {
	return inference.Info{Name: "scorer", Languages: k.languages}
}

// TestScorerOfTheServer: it judges pauses in languages that it knows, where the recogniser hears the call.
func TestScorerOfTheServer(t *testing.T) {
	settings, _, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	engines, err := engine.New(settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	spanish, english := &knowing{languages: []string{"es"}}, &knowing{languages: []string{"es", "en"}}
	for _, c := range []struct {
		name         string
		scorer, want inference.TurnScorer
	}{{"none", nil, nil}, {"of another language", spanish, nil}, {"of this one", english, english}} {
		engines.Turns = c.scorer
		stored := NewAgent()
		plan := PlanOf(&stored, slog.New(slog.DiscardHandler))
		m := Maker{Engines: engines, Card: billing.DefaultRateCard}
		cfg, _, err := m.config(*m.chosen(t.Context(), "", &plan), &plan, media.Rate16k, nil)
		if err != nil || cfg.Scorer != c.want {
			t.Errorf("%s: %v, %v", c.name, cfg.Scorer, err)
		}
	}
}
