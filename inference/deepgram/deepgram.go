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

// Options are the settings of recognition that an operator or an agent may give. Zero values leave them to Deepgram.
type Options struct {
	Threshold, Eager float64
	TimeoutMS        int
	OptOut           bool
	Tag              string
}

// All describes them.
func (o *Options) All() remote.Options {
	return remote.Options{
		remote.Number("eot_threshold", &o.Threshold, 0.5, 1, "Of Flux: the probability from which a turn has ended; 0.7."),
		remote.Number("eager_eot_threshold", &o.Eager, 0.3, 0.9, "Of Flux: the probability from which a turn has likely ended, no more than eot_threshold; without it nothing is said of that."),
		remote.Whole("eot_timeout_ms", &o.TimeoutMS, 500, 60_000, "Of Flux: the longest pause in a turn."),
		optOut(&o.OptOut),
		remote.Text("tag", &o.Tag, "Names the requests in Deepgram's statistics."),
	}
}

func optOut(to *bool) remote.Option {
	return remote.Flag("mip_opt_out", to, "Keeps what is said out of Deepgram's training.").Keep()
}

// NewASR checks c and contacts nobody.
func NewASR(c Config) (*recogniser.Engine, error) {
	name := cmp.Or(c.Name, "deepgram")
	model := cmp.Or(c.Model, "flux-general-multi")
	var o Options
	if err := o.All().Read(name, c.Options); err != nil {
		return nil, err
	}
	switch {
	case o.Eager > cmp.Or(o.Threshold, 0.7):
		return nil, remote.WrongOption(name, "eager_eot_threshold", "no more than eot_threshold")
	case c.APIKey == "":
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

func fault(name string, err error) error {
	return &inference.Error{Engine: name, Fault: inference.ErrFailed, Err: err}
}
