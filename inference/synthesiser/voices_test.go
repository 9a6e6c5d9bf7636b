package synthesiser_test

import (
	"strings"
	"testing"

	"parley/inference"
	"parley/inference/synthesiser"
)

// TestVoices: a name stands for itself, in its language where it is another voice there, or for the first of its gender.
func TestVoices(t *testing.T) {
	voices := synthesiser.Voices{"F2": "ana", "F2-es": "lola", "M1": "bob", "M3": "tom", "M3-fr": "luc"}
	if err := voices.Check(); err != nil || len(voices.List("")) != 3 {
		t.Errorf("%v, %+v", err, voices.List(""))
	}
	for _, c := range []struct{ name, language, want string }{
		{"F2", "en", "ana"}, {"F2", "", "ana"}, {"F2", "es", "lola"}, {"F1", "es", "lola"}, {"F1", "de", "ana"}, {"M3", "fr", "luc"}, {"M5", "fr", "bob"},
		{"ana", "en", "ana"}, {"ana", "es", "lola"}, {"nobody", "en", ""},
	} {
		if got := voices.For(inference.VoiceConfig{Voice: c.name, Language: c.language}); got != c.want {
			t.Errorf("%s in %q is %q, want %q", c.name, c.language, got, c.want)
		}
	}
	for name, want := range map[string]string{"F2": "ana", "F1": "ana", "tom": "tom", "nobody": ""} {
		if got := voices.Of(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, wrong := range []synthesiser.Voices{{"F1-es": "lola"}, {"F1": "ana", "F1-ES": "lola"}, {"F1": "ana", "F1-es": ""}, {"X1": "ana"}, {}} {
		if err := wrong.Check(); err == nil || !strings.Contains(err.Error(), "voices") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}
