package engine

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/cmd/parley/config"
	"parley/inference"
	"parley/inference/anthropic/anthropictest"
	"parley/inference/cartesia/cartesiatest"
	"parley/inference/deepgram/deepgramtest"
	"parley/inference/elevenlabs/scribetest"
	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/exchange"
	"parley/inference/gemini/livetest"
	"parley/inference/openai/realtimetest"
	"parley/inference/openai/speaktest"
)

// What is heard, answered, and asked or spoken in trials.
const (
	heard    = "Zebra quilt."
	answered = "Purple walrus."
	asked    = "Copper violin."
)

// tone is 600 ms that fakes hear as speech, and 100 ms of silence.
func tone() []int16 { return append(loopbacktest.Tone(9600, 0, 16000, -12), make([]int16, 1600)...) }

// tried is an engine of each stage and each kind of wire, by a name of its own, each with a fake.
func tried(t *testing.T) map[string]struct {
	stage string
	config.Engine
} {
	t.Helper()
	utterances := []hearingtest.Utterance{{Text: heard, Length: 600 * time.Millisecond}}
	deepgram := deepgramtest.New(t, deepgramtest.Script{Utterances: utterances})
	scribe := scribetest.New(t, scribetest.Script{Utterances: utterances})
	live := realtimetest.NewTranscription(t, realtimetest.TranscriptionScript{Utterances: utterances})
	model := anthropictest.New(t, anthropictest.Script{Replies: []anthropictest.Reply{{Text: answered}}})
	voice := cartesiatest.New(t, cartesiatest.Script{})
	speech := speaktest.New(t, speaktest.Script{})
	both := realtimetest.NewConversation(t, realtimetest.ConversationScript{Utterances: utterances, Replies: []realtimetest.Reply{{Text: answered}}})
	gemini := livetest.New(t, livetest.Script{Utterances: utterances, Replies: []livetest.Reply{{Text: answered}}})
	type one = struct {
		stage string
		config.Engine
	}
	return map[string]one{
		"flux":   {"asr", config.Engine{Vendor: "deepgram", URL: deepgram.URL, APIKey: deepgram.Key, Model: "flux-general-en"}},
		"nova":   {"asr", config.Engine{Vendor: "deepgram", URL: deepgram.URL, APIKey: deepgram.Key, Model: "nova-3"}},
		"scribe": {"asr", config.Engine{Vendor: "elevenlabs", URL: scribe.URL, APIKey: scribe.Key}},
		"live":   {"asr", config.Engine{Vendor: "openai", URL: live.URL + "/v1", APIKey: live.Key, Model: "gpt-live-transcribe"}},
		"model":  {"llm", config.Engine{Vendor: "anthropic", URL: model.URL, APIKey: model.Key}},
		"voice":  {"tts", config.Engine{Vendor: "cartesia", URL: voice.URL, APIKey: voice.Key, Voices: map[string]string{"F1": cartesiatest.DefaultVoice}}},
		"speech": {"tts", config.Engine{Vendor: "openai", URL: speech.URL + "/v1", APIKey: speech.Key}},
		"both":   {"realtime", config.Engine{Vendor: "openai", URL: both.URL + "/v1", APIKey: both.Key, Model: "gpt-realtime-2.1"}},
		"gemini": {"realtime", config.Engine{Vendor: "gemini", URL: gemini.URL, APIKey: gemini.Key, Model: "gemini-2.5-flash-native-audio", Options: json.RawMessage(`{"silence_ms": 400}`)}},
	}
}

// TestTrials: each engine connects and answers, whether somebody speaks to it or not.
func TestTrials(t *testing.T) {
	for name, e := range tried(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			took, err := Trial{Said: tone(), Text: asked}.Run(t.Context(), e.stage, e.Engine)
			if err != nil || took.Connect <= 0 || took.First <= 0 {
				t.Errorf("%+v, %v", took, err)
			}
			if err := Try(t.Context(), e.stage, e.Engine); err != nil {
				t.Error(err)
			}
		})
	}
	for stage, vendor := range map[string]string{"asr": "pocketsphinx", "tts": "espeak"} {
		if err := Try(t.Context(), stage, config.Engine{Name: vendor, Vendor: vendor}); err == nil || !strings.Contains(err.Error(), "this machine") {
			t.Errorf("%s: %v", vendor, err)
		}
	}
}

// record has an engine tried, and returns the record, line by line. What must not be in it is looked for.
func record(t *testing.T, name, stage string, e config.Engine, secret string) (text string, lines []exchange.Line, err error) {
	t.Helper()
	var out bytes.Buffer
	r := NewRecorder(&out, e.APIKey)
	_, err = Trial{Said: tone(), Text: asked, Tap: r.Take}.Run(t.Context(), stage, e)
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	text = out.String()
	small := strings.ToLower(text)
	for _, hidden := range append(strings.Fields("zebra quilt purple walrus copper violin"), strings.ToLower(secret)) {
		if strings.Contains(small, hidden) {
			t.Errorf("%s: the record has %q:\n%s", name, hidden, text)
		}
	}
	for d := json.NewDecoder(&out); d.More(); {
		d.DisallowUnknownFields()
		var l exchange.Line
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if len(lines) < 2 || lines[0].From != exchange.Client || lines[0].Get == "" {
		t.Fatalf("%s: %s", name, text)
	}
	return text, lines, err
}

// TestRecords: an exchange has both sides, and neither a word nor the key.
func TestRecords(t *testing.T) {
	for name, e := range tried(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, lines, err := record(t, name, e.stage, e.Engine, e.APIKey)
			if err != nil {
				t.Error(err)
			}
			sides := map[string]int{}
			loud := false
			for _, l := range lines {
				sides[l.From]++
				loud = loud || l.Bytes+l.Inside > 0 && l.Level < -5 && l.Level > -30
			}
			hears := e.stage == "asr" || e.stage == "realtime"
			if sides[exchange.Vendor] == 0 || hears && (!loud || sides[exchange.Client] < 5) {
				t.Errorf("%v in\n%s", sides, text)
			}
		})
	}
}

// TestRefusalIsRecorded: what a vendor says to a wrong key is what one wants to see.
func TestRefusalIsRecorded(t *testing.T) {
	s := deepgramtest.New(t, deepgramtest.Script{})
	m := anthropictest.New(t, anthropictest.Script{})
	const key = "wrong-key-0123456789"
	for stage, e := range map[string]config.Engine{"asr": {Vendor: "deepgram", URL: s.URL, APIKey: key}, "llm": {Vendor: "anthropic", URL: m.URL, APIKey: key}} {
		text, lines, err := record(t, stage, stage, e, key)
		if inference.FaultOf(err) != inference.ErrRefused {
			t.Errorf("%s: %v", stage, err)
		}
		if last := lines[len(lines)-1]; last.From != exchange.Vendor || last.Status != http.StatusUnauthorized || last.Text == nil {
			t.Errorf("%s: %s", stage, text)
		}
	}
}

// TestRecordsAreReplayed: a fake takes what was recorded as it takes what is in its own golden files, and gives the same kinds
// of messages.
func TestRecordsAreReplayed(t *testing.T) {
	all := tried(t)
	kinds := func(lines []exchange.Line) (list []string) {
		for _, l := range lines {
			var m struct{ Type string }
			if l.From == exchange.Vendor && json.Unmarshal(l.Text, &m) == nil {
				list = append(list, m.Type)
			}
		}
		return list
	}
	t.Setenv("PARLEY_GOLDEN", "update") // the fake's side is written again, in a file of the test
	for name, replay := range map[string]func(path string){
		"voice": func(path string) {
			s := cartesiatest.New(t, cartesiatest.Script{})
			loopbacktest.Replay(t, path, s.URL, http.Header{"X-Api-Key": {s.Key}, "Cartesia-Version": {"2026-03-01"}}, nil)
		},
		"model": func(path string) {
			s := anthropictest.New(t, anthropictest.Script{Replies: []anthropictest.Reply{{Text: answered}}})
			loopbacktest.Exchange(t, path, s.URL, http.Header{"X-Api-Key": {s.Key}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}})
		},
	} {
		text, lines, err := record(t, name, all[name].stage, all[name].Engine, all[name].APIKey)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name+".jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replay(path)
		if got, want := kinds(loopbacktest.ReadGolden(t, path)), kinds(lines); !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: replayed are %q, recorded were %q", name, got, want)
		}
	}
}
