package cartesiatest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"parley/inference/enginetest/loopbacktest"
)

// request is one message of a client.
type request struct {
	Context    string `json:"context_id"`
	Model      string `json:"model_id"`
	Transcript *string
	Continue   bool
	Flush      bool
	Cancel     bool
	Voice      struct{ Mode, ID string }
	Language   string
	Format     struct {
		Container, Encoding string
		Rate                int `json:"sample_rate"`
	} `json:"output_format"`
	MaxBufferDelay *int `json:"max_buffer_delay_ms"`
	Generation     struct {
		Speed, Volume *float64
		Emotion       any
	} `json:"generation_config"`
	Timestamps struct{ Words, Phonemes bool } `json:"-"`

	fixed map[string]any // the fields that stay equal within a context
}

// defaultBufferDelay is in ms.
const defaultBufferDelay = 3000

var (
	encodings = map[string]loopbacktest.Coding{
		"pcm_s16le": loopbacktest.S16, "pcm_f32le": loopbacktest.F32, "pcm_mulaw": loopbacktest.Mulaw, "pcm_alaw": loopbacktest.Alaw,
	}
	rates     = []int{8000, 16000, 22050, 24000, 44100, 48000}
	languages = regexp.MustCompile(`^[a-z]{2}$`)
	fields    = strings.Fields(`context_id model_id transcript continue flush cancel voice language output_format duration add_timestamps
		add_phoneme_timestamps use_normalized_timestamps max_buffer_delay_ms generation_config pronunciation_dict_id`)
	changing = strings.Fields("transcript continue duration flush")
)

// parse reads a message. The names of fields that are not known come with it.
func parse(data []byte) (r request, unknown []string, err error) {
	if err = json.Unmarshal(data, &r); err == nil {
		err = json.Unmarshal(data, &r.fixed)
	}
	if err != nil {
		return r, nil, err
	}
	for name := range r.fixed {
		if !slices.Contains(fields, name) {
			unknown = append(unknown, name)
		}
	}
	r.Timestamps.Words, r.Timestamps.Phonemes = r.fixed["add_timestamps"] == true, r.fixed["add_phoneme_timestamps"] == true
	maps.DeleteFunc(r.fixed, func(name string, _ any) bool { return slices.Contains(changing, name) })
	return r, unknown, nil
}

// check says why a message cannot begin a context.
func (r *request) check() error {
	g := r.Generation
	_, coded := encodings[r.Format.Encoding]
	switch {
	case r.Context == "":
		return fmt.Errorf("context_id is missing")
	case r.Model == "":
		return fmt.Errorf("model_id is missing")
	case r.Transcript == nil:
		return fmt.Errorf("transcript is missing")
	case *r.Transcript == "" && !r.Continue:
		return fmt.Errorf("transcript is empty")
	case r.Voice.Mode != "id" || r.Voice.ID == "":
		return fmt.Errorf("voice is not {mode: id, id}")
	case r.Language != "" && !languages.MatchString(r.Language):
		return fmt.Errorf("language %q is not supported", r.Language)
	case r.Format.Container != "raw":
		return fmt.Errorf("output_format.container is %q, not raw", r.Format.Container)
	case !coded:
		return fmt.Errorf("output_format.encoding %q is not supported", r.Format.Encoding)
	case !slices.Contains(rates, r.Format.Rate):
		return fmt.Errorf("output_format.sample_rate %d is not supported", r.Format.Rate)
	case r.MaxBufferDelay != nil && (*r.MaxBufferDelay < 0 || *r.MaxBufferDelay > 5000):
		return fmt.Errorf("max_buffer_delay_ms %d is not in 0-5000", *r.MaxBufferDelay)
	case g.Speed != nil && (*g.Speed < .6 || *g.Speed > 1.5):
		return fmt.Errorf("generation_config.speed %v is not in .6-1.5", *g.Speed)
	case g.Volume != nil && (*g.Volume < .5 || *g.Volume > 2):
		return fmt.Errorf("generation_config.volume %v is not in .5-2", *g.Volume)
	}
	return nil
}

// found is the status of what a message names but the vendor does not have; 0: it has all.
func (s *Server) found(r *request) (status int, message string) {
	switch {
	case !strings.HasPrefix(r.Model, "sonic"):
		return http.StatusNotFound, "model not found"
	case !s.knows(r.Voice.ID):
		return http.StatusNotFound, "voice not found"
	}
	return 0, ""
}

// changed names the fields in which a message differs from the first of its context.
func (r *request) changed(first *request) (names []string) {
	for _, name := range fields {
		if !reflect.DeepEqual(r.fixed[name], first.fixed[name]) {
			names = append(names, name)
		}
	}
	return names
}
