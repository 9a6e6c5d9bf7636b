package conversation

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/api/tts"
	"parley/billing"
	"parley/cmd/parley/engine"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/scripted"
	"parley/media"
	"parley/media/denoise"
	"parley/media/vad"
	"parley/pipeline/agent"
	"parley/pipeline/pipelinetest"
)

// ears is a server whose recogniser finds the ends of turns.
type ears struct{}

func (ears) Names(agent.Stage) []string                               { return []string{"fake-asr"} }
func (ears) Check(agent.Stage, agent.Engine) (member, problem string) { return "", "" }
func (ears) EndsTurns(agent.Engine) bool                              { return true }

// TestEngineTurns: a caller is answered when the recogniser has found the end of their turn, unless the agent goes by the words. A
// recogniser that cannot find it leaves turns to them.
func TestEngineTurns(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name, document string
		able           bool
		commits        string
	}{
		{"by its recogniser", `{"name":"N","settings":{"turns":"engine"}}`, true, "2620"},
		{"by words", `{"name":"N","settings":{"turns":"words","min_endpoint_ms":200}}`, true, "2700"},
		{"by default", `{"name":"N"}`, true, "2620"},
		{"by one that cannot", `{"name":"N","settings":{"turns":"engine","min_endpoint_ms":200}}`, false, "2700"},
		{"by words, to which the recogniser adds that they are all", `{"name":"N","settings":{"turns":"words"}}`, true, "2960"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stored := NewAgent()
			names := agent.Names{Engines: ears{}}
			if err := ApplyDocument(names, &stored, json.RawMessage(c.document), true); err != nil {
				t.Fatal(err)
			}
			plan := PlanOf(&stored, slog.New(slog.DiscardHandler))
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(pipelinetest.Said{From: 1000 * ms, To: 2500 * ms})
				s.ASR.Plan = enginetest.SpokenTurn(1000*ms, 2500*ms, 0, "what time do you open")
				s.ASR.Feed, s.ASR.Caps = inference.FeedContinuous, inference.Caps{Turns: c.able}
				m := Maker{Engines: &engine.Set{ASR: s.ASR, LLM: s.LLM, TTS: s.TTS, VAD: vad.Spectral, Denoise: denoise.Off},
					Card: func() *billing.RateCard { return new(billing.RateCard) }}
				cfg, _, err := m.config(*m.chosen(t.Context(), "", &plan), &plan, media.Rate16k, nil)
				if err != nil {
					t.Fatal(err)
				}
				s.Config.Turn = cfg.Turn
				s.Play(t, 8*time.Second)
				if want := c.commits + ` user_line "what time do you open"`; !strings.Contains(s.Log(), want) {
					t.Errorf("no %s in\n%s", want, s.Log())
				}
			})
		})
	}
}

// TestOwnPhrasesFirst: recognisers that take few terms have the agent's own, before those that any agent of its model has.
func TestOwnPhrasesFirst(t *testing.T) {
	stored := NewAgent()
	if err := ApplyDocument(agent.Names{}, &stored, json.RawMessage(`{"name":"N","settings":{"phrases":["Casa Lola"]}}`), true); err != nil {
		t.Fatal(err)
	}
	plan := PlanOf(&stored, slog.New(slog.DiscardHandler))
	m := Maker{Engines: &engine.Set{ASR: enginetest.NewFakeASR(), LLM: scripted.New(), TTS: enginetest.NewFakeTTS(), VAD: vad.Spectral, Denoise: denoise.Off},
		Card: func() *billing.RateCard { return new(billing.RateCard) }}
	cfg, _, err := m.config(*m.chosen(t.Context(), "", &plan), &plan, media.Rate8k, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := cfg.Agent.Phrases; len(p) < 10 || p[0] != "Casa Lola" {
		t.Errorf("%q", p)
	}
}

// TestLanguageOfTheCaller: an agent of the language auto follows its caller to those that its voice speaks, and another to none.
func TestLanguageOfTheCaller(t *testing.T) {
	for language, want := range map[string]agent.Agent{"auto-es": {Language: "es", Follows: []string{"es", "en"}}, "es": {Language: "es"}} {
		stored := NewAgent()
		if err := ApplyDocument(agent.Names{Language: tts.Language}, &stored, json.RawMessage(`{"name":"N","language":"`+language+`"}`), true); err != nil {
			t.Fatal(err)
		}
		plan := PlanOf(&stored, slog.New(slog.DiscardHandler))
		voice := enginetest.NewFakeTTS()
		voice.Languages = []string{"es", "en"}
		m := Maker{Engines: &engine.Set{ASR: enginetest.NewFakeASR(), LLM: enginetest.NewFakeLLM(), TTS: voice, VAD: vad.Spectral, Denoise: denoise.Off},
			Card: func() *billing.RateCard { return new(billing.RateCard) }}
		cfg, deaf, err := m.config(*m.chosen(t.Context(), "", &plan), &plan, media.Rate8k, nil)
		if err != nil {
			t.Fatal(err)
		}
		if deaf || cfg.Agent.Language != want.Language || !slices.Equal(cfg.Agent.Follows, want.Follows) || cfg.Turn.Language != want.Language {
			t.Errorf("%s: %+v", language, cfg.Agent)
		}
	}
}
