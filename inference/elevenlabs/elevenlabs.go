// Package elevenlabs speaks by ElevenLabs' voices over a WebSocket with contexts: a reply is one context, so that its
// sentences have one prosody. Voice, model and format stand in the address, so each voice has sockets of its own. It
// recognises speech by the Scribe models.
//
// Its wire is that of ElevenLabs' published description and of what others have met of it, July 2026.
package elevenlabs

import (
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"parley/inference"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/media"
)

// usual is what ElevenLabs is where an operator does not say otherwise.
var usual = remote.Engine{Name: "elevenlabs", BaseURL: "https://api.elevenlabs.io", Model: "eleven_flash_v2_5"}

// Options are the settings of synthesis that an operator or an agent may give; nil leaves them to ElevenLabs.
type Options struct {
	Stability  *float64 `json:"stability,omitempty"`
	Similarity *float64 `json:"similarity_boost,omitempty"`
	Style      *float64 `json:"style,omitempty"`
	Boost      *bool    `json:"use_speaker_boost,omitempty"`
}

// All describes them.
func (o *Options) All() remote.Options {
	return remote.Options{
		remote.Number("stability", &o.Stability, 0, 1, "How evenly the voice speaks."),
		remote.Number("similarity_boost", &o.Similarity, 0, 1, "How near it keeps to the speaker that it was made from."),
		remote.Number("style", &o.Style, 0, 1, "How much it exaggerates that speaker's style."),
		remote.Flag("use_speaker_boost", &o.Boost, "Brings it nearer to that speaker, and takes longer."),
	}
}

// NewTTS checks e and contacts nobody.
func NewTTS(e remote.Engine) (*synthesiser.Engine, error) {
	e = e.Or(usual)
	v := &vendor{name: e.Name, model: e.Model, voices: e.Voices}
	return synthesiser.Of(e, v.options.All(), headers(e.APIKey), v)
}

// headers go with every handshake.
func headers(key string) map[string]string { return map[string]string{"xi-api-key": key} }

type vendor struct {
	name, model string
	voices      synthesiser.Voices
	options     Options
}

// Info implements synthesiser.Vendor.
func (v *vendor) Info() inference.Info {
	return inference.Info{Name: v.name, Description: "speech, model " + v.model, Languages: []string{"en", "es", "pt", "fr", "it", "de"}, NormalisesText: true,
		Caps: inference.Caps{WordTimes: true, TextStream: true, Contexts: contexts}}
}

// Voices implements synthesiser.Vendor.
func (v *vendor) Voices() []inference.Voice { return v.voices.List("ElevenLabs " + v.model) }

// timeout is how long a socket, or a context, may be silent: the most that ElevenLabs allows.
const timeout = 180 * time.Second

// contexts is one less than a socket may have: one that is cancelled counts until ElevenLabs has ended it.
const contexts = 4

// Path implements synthesiser.Vendor.
func (v *vendor) Path(c inference.VoiceConfig) (string, error) {
	id := v.voices.For(c)
	if id == "" {
		return "", &inference.Error{Engine: v.name, Fault: inference.ErrVoice}
	}
	q := url.Values{"model_id": {v.model}, "output_format": {fmt.Sprintf("pcm_%d", int(v.Rate(c)))}, "auto_mode": {"true"}, "sync_alignment": {"true"},
		"inactivity_timeout": {fmt.Sprint(int(timeout.Seconds()))}, "apply_text_normalization": {"auto"}}
	if c.Language != "" {
		q.Set("language_code", c.Language)
	}
	return "/v1/text-to-speech/" + url.PathEscape(id) + "/multi-stream-input?" + q.Encode(), nil
}

// Rate implements synthesiser.Vendor.
func (v *vendor) Rate(c inference.VoiceConfig) media.Rate {
	return synthesiser.Rate(c, media.Rate8k, media.Rate16k, media.Rate24k)
}

// Limits implements synthesiser.Vendor.
func (v *vendor) Limits() synthesiser.Limits {
	return synthesiser.Limits{Idle: timeout, Contexts: contexts, ContextIdle: timeout}
}

// settings are those of a context's voice, which only its first message may hold.
type settings struct {
	Options
	Speed float64 `json:"speed,omitempty"` // 0.7 to 1.2
}

// message is one to ElevenLabs.
type message struct {
	Text     *string   `json:"text,omitempty"`
	Context  string    `json:"context_id"`
	Settings *settings `json:"voice_settings,omitempty"`
	Flush    bool      `json:"flush,omitempty"`
	Close    bool      `json:"close_context,omitempty"`
}

// speech is one context.
type speech struct {
	name   string
	first  *settings // of the first message; nil: that was sent
	held   bool      // text that was not flushed
	closed bool
}

// Start implements synthesiser.Vendor.
func (v *vendor) Start(name string, c inference.VoiceConfig) synthesiser.Context {
	s := &settings{Options: v.options}
	if c.Speed != 0 && c.Speed != 1 {
		s.Speed = min(1.2, max(0.7, c.Speed))
	}
	return &speech{name: name, first: s}
}

// Say implements synthesiser.Context. ElevenLabs wants texts that end with a space.
func (s *speech) Say(text string, flush bool) (messages [][]byte) {
	if s.first != nil {
		space := " "
		messages = append(messages, encode(message{Text: &space, Context: s.name, Settings: s.first}))
		s.first = nil
	}
	m := message{Context: s.name, Flush: flush}
	if text != "" {
		if text[len(text)-1] != ' ' {
			text += " "
		}
		m.Text = &text
	}
	s.held = !flush
	return append(messages, encode(m))
}

// End implements synthesiser.Context.
func (s *speech) End() (messages [][]byte) {
	if s.held {
		messages = append(messages, encode(message{Context: s.name, Flush: true}))
	}
	s.closed = true
	return append(messages, encode(message{Context: s.name, Close: true}))
}

// Cancel implements synthesiser.Context. What was asked for before a context is closed still comes.
func (s *speech) Cancel() [][]byte {
	if s.closed {
		return nil
	}
	return [][]byte{encode(message{Context: s.name, Close: true})}
}

func encode(m message) []byte {
	b, err := json.Marshal(m)
	if err != nil {
		return nil // there is nothing in it that JSON does not know
	}
	return b
}
