package realtimetest

import (
	"fmt"
	"slices"
)

// check refuses settings of a session.
func (s *settings) check(talks bool) error {
	if err := s.format.check("audio.input.format"); err != nil {
		return err
	}
	switch {
	case len(s.include) > 1 || len(s.include) == 1 && s.include[0] != logprobs:
		return invalid("include", "Invalid value: only '%s' can be included.", logprobs)
	case s.noise != nil && s.noise.Type != "near_field" && s.noise.Type != "far_field":
		return invalid("audio.input.noise_reduction.type", "Invalid value: '%s'.", s.noise.Type)
	}
	if s.detection != nil {
		if err := s.detection.check(talks); err != nil {
			return err
		}
	}
	if s.transcription == nil {
		return nil
	}
	return s.transcription.check(s.detection != nil)
}

// check refuses a detection.
func (d *detection) check(talks bool) error {
	const at = "audio.input.turn_detection"
	if err := oneOf(at+".type", d.Type, []string{byServer, bySemantic}); err != nil {
		return err
	}
	semantic := d.Type == bySemantic
	switch {
	case semantic && (d.Threshold != nil || d.Padding != nil || d.Silence != nil || d.Idle != nil), !semantic && d.Eagerness != "":
		return invalid(at, "Invalid value: %s has a parameter of the other type.", d.Type)
	case d.Eagerness != "" && patience[d.Eagerness] == 0:
		return invalid(at+".eagerness", "Invalid value: '%s'.", d.Eagerness)
	case d.Threshold != nil && (*d.Threshold < 0 || *d.Threshold > 1):
		return invalid(at+".threshold", "Invalid value: %v is not in 0-1.", *d.Threshold)
	case d.Padding != nil && *d.Padding < 0 || d.Silence != nil && *d.Silence < 0:
		return invalid(at, "Invalid value: a time is below 0.")
	case d.Idle != nil && (*d.Idle < 5000 || *d.Idle > 30000):
		return invalid(at+".idle_timeout_ms", "Invalid value: %d is not in 5000-30000.", *d.Idle)
	case !talks && (d.Create != nil || d.Interrupt != nil || d.Idle != nil):
		return invalid(at, "Invalid value: a transcription has no responses.")
	}
	return nil
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
