// Package cartesia speaks by Cartesia's Sonic models, over a WebSocket with contexts: a reply is one context, so that its
// sentences have one prosody, and one socket serves all voices. It recognises speech by the Ink models: ink-2, which finds
// the ends of turns, and ink-whisper, which leaves them to us.
//
// Its wire is that of Cartesia's published SDK of August 2026.
package cartesia

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"parley/inference"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/media"
)

// usual is what Cartesia is where an operator does not say otherwise.
var usual = remote.Engine{Name: "cartesia", BaseURL: "https://api.cartesia.ai", Model: "sonic-3.5"}

// Options are the settings of synthesis that an operator or an agent may give.
type Options struct {
	Volume  float64 `json:"volume,omitempty"`
	Emotion string  `json:"emotion,omitempty"`
}

// All describes them.
func (o *Options) All() remote.Options {
	return remote.Options{
		remote.Number("volume", &o.Volume, 0.5, 2, "1 is the voice's own."),
		remote.Text("emotion", &o.Emotion, "As Cartesia names it."),
	}
}

// version is that of the wire.
const version = "2026-03-01"

// NewTTS checks e and contacts nobody.
func NewTTS(e remote.Engine) (*synthesiser.Engine, error) {
	e = e.Or(usual)
	v := &vendor{name: e.Name, model: e.Model, voices: e.Voices}
	return synthesiser.Of(e, v.options.All(), headers(e.APIKey), v)
}

// headers go with every handshake.
func headers(key string) map[string]string {
	return map[string]string{"X-API-Key": key, "Cartesia-Version": version}
}

type vendor struct {
	name, model string
	voices      synthesiser.Voices
	options     Options
}

// Info implements synthesiser.Vendor.
func (v *vendor) Info() inference.Info {
	return inference.Info{Name: v.name, Description: "speech, model " + v.model, Languages: []string{"en", "es", "pt", "fr", "it", "de"}, NormalisesText: true,
		Caps: inference.Caps{WordTimes: true, TextStream: true}}
}

// Voices implements synthesiser.Vendor.
func (v *vendor) Voices() []inference.Voice { return v.voices.List("Cartesia " + v.model) }

// Path implements synthesiser.Vendor.
func (v *vendor) Path(c inference.VoiceConfig) (string, error) {
	if v.voices.For(c) == "" {
		return "", &inference.Error{Engine: v.name, Fault: inference.ErrVoice}
	}
	return "/tts/websocket", nil
}

// Rate implements synthesiser.Vendor.
func (v *vendor) Rate(c inference.VoiceConfig) media.Rate {
	return synthesiser.Rate(c, media.Rate8k, media.Rate16k, media.Rate24k, media.Rate48k)
}

// Limits implements synthesiser.Vendor: Cartesia closes sockets that are idle for one to five minutes, and ends a context
// a second after its last audio.
func (v *vendor) Limits() synthesiser.Limits {
	return synthesiser.Limits{Idle: 50 * time.Second, Age: 5 * time.Minute, ContextIdle: time.Second}
}

// Start implements synthesiser.Vendor.
func (v *vendor) Start(name string, c inference.VoiceConfig) synthesiser.Context {
	r := request{Context: name, Model: v.model, Language: c.Language, Timestamps: true}
	r.Voice.Mode, r.Voice.ID = "id", v.voices.For(c)
	r.Format.Container, r.Format.Encoding, r.Format.Rate = "raw", "pcm_s16le", int(v.Rate(c))
	o := v.options
	if speed := min(1.5, max(0.6, cmp.Or(c.Speed, 1))); speed != 1 || o != (Options{}) {
		r.Generation = &generation{Speed: speed, Options: o}
	}
	return &speech{r}
}

// request is a message to Cartesia. What it says besides the text is the same for all of a context.
type request struct {
	Context    string `json:"context_id"`
	Model      string `json:"model_id"`
	Transcript string `json:"transcript"`
	Continue   bool   `json:"continue"`
	Flush      bool   `json:"flush,omitempty"`
	Voice      struct {
		Mode string `json:"mode"`
		ID   string `json:"id"`
	} `json:"voice"`
	Language string `json:"language"`
	Format   struct {
		Container string `json:"container"`
		Encoding  string `json:"encoding"`
		Rate      int    `json:"sample_rate"`
	} `json:"output_format"`
	Timestamps bool        `json:"add_timestamps"`
	Delay      int         `json:"max_buffer_delay_ms"` // we send sentences
	Generation *generation `json:"generation_config,omitempty"`
}

type generation struct {
	Speed float64 `json:"speed"`
	Options
}

// speech is one context.
type speech struct{ request }

// Say implements synthesiser.Context. Cartesia joins texts as they are.
func (s *speech) Say(text string, flush bool) [][]byte {
	r := s.request
	r.Transcript, r.Continue, r.Flush = text, true, flush
	return [][]byte{encode(r)}
}

// End implements synthesiser.Context.
func (s *speech) End() [][]byte { return [][]byte{encode(s.request)} }

// Cancel implements synthesiser.Context.
func (s *speech) Cancel() [][]byte {
	return [][]byte{encode(struct {
		Context string `json:"context_id"`
		Cancel  bool   `json:"cancel"`
	}{s.Context, true})}
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return nil // a speed that is no number: clamped, so there is none
	}
	return b
}

// Read implements synthesiser.Vendor.
func (v *vendor) Read(message []byte, _ bool) (p synthesiser.Piece, ok bool, err error) {
	var m struct {
		Type    string     `json:"type"`
		Context string     `json:"context_id"`
		Data    remote.PCM `json:"data"`
		Done    bool       `json:"done"`
		Words   struct {
			Words []string  `json:"words"`
			Start []float64 `json:"start"`
			End   []float64 `json:"end"`
		} `json:"word_timestamps"`
		Status int `json:"status_code"`
		remote.Named
	}
	if json.Unmarshal(message, &m) != nil {
		return p, false, fault(v.name, inference.ErrFailed, "a message that is not JSON")
	}
	p.Context = m.Context
	switch m.Type {
	case "chunk":
		p.Samples = m.Data
	case "timestamps":
		w := m.Words
		for i := range w.Words {
			w.Words[i] = tags.ReplaceAllString(w.Words[i], "")
		}
		p.Words = synthesiser.Marks(w.Words, w.Start, w.End)
	case "flush_done":
		p.Flushed = true
	case "done":
		p.Done = true
	case "error":
		if p.Err = refused(v.name, m.Status); p.Context == "" {
			return p, false, p.Err
		}
	default:
		return p, false, nil
	}
	return p, p.Context != "", nil
}

// tags are Cartesia's marks in words, as in <spell>.
var tags = regexp.MustCompile(`<[^<>]*>`)

// refused is an error of Cartesia's, which has a status as HTTP has them.
func refused(name string, status int) error {
	f := inference.ErrRefused
	switch {
	case status == 429:
		f = inference.ErrUnavailable
	case status >= 500 || status == 0:
		f = inference.ErrFailed
	}
	return &inference.Error{Engine: name, Fault: f, Err: fmt.Errorf("status %d", status), Key: remote.KeyStatus(status)}
}

func fault(name string, f inference.Fault, text string) error {
	return &inference.Error{Engine: name, Fault: f, Err: errors.New(text)}
}
