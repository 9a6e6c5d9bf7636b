package assemblyaitest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// query is what a handshake asks for.
type query struct {
	coding  loopbacktest.Coding
	rate    int
	turns   turnOptions
	pro     *proOptions   // nil: a Universal model
	idle    time.Duration // 0: a client may say nothing for ever
	labels  labels
	formats bool // turns of Universal
}

// turnOptions are when turns end.
type turnOptions struct {
	threshold float64       // Universal: of the confidence that ends a turn after least
	least     time.Duration // quiet after which a turn may end
	most      time.Duration // quiet after which it ends
}

// proOptions are those of the models that write as they hear.
type proOptions struct {
	continuous bool // partials go on in long speech
}

// labels are what words and turns are marked with.
type labels struct{ language, speaker bool }

// codings are the encodings of the vendor.
var codings = map[string]loopbacktest.Coding{"pcm_s16le": loopbacktest.S16, "pcm_mulaw": loopbacktest.Mulaw}

// Parameters by how their values are checked.
var (
	flags     = strings.Fields("format_turns language_detection speaker_labels continuous_partials filter_profanity")
	fractions = strings.Fields("end_of_turn_confidence_threshold vad_threshold")
	counts    = strings.Fields("sample_rate min_turn_silence max_turn_silence inactivity_timeout max_speakers previous_context_n_turns interruption_delay")
	texts     = strings.Fields("speech_model encoding keyterms_prompt prompt language_codes agent_context voice_focus domain")

	ofPro       = strings.Fields("language_codes agent_context previous_context_n_turns voice_focus continuous_partials interruption_delay domain")
	ofUniversal = strings.Fields("end_of_turn_confidence_threshold")
)

const (
	maxKeyterms = 100
	maxKeyterm  = 50 // code points
)

// isPro says of which family a model is, if there is such a model.
func isPro(model string) (pro, ok bool) {
	switch model {
	case "universal-3-5-pro", "u3-rt-pro":
		return true, true
	case "universal-streaming-english", "universal-streaming-multilingual":
		return false, true
	}
	return false, false
}

// parse reads a handshake and refuses what the vendor does not know.
func parse(v url.Values) (q query, err error) {
	if !v.Has("speech_model") {
		return q, fmt.Errorf("speech_model is required")
	}
	pro, ok := isPro(v.Get("speech_model"))
	if !ok {
		return q, fmt.Errorf("speech_model %q is not known", v.Get("speech_model"))
	}
	for name, values := range v {
		if err := check(name, values, pro); err != nil {
			return q, err
		}
	}
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(v.Get(name)); err == nil {
			return n
		}
		return otherwise
	}
	millis := func(name string, otherwise int) time.Duration {
		return time.Duration(number(name, otherwise)) * time.Millisecond
	}
	q.rate, q.coding = number("sample_rate", 16000), loopbacktest.S16
	if v.Has("encoding") {
		if q.coding, ok = codings[v.Get("encoding")]; !ok {
			return q, fmt.Errorf("encoding %q is not supported", v.Get("encoding"))
		}
	}
	if q.rate < 8000 || q.rate > 48000 {
		return q, fmt.Errorf("sample_rate %d is not supported", q.rate)
	}
	q.turns = turnOptions{.4, millis("min_turn_silence", 400), millis("max_turn_silence", 1280)}
	if pro {
		q.pro = &proOptions{continuous: v.Get("continuous_partials") == "true"}
		q.turns = turnOptions{0, millis("min_turn_silence", 100), millis("max_turn_silence", 1000)}
	}
	if f, err := strconv.ParseFloat(v.Get("end_of_turn_confidence_threshold"), 64); err == nil {
		q.turns.threshold = f
	}
	if v.Has("inactivity_timeout") {
		seconds := number("inactivity_timeout", 0)
		if seconds < 5 || seconds > 3600 {
			return q, fmt.Errorf("inactivity_timeout %d is not in 5-3600", seconds)
		}
		q.idle = time.Duration(seconds) * time.Second
	}
	q.labels = labels{language: v.Get("language_detection") == "true", speaker: v.Get("speaker_labels") == "true"}
	q.formats = v.Get("format_turns") == "true"
	return q, q.turns.valid()
}

func (t turnOptions) valid() error {
	if t.least < 0 || t.most < t.least {
		return fmt.Errorf("min_turn_silence %d and max_turn_silence %d do not fit together", t.least.Milliseconds(), t.most.Milliseconds())
	}
	return nil
}

// check refuses a parameter that is not known, not of the model's family, or no value of its kind.
func check(name string, values []string, pro bool) error {
	value := values[0]
	switch {
	case len(values) > 1:
		return fmt.Errorf("%s is given %d times", name, len(values))
	case slices.Contains(ofPro, name) && !pro, slices.Contains(ofUniversal, name) && pro:
		return fmt.Errorf("%s is not supported by this model", name)
	case slices.Contains(flags, name):
		if value != "true" && value != "false" {
			return fmt.Errorf("%s is %q, not true or false", name, value)
		}
	case slices.Contains(fractions, name):
		if f, err := strconv.ParseFloat(value, 64); err != nil || f < 0 || f > 1 {
			return fmt.Errorf("%s is %q, not in 0-1", name, value)
		}
	case slices.Contains(counts, name):
		if n, err := strconv.Atoi(value); err != nil || n < 0 {
			return fmt.Errorf("%s is %q, no whole number", name, value)
		}
	case !slices.Contains(texts, name):
		return fmt.Errorf("unknown parameter %s", name)
	case value == "":
		return fmt.Errorf("%s is empty", name)
	case name == "keyterms_prompt":
		var terms []string
		if json.Unmarshal([]byte(value), &terms) != nil {
			return fmt.Errorf("keyterms_prompt is no list in JSON")
		}
		return checkTerms(terms)
	}
	return nil
}

func checkTerms(terms []string) error {
	if len(terms) > maxKeyterms {
		return fmt.Errorf("keyterms_prompt has %d terms, %d at most", len(terms), maxKeyterms)
	}
	for i, term := range terms {
		if n := len([]rune(term)); n == 0 || n > maxKeyterm {
			return fmt.Errorf("term %d of keyterms_prompt has %d characters, 1-%d", i, n, maxKeyterm)
		}
	}
	return nil
}
