// Package soniox recognises speech by Soniox' real-time service, in one of sixty languages or several.
//
// Its wire is that of Soniox' published documentation of August 2026.
package soniox

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/recogniser"
	"parley/inference/remote"
)

// usual is what Soniox is where an operator does not say otherwise.
var usual = remote.Engine{Name: "soniox", BaseURL: "https://stt-rt.soniox.com", Model: "stt-rt-v5"}

// Options are the settings of Soniox that an operator or an agent may give. Zero values leave them to Soniox.
type Options struct {
	Endpoints bool
	DelayMS   int
}

// All describes them.
func (o *Options) All() remote.Options {
	return remote.Options{
		remote.Flag("enable_endpoint_detection", &o.Endpoints, "Has Soniox find the ends of turns."),
		remote.Whole("max_endpoint_delay_ms", &o.DelayMS, 500, 3000, "How long it may take for that after the caller has ended."),
	}
}

type vendor struct {
	name, model string
	options     Options
}

// NewASR checks e and contacts nobody.
func NewASR(e remote.Engine) (*recogniser.Engine, error) {
	e = e.Or(usual)
	v := &vendor{name: e.Name, model: e.Model}
	return recogniser.Of(e, v.options.All(), map[string]string{"Authorization": "Bearer " + e.APIKey}, v)
}

// Info implements recogniser.Vendor.
func (v *vendor) Info() inference.Info {
	return inference.Info{Name: v.name, Description: "streaming recognition, model " + v.model, Languages: inference.Spoken(),
		Latency: 600 * time.Millisecond, Feed: inference.FeedContinuous, Raw: true,
		Caps: inference.Caps{Partials: true, WordTimes: true, Turns: v.options.Endpoints, ForceEnd: true, Detects: true, Keyterms: 200, In: []inference.Format{recogniser.Telephone}}}
}

// Path implements recogniser.Vendor.
func (v *vendor) Path(inference.ASRConfig) string { return "/transcribe-websocket" }

// Pace implements recogniser.Vendor.
func (v *vendor) Pace() recogniser.Pace { return recogniser.Pace{Chunk: 60 * time.Millisecond} }

// Connect implements recogniser.Vendor.
func (v *vendor) Connect(c inference.ASRConfig) recogniser.Connection {
	return &connection{Plain: recogniser.Plain{Encoding: c.Format.Encoding}, vendor: v, config: c}
}

// connection is one socket.
type connection struct {
	recogniser.Plain
	*vendor
	config inference.ASRConfig
	final  []token // since the latest end
	began  bool    // the caller speaks
}

// setup is the first message.
type setup struct {
	Model      string   `json:"model"`
	Format     string   `json:"audio_format"`
	Rate       int      `json:"sample_rate"`
	Channels   int      `json:"num_channels"`
	Languages  []string `json:"language_hints,omitempty"`
	Identify   bool     `json:"enable_language_identification"`
	Endpoints  bool     `json:"enable_endpoint_detection"`
	EndpointMS int      `json:"max_endpoint_delay_ms,omitempty"`
	Context    *terms   `json:"context,omitempty"`
}

type terms struct {
	Terms []string `json:"terms,omitempty"`
	Text  string   `json:"text,omitempty"`
}

// formats are Soniox' names.
var formats = [...]string{inference.PCM16: "pcm_s16le", inference.PCMU: "mulaw", inference.PCMA: "alaw"}

// Begin implements recogniser.Connection.
func (c *connection) Begin() []byte {
	s := setup{Model: c.model, Format: formats[c.config.Format.Encoding], Rate: int(c.config.Format.SampleRate()), Channels: 1, Identify: c.config.Language == "", Endpoints: c.options.Endpoints, EndpointMS: c.options.DelayMS}
	if c.config.Language != "" {
		s.Languages = []string{c.config.Language}
	}
	if h := c.config.Hints; len(h.Terms) > 0 || h.Context != "" {
		s.Context = &terms{h.Terms, h.Context}
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil // there is nothing in it that JSON does not know
	}
	return b
}

// Finish implements recogniser.Connection.
func (*connection) Finish() []byte { return []byte(`{"type":"finalize"}`) }

// Idle implements recogniser.Connection.
func (*connection) Idle() ([]byte, time.Duration) {
	return []byte(`{"type":"keepalive"}`), 5 * time.Second
}

// End implements recogniser.Connection: an empty message ends the stream.
func (*connection) End() []byte { return []byte{} }

// token is a part of a word, with its spaces.
type token struct {
	Text       string  `json:"text"`
	Start      float64 `json:"start_ms"`
	End        float64 `json:"end_ms"`
	Confidence float64 `json:"confidence"`
	Final      bool    `json:"is_final"`
	Language   string  `json:"language"`
}

// Read implements recogniser.Connection.
func (c *connection) Read(message []byte) ([]recogniser.Heard, error) {
	var m struct {
		Tokens []token `json:"tokens"`
		Heard  float64 `json:"total_audio_proc_ms"`
		Code   int     `json:"error_code"`
	}
	switch {
	case json.Unmarshal(message, &m) != nil:
		return nil, c.fault(inference.ErrFailed, "a message that is not JSON")
	case m.Code != 0:
		return nil, c.failed(m.Code)
	}
	var list []recogniser.Heard
	open := []token(nil)
	for _, t := range m.Tokens {
		switch {
		case t.Text == "<fin>":
			list = append(list, c.take(recogniser.Answer, m.Heard))
		case t.Text == "<end>":
			list = append(list, c.take(recogniser.TurnEnd, m.Heard))
		case t.Final:
			c.final = append(c.final, t)
		default:
			open = append(open, t)
		}
	}
	if said := append(append([]token(nil), c.final...), open...); len(said) > 0 && len(m.Tokens) > 0 && len(list) == 0 {
		if !c.began {
			c.began = true
			list = append(list, recogniser.Heard{Kind: recogniser.SpeechStart, Confidence: -1})
		}
		h := heard(said)
		h.Kind, h.End = recogniser.Partial, milliseconds(m.Heard)
		list = append(list, h)
	}
	return list, nil
}

// take ends what was final so far.
func (c *connection) take(kind recogniser.Kind, at float64) recogniser.Heard {
	h := heard(c.final)
	h.Kind, h.End, h.EndProb = kind, milliseconds(at), 1
	c.final, c.began = nil, false
	return h
}

// heard makes words of tokens: one begins with a space.
func heard(tokens []token) (h recogniser.Heard) {
	h.Confidence = -1
	sum := 0.0
	var languages []string
	for _, t := range tokens {
		languages = append(languages, t.Language)
		sum += t.Confidence
		h.Text += t.Text
		text := strings.TrimSpace(t.Text)
		if text == "" {
			continue
		}
		if n := len(h.Words); n > 0 && !strings.HasPrefix(t.Text, " ") {
			h.Words[n-1].Text, h.Words[n-1].End = h.Words[n-1].Text+text, milliseconds(t.End)
			continue
		}
		h.Words = append(h.Words, inference.Mark{Text: text, Start: milliseconds(t.Start), End: milliseconds(max(t.Start, t.End)), Char: -1, Confidence: t.Confidence})
	}
	if len(tokens) > 0 {
		h.Confidence = min(1, sum/float64(len(tokens)))
	}
	h.Text, h.Language = strings.TrimSpace(h.Text), recogniser.Most(languages)
	return h
}

// failed is an error, after which Soniox closes the socket.
func (c *connection) failed(code int) error {
	fault := inference.ErrRefused
	switch {
	case code == 429:
		fault = inference.ErrUnavailable
	case code >= 500, code == 408:
		fault = inference.ErrFailed
	}
	return &inference.Error{Engine: c.name, Fault: fault, Err: fmt.Errorf("error %d", code), Key: remote.KeyStatus(code)}
}

func milliseconds(n float64) time.Duration { return remote.Time(n, time.Millisecond) }

func (v *vendor) fault(f inference.Fault, text string) error {
	return &inference.Error{Engine: v.name, Fault: f, Err: errors.New(text)}
}
