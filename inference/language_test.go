package inference_test

import (
	"testing"

	"parley/inference"
)

func TestLanguageOf(t *testing.T) {
	for tag, want := range map[string]string{"en": "en", "en-US": "en", "pt_BR": "pt", "spa": "es", "Basque": "eu", "ENGLISH": "en", "ko": "", "": "", "e": ""} {
		if got := inference.LanguageOf(tag); got != want {
			t.Errorf("%q is %q, want %q", tag, got, want)
		}
	}
}
