// Package deepgram recognises speech by Deepgram's service: the Nova models over /v1/listen, and the
// Flux models, which find the ends of turns, over /v2/listen. Its Aura voices speak over /v1/speak, its Flux voices over
// /v2/speak.
//
// Its wire is that of Deepgram's published SDKs of July 2026.
package deepgram

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/recogniser"
	"parley/inference/remote"
	"parley/inference/synthesiser"
)

// Config is how Deepgram is reached.
type Config struct {
	Name    string // the engine's; empty: deepgram
	BaseURL string // empty: https://api.deepgram.com; those of regions have the same paths
	APIKey  string
	Model   string // empty: flux-general-multi
	Options inference.Options
	Voices  synthesiser.Voices // of synthesis
	// Stall is how long a voice may owe audio and say nothing; 0 means 1.5 s.
	Stall time.Duration
	// Dial replaces the dialling of connections.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Options are the settings of Deepgram that an operator or an agent may give. Zero values leave
// them to Deepgram.
type Options struct {
	// Of Flux: the probabilities from which a turn has ended and has likely ended, and the longest
	// pause in a turn.
	Threshold float64 `json:"eot_threshold"`
	Eager     float64 `json:"eager_eot_threshold"`
	TimeoutMS int     `json:"eot_timeout_ms"`
	// Expressivity of the Flux voices is -2 to 2.
	Expressivity int `json:"expressivity"`
	// OptOut keeps audio out of Deepgram's training.
	OptOut bool   `json:"mip_opt_out"`
	Tag    string `json:"tag"`
}

// NewASR checks c and contacts nobody.
func NewASR(c Config) (*recogniser.Engine, error) {
	name := cmp.Or(c.Name, "deepgram")
	model := cmp.Or(c.Model, "flux-general-multi")
	o, err := parse(name, c.Options)
	if err != nil {
		return nil, err
	}
	if c.APIKey == "" {
		return nil, errors.New(name + ": it needs a key")
	}
	client, err := remote.NewClient(c.remote(name))
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(model, "flux") {
		return recogniser.New(client, &flux{name, model, o}), nil
	}
	return recogniser.New(client, &nova{name, model, o}), nil
}

// remote is how an engine of that name reaches Deepgram.
func (c Config) remote(name string) remote.Config {
	return remote.Config{Engine: name, BaseURL: cmp.Or(c.BaseURL, "https://api.deepgram.com"), Key: c.APIKey,
		Headers: map[string]string{"Authorization": "Token " + c.APIKey}, Dial: c.Dial}
}

// parse reads options and checks their ranges.
func parse(name string, options inference.Options) (o Options, err error) {
	if err := remote.ReadOptions(name, options, &o); err != nil {
		return o, err
	}
	within := func(v, least, most float64) bool { return v == 0 || v >= least && v <= most }
	switch {
	case !within(o.Threshold, 0.5, 1):
		return o, remote.WrongOption(name, "eot_threshold", "0.5 to 1")
	case !within(o.Eager, 0.3, 0.9) || o.Eager > cmp.Or(o.Threshold, 0.7):
		return o, remote.WrongOption(name, "eager_eot_threshold", "0.3 to 0.9, and no more than eot_threshold")
	case !within(float64(o.TimeoutMS), 500, 60_000):
		return o, remote.WrongOption(name, "eot_timeout_ms", "500 to 60000")
	case o.Expressivity < -2 || o.Expressivity > 2:
		return o, remote.WrongOption(name, "expressivity", "-2 to 2")
	}
	return o, nil
}

// encodings are Deepgram's names.
var encodings = [...]string{inference.PCM16: "linear16", inference.PCMU: "mulaw", inference.PCMA: "alaw"}

// query begins the query of a stream's socket.
func (o Options) query(model string, c inference.ASRConfig) url.Values {
	q := url.Values{"model": {model}, "encoding": {encodings[c.Format.Encoding]}, "sample_rate": {strconv.Itoa(int(c.Format.SampleRate()))}}
	for _, term := range c.Hints.Terms {
		q.Add("keyterm", term)
	}
	if o.OptOut {
		q.Set("mip_opt_out", "true")
	}
	if o.Tag != "" {
		q.Set("tag", o.Tag)
	}
	return q
}

// word is a word of a text, with seconds from the beginning of the socket's audio.
type word struct {
	Word       string   `json:"word"`
	Punctuated string   `json:"punctuated_word"`
	Start      *float64 `json:"start"`
	End        *float64 `json:"end"`
	Confidence float64  `json:"confidence"`
	Language   string   `json:"language"` // of models for several
}

// marks are the words' times; nil where not all have one.
func marks(words []word) []inference.Mark {
	var list []inference.Mark
	for _, w := range words {
		if w.Start == nil || w.End == nil {
			return nil
		}
		list = append(list, inference.Mark{Text: cmp.Or(w.Punctuated, w.Word), Start: seconds(*w.Start), End: seconds(max(*w.Start, *w.End)), Char: -1, Confidence: w.Confidence})
	}
	return list
}

// languages are those of words.
func languages(words []word) (list []string) {
	for _, w := range words {
		list = append(list, w.Language)
	}
	return list
}

// sure is the mean confidence of words; -1: there is none.
func sure(words []word) float64 {
	sum := 0.0
	for _, w := range words {
		sum += w.Confidence
	}
	if sum == 0 {
		return -1
	}
	return min(1, sum/float64(len(words)))
}

func seconds(n float64) time.Duration { return remote.Time(n, time.Second) }

// errJSON is the fault of a message that cannot be read.
var errJSON = errors.New("a message that is not JSON")

func (o Options) fault(name string, err error) error {
	return &inference.Error{Engine: name, Fault: inference.ErrFailed, Err: err}
}
