package listen

import (
	"testing"

	"parley/inference"
)

// TestLanguages: two turns in a row make a language steady, each in that of most of its words.
func TestLanguages(t *testing.T) {
	type turn struct {
		again bool
		texts [][2]string // language and text
	}
	en, es, none := turn{texts: [][2]string{{"en", "good morning"}}}, turn{texts: [][2]string{{"es", "buenos días"}}}, turn{texts: [][2]string{{"", "mhm"}}}
	more := turn{again: true, texts: es.texts}
	mixed := turn{texts: [][2]string{{"en", "okay"}, {"es", "quería una"}, {"es", "mesa"}}}
	for name, c := range map[string]struct {
		turns []turn
		want  string
	}{
		"two":                         {[]turn{es, es}, " es"},
		"back":                        {[]turn{es, es, en, en}, " es  en"},
		"in turn":                     {[]turn{es, en, es, en}, "   "},
		"nothing is said of one":      {[]turn{es, none, es}, "  es"},
		"one turn, and more of it":    {[]turn{en, es, more, es}, "   es"},
		"a word of another language":  {[]turn{es, mixed}, " es"},
		"more of a turn of two words": {[]turn{es, en, more}, "  es"},
	} {
		var l languages
		got := ""
		for i, turn := range c.turns {
			for _, text := range turn.texts {
				l.heard(inference.Result{Text: "partial partial partial", Language: "fr"})
				l.heard(inference.Result{Text: text[1], Language: text[0], Final: true})
			}
			if i > 0 {
				got += " "
			}
			got += l.commit(turn.again)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	var l languages
	l.heard(inference.Result{Text: "noise", Language: "fr", Final: true})
	l.drop()
	if l.commit(false); l.turn != "" {
		t.Errorf("a turn that was dropped counts: %+v", l)
	}
}
