package gemini

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/duplex"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/media"
)

// LiveOptions are the settings that an operator may give.
type LiveOptions struct {
	Start, End string // empty: Gemini's own way
	Silence    *int   // nil: Gemini's own
}

// All describes them.
func (o *LiveOptions) All() remote.Options {
	return remote.Options{
		remote.Text("start_sensitivity", &o.Start, "How soon Gemini notices that the caller begins.", "low", "high"),
		remote.Text("end_sensitivity", &o.End, "How soon it notices that they have ended.", "low", "high"),
		remote.Whole("silence_ms", &o.Silence, 0, 10_000, "The silence that ends the caller's turn."),
	}
}

// liveVoices are Gemini's, as near to ours in character as they come.
var liveVoices = synthesiser.Voices{
	"F1": "Kore", "F2": "Aoede", "F3": "Leda", "F4": "Zephyr", "F5": "Sulafat",
	"M1": "Puck", "M2": "Charon", "M3": "Orus", "M4": "Fenrir", "M5": "Iapetus",
}

// livePath is where sessions are opened.
const livePath = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"

// NewLive is a model that hears and speaks by itself. It checks e and contacts nobody.
func NewLive(e remote.Engine) (*duplex.Engine, error) {
	model := e.Model
	e = e.Or(usual)
	v := &live{name: e.Name, model: model, voices: maps.Clone(liveVoices)}
	maps.Copy(v.voices, e.Voices)
	var err error
	if v.client, err = e.Client(v.options.All(), headers(e.APIKey)); err != nil {
		return nil, err
	}
	if model == "" {
		return nil, errors.New(e.Name + ": it needs a model")
	}
	if err := v.voices.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	return duplex.New(v.client, v), nil
}

// live is the vendor.
type live struct {
	name, model string
	client      *remote.Client
	voices      synthesiser.Voices
	options     LiveOptions
}

// Info implements duplex.Vendor.
func (v *live) Info() inference.Info {
	return inference.Info{Name: v.name, Description: "speech to speech, model " + v.model, Languages: inference.Spoken(), Latency: time.Second,
		Caps: inference.Caps{Turns: true}}
}

// Voices implements duplex.Vendor.
func (v *live) Voices() synthesiser.Voices { return v.voices }

// Path implements duplex.Vendor.
func (v *live) Path() string { return livePath }

// Lasts implements duplex.Vendor: Gemini says so by goAway.
func (v *live) Lasts() time.Duration { return 0 }

// Connect implements duplex.Vendor.
func (v *live) Connect(line duplex.Line) duplex.Connection {
	return &liveConversation{live: v, Order: duplex.Order{Line: line}, names: map[string]string{}}
}

// object is a JSON object of the wire.
type object map[string]any

// Begin implements duplex.Connection. A history beside a handle would be there twice, or be refused for good.
func (c *liveConversation) Begin(config inference.RealtimeConfig, handle string) {
	resumption := object{}
	if handle != "" {
		resumption["handle"] = handle
	} else {
		c.history = remote.Matched(config.History)
	}
	detection := object{}
	if s := c.options.Start; s != "" {
		detection["startOfSpeechSensitivity"] = "START_SENSITIVITY_" + strings.ToUpper(s)
	}
	if s := c.options.End; s != "" {
		detection["endOfSpeechSensitivity"] = "END_SENSITIVITY_" + strings.ToUpper(s)
	}
	if c.options.Silence != nil {
		detection["silenceDurationMs"] = *c.options.Silence
	}
	setup := object{
		"model": "models/" + strings.TrimPrefix(c.model, "models/"),
		"generationConfig": object{"responseModalities": []string{"AUDIO"},
			"speechConfig": object{"voiceConfig": object{"prebuiltVoiceConfig": object{"voiceName": c.voices.Of(config.Voice)}}}},
		"realtimeInputConfig":      object{"automaticActivityDetection": detection, "activityHandling": "NO_INTERRUPTION"},
		"inputAudioTranscription":  object{},
		"outputAudioTranscription": object{},
		"contextWindowCompression": object{"slidingWindow": object{}}, // without it audio lasts 15 minutes
		"sessionResumption":        resumption,
	}
	if prompt := duplex.Prompt(config); prompt != "" {
		setup["systemInstruction"] = object{"parts": []object{{"text": prompt}}}
	}
	var functions []object
	for _, t := range config.Tools {
		functions = append(functions, object{"name": t.Name, "description": t.Description, "parametersJsonSchema": json.RawMessage(duplex.Parameters(t))})
	}
	if len(functions) > 0 {
		setup["tools"] = []object{{"functionDeclarations": functions}}
	}
	if len(c.history) > 0 && c.third() {
		setup["historyConfig"] = object{"initialHistoryInClientContent": true}
	}
	c.Send(object{"setup": setup})
}

// third says that the model is one of Gemini 3 or later, which takes a history only at the beginning.
func (v *live) third() bool {
	return !strings.HasPrefix(strings.TrimPrefix(v.model, "models/"), "gemini-2")
}

// seed gives Gemini the history, which it does not answer.
func (c *liveConversation) seed() {
	var turns []object
	names := map[string]string{}
	for _, m := range c.history {
		role, parts := "user", []object{}
		if m.Role == inference.RoleAgent {
			role = "model"
		}
		switch {
		case m.Role == inference.RoleTool:
			parts = append(parts, object{"functionResponse": object{"name": names[m.ToolCallID], "response": object{"output": m.Text}}})
		case m.Text != "":
			parts = append(parts, object{"text": m.Text})
		}
		for _, t := range m.ToolCalls {
			names[t.ID] = t.Name
			parts = append(parts, object{"functionCall": object{"name": t.Name, "args": arguments(t.Arguments)}})
		}
		if len(parts) > 0 {
			turns = append(turns, object{"role": role, "parts": parts})
		}
	}
	if len(turns) > 0 {
		c.Send(object{"clientContent": object{"turns": turns, "turnComplete": c.third()}})
	}
	c.history = nil
}

// arguments are those of a call, as JSON.
func arguments(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

// Ready implements duplex.Connection.
func (c *liveConversation) Ready() bool { return c.ready }

// Audio implements duplex.Connection.
func (c *liveConversation) Audio(samples []int16) {
	c.Send(object{"realtimeInput": object{"audio": object{"mimeType": "audio/pcm;rate=16000", "data": base64.StdEncoding.EncodeToString(media.AppendPCM(nil, samples))}}})
}
