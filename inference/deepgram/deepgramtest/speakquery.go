package deepgramtest

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parley/inference/enginetest/loopbacktest"
)

// voiceQuery is what a handshake with a voice asks for.
type voiceQuery struct {
	model  string
	coding loopbacktest.Coding
	rate   int
	speed  float64
}

var (
	auraModels  = regexp.MustCompile(`^aura(-2)?-[a-z]+-[a-z]{2}$`)
	turnsModels = regexp.MustCompile(`^flux-[a-z]+-[a-z]{2}$`)

	auraParameters  = strings.Fields("model encoding sample_rate tag")
	turnsParameters = strings.Fields("model encoding sample_rate tag speed expressivity")
	voiceFlags      = []string{"mip_opt_out"}

	auraRates  = []int{8000, 16000, 24000, 32000, 48000}
	turnsRates = []int{8000, 16000, 24000, 32000, 44100, 48000}
	g711Rates  = []int{8000, 16000}
)

func parseAura(v url.Values) (voiceQuery, error) {
	return parseVoice(v, auraModels, auraParameters, auraRates)
}

// parseTurns reads what Flux TTS is asked for.
func parseTurns(v url.Values) (q voiceQuery, err error) {
	if q, err = parseVoice(v, turnsModels, turnsParameters, turnsRates); err != nil {
		return q, err
	}
	if text := v.Get("speed"); text != "" {
		if q.speed, err = strconv.ParseFloat(text, 64); err != nil || checkSpeed(q.speed) != "" {
			return q, fmt.Errorf("speed %q is not in .5-1.5 by .05", text)
		}
	}
	if text := v.Get("expressivity"); text != "" {
		if n, err := strconv.Atoi(text); err != nil || n < -2 || n > 2 {
			return q, fmt.Errorf("expressivity %q is not in -2-2", text)
		}
	}
	return q, nil
}

// parseVoice reads what both voices have. Without an encoding it is linear16, at 24 kHz without
// a rate.
func parseVoice(v url.Values, models *regexp.Regexp, parameters []string, rates []int) (q voiceQuery, err error) {
	if err = check(v, voiceFlags, parameters); err != nil {
		return q, err
	}
	q = voiceQuery{model: v.Get("model"), coding: loopbacktest.S16, rate: 24000, speed: 1}
	if !models.MatchString(q.model) {
		return q, fmt.Errorf("no such model: %q", q.model)
	}
	switch text := v.Get("encoding"); text {
	case "", "linear16":
	case "mulaw", "alaw":
		q.coding, q.rate, rates = codings[text], 8000, g711Rates
	default:
		return q, fmt.Errorf("encoding %q is not supported", text)
	}
	if text := v.Get("sample_rate"); text != "" {
		if q.rate, err = strconv.Atoi(text); err != nil || !slices.Contains(rates, q.rate) {
			return q, fmt.Errorf("sample_rate %q is not supported", text)
		}
	}
	return q, nil
}

// checkSpeed is the code of why Flux TTS cannot speak so fast; "": it can.
func checkSpeed(speed float64) string {
	switch steps := speed * 20; {
	case !(speed >= .5 && speed <= 1.5):
		return "SPEED_OUT_OF_RANGE"
	case math.Abs(steps-math.Round(steps)) > 1e-6:
		return "SPEED_INCREMENT_INVALID"
	}
	return ""
}
