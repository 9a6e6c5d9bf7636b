package inktest

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"parley/inference/enginetest/loopbacktest"
)

// query is what a handshake asks for.
type query struct {
	coding   loopbacktest.Coding
	rate     int
	language string // without turns
	turns    thresholds
}

// thresholds are when turns begin and end: where the likelihood that the caller goes on rises above, or falls below.
type thresholds struct {
	start, eager, end float64
	timeout           time.Duration // of quiet, after which a turn ends whatever the likelihood
}

// errModel says that there is no such model.
var errModel = errors.New("model not found")

var (
	codings = map[string]loopbacktest.Coding{
		"pcm_s16le": loopbacktest.S16, "pcm_s32le": loopbacktest.S32, "pcm_f32le": loopbacktest.F32, "pcm_mulaw": loopbacktest.Mulaw, "pcm_alaw": loopbacktest.Alaw,
	}
	languages       = regexp.MustCompile(`^[a-z]{2,3}$`)
	plainParameters = strings.Fields("model language encoding sample_rate")
	turnsParameters = strings.Fields("model encoding sample_rate keyterm turn_start_threshold turn_eager_end_threshold turn_end_threshold turn_end_timeout_ms")
)

// Limits of keyterms.
const (
	maxKeyterms          = 100
	maxKeytermCharacters = 1200 // of all together
)

// parse reads what both protocols have.
func parse(v url.Values, parameters []string, models ...string) (q query, err error) {
	for name, values := range v {
		switch {
		case !slices.Contains(parameters, name):
			return q, fmt.Errorf("unknown query parameter %s", name)
		case len(values) > 1 && name != "keyterm":
			return q, fmt.Errorf("%s is given %d times", name, len(values))
		}
	}
	var ok bool
	q.coding, ok = codings[v.Get("encoding")]
	q.rate, err = strconv.Atoi(v.Get("sample_rate"))
	switch {
	case !ok:
		return q, fmt.Errorf("encoding %q is not supported", v.Get("encoding"))
	case err != nil || q.rate < 8000 || q.rate > 48000:
		return q, fmt.Errorf("sample_rate %q is not supported", v.Get("sample_rate"))
	case !v.Has("model"):
		return q, errors.New("model is required")
	case !slices.Contains(models, v.Get("model")):
		return q, errModel
	}
	return q, nil
}

func parsePlain(v url.Values) (query, error) {
	q, err := parse(v, plainParameters, "ink-whisper", "ink-2")
	if q.language = "en"; v.Has("language") {
		q.language = v.Get("language")
	}
	if err == nil && (!languages.MatchString(q.language) || v.Get("model") == "ink-2" && q.language != "en") {
		err = fmt.Errorf("language %q is not supported by %s", q.language, v.Get("model"))
	}
	return q, err
}

func parseTurns(v url.Values) (query, error) {
	q, err := parse(v, turnsParameters, "ink-2")
	if err != nil {
		return q, err
	}
	if terms := v["keyterm"]; len(terms) > maxKeyterms || utf8.RuneCountInString(strings.Join(terms, "")) > maxKeytermCharacters || slices.Contains(terms, "") {
		return q, fmt.Errorf("keyterm: %d terms; allowed are %d, %d characters together, none empty", len(terms), maxKeyterms, maxKeytermCharacters)
	}
	timeout := 5600.0
	q.turns = thresholds{.8, .4, .2, 0}
	for _, n := range []struct {
		name      string
		to        *float64
		low, high float64
	}{
		{"turn_start_threshold", &q.turns.start, .5, .9}, {"turn_eager_end_threshold", &q.turns.eager, .3, .6},
		{"turn_end_threshold", &q.turns.end, .05, .5}, {"turn_end_timeout_ms", &timeout, 640, 11200},
	} {
		if !v.Has(n.name) {
			continue
		}
		if *n.to, err = strconv.ParseFloat(v.Get(n.name), 64); err != nil || *n.to < n.low || *n.to > n.high {
			return q, fmt.Errorf("%s %q is not in %v-%v", n.name, v.Get(n.name), n.low, n.high)
		}
	}
	q.turns.timeout = time.Duration(timeout) * time.Millisecond
	if t := q.turns; t.end >= t.eager || t.eager >= t.start {
		return q, fmt.Errorf("thresholds %v, %v, %v: the end of a turn is below its eager end, and that below its start", t.start, t.eager, t.end)
	}
	return q, nil
}
