package deepgramtest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// query is what a handshake asks for.
type query struct {
	model  string
	coding loopbacktest.Coding
	rate   int
	nova   novaQuery
	flux   bool

	thresholds thresholds
	keyterms   []string
	hints      []string
}

// novaQuery is what Nova alone is asked.
type novaQuery struct {
	interim, vadEvents, formatted bool

	endpointing  time.Duration // below 0: no endpoints
	utteranceEnd time.Duration // 0: no UtteranceEnd
}

// defaultEndpointing is Nova's when the client does not name one.
const defaultEndpointing = 10 * time.Millisecond

// codings are the encodings that the fake can hear. The vendor has more.
var codings = map[string]loopbacktest.Coding{
	"linear16": loopbacktest.S16, "linear32": loopbacktest.S32, "mulaw": loopbacktest.Mulaw, "alaw": loopbacktest.Alaw,
}

// Parameters by how their values are checked; those that have checks of their own are in others.
var (
	novaFlags  = strings.Fields("interim_results punctuate smart_format vad_events no_delay mip_opt_out numerals profanity_filter diarize multichannel filler_words dictation")
	novaOthers = strings.Fields("model language encoding sample_rate channels endpointing utterance_end_ms keyterm keywords tag redact replace search extra version")
	fluxFlags  = strings.Fields("numerals profanity_filter mip_opt_out")
	fluxOthers = strings.Fields("model encoding sample_rate eot_threshold eager_eot_threshold eot_timeout_ms keyterm language_hint tag")
	repeated   = strings.Fields("keyterm keywords tag redact replace search extra language_hint")
)

// check refuses parameters that are not known, repeated or no flags where they should be.
func check(v url.Values, flags, others []string) error {
	for name, values := range v {
		isFlag := slices.Contains(flags, name)
		switch {
		case !isFlag && !slices.Contains(others, name):
			return fmt.Errorf("unknown query parameter %s", name)
		case len(values) > 1 && !slices.Contains(repeated, name):
			return fmt.Errorf("%s is given %d times", name, len(values))
		case isFlag && values[0] != "true" && values[0] != "false":
			return fmt.Errorf("%s is %q, not true or false", name, values[0])
		}
	}
	return nil
}

// format reads what both products have.
func format(v url.Values) (q query, err error) {
	var ok bool
	if q.coding, ok = codings[v.Get("encoding")]; !ok {
		return q, fmt.Errorf("encoding %q is not supported", v.Get("encoding"))
	}
	q.rate, err = strconv.Atoi(v.Get("sample_rate"))
	if err != nil || q.rate < 8000 || q.rate > 48000 {
		return q, fmt.Errorf("sample_rate %q is not supported", v.Get("sample_rate"))
	}
	q.model, q.keyterms = v.Get("model"), v["keyterm"]
	return q, nil
}

func parseNova(r *http.Request) (query, error) {
	v := r.URL.Query()
	q, err := format(v)
	if err == nil {
		err = check(v, novaFlags, novaOthers)
	}
	if err != nil {
		return q, err
	}
	if !strings.HasPrefix(q.model, "nova-2") && !strings.HasPrefix(q.model, "nova-3") {
		return q, fmt.Errorf("no such model/language/tier combination found: %q", q.model)
	}
	if v.Has("keyterm") && !strings.HasPrefix(q.model, "nova-3") {
		return q, fmt.Errorf("keyterm is not supported by %s", q.model)
	}
	if c := v.Get("channels"); c != "" && c != "1" {
		return q, fmt.Errorf("channels is %q: the fake hears one", c)
	}
	yes := func(name string) bool { return v.Get(name) == "true" }
	q.nova = novaQuery{interim: yes("interim_results"), vadEvents: yes("vad_events"), formatted: yes("punctuate") || yes("smart_format")}
	switch e := v.Get("endpointing"); e {
	case "", "true":
		q.nova.endpointing = defaultEndpointing
	case "false":
		q.nova.endpointing = -1
	default:
		ms, err := strconv.Atoi(e)
		if err != nil || ms < 0 {
			return q, fmt.Errorf("endpointing is %q", e)
		}
		q.nova.endpointing = time.Duration(ms) * time.Millisecond
	}
	if e := v.Get("utterance_end_ms"); e != "" {
		ms, err := strconv.Atoi(e)
		if err != nil || ms < 1000 || !q.nova.interim {
			return q, fmt.Errorf("utterance_end_ms is %q: it needs 1000 at least, and interim_results", e)
		}
		q.nova.utteranceEnd = time.Duration(ms) * time.Millisecond
	}
	return q, nil
}

// multi is the model that hears several languages.
const multi = "flux-general-multi"

func parseFlux(r *http.Request) (query, error) {
	v := r.URL.Query()
	q, err := format(v)
	if err == nil {
		err = check(v, fluxFlags, fluxOthers)
	}
	if err != nil {
		return q, err
	}
	if q.model != multi && q.model != "flux-general-en" {
		return q, fmt.Errorf("no such model: %q", q.model)
	}
	q.flux, q.hints = true, v["language_hint"]
	if len(q.hints) > 0 && q.model != multi {
		return q, fmt.Errorf("language_hint is not supported by %s", q.model)
	}
	q.thresholds = thresholds{End: .7, Timeout: 5000}
	for name, to := range map[string]*float64{"eot_threshold": &q.thresholds.End, "eager_eot_threshold": &q.thresholds.Eager} {
		if !v.Has(name) {
			continue
		}
		if *to, err = strconv.ParseFloat(v.Get(name), 64); err != nil || *to == 0 {
			return q, fmt.Errorf("%s is %q", name, v.Get(name))
		}
	}
	if v.Has("eot_timeout_ms") {
		if q.thresholds.Timeout, err = strconv.Atoi(v.Get("eot_timeout_ms")); err != nil {
			return q, fmt.Errorf("eot_timeout_ms is %q", v.Get("eot_timeout_ms"))
		}
	}
	return q, q.thresholds.valid()
}

// thresholds are when Flux ends turns.
type thresholds struct {
	End     float64 `json:"eot_threshold"`
	Eager   float64 `json:"eager_eot_threshold,omitempty"` // 0: no eager ends
	Timeout int     `json:"eot_timeout_ms"`
}

func (t thresholds) valid() error {
	switch {
	case t.End < .5 || t.End > 1:
		return fmt.Errorf("eot_threshold %v is not in .5-1.0", t.End)
	case t.Eager != 0 && (t.Eager < .3 || t.Eager > .9):
		return fmt.Errorf("eager_eot_threshold %v is not in .3-.9", t.Eager)
	case t.Eager > t.End:
		return fmt.Errorf("eager_eot_threshold %v is above eot_threshold %v", t.Eager, t.End)
	case t.Timeout < 500 || t.Timeout > 60000:
		return fmt.Errorf("eot_timeout_ms %d is not in 500-60000", t.Timeout)
	}
	return nil
}

// timeout is the quiet after which a turn ends whatever is thought of it.
func (t thresholds) timeout() time.Duration { return time.Duration(t.Timeout) * time.Millisecond }
