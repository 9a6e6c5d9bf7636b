// Package rime speaks by Rime's voices over a WebSocket. Speaker, model and language stand in the address, so each voice
// has sockets of its own, and a socket speaks one utterance at a time: what clears one clears all of them.
//
// Its wire is that of Rime's /ws3 and of what others have met of it, August 2026.
package rime

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"

	"parley/inference"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/media"
)

// usual is what Rime is where an operator does not say otherwise.
var usual = remote.Engine{Name: "rime", BaseURL: "https://users-ws.rime.ai", Model: "coda"}

// NewTTS checks e and contacts nobody. Rime has no options.
func NewTTS(e remote.Engine) (*synthesiser.Engine, error) {
	e = e.Or(usual)
	v := &vendor{name: e.Name, model: e.Model, voices: e.Voices}
	return synthesiser.Of(e, nil, map[string]string{"Authorization": "Bearer " + e.APIKey}, v)
}

type vendor struct {
	name, model string
	voices      synthesiser.Voices
}

// languages are ours by Rime's names.
var languages = map[string]string{"en": "eng", "es": "spa", "fr": "fra", "de": "ger"}

// Info implements synthesiser.Vendor. Each sentence has a prosody of its own. Others have met the times of words in
// English alone.
func (v *vendor) Info() inference.Info {
	return inference.Info{Name: v.name, Description: "speech, model " + v.model, Languages: []string{"en", "es", "fr", "de"}, NormalisesText: true,
		Caps: inference.Caps{WordTimes: true, Contexts: 1}}
}

// Voices implements synthesiser.Vendor.
func (v *vendor) Voices() []inference.Voice { return v.voices.List("Rime " + v.model) }

// Path implements synthesiser.Vendor. Rime speaks what is flushed, and nothing where it takes a full stop for the end of
// a sentence.
func (v *vendor) Path(c inference.VoiceConfig) (string, error) {
	id := v.voices.For(c)
	if id == "" {
		return "", &inference.Error{Engine: v.name, Fault: inference.ErrVoice}
	}
	q := url.Values{"speaker": {id}, "modelId": {v.model}, "audioFormat": {"pcm"}, "samplingRate": {strconv.Itoa(int(v.Rate(c)))}, "segment": {"never"}}
	if l := languages[c.Language]; l != "" {
		q.Set("lang", l)
	}
	if speed := min(2, max(0.5, cmp.Or(c.Speed, 1))); speed != 1 {
		q.Set("timeScaleFactor", strconv.FormatFloat(1/speed, 'f', 2, 64))
	}
	return "/ws3?" + q.Encode(), nil
}

// Rate implements synthesiser.Vendor.
func (v *vendor) Rate(c inference.VoiceConfig) media.Rate {
	return synthesiser.Rate(c, media.Rate8k, media.Rate16k, media.Rate24k, media.Rate48k)
}

// Limits implements synthesiser.Vendor. Rime speaks as one what is flushed while it speaks, with one end.
func (v *vendor) Limits() synthesiser.Limits {
	return synthesiser.Limits{Contexts: 1, FlushEnds: true, Serial: true, CancelEnds: true, Bye: operation("eos")}
}

// Start implements synthesiser.Vendor.
func (v *vendor) Start(name string, _ inference.VoiceConfig) synthesiser.Context {
	return &speech{name: name}
}

// speech is one utterance.
type speech struct {
	name string
	held bool // text that was not flushed
}

// order is a message to Rime.
type order struct {
	Text      string `json:"text,omitempty"`
	Context   string `json:"contextId,omitempty"`
	Operation string `json:"operation,omitempty"`
}

func operation(name string) []byte { return encode(order{Operation: name}) }

func encode(o order) []byte {
	b, err := json.Marshal(o)
	if err != nil {
		return nil // there is nothing in it that JSON does not know
	}
	return b
}

// Say implements synthesiser.Context. Rime joins texts as they are.
func (s *speech) Say(text string, flush bool) (messages [][]byte) {
	if text != "" {
		messages = append(messages, encode(order{Text: text, Context: s.name}))
	}
	if s.held = !flush; flush {
		messages = append(messages, operation("flush"))
	}
	return messages
}

// End implements synthesiser.Context.
func (s *speech) End() [][]byte {
	if s.held {
		return [][]byte{operation("flush")}
	}
	return nil
}

// Cancel implements synthesiser.Context. Text is forgotten; what is being spoken goes on.
func (s *speech) Cancel() [][]byte { return [][]byte{operation("clear")} }

// Read implements synthesiser.Vendor.
func (v *vendor) Read(message []byte, _ bool) (p synthesiser.Piece, ok bool, err error) {
	var m struct {
		Type    string     `json:"type"`
		Context string     `json:"contextId"`
		Data    remote.PCM `json:"data"`
		Words   struct {
			Words []string  `json:"words"`
			Start []float64 `json:"start"`
			End   []float64 `json:"end"`
		} `json:"word_timestamps"`
	}
	if json.Unmarshal(message, &m) != nil {
		return p, false, v.fault("a message that is not JSON")
	}
	p.Context, p.Restarts = m.Context, true
	switch m.Type {
	case "chunk":
		p.Samples = m.Data
	case "timestamps":
		p.Words = synthesiser.Marks(m.Words.Words, m.Words.Start, m.Words.End)
	case "done":
		p.Flushed = true
	case "error":
		p.Err = v.fault("the server reports an error")
	default:
		return p, false, nil
	}
	return p, true, nil
}

func (v *vendor) fault(text string) error {
	return &inference.Error{Engine: v.name, Fault: inference.ErrFailed, Err: errors.New(text)}
}
