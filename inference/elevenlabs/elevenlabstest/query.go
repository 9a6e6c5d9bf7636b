package elevenlabstest

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

// query is what a handshake asks for: all contexts of its socket have it.
type query struct {
	model      string
	format     format
	auto       bool // sentences are spoken at once
	sync       bool // each chunk has its alignment
	verbatim   bool // texts are read out as they are written
	inactivity time.Duration
}

// format is how audio is sent.
type format struct {
	coding loopbacktest.Coding
	rate   int
}

// formats are the output formats that the fake can speak. The vendor has compressed ones too.
var formats = map[string]format{
	"pcm_8000": {loopbacktest.S16, 8000}, "pcm_16000": {loopbacktest.S16, 16000}, "pcm_22050": {loopbacktest.S16, 22050},
	"pcm_24000": {loopbacktest.S16, 24000}, "pcm_44100": {loopbacktest.S16, 44100},
	"ulaw_8000": {loopbacktest.Mulaw, 8000}, "alaw_8000": {loopbacktest.Alaw, 8000},
}

// The inactivity timeout, unless the client asks for another, and the longest.
const (
	defaultInactivity = 20 * time.Second
	maxInactivity     = 180 * time.Second
)

var (
	models = strings.Fields("eleven_flash_v2_5 eleven_flash_v2 eleven_turbo_v2_5 eleven_turbo_v2 eleven_multilingual_v2")
	// languaged are the models that can be held to a language.
	languaged  = strings.Fields("eleven_flash_v2_5 eleven_turbo_v2_5")
	languages  = regexp.MustCompile(`^[a-z]{2}$`)
	flags      = strings.Fields("auto_mode sync_alignment enable_logging enable_ssml_parsing")
	parameters = strings.Fields("model_id output_format inactivity_timeout language_code apply_text_normalization seed")
)

// parseQuery reads what a handshake asks for, and says why it cannot be had. It does not look
// for the model. Its errors name no values of parameters that it does not know.
func parseQuery(v url.Values) (q query, err error) {
	for name, values := range v {
		isFlag := slices.Contains(flags, name)
		switch {
		case !isFlag && !slices.Contains(parameters, name):
			return q, fmt.Errorf("unknown query parameter %s", name)
		case len(values) > 1:
			return q, fmt.Errorf("%s is given %d times", name, len(values))
		case isFlag && values[0] != "true" && values[0] != "false":
			return q, fmt.Errorf("%s is %q, not true or false", name, values[0])
		}
	}
	q = query{model: v.Get("model_id"), auto: v.Get("auto_mode") == "true", sync: v.Get("sync_alignment") == "true", inactivity: defaultInactivity}
	var ok bool
	if q.format, ok = formats[v.Get("output_format")]; !ok {
		return q, fmt.Errorf("output_format %q is not supported", v.Get("output_format"))
	}
	if text := v.Get("inactivity_timeout"); text != "" {
		seconds, err := strconv.Atoi(text)
		if q.inactivity = time.Duration(seconds) * time.Second; err != nil || q.inactivity <= 0 || q.inactivity > maxInactivity {
			return q, fmt.Errorf("inactivity_timeout %q is not in 1-180", text)
		}
	}
	if text := v.Get("language_code"); text != "" && !languages.MatchString(text) {
		return q, fmt.Errorf("language_code %q is not supported", text)
	} else if text != "" && !slices.Contains(languaged, q.model) {
		return q, fmt.Errorf("language_code is not supported by %s", q.model)
	}
	if text := v.Get("seed"); text != "" {
		if _, err := strconv.ParseUint(text, 10, 32); err != nil {
			return q, fmt.Errorf("seed %q is not in 0-4294967295", text)
		}
	}
	switch text := v.Get("apply_text_normalization"); text {
	case "", "auto", "on":
	case "off":
		q.verbatim = true
	default:
		return q, fmt.Errorf("apply_text_normalization is %q, not auto, on or off", text)
	}
	return q, nil
}
