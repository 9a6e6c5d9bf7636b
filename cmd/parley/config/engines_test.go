package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"parley/billing"
)

// loadEngines reads a file with this text.
func loadEngines(t *testing.T, text string) (*Config, error) {
	t.Helper()
	c, _, err := Load(Sources{File: write(t, text)})
	return c, err
}

func TestEngines(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(secret, []byte("from-a-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := loadEngines(t, `
engines:
  - {name: flux, stage: asr, vendor: deepgram, model: flux-general-en, key_file: `+secret+`, options: {eot_threshold: 0.7}, concurrency: 50}
  - {name: spare, stage: asr, vendor: openai, url: "http://127.0.0.1:9/v1"}
  - {name: haiku, stage: llm, vendor: anthropic, key: sk-secret, models: [claude-a, claude-b]}
  - {name: opus, stage: llm, vendor: anthropic, key: account, costs: {million_tokens_in: 5, million_tokens_out: 25.5, request: 0.000001}}
  - {name: flash, stage: llm, vendor: gemini, key: sk-secret, options: {thinking_budget: 0}}
  - {name: sonic, stage: tts, vendor: cartesia, key: sk-secret, voices: {F1: one, F1-es: uno, M1: two}, url: "http://gateway.example"}
  - {name: live, stage: realtime, vendor: openai, key: sk-secret, url: "https://azure.example/openai/v1", options: {key_header: api-key, turn_detection: null}}
  - {name: voices, stage: tts, vendor: onnx, model: supertonic-3}
  - {name: turns, stage: turn, vendor: onnx, model: smart-turn-v3.2@1}
asr: [flux, pocketsphinx]
tts: sonic
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Engine{{Name: "flux", Vendor: "deepgram", Model: "flux-general-en", APIKey: "from-a-file", Options: []byte(`{"eot_threshold":0.7}`), Concurrency: 50},
		{Name: "pocketsphinx", Vendor: "pocketsphinx"}, {Name: "spare", Vendor: "openai", URL: "http://127.0.0.1:9/v1"}}
	if got := c.ASR.All(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := c.LLM.All(); len(got) != 4 || got[0].Name != "scripted" || got[1].Name != "haiku" || !reflect.DeepEqual(got[1].Models, []string{"claude-a", "claude-b"}) || c.LLM.Engines[0] != "scripted" {
		t.Errorf("%+v", got)
	}
	if got := c.LLM.All()[2]; !got.AccountKeys || got.APIKey != "" || !got.TakesKeys() ||
		!reflect.DeepEqual(got.Costs, billing.Costs{billing.TokensIn: 5 * billing.USD, billing.TokensOut: 25_500_000_000, billing.Requests: 1000}) {
		t.Errorf("%+v", got)
	}
	if all := c.ASR.All(); !all[0].TakesKeys() || all[1].TakesKeys() || all[2].TakesKeys() {
		t.Errorf("%+v", all)
	}
	if got := c.Turn.All(); len(got) != 1 || !reflect.DeepEqual(got[0], Engine{Name: "turns", Vendor: "onnx", Model: "smart-turn-v3.2@1"}) || got[0].TakesKeys() || got[0].Embedded() || !got[0].Unproven() {
		t.Errorf("%+v", got)
	}
	if got := c.TTS.All(); len(got) != 2 || got[1].Name != "voices" || got[0].Voices["M1"] != "two" || got[0].Voices["F1-es"] != "uno" {
		t.Errorf("%+v", got)
	}
	if got := c.Realtime.All(); len(got) != 1 || got[0].Name != "live" || string(got[0].Options) != `{"key_header":"api-key","turn_detection":null}` {
		t.Errorf("%+v", got)
	}
	text := c.Print()
	for _, part := range []string{"sk-secret", "from-a-file"} {
		if strings.Contains(text, part) {
			t.Errorf("it shows a secret: %s", text)
		}
	}
	if !strings.Contains(text, "name: haiku") || !strings.Contains(text, "(secret)") {
		t.Errorf("%s", text)
	}
	doubts := ""
	for _, d := range c.Doubts() {
		doubts += d.Text + "\n"
	}
	if !strings.Contains(doubts, `the key of the engine sonic and what is said in calls go unencrypted to "gateway.example"`) || !strings.Contains(doubts, "the engine haiku") {
		t.Errorf("%s", doubts)
	}
}

// TestSingleEngineSettings: the settings of a stage make one engine that is named like its vendor.
func TestSingleEngineSettings(t *testing.T) {
	c, _, err := Load(Sources{Env: []string{"PARLEY_LLM=anthropic,scripted", "PARLEY_LLM_API_KEY=k", "PARLEY_LLM_MODEL=m"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.LLM.All(); !reflect.DeepEqual(got, []Engine{{Name: "anthropic", Vendor: "anthropic", Model: "m", APIKey: "k"}, {Name: "scripted", Vendor: "scripted"}}) {
		t.Errorf("%+v", got)
	}
	if _, _, err := Load(Sources{Env: []string{"PARLEY_ASR=deepgram"}}); err == nil || !strings.Contains(err.Error(), "PARLEY_ASR_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
}

func TestWrongEngines(t *testing.T) {
	for text, want := range map[string]string{
		`engines: flux`: "is not a list of engines",
		`engines: [{stage: asr, vendor: deepgram, key: k}]`:                                                            "has no name",
		`engines: [{name: a, vendor: deepgram, key: k}]`:                                                               "has no stage",
		`engines: [{name: a, stage: ear, vendor: deepgram, key: k}]`:                                                   `stage: "ear" is not allowed; allowed: asr, llm, tts, realtime or turn`,
		`engines: [{name: a, stage: llm, vendor: deepgram, key: k}]`:                                                   `"deepgram" has no engine for llm; allowed: anthropic, gemini, openai`,
		`engines: [{name: a, stage: llm, vendor: acme, key: k}]`:                                                       `"acme"`,
		`engines: [{name: openai, stage: llm, vendor: openai, url: "http://h"}]`:                                       "no name of an engine that is built",
		`engines: [{name: a, stage: llm, vendor: openai}]`:                                                             "has no url",
		`engines: [{name: a, stage: asr, vendor: deepgram}]`:                                                           "has no key",
		`engines: [{name: a, stage: asr, vendor: deepgram, key: "sk-secret\nmore"}]`:                                   "this value is not allowed",
		`engines: [{name: a, stage: asr, vendor: deepgram, key_file: /nowhere}]`:                                       "/nowhere",
		`engines: [{name: a, stage: asr, vendor: deepgram, key: k, url: "http://u:p@h"}]`:                              "url",
		`engines: [{name: a, stage: asr, vendor: deepgram, key: k, colour: red}]`:                                      "is no key of an engine",
		`engines: [{name: a, stage: tts, vendor: cartesia, key: k, voices: {X1: one}}]`:                                "F1 to F5",
		`engines: [{name: a, stage: llm, vendor: anthropic, key: k, models: []}]`:                                      "is not a list of models",
		`engines: [{name: a, stage: llm, vendor: anthropic, key: k, models: [{}]}]`:                                    "is not a list of models",
		`engines: [{name: a, stage: tts, vendor: cartesia, key: k, options: 7}]`:                                       "is not a list of keys",
		`engines: [{name: a, stage: asr, vendor: deepgram, key: k, concurrency: -1}]`:                                  "0 (any number) to 100000",
		`engines: [{name: a, stage: asr, vendor: deepgram, key: k, concurrency: many}]`:                                `"many" is not allowed`,
		`engines: [{name: a, stage: llm, vendor: anthropic, key: k}, {name: a, stage: asr, vendor: deepgram, key: k}]`: `"a" is there twice`,
		`engines: [{name: a, stage: llm, vendor: anthropic, key: k, costs: {token: 1}}]`:                               "costs.token: is not allowed",
		`engines: [{name: a, stage: llm, vendor: anthropic, key: k, costs: {request: cheap}}]`:                         "a plain decimal",
		`engines: [{name: a, stage: turn, vendor: onnx}]`:                                                              "has no model, which onnx needs",
		`engines: [{name: a, stage: tts, vendor: onnx, model: m, key: sk-secret}]`:                                     "has more than it can use",
		`engines: [{name: a, stage: tts, vendor: onnx, model: m, options: {a: 1}}]`:                                    "has more than it can use",
		`engines: [{name: a, stage: asr, vendor: onnx, model: m}]`:                                                     `"onnx" has no engine for asr`,
		"engines: []\nasr: flux": `"flux" is not allowed`,
		"engines: [{name: a, stage: llm, vendor: anthropic, key: account}]\nllm: a": "serves only accounts with keys of their own",
	} {
		_, err := loadEngines(t, text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sk-secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestEnginesExample: the example's list can be read as it stands.
func TestEnginesExample(t *testing.T) {
	text := regexp.MustCompile(`(?m)^#(engines:|  )`).ReplaceAllString(enginesExample, "$1")
	text = regexp.MustCompile(`key_file: \S+`).ReplaceAllString(text, "key: k")
	c, err := loadEngines(t, text)
	if err != nil || len(c.ASR.All()) != 2 || len(c.LLM.All()) != 6 || len(c.TTS.All()) != 3 || len(c.Turn.All()) != 1 {
		t.Errorf("%v", err)
	}
}
