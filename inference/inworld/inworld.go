// Package inworld speaks by Inworld's voices over a WebSocket with contexts: a reply is one context, and one socket serves
// all voices.
//
// Its wire is that of Inworld's published description and of what others have met of it, August 2026.
package inworld

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"parley/inference"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/media"
)

// Config is how Inworld is reached.
type Config struct {
	Name    string // the engine's; empty: inworld
	BaseURL string // empty: https://api.inworld.ai
	APIKey  string // as Inworld shows it, which is in base64
	Model   string // empty: inworld-tts-1.5-max
	Voices  synthesiser.Voices
	Options inference.Options // it has none: any is refused
	// Stall is how long Inworld may owe audio and say nothing; 0 means 1.5 s.
	Stall time.Duration
	// Dial replaces the dialling of connections.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// NewTTS checks c and contacts nobody.
func NewTTS(c Config) (*synthesiser.Engine, error) {
	v := &vendor{name: cmp.Or(c.Name, "inworld"), model: cmp.Or(c.Model, "inworld-tts-1.5-max"), voices: c.Voices}
	if err := (remote.Options{}).Read(v.name, c.Options); err != nil {
		return nil, err
	}
	if c.APIKey == "" {
		return nil, errors.New(v.name + ": it needs a key")
	}
	if err := c.Voices.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", v.name, err)
	}
	client, err := remote.NewClient(remote.Config{Engine: v.name, BaseURL: cmp.Or(c.BaseURL, "https://api.inworld.ai"), Key: c.APIKey,
		Headers: map[string]string{"Authorization": "Basic " + c.APIKey}, Dial: c.Dial})
	if err != nil {
		return nil, err
	}
	return synthesiser.New(client, v, c.Stall), nil
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
