// Package deepgram recognises speech by Deepgram's service: the Nova models over /v1/listen, and the
// Flux models, which find the ends of turns, over /v2/listen. Its Aura voices speak over /v1/speak, its Flux voices over
// /v2/speak.
//
// Its wire is that of Deepgram's published SDKs of July 2026.
package deepgram

import (
	"cmp"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/recogniser"
	"parley/inference/remote"
)

// usual is what Deepgram is where an operator does not say otherwise. The addresses of regions have
// the same paths.
var usual = remote.Engine{Name: "deepgram", BaseURL: "https://api.deepgram.com", Model: "flux-general-multi"}

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

// NewASR checks e and contacts nobody.
func NewASR(e remote.Engine) (*recogniser.Engine, error) {
	e = e.Or(usual)
	var o Options
	if err := o.All().Read(e.Name, e.Options); err != nil {
		return nil, err
	}
	if o.Eager > cmp.Or(o.Threshold, 0.7) {
		return nil, remote.WrongOption(e.Name, "eager_eot_threshold", "no more than eot_threshold")
	}
	var v recogniser.Vendor = &nova{e.Name, e.Model, o}
	if strings.HasPrefix(e.Model, "flux") {
		v = &flux{e.Name, e.Model, o}
	}
	return recogniser.Of(e, o.All(), headers(e.APIKey), v)
}

// headers go with every handshake.
func headers(key string) map[string]string { return map[string]string{"Authorization": "Token " + key} }

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
