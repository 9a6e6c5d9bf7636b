package tts

import (
	"slices"
	"strings"
)

// VoiceInfo is one of the ten voices.
type VoiceInfo struct {
	ID          string `json:"id" doc:"What requests name." example:"F1"`
	Name        string `json:"name" doc:"The name for people." example:"F1"`
	Gender      string `json:"gender" doc:"How it sounds." enum:"female,male"`
	Description string `json:"description" doc:"Its character in a word." example:"Warm"`
}

var voices = []VoiceInfo{
	{"F1", "F1", "female", "Warm"},
	{"F2", "F2", "female", "Bright"},
	{"F3", "F3", "female", "Calm"},
	{"F4", "F4", "female", "Professional"},
	{"F5", "F5", "female", "Natural"},
	{"M1", "M1", "male", "Deep"},
	{"M2", "M2", "male", "Clear"},
	{"M3", "M3", "male", "Young"},
	{"M4", "M4", "male", "Warm"},
	{"M5", "M5", "male", "Dynamic"},
}

// Voices lists the ten voices. The caller owns the list.
func Voices() []VoiceInfo { return slices.Clone(voices) }

// Voice is the identifier of a voice that a client has named, in any case and with
// the prefix of a group of languages that newer clients send.
func Voice(id string) (string, bool) {
	id = strings.ToUpper(id)
	for _, group := range []string{"EN_", "ESCA_"} {
		if rest, ok := strings.CutPrefix(id, group); ok {
			id = rest
			break
		}
	}
	if !slices.ContainsFunc(voices, func(v VoiceInfo) bool { return v.ID == id }) {
		return "", false
	}
	return id, true
}

// LanguageInfo is one of the nine languages.
type LanguageInfo struct {
	Code string `json:"code" doc:"ISO 639-1, what requests name." example:"en"`
	Name string `json:"name" doc:"The language in English." example:"English"`
}

var languages = []LanguageInfo{
	{"en", "English"}, {"es", "Spanish"}, {"ca", "Catalan"}, {"gl", "Galician"}, {"eu", "Basque"},
	{"pt", "Portuguese"}, {"fr", "French"}, {"it", "Italian"}, {"de", "German"},
}

// Languages lists the nine languages that can be spoken. The caller owns the list.
func Languages() []LanguageInfo { return slices.Clone(languages) }

// Language is the code of a language that a client has named, with a region or
// without: the first subtag of the tag (RFC 5646 section 2.1), in any case.
func Language(code string) (string, bool) {
	if i := strings.IndexAny(code, "-_"); i >= 0 {
		code = code[:i]
	}
	code = strings.ToLower(code)
	if !slices.ContainsFunc(languages, func(l LanguageInfo) bool { return l.Code == code }) {
		return "", false
	}
	return code, true
}
