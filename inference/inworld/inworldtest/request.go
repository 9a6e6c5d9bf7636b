package inworldtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/inference/enginetest/loopbacktest"
)

// request is one message of a client: one of its first four fields, and of which context.
type request struct {
	Create *create
	Send   *struct {
		Text  string
		Flush *struct{} `json:"flush_context"`
	} `json:"send_text"`
	Flush   *struct{} `json:"flush_context"`
	Close   *struct{} `json:"close_context"`
	Context string    `json:"contextId"`
}

// create is how a context speaks.
type create struct {
	Voice string `json:"voiceId"`
	Model string `json:"modelId"`
	Audio struct {
		Encoding string   `json:"audioEncoding"`
		Rate     int      `json:"sampleRateHertz"`
		Speed    *float64 `json:"speakingRate,omitempty"`
	} `json:"audioConfig"`
	Timestamps string `json:"timestampType"`
	Delay      int    `json:"maxBufferDelayMs"`
	Threshold  int    `json:"bufferCharThreshold"`
	Auto       bool   `json:"autoMode"`
}

// Unless the client asks for others.
const (
	defaultDelay     = 3000 // ms
	defaultThreshold = 250  // characters
)

// linear16 is the encoding whose chunks are files with a header each.
const linear16 = "LINEAR16"

var (
	codings = map[string]loopbacktest.Coding{linear16: loopbacktest.S16, "PCM": loopbacktest.S16, "MULAW": loopbacktest.Mulaw, "ALAW": loopbacktest.Alaw}
	rates   = []int{8000, 16000, 22050, 24000, 32000, 44100, 48000}
	types   = []string{"", "TIMESTAMP_TYPE_UNSPECIFIED", "WORD"}
)

// check says why a context cannot be created. It does not look for the voice.
func (c *create) check() error {
	_, coded := codings[c.Audio.Encoding]
	switch {
	case c.Voice == "":
		return fmt.Errorf("voiceId is required")
	case !strings.HasPrefix(c.Model, "inworld-tts-"):
		return fmt.Errorf("modelId %q is not known", c.Model)
	case !coded:
		return fmt.Errorf("audioEncoding %q is not supported", c.Audio.Encoding)
	case !slices.Contains(rates, c.Audio.Rate):
		return fmt.Errorf("sampleRateHertz %d is not supported", c.Audio.Rate)
	case c.Audio.Speed != nil && (*c.Audio.Speed < .5 || *c.Audio.Speed > 1.5):
		return fmt.Errorf("speakingRate %v is not in .5-1.5", *c.Audio.Speed)
	case !slices.Contains(types, c.Timestamps):
		return fmt.Errorf("timestampType %q is not supported", c.Timestamps)
	case c.Delay < 0:
		return fmt.Errorf("maxBufferDelayMs %d is below 0", c.Delay)
	case c.Threshold < 0 || c.Threshold > MaxText:
		return fmt.Errorf("bufferCharThreshold %d is not in 0-%d", c.Threshold, MaxText)
	}
	c.Delay, c.Threshold = cmp.Or(c.Delay, defaultDelay), cmp.Or(c.Threshold, defaultThreshold)
	return nil
}

// ready is how many bytes of a text are spoken without a flush.
func (c *create) ready(held string) int {
	switch n := utf8.RuneCountInString(held); {
	case n > MaxText:
		return len(held)
	case c.Auto:
		return loopbacktest.Sentences(held)
	case n >= c.Threshold:
		return len(held)
	}
	return 0
}
