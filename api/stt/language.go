package stt

import (
	"slices"
	"strings"

	"parley/api"
	"parley/inference"
)

var languages = []string{"en", "es", "pt", "fr", "it", "de"}

// Languages lists the codes of the languages that can be recognised, on a server
// whose recogniser knows them. The caller owns the slice.
func Languages() []string { return slices.Clone(languages) }

// Language is the two-letter code of a language tag such as en-US or PT_br. An
// empty tag leaves the language to the recogniser and gives an empty code. What
// cannot be recognised on any server gives api.ErrUnheard.
func Language(tag string) (string, error) {
	tag = strings.ToLower(strings.TrimSpace(tag))
	if tag == "" {
		return "", nil
	}
	code, _, _ := strings.Cut(strings.ReplaceAll(tag, "_", "-"), "-")
	if !slices.Contains(languages, code) {
		return "", api.ErrUnheard
	}
	return code, nil
}

// heard is Language on a server with this recogniser, or with none: it refuses
// with api.ErrDeaf what other servers could recognise.
func heard(engine inference.ASR, tag string) (string, error) {
	code, err := Language(tag)
	switch {
	case err != nil:
		return "", err
	case engine == nil, code != "" && !slices.Contains(engine.Info().Languages, code):
		return "", api.ErrDeaf
	}
	return code, nil
}

// spoken is the language to name in an answer. Who leaves it to a recogniser of
// several languages is not told which it was, for recognisers do not say.
func spoken(engine inference.ASR, code string) string {
	if known := engine.Info().Languages; code == "" && len(known) == 1 {
		return known[0]
	}
	return code
}
