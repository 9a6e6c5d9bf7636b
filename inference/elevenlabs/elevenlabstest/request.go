package elevenlabstest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// request is one message of a client.
type request struct {
	Context      *string `json:"context_id"` // nil: the default context
	Text         *string
	Flush        bool
	CloseContext bool        `json:"close_context"`
	CloseSocket  bool        `json:"close_socket"`
	Settings     *settings   `json:"voice_settings"`
	Generation   *generation `json:"generation_config"`
}

// settings are those of a voice.
type settings struct {
	Stability, Style, Speed *float64
	Similarity              *float64 `json:"similarity_boost"`
	Boost                   *bool    `json:"use_speaker_boost"`
}

// generation is when audio is made of texts that are not flushed.
type generation struct {
	Schedule []float64 `json:"chunk_length_schedule"`
}

// fields are those of requests.
var fields = strings.Fields("context_id text flush close_context close_socket voice_settings generation_config pronunciation_dictionary_locators")

// defaultSchedule is how many characters make a chunk: the first, the second, and so on.
var defaultSchedule = []float64{120, 160, 250, 290}

// parse reads a message. The names of fields that are not known come with it.
func parse(data []byte) (r request, unknown []string, err error) {
	var all map[string]json.RawMessage
	if err = json.Unmarshal(data, &r); err == nil {
		err = json.Unmarshal(data, &all)
	}
	for name := range all {
		if !slices.Contains(fields, name) {
			unknown = append(unknown, name)
		}
	}
	return r, unknown, err
}

// id is that of the request's context.
func (r *request) id() string {
	if r.Context == nil {
		return ""
	}
	return *r.Context
}

// text is what is to be said.
func (r *request) text() string {
	if r.Text == nil {
		return ""
	}
	return *r.Text
}

// check says why a message cannot begin a context.
func (r *request) check() error {
	if s := r.Settings; s != nil {
		for _, v := range []struct {
			name      string
			value     *float64
			low, high float64
		}{{"stability", s.Stability, 0, 1}, {"similarity_boost", s.Similarity, 0, 1}, {"style", s.Style, 0, 1}, {"speed", s.Speed, .7, 1.2}} {
			if v.value != nil && (*v.value < v.low || *v.value > v.high) {
				return fmt.Errorf("voice_settings: %s %v is not in %v-%v", v.name, *v.value, v.low, v.high)
			}
		}
	}
	if r.Generation != nil {
		for _, n := range r.Generation.Schedule {
			if n < 50 || n > 500 {
				return fmt.Errorf("generation_config: %v in chunk_length_schedule is not in 50-500", n)
			}
		}
	}
	return nil
}

// schedule is when audio is made of texts that are not flushed.
func (r *request) schedule() []float64 {
	if r.Generation == nil || len(r.Generation.Schedule) == 0 {
		return defaultSchedule
	}
	return r.Generation.Schedule
}

// character is the audio of one character in seconds.
func (r *request) character() float64 {
	if r.Settings == nil || r.Settings.Speed == nil {
		return CharacterTime.Seconds()
	}
	return CharacterTime.Seconds() / *r.Settings.Speed
}
