// Package inworld speaks by Inworld's voices over a WebSocket with contexts: a reply is one context, and one socket serves
// all voices.
//
// Its wire is that of Inworld's published description and of what others have met of it, August 2026.
package inworld

import (
	"encoding/json"
	"time"

	"parley/inference"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/media"
)

// usual is what Inworld is where an operator does not say otherwise.
var usual = remote.Engine{Name: "inworld", BaseURL: "https://api.inworld.ai", Model: "inworld-tts-1.5-max"}

// NewTTS checks e and contacts nobody. Inworld has no options, and shows keys in base64.
func NewTTS(e remote.Engine) (*synthesiser.Engine, error) {
	e = e.Or(usual)
	v := &vendor{name: e.Name, model: e.Model, voices: e.Voices}
	return synthesiser.Of(e, nil, map[string]string{"Authorization": "Basic " + e.APIKey}, v)
}

type vendor struct {
	name, model string
	voices      synthesiser.Voices
}

// Info implements synthesiser.Vendor.
func (v *vendor) Info() inference.Info {
	return inference.Info{Name: v.name, Description: "speech, model " + v.model, Languages: []string{"en", "es", "pt", "fr", "it", "de"}, NormalisesText: true,
		Caps: inference.Caps{WordTimes: true, TextStream: true, Contexts: contexts}}
}

// Voices implements synthesiser.Vendor.
func (v *vendor) Voices() []inference.Voice { return v.voices.List("Inworld " + v.model) }

// contexts are those that a socket may have.
const contexts = 5

// Path implements synthesiser.Vendor.
func (v *vendor) Path(c inference.VoiceConfig) (string, error) {
	if v.voices.For(c) == "" {
		return "", &inference.Error{Engine: v.name, Fault: inference.ErrVoice}
	}
	return "/tts/v1/voice:streamBidirectional", nil
}

// Rate implements synthesiser.Vendor.
func (v *vendor) Rate(c inference.VoiceConfig) media.Rate {
	return synthesiser.Rate(c, media.Rate8k, media.Rate16k, media.Rate24k, media.Rate48k)
}

// Limits implements synthesiser.Vendor.
func (v *vendor) Limits() synthesiser.Limits {
	return synthesiser.Limits{Idle: 10 * time.Minute, Contexts: contexts, Text: longest - 1}
}

// Start implements synthesiser.Vendor.
func (v *vendor) Start(name string, c inference.VoiceConfig) synthesiser.Context {
	n := &creation{Voice: v.voices.For(c), Model: v.model, Timestamps: "WORD", Threshold: longest}
	n.Audio.Encoding, n.Audio.Rate = "LINEAR16", int(v.Rate(c))
	if c.Speed != 0 && c.Speed != 1 {
		n.Audio.Speed = min(1.5, max(0.5, c.Speed))
	}
	return &speech{name: name, create: n}
}

// longest is how many characters a text may have, and for how many Inworld waits at most: it is to speak when we say so.
const longest = 1000

// creation begins a context.
type creation struct {
	Voice string `json:"voiceId"`
	Model string `json:"modelId"`
	Audio struct {
		Encoding string  `json:"audioEncoding"`
		Rate     int     `json:"sampleRateHertz"`
		Speed    float64 `json:"speakingRate,omitempty"`
	} `json:"audioConfig"`
	Timestamps string `json:"timestampType"`
	Threshold  int    `json:"bufferCharThreshold"`
}

// message is one to Inworld, with one of its fields and the context.
type message struct {
	Create  *creation `json:"create,omitempty"`
	Text    *text     `json:"send_text,omitempty"`
	Flush   *struct{} `json:"flush_context,omitempty"`
	Close   *struct{} `json:"close_context,omitempty"`
	Context string    `json:"contextId"`
}

type text struct {
	Text string `json:"text"`
}

// speech is one context.
type speech struct {
	name   string
	create *creation // nil: it was sent
	held   bool      // text that was not flushed
	closed bool
}

// Say implements synthesiser.Context. Inworld joins texts as they are.
func (s *speech) Say(said string, flush bool) (messages [][]byte) {
	if s.create != nil {
		messages = append(messages, encode(message{Create: s.create, Context: s.name}))
		s.create = nil
	}
	if said != "" {
		messages = append(messages, encode(message{Text: &text{said}, Context: s.name}))
	}
	if s.held = !flush; flush {
		messages = append(messages, encode(message{Flush: &struct{}{}, Context: s.name}))
	}
	return messages
}

// End implements synthesiser.Context.
func (s *speech) End() (messages [][]byte) {
	if s.held {
		messages = append(messages, encode(message{Flush: &struct{}{}, Context: s.name}))
	}
	s.closed = true
	return append(messages, encode(message{Close: &struct{}{}, Context: s.name}))
}

// Cancel implements synthesiser.Context.
func (s *speech) Cancel() [][]byte {
	if s.closed {
		return nil
	}
	return [][]byte{encode(message{Close: &struct{}{}, Context: s.name})}
}

func encode(m message) []byte {
	b, err := json.Marshal(m)
	if err != nil {
		return nil // a speed that is no number: clamped, so there is none
	}
	return b
}
