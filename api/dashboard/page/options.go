package page

import (
	"fmt"

	"parley/api/tts"
)

// Option is one of a select's.
type Option struct {
	Value, Label string
	Selected     bool
}

// LabelOf is the label of a choice, or the value itself where it is none of them.
func LabelOf(choices []Option, value string) string {
	for _, c := range choices {
		if c.Value == value {
			return c.Label
		}
	}
	return value
}

// VoiceOptions are the voices.
func VoiceOptions() (out []Option) {
	for _, v := range tts.Voices() {
		out = append(out, Option{Value: v.ID, Label: fmt.Sprintf("%s, %s, %s", v.Name, v.Gender, v.Description)})
	}
	return out
}

// LanguageOptions are the languages that voices speak.
func LanguageOptions() (out []Option) {
	for _, l := range tts.Languages() {
		out = append(out, Option{Value: l.Code, Label: l.Name})
	}
	return out
}
