package realtimetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// settings are what session.update has set.
type settings struct {
	format        format
	transcription *model
	detection     *detection // nil: the client commits
	noise         *noise
	include       []string
}

// format is how audio comes.
type format struct {
	Type string `json:"type"`
	Rate int    `json:"rate,omitempty"`
}

// model is what transcribes.
type model struct {
	Model     string   `json:"model"`
	Language  string   `json:"language,omitempty"`
	Languages []string `json:"languages,omitempty"`
	Keywords  []string `json:"keywords,omitempty"`
	Prompt    string   `json:"prompt,omitempty"`
	Delay     string   `json:"delay,omitempty"`
}

// detection is when the server commits.
type detection struct {
	Type      string   `json:"type"`
	Threshold *float64 `json:"threshold,omitempty"`
	Padding   *int     `json:"prefix_padding_ms,omitempty"`
	Silence   *int     `json:"silence_duration_ms,omitempty"`
}

// noise is how the server reduces it.
type noise struct {
	Type string `json:"type"`
}

// Models that differ from the others.
const (
	live    = "gpt-live-transcribe"
	whisper = "gpt-realtime-whisper"
	diarize = "gpt-4o-transcribe-diarize"
	old     = "whisper-1"
)

var (
	models = []string{live, whisper, diarize, old, "gpt-transcribe", "gpt-4o-transcribe", "gpt-4o-mini-transcribe"}
	delays = strings.Fields("minimal low medium high xhigh")

	// rates are the formats, and the only rate of each.
	rates   = map[string]int{"audio/pcm": 24000, "audio/pcmu": 8000, "audio/pcma": 8000}
	codings = map[string]loopbacktest.Coding{"audio/pcm": loopbacktest.S16, "audio/pcmu": loopbacktest.Mulaw, "audio/pcma": loopbacktest.Alaw}
)

// logprobs is the only thing that can be included.
const logprobs = "item.input_audio_transcription.logprobs"

// initial is what a session has before its first session.update.
func initial() settings {
	return settings{format: format{"audio/pcm", 24000}, detection: fill(detection{Type: "server_vad"})}
}

// streams says whether words are sent while audio comes, before the commit.
func (m *model) streams() bool { return m.Model == live || m.Model == whisper }

// timed says whether the model is paid for by time, and not by tokens.
func (m *model) timed() bool { return m.streams() || m.Model == old }

// object is the session as the server describes it.
func (s *settings) object(id string, created time.Time) map[string]any {
	return map[string]any{
		"type": "transcription", "object": "realtime.transcription_session", "id": id, "expires_at": created.Add(time.Hour).Unix(), "include": s.include,
		"audio": map[string]any{"input": map[string]any{
			"format": s.format, "transcription": s.transcription, "turn_detection": s.detection, "noise_reduction": s.noise}},
	}
}

// update is a session.update. A part that is missing stays as it is.
type update struct {
	Type    string `json:"type"`
	Event   string `json:"event_id"`
	Session struct {
		Type  string `json:"type"`
		Audio struct {
			Input struct {
				Format        *format         `json:"format"`
				Transcription *model          `json:"transcription"`
				Detection     json.RawMessage `json:"turn_detection"`
				Noise         json.RawMessage `json:"noise_reduction"`
			} `json:"input"`
		} `json:"audio"`
		Include []string `json:"include"`
	} `json:"session"`
}

// strict decodes JSON and refuses fields that v does not have.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		return nil
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		name = strings.Trim(name, `"`)
		return trouble{Code: "unknown_parameter", Message: fmt.Sprintf("Unknown parameter: '%s'.", name), Param: name}
	}
	return trouble{Code: "invalid_type", Message: err.Error()}
}

// apply is the settings after an update.
func (s settings) apply(data []byte) (settings, error) {
	var u update
	if err := strict(data, &u); err != nil {
		return s, err
	}
	if u.Session.Type != "transcription" {
		return s, trouble{Code: "invalid_parameter", Message: fmt.Sprintf("Passing a %s session update event to a transcription session is not allowed.", u.Session.Type), Param: "session.type"}
	}
	in := u.Session.Audio.Input
	if in.Format != nil {
		s.format = *in.Format
	}
	if in.Transcription != nil {
		s.transcription = in.Transcription
	}
	if u.Session.Include != nil {
		s.include = u.Session.Include
	}
	if len(in.Detection) > 0 {
		s.detection = nil
		if err := strict(in.Detection, &s.detection); err != nil {
			return s, err
		}
	}
	if len(in.Noise) > 0 {
		s.noise = nil
		if err := strict(in.Noise, &s.noise); err != nil {
			return s, err
		}
	}
	if err := s.check(); err != nil {
		return s, err
	}
	s.format.Rate = 0
	if s.format.Type == "audio/pcm" {
		s.format.Rate = rates[s.format.Type]
	}
	if s.detection != nil {
		s.detection = fill(*s.detection)
	}
	return s, nil
}

// fill is a detection with the server's defaults.
func fill(d detection) *detection {
	threshold, padding, silence := .5, 300, 500
	if d.Threshold == nil {
		d.Threshold = &threshold
	}
	if d.Padding == nil {
		d.Padding = &padding
	}
	if d.Silence == nil {
		d.Silence = &silence
	}
	return &d
}

// invalid is trouble with the value of a part of the session.
func invalid(param, format string, args ...any) error {
	return trouble{Code: "invalid_value", Message: fmt.Sprintf(format, args...), Param: "session." + param}
}

func (s *settings) check() error {
	rate, known := rates[s.format.Type]
	d := s.detection
	switch {
	case !known:
		return invalid("audio.input.format.type", "Invalid value: '%s'. Supported values are: %s.", s.format.Type, quoted(slices.Sorted(maps.Keys(rates))))
	case s.format.Rate != 0 && (s.format.Type != "audio/pcm" || s.format.Rate != rate):
		return invalid("audio.input.format.rate", "Invalid rate for %s: %d.", s.format.Type, s.format.Rate)
	case len(s.include) > 1 || len(s.include) == 1 && s.include[0] != logprobs:
		return invalid("include", "Invalid value: only '%s' can be included.", logprobs)
	case s.noise != nil && s.noise.Type != "near_field" && s.noise.Type != "far_field":
		return invalid("audio.input.noise_reduction.type", "Invalid value: '%s'.", s.noise.Type)
	case d != nil && d.Type != "server_vad":
		return invalid("audio.input.turn_detection.type", "The fake detects turns by server_vad alone, not by '%s'.", d.Type)
	case d != nil && d.Threshold != nil && (*d.Threshold < 0 || *d.Threshold > 1):
		return invalid("audio.input.turn_detection.threshold", "Invalid value: %v is not in 0-1.", *d.Threshold)
	case d != nil && (d.Padding != nil && *d.Padding < 0 || d.Silence != nil && *d.Silence < 0):
		return invalid("audio.input.turn_detection", "Invalid value: a time is below 0.")
	case s.transcription == nil:
		return trouble{Code: "missing_required_parameter", Message: "Missing required parameter: 'session.audio.input.transcription'.", Param: "session.audio.input.transcription"}
	}
	return s.transcription.check(d != nil)
}

// check refuses what a model does not have.
func (m *model) check(detects bool) error {
	at := func(name string) string { return "audio.input.transcription." + name }
	switch {
	case !slices.Contains(models, m.Model):
		return trouble{Code: "invalid_model", Message: fmt.Sprintf("Model \"%s\" is not supported in transcription mode.", m.Model), Param: "session." + at("model")}
	case m.Language != "" && len(m.Languages) > 0:
		return invalid(at("languages"), "Only one of language and languages can be given.")
	case len(m.Languages) > 0 && m.Model != live:
		return invalid(at("languages"), "languages are not supported by %s.", m.Model)
	case len(m.Keywords) > 0 && m.Model != live:
		return invalid(at("keywords"), "keywords are not supported by %s.", m.Model)
	case m.Prompt != "" && (m.Model == whisper || m.Model == diarize):
		return invalid(at("prompt"), "prompt is not supported by %s.", m.Model)
	case m.Delay != "" && (m.Model != whisper || !slices.Contains(delays, m.Delay)):
		return invalid(at("delay"), "delay '%s' is not supported by %s.", m.Delay, m.Model)
	case m.Model == whisper && detects:
		return invalid("audio.input.turn_detection", "turn_detection must be null with %s.", m.Model)
	}
	return nil
}

// quoted lists names as the server does.
func quoted(names []string) string { return "'" + strings.Join(names, "', '") + "'" }
