package turn

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCountWords(t *testing.T) {
	for _, c := range []struct {
		language, text string
		want           wordCounts
	}{
		{"en", "", wordCounts{}},
		{"en", " ... -- !", wordCounts{}},
		{"en", "Uh-huh.", wordCounts{All: 1}},
		{"en", "yeah, OK, right", wordCounts{All: 3}},
		{"en", "No!", wordCounts{All: 1, Content: 1, Stops: 1}},
		{"en", "I meant Friday", wordCounts{All: 3, Content: 2}},
		{"en", "¿wait?", wordCounts{All: 1, Content: 1, Stops: 1}},
		{"es", "sí, claro", wordCounts{All: 2}},
		{"es", "ESPERA", wordCounts{All: 1, Content: 1, Stops: 1}},
		{"es", "para el coche", wordCounts{All: 3, Content: 3, Stops: 1}},
		{"pt", "não", wordCounts{All: 1, Content: 1, Stops: 1}},
		{"pt", "pára", wordCounts{All: 1, Content: 1, Stops: 1}},
		{"es", "stop", wordCounts{All: 1, Content: 1, Stops: 1}},
		{"it", "fermati", wordCounts{All: 1, Content: 1, Stops: 1}},
		{"fr", "d'accord, oui", wordCounts{All: 2}},
		{"fr", "Arrêtez", wordCounts{All: 1, Content: 1, Stops: 1}},
		{"it", "aspetti un attimo", wordCounts{All: 3, Content: 3, Stops: 1}},
		{"de", "ja genau", wordCounts{All: 2}},
		{"de", "Moment mal", wordCounts{All: 2, Content: 2, Stops: 1}},
		{"xx", "stop", wordCounts{All: 1, Content: 1, Stops: 1}},
		{"en", "Hello? Good morning!", wordCounts{All: 3, Content: 3, Salutations: 3}},
		{"de", "ja hallo", wordCounts{All: 2, Content: 1, Salutations: 1}},
		{"en", "5 7", wordCounts{All: 2, Content: 2}},
	} {
		if got := countWords(c.language, c.text); got != c.want {
			t.Errorf("%s %q: %+v, want %+v", c.language, c.text, got, c.want)
		}
	}
}

func TestEndsInDigits(t *testing.T) {
	for text, want := range map[string]bool{
		"":                        false,
		"five":                    false, // a number of people, not of a telephone
		"my number is five five":  true,
		"oh seven double two":     true,
		"it is 5 5":               true,
		"it is 555 12":            true,
		"5 tables":                false,
		"my name is j a":          false, // "a" is an article
		"my name is j o":          true,
		"I have a":                false,
		"two tables":              false,
		"route 66, number twelve": false,
	} {
		if got := endsInDigits("en", text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for language, text := range map[string]string{"es": "seis siete", "pt": "meia dois", "fr": "zéro six", "it": "tre tre", "de": "zwo drei"} {
		if !endsInDigits(language, text) {
			t.Errorf("%s %q are no digits", language, text)
		}
	}
}

func TestSameWords(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"", "", true}, {"", "...", true}, {"What time?", "what time", true}, {"what  time", " What, time!", true},
		{"what time", "what", false}, {"what time", "what lime", false}, {"sí", "si", false},
	} {
		if got := sameWords(c.a, c.b); got != c.want || sameWords(c.b, c.a) != c.want {
			t.Errorf("%q, %q: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestSameMeaning(t *testing.T) {
	for _, c := range []struct {
		language, a, b string
		want           bool
	}{
		{"en", "", "...", true}, {"en", "Um, a table, for TWO?", "a table for 2", true}, {"en", "five five oh one", "5501", true},
		{"en", "five five", "5 5", true}, {"en", "five five", "56", false}, {"en", "a table", "a table for two", false},
		{"en", "double two", "2 2", false}, {"de", "Äh, zwei", "zwo", true}, {"fr", "euh oui", "Oui.", true}, {"es", "sí", "si", false},
		{"it", "due persone", "2 persone", true}, {"pt", "seis", "meia", true}, {"xx", "um two", "2", true},
	} {
		if got := sameMeaning(c.language, c.a, c.b); got != c.want || sameMeaning(c.language, c.b, c.a) != c.want {
			t.Errorf("%s %q, %q: %v, want %v", c.language, c.a, c.b, got, c.want)
		}
	}
}

func TestAsks(t *testing.T) {
	for _, c := range []struct {
		language, sentence string
		want               Question
	}{
		{"en", "", NoQuestion}, {"en", "We are open.", NoQuestion}, {"en", "Is that all right?", PlainQuestion}, {"en", "What else?", PlainQuestion},
		{"en", "Could you tell me your phone number?", DictationQuestion}, {"en", "Please spell your name.", DictationQuestion},
		{"en", "Is that the right number?", PlainQuestion}, {"en", "What is your e-mail?", DictationQuestion},
		{"es", "¿Cuál es su número de teléfono?", DictationQuestion}, {"es", "¿Es correcta la fecha?", PlainQuestion},
		{"pt", "Qual é a data?", DictationQuestion}, {"fr", "Quelle est votre date de naissance ?", DictationQuestion},
		{"it", "Mi può dare il numero?", DictationQuestion}, {"de", "Wie ist Ihre Telefonnummer?", DictationQuestion},
		{"de", "Ist die Nummer richtig?", PlainQuestion},
	} {
		if got := Asks(c.language, c.sentence); got != c.want {
			t.Errorf("%s %q: %v, want %v", c.language, c.sentence, got, c.want)
		}
	}
}

// TestLexicons: lists hold words as nextWord gives them, or they match nothing.
func TestLexicons(t *testing.T) {
	for language, l := range lexicons {
		for _, list := range [][]string{l.stop, l.backchannel, l.open, l.preposition, l.leaning, l.hesitation, l.filler, l.closing, l.asking, l.auxiliary, l.subject,
			l.fronting, l.digits, l.dictated, l.confirming} {
			if len(list) == 0 {
				t.Errorf("%s has an empty list", language)
			}
			for _, entry := range list {
				for w := range strings.SplitSeq(strings.TrimPrefix(entry, "_"), "_") {
					if got, rest := nextWord(w); got != w || rest != "" {
						t.Errorf("%s: %q is read as %q, %q", language, w, got, rest)
					}
				}
			}
		}
		for _, w := range l.stop {
			if slices.Contains(l.backchannel, w) {
				t.Errorf("%s: %q both stops and goes on", language, w)
			}
		}
	}
}

// TestWordsOfAnything: no text breaks the word rules, and words are found again.
func TestWordsOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		n := 0
		for w, rest := nextWord(text); w != ""; w, rest = nextWord(rest) {
			if len(rest) >= len(text) && n > 0 || strings.ContainsAny(w, " \t\n") {
				t.Fatalf("word %q, rest %q", w, rest)
			}
			n++
		}
		if o := countWords("en", text); o.All != n || o.Content > n {
			t.Fatalf("%+v of %d words", o, n)
		}
		if p := Complete("de", text); p < 0 || p > 1 {
			t.Fatalf("probability %v", p)
		}
		endsInDigits("es", text)
		if !sameWords(text, text+" ...") {
			t.Fatal("marks make another text")
		}
	})
}
