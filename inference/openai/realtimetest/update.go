package realtimetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// settings are how a session hears.
type settings struct {
	format        format
	transcription *model
	detection     *detection // nil: the client commits
	noise         *noise
	include       []string
}

// format is how audio comes or goes.
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
	Idle      *int     `json:"idle_timeout_ms,omitempty"`
	Eagerness string   `json:"eagerness,omitempty"`
	Create    *bool    `json:"create_response,omitempty"`
	Interrupt *bool    `json:"interrupt_response,omitempty"`
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

// The types of detection.
const (
	byServer   = "server_vad"
	bySemantic = "semantic_vad"
)

var (
	models = []string{live, whisper, diarize, old, "gpt-transcribe", "gpt-4o-transcribe", "gpt-4o-mini-transcribe"}
	delays = strings.Fields("minimal low medium high xhigh")

	// rates are the formats, and the only rate of each.
	rates   = map[string]int{"audio/pcm": 24000, "audio/pcmu": 8000, "audio/pcma": 8000}
	codings = map[string]loopbacktest.Coding{"audio/pcm": loopbacktest.S16, "audio/pcmu": loopbacktest.Mulaw, "audio/pcma": loopbacktest.Alaw}

	// patience is the longest pause that semantic_vad waits in.
	patience = map[string]time.Duration{"low": 8 * time.Second, "medium": 4 * time.Second, "auto": 4 * time.Second, "high": 2 * time.Second}
)

// logprobs is the only thing that can be included.
const logprobs = "item.input_audio_transcription.logprobs"

// initial is what a session has before its first session.update.
func initial(talks bool) settings {
	return settings{format: format{"audio/pcm", 24000}, detection: detection{Type: byServer}.fill(talks)}
}

// streams says whether words are sent while audio comes, before the commit.
func (m *model) streams() bool { return m != nil && (m.Model == live || m.Model == whisper) }

// timed says whether the model is paid for by time, and not by tokens.
func (m *model) timed() bool { return m.streams() || m.Model == old }

// object is how the session hears, as the server describes it.
func (s *settings) object() map[string]any {
	return map[string]any{"format": s.format, "transcription": s.transcription, "turn_detection": s.detection, "noise_reduction": s.noise}
}

// inputUpdate is how a session.update changes the settings. A part that is missing stays as it is.
type inputUpdate struct {
	Format        *format         `json:"format"`
	Transcription json.RawMessage `json:"transcription"`
	Detection     json.RawMessage `json:"turn_detection"`
	Noise         json.RawMessage `json:"noise_reduction"`
}

// strict decodes JSON and refuses fields that v does not have.
func strict(data []byte, v any) error {
	err := loopbacktest.Strict(data, v)
	var field loopbacktest.UnknownField
	switch {
	case err == nil:
		return nil
	case errors.As(err, &field):
		return trouble{Code: "unknown_parameter", Message: fmt.Sprintf("Unknown parameter: '%s'.", string(field)), Param: string(field)}
	}
	return trouble{Code: "invalid_type", Message: err.Error()}
}

// replace decodes an object in the place of *v, which becomes nil by null, unless it is missing.
func replace[T any](data json.RawMessage, v **T) error {
	if len(data) == 0 {
		return nil
	}
	*v = nil
	return strict(data, v)
}

// apply is the settings after an update; talks means those of a conversation.
func (s settings) apply(u inputUpdate, include []string, talks bool) (settings, error) {
	if u.Format != nil {
		s.format = *u.Format
	}
	if include != nil {
		s.include = include
	}
	for _, err := range []error{replace(u.Transcription, &s.transcription), replace(u.Detection, &s.detection), replace(u.Noise, &s.noise), s.check(talks)} {
		if err != nil {
			return s, err
		}
	}
	s.format = s.format.full()
	if s.detection != nil {
		s.detection = s.detection.fill(talks)
	}
	return s, nil
}

// fill is a detection with the server's defaults.
func (d detection) fill(talks bool) *detection {
	threshold, padding, silence, yes := .5, 300, 500, true
	if d.Type == byServer && d.Threshold == nil {
		d.Threshold = &threshold
	}
	if d.Type == byServer && d.Padding == nil {
		d.Padding = &padding
	}
	if d.Type == byServer && d.Silence == nil {
		d.Silence = &silence
	}
	if d.Type == bySemantic && d.Eagerness == "" {
		d.Eagerness = "auto"
	}
	if talks && d.Create == nil {
		d.Create = &yes
	}
	if talks && d.Interrupt == nil {
		d.Interrupt = &yes
	}
	return &d
}

// padding is how much earlier than its sound speech begins.
func (d *detection) padding() time.Duration {
	if d.Padding == nil {
		return 0
	}
	return time.Duration(*d.Padding) * time.Millisecond
}

// over says whether the caller, who is quiet, has finished.
func (d *detection) over(h *hearingtest.Hearer) bool {
	quiet := h.Now - h.LastLoud
	if d.Type == bySemantic {
		return quiet >= patience[d.Eagerness] || quiet >= hearingtest.OverAfter && h.Over()
	}
	return quiet >= time.Duration(*d.Silence)*time.Millisecond
}

// invalid is trouble with the value of a part of the session.
func invalid(param, format string, args ...any) error {
	return trouble{Code: "invalid_value", Message: fmt.Sprintf(format, args...), Param: "session." + param}
}

// quoted lists names as the server does.
func quoted(names []string) string { return "'" + strings.Join(names, "', '") + "'" }

// oneOf refuses a value that is not among those of a part of the session.
func oneOf(param, value string, values []string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return invalid(param, "Invalid value: '%s'. Supported values are: %s.", value, quoted(values))
}

// check refuses a format.
func (f format) check(param string) error {
	if err := oneOf(param+".type", f.Type, slices.Sorted(maps.Keys(rates))); err != nil {
		return err
	}
	if f.Rate != 0 && (f.Type != "audio/pcm" || f.Rate != rates[f.Type]) {
		return invalid(param+".rate", "Invalid rate for %s: %d.", f.Type, f.Rate)
	}
	return nil
}

// full is a format as the server writes it.
func (f format) full() format {
	f.Rate = 0
	if f.Type == "audio/pcm" {
		f.Rate = rates[f.Type]
	}
	return f
}
