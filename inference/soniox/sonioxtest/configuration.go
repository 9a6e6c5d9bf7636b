package sonioxtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// configuration is the first message.
type configuration struct {
	Key         string   `json:"api_key"`
	Model       string   `json:"model"`
	Format      string   `json:"audio_format"`
	Rate        int      `json:"sample_rate"`
	Channels    int      `json:"num_channels"`
	Hints       []string `json:"language_hints"`
	Strict      bool     `json:"language_hints_strict"`
	Endpoints   bool     `json:"enable_endpoint_detection"`
	MaxDelay    *int     `json:"max_endpoint_delay_ms"`
	Sensitivity float64  `json:"endpoint_sensitivity"`
	Adjustment  int      `json:"endpoint_latency_adjustment_level"`
	Languages   bool     `json:"enable_language_identification"`
	Speakers    bool     `json:"enable_speaker_diarization"`
	Context     struct {
		General []struct {
			Key   string `json:"key"`
			Value string `json:"value"`
		} `json:"general"`
		Text  string   `json:"text"`
		Terms []string `json:"terms"`
	} `json:"context"`
	Reference string `json:"client_reference_id"`
}

const (
	defaultMaxDelay = 2000  // ms
	maxContext      = 10000 // code points
	maxReference    = 256
)

var (
	// codings are the formats that the fake can hear. The vendor has more.
	codings = map[string]loopbacktest.Coding{"pcm_s16le": loopbacktest.S16, "mulaw": loopbacktest.Mulaw, "alaw": loopbacktest.Alaw}
	hints   = regexp.MustCompile(`^[a-z]{2,3}$`)
)

// parse reads the first message, and says what is wrong with it: first in the vendor's words, and
// behind a colon in ours. "": nothing is.
func parse(data []byte) (c configuration, mistake string) {
	if err := loopbacktest.Strict(data, &c); err != nil {
		return c, "Start request is malformed.: " + err.Error()
	}
	return c, c.check()
}

func (c *configuration) check() (mistake string) {
	_, coded := codings[c.Format]
	context := len([]rune(c.Context.Text))
	for _, g := range c.Context.General {
		context += len([]rune(g.Key + g.Value))
	}
	for _, t := range c.Context.Terms {
		context += len([]rune(t))
	}
	switch {
	case c.Key != "":
		return "Start request is malformed.: the key belongs to the connection, not to api_key"
	case !strings.HasPrefix(c.Model, "stt-rt-"):
		return "Invalid model specified."
	case c.Format == "":
		return "Missing audio format. Specify a valid audio format (e.g. s16le, f32le, wav, ogg, flac...) or \"auto\" for auto format detection."
	case !coded:
		return fmt.Sprintf("Invalid audio data format: %.40s", c.Format)
	case c.Rate == 0:
		return "Audio data sample rate must be specified for PCM formats"
	case c.Channels == 0:
		return "Audio data channels must be specified for PCM formats"
	case c.Rate < 8000 || c.Rate > 48000 || c.Channels != 1:
		return fmt.Sprintf("Start request is malformed.: %d channels at %d Hz", c.Channels, c.Rate)
	case slices.ContainsFunc(c.Hints, func(h string) bool { return !hints.MatchString(h) }):
		return "Invalid language hint."
	case len(slices.Compact(slices.Sorted(slices.Values(c.Hints)))) < len(c.Hints):
		return "Language hints must be unique."
	case c.Strict && len(c.Hints) == 0:
		return "Start request is malformed.: language_hints_strict without language_hints"
	case c.MaxDelay != nil && (*c.MaxDelay < 500 || *c.MaxDelay > 3000):
		return fmt.Sprintf("Start request is malformed.: max_endpoint_delay_ms %d is not in 500-3000", *c.MaxDelay)
	case c.Sensitivity < -1 || c.Sensitivity > 1:
		return fmt.Sprintf("Start request is malformed.: endpoint_sensitivity %v is not in -1-1", c.Sensitivity)
	case c.Adjustment < 0:
		return fmt.Sprintf("Start request is malformed.: endpoint_latency_adjustment_level %d is below 0", c.Adjustment)
	case context > maxContext:
		return fmt.Sprintf("Context is too long (max length %d).", maxContext)
	case len(c.Reference) > maxReference:
		return fmt.Sprintf("Client reference ID is too long (max length %d)", maxReference)
	}
	return ""
}

// maxDelay is the quiet after which an endpoint comes, whatever is thought of it.
func (c *configuration) maxDelay() time.Duration {
	delay := defaultMaxDelay
	if c.MaxDelay != nil {
		delay = *c.MaxDelay
	}
	return time.Duration(delay) * time.Millisecond
}
