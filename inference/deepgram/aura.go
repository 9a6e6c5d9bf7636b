package deepgram

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/media"
)

// aura is Deepgram's voices over /v1/speak. A socket speaks one utterance at a time, and its audio has no name.
type aura struct {
	name, family string
	voices       synthesiser.Voices
	options      VoiceOptions
}

// VoiceOptions are the settings of voices that an operator or an agent may give. Zero values leave them to Deepgram.
type VoiceOptions struct {
	Expressivity int
	OptOut       bool
}

// All describes them.
func (o *VoiceOptions) All() remote.Options {
	return remote.Options{remote.Whole("expressivity", &o.Expressivity, -2, 2, "Of the Flux voices."), optOut(&o.OptOut)}
}

// NewTTS checks e and contacts nobody. Voices are models, all of Aura, such as aura-2-thalia-en, or all of Flux, such as
// flux-haley-en, of the language that their names end in.
func NewTTS(e remote.Engine) (*synthesiser.Engine, error) {
	e = e.Or(usual)
	v := aura{name: e.Name, family: "Aura", voices: e.Voices}
	flux := 0
	for _, id := range e.Voices {
		if strings.HasPrefix(id, "flux-") {
			flux++
		}
	}
	switch flux {
	case 0:
		return synthesiser.Of(e, v.options.All(), headers(e.APIKey), &v)
	case len(e.Voices):
		v.family = "Flux"
		voice := &fluxVoice{v}
		return synthesiser.Of(e, voice.options.All(), headers(e.APIKey), voice)
	}
	return nil, errors.New(e.Name + ": voices: those of Flux and of Aura are two engines")
}

// Info implements synthesiser.Vendor. Its languages are those of the voices.
func (v *aura) Info() inference.Info {
	info := inference.Info{Name: v.name, Description: "speech, " + v.family, NormalisesText: true, Caps: inference.Caps{TextStream: true, Contexts: 1}}
	for _, l := range inference.Spoken() {
		for _, id := range v.voices {
			if strings.HasSuffix(id, "-"+l) {
				info.Languages = append(info.Languages, l)
				break
			}
		}
	}
	return info
}

// Voices implements synthesiser.Vendor.
func (v *aura) Voices() []inference.Voice { return v.voices.List("Deepgram " + v.family) }

// Path implements synthesiser.Vendor.
func (v *aura) Path(c inference.VoiceConfig) (string, error) {
	q, err := v.query(c)
	return "/v1/speak?" + q.Encode(), err
}

// query begins that of a socket. A voice that has another language is replaced by the first that has this one.
func (v *aura) query(c inference.VoiceConfig) (url.Values, error) {
	id := v.voices.For(c)
	if id == "" {
		return nil, &inference.Error{Engine: v.name, Fault: inference.ErrVoice}
	}
	if c.Language != "" && !strings.HasSuffix(id, "-"+c.Language) {
		for _, other := range v.voices.List("") {
			if one := v.voices.For(inference.VoiceConfig{Voice: other.ID, Language: c.Language}); strings.HasSuffix(one, "-"+c.Language) {
				id = one
				break
			}
		}
	}
	q := url.Values{"model": {id}, "encoding": {"linear16"}, "sample_rate": {strconv.Itoa(int(v.Rate(c)))}}
	if v.options.OptOut {
		q.Set("mip_opt_out", "true")
	}
	return q, nil
}

// Rate implements synthesiser.Vendor.
func (v *aura) Rate(c inference.VoiceConfig) media.Rate {
	return synthesiser.Rate(c, media.Rate8k, media.Rate16k, media.Rate24k, media.Rate48k)
}

// Limits implements synthesiser.Vendor. A socket that is dropped without Close counts among those of the account
// for a while.
func (v *aura) Limits() synthesiser.Limits {
	return synthesiser.Limits{Age: time.Hour, Contexts: 1, Flushes: 20, FlushEnds: true, Bye: []byte(`{"type":"Close"}`)}
}

// Start implements synthesiser.Vendor.
func (v *aura) Start(string, inference.VoiceConfig) synthesiser.Context { return &auraContext{} }

// auraContext is one utterance.
type auraContext struct{ held bool }

var (
	auraFlush = []byte(`{"type":"Flush"}`)
	auraClear = []byte(`{"type":"Clear"}`)
)

// Say implements synthesiser.Context.
func (c *auraContext) Say(text string, flush bool) (messages [][]byte) {
	if text != "" {
		b, err := json.Marshal(map[string]string{"type": "Speak", "text": text})
		if err != nil {
			return nil // there is nothing in it that JSON does not know
		}
		messages = append(messages, b)
	}
	if c.held = !flush; flush {
		messages = append(messages, auraFlush)
	}
	return messages
}

// End implements synthesiser.Context.
func (c *auraContext) End() [][]byte {
	if c.held {
		return [][]byte{auraFlush}
	}
	return nil
}

// Cancel implements synthesiser.Context.
func (c *auraContext) Cancel() [][]byte { return [][]byte{auraClear} }

// Read implements synthesiser.Vendor. What it reads is of the utterance that the socket has.
func (v *aura) Read(message []byte, binary bool) (p synthesiser.Piece, ok bool, err error) {
	if binary {
		p.Samples = media.AppendSamples(make([]int16, 0, len(message)/2), message[:len(message)&^1])
		return p, len(p.Samples) > 0, nil
	}
	var m struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(message, &m) != nil {
		return p, false, fault(v.name, errJSON)
	}
	switch m.Type {
	case "Flushed":
		p.Flushed = true
	case "Cleared":
		p.Done = true
	case "Error":
		return p, false, fault(v.name, errors.New("the server reports an error"))
	default:
		return p, false, nil
	}
	return p, true, nil
}
