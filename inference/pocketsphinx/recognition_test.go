package pocketsphinx

import (
	"strings"
	"testing"
)

// maxWordErrors is the bar over a telephone line, in percent.
const maxWordErrors = 10

func TestTelephoneCallers(t *testing.T) {
	e := start(t, Config{})
	for _, voice := range []string{"slt", "rms"} {
		r := open(t, e, prompt)
		wrong, words := 0, 0
		for _, sentence := range calls {
			got := recognise(t, r, withPauses(telephone(t, flite(t, voice, sentence))))
			n := wordErrors(strings.Fields(sentence), strings.Fields(got))
			if n > 0 {
				t.Logf("%s: %q was heard as %q", voice, sentence, got)
			}
			wrong, words = wrong+n, words+len(strings.Fields(sentence))
		}
		percent := 100 * float64(wrong) / float64(words)
		t.Logf("%s: %d of %d words wrong, %.1f %%", voice, wrong, words, percent)
		if percent > maxWordErrors {
			t.Errorf("%s: more than %d %% of the words are wrong", voice, maxWordErrors)
		}
	}
}
