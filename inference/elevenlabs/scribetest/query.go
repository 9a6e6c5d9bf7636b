package scribetest

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// query is what a handshake asks for.
type query struct {
	name    string // of the format
	format  format
	vad     bool          // the vendor commits
	silence time.Duration // after which it does
	detects bool          // languages
	times   bool          // of words
}

// format is how audio comes.
type format struct {
	coding loopbacktest.Coding
	rate   int
}

var (
	formats = map[string]format{
		"pcm_8000": {loopbacktest.S16, 8000}, "pcm_16000": {loopbacktest.S16, 16000}, "pcm_22050": {loopbacktest.S16, 22050},
		"pcm_24000": {loopbacktest.S16, 24000}, "pcm_44100": {loopbacktest.S16, 44100}, "pcm_48000": {loopbacktest.S16, 48000},
		"ulaw_8000": {loopbacktest.Mulaw, 8000},
	}
	languages = regexp.MustCompile(`^([a-z]{2,3})?$`)
	flags     = strings.Fields("include_timestamps include_language_detection no_verbatim enable_logging")
	others    = strings.Fields("model_id audio_format commit_strategy language_code keyterms")
	// ranges are those of the numbers that are for the vendor's commits alone.
	ranges = map[string][2]float64{
		"vad_threshold": {.1, .9}, "vad_silence_threshold_secs": {.3, 3}, "min_speech_duration_ms": {50, 2000}, "min_silence_duration_ms": {50, 2000},
	}
)

const (
	maxKeyterms    = 50
	defaultSilence = 1500 * time.Millisecond
)

// parseQuery reads what a handshake asks for, and says why it cannot be had.
func parseQuery(v url.Values) (q query, err error) {
	q = query{name: "pcm_16000", vad: v.Get("commit_strategy") == "vad", silence: defaultSilence,
		detects: v.Get("include_language_detection") == "true", times: v.Get("include_timestamps") == "true"}
	for name, values := range v {
		if err := q.check(name, values); err != nil {
			return q, err
		}
	}
	if v.Has("audio_format") {
		q.name = v.Get("audio_format")
	}
	var ok bool
	q.format, ok = formats[q.name]
	switch strategy := v.Get("commit_strategy"); {
	case v.Get("model_id") != "scribe_v2_realtime":
		return q, fmt.Errorf("model_id %q is not supported", v.Get("model_id"))
	case !ok:
		return q, fmt.Errorf("audio_format %q is not supported", q.name)
	case strategy != "" && strategy != "manual" && strategy != "vad":
		return q, fmt.Errorf("commit_strategy is %q, not manual or vad", strategy)
	case !languages.MatchString(v.Get("language_code")):
		return q, fmt.Errorf("language_code %q is not supported", v.Get("language_code"))
	case len(v["keyterms"]) > maxKeyterms:
		return q, fmt.Errorf("there are %d keyterms, %d at most", len(v["keyterms"]), maxKeyterms)
	case slices.Contains(v["keyterms"], ""):
		return q, fmt.Errorf("one of keyterms is empty")
	}
	if seconds, err := strconv.ParseFloat(v.Get("vad_silence_threshold_secs"), 64); err == nil {
		q.silence = time.Duration(seconds * float64(time.Second))
	}
	return q, nil
}

// check refuses a parameter that is not known, is repeated, or has no value of its kind.
func (q *query) check(name string, values []string) error {
	value := values[0]
	limits, isNumber := ranges[name]
	switch {
	case len(values) > 1 && name != "keyterms":
		return fmt.Errorf("%s is given %d times", name, len(values))
	case isNumber && !q.vad:
		return fmt.Errorf("%s is for commit_strategy=vad alone", name)
	case isNumber:
		if n, err := strconv.ParseFloat(value, 64); err != nil || n < limits[0] || n > limits[1] {
			return fmt.Errorf("%s %q is not in %v-%v", name, value, limits[0], limits[1])
		}
	case slices.Contains(flags, name):
		if value != "true" && value != "false" {
			return fmt.Errorf("%s is %q, not true or false", name, value)
		}
	case !slices.Contains(others, name):
		return fmt.Errorf("unknown query parameter %s", name)
	}
	return nil
}
