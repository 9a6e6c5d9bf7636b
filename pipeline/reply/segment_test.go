package reply

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// streamed cuts a text that comes in parts.
func streamed(s segmenter, parts ...string) (list []string) {
	for _, part := range parts {
		s.add(part)
		for p := s.next(); p != ""; p = s.next() {
			list = append(list, p)
		}
	}
	if p := s.rest(); p != "" {
		list = append(list, p)
	}
	return list
}

var segments = []struct {
	name, text string
	want       []string
}{
	{"nothing", "", nil},
	{"nothing to say", " ... - !?\n\n", nil},
	{"one", "Yes.", []string{"Yes."}},
	{"no end", "Well then", []string{"Well then"}},
	{"three", "Yes I can. It takes two days! Is that all right?", []string{"Yes I can.", "It takes two days!", "Is that all right?"}},
	{"lines", "One\nTwo\n\nThree", []string{"One", "Two", "Three"}},
	{"decimals", "It is 3.5 metres. Or 1,200 feet.", []string{"It is 3.5 metres.", "Or 1,200 feet."}},
	{"a date", "Am 3. Mai um 8. Das geht.", []string{"Am 3. Mai um 8. Das geht."}},
	{"a year", "It was in 1999. Then it closed.", []string{"It was in 1999.", "Then it closed."}},
	{"a list", "1. Soup. 2. Bread.", []string{"1. Soup.", "2. Bread."}},
	{"titles", "Dr. Smith met Mr. J. Jones. He left.", []string{"Dr. Smith met Mr. J. Jones.", "He left."}},
	{"abbreviations", "Tea, e.g. mint, at 5 p.m. or so. Fine.", []string{"Tea, e.g. mint, at 5 p.m. or so.", "Fine."}},
	{"Spanish", "¿Qué desea? ¡Claro! El Sr. López, núm. 5.", []string{"¿Qué desea?", "¡Claro!", "El Sr. López, núm. 5."}},
	{"German", "Ja, z.B. bei Fr. Weiß. Guten Tag!", []string{"Ja, z.B. bei Fr. Weiß.", "Guten Tag!"}},
	{"French", "Bonjour ! Vous êtes là ? Oui.", []string{"Bonjour !", "Vous êtes là ?", "Oui."}},
	{"Italian", "È il sig. Rossi. Perché?", []string{"È il sig. Rossi.", "Perché?"}},
	{"Portuguese", "São três. Não é?", []string{"São três.", "Não é?"}},
	{"quotes", "He said “yes.” Then (so it seems.) he left.", []string{"He said “yes.”", "Then (so it seems.)", "he left."}},
	{"guillemets", "« Oui. » Bien.", []string{"« Oui. »", "Bien."}},
	{"bold", "**Yes.** No.", []string{"Yes.", "No."}},
	{"several marks", "Really?! Well... Yes…", []string{"Really?!", "Well...", "Yes…"}},
	{"addresses", "Go to www.example.com or write to a.b@example.org. Bye.", []string{"Go to www.example.com or write to a.b@example.org.", "Bye."}},
	{"marks in words", "Yahoo!Mail and a.out?x are words.", []string{"Yahoo!Mail and a.out?x are words."}},
}

// languageOf is the language of a case: English, unless its name is another.
func languageOf(name string) string {
	return map[string]string{"a date": "de", "Spanish": "es", "German": "de", "French": "fr", "guillemets": "fr", "Italian": "it", "Portuguese": "pt"}[name]
}

func TestSegments(t *testing.T) {
	for _, c := range segments {
		if got := Pieces(c.text, languageOf(c.name)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestFirstClause: the first piece of a reply may end at a comma, so that the voice
// begins early; the others do not.
func TestFirstClause(t *testing.T) {
	const text = "Well, I could book a table for you, or two of them, if you like it better. And so on, and so on, and so on, and so on."
	got := streamed(segmenter{}, text)
	want := []string{"Well, I could book a table for you,", "or two of them, if you like it better.", "And so on, and so on, and so on, and so on."}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := streamed(segmenter{}, "It costs more than about 1,200 euros."); len(got) != 1 {
		t.Errorf("a comma in a number: %q", got)
	}
}

// TestLongSegments: no piece is longer than the bound, with spaces or without, and
// nothing of the text is lost.
func TestLongSegments(t *testing.T) {
	for _, text := range []string{strings.Repeat("word ", 200), strings.Repeat("ñ", 1000), strings.Repeat("漢字", 400), "A " + strings.Repeat("x", 900),
		strings.Repeat("1,", 500), strings.Repeat("a.b", 300), strings.Repeat("\xff", 500) + "end"} {
		got := Pieces(text, "en")
		for _, p := range got {
			if len(p) > maxSentence+4 {
				t.Errorf("a piece of %d bytes", len(p))
			}
		}
		if words(strings.Join(got, " ")) != words(text) {
			t.Errorf("%.20q: %q", text, got)
		}
	}
}

// words is what is spoken of a text.
func words(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// TestEagerSegment: words before a function call are not held up by the wait for
// what follows their full stop.
func TestEagerSegment(t *testing.T) {
	s := segmenter{}
	for text, want := range map[string]string{"One moment.": "One moment.", "It is 3.": "", "Ask Dr.": "", "Go to www.": "", "Really?": "", "On a.": ""} {
		s = segmenter{text: text}
		if got := s.next(); got != want {
			t.Errorf("after %q: %q, want %q", text, got, want)
		}
	}
}

// TestStreamedSegments: cut into words, as models write, a text gives the same
// pieces as at once; cut anywhere it gives the same words.
func TestStreamedSegments(t *testing.T) {
	var texts []string
	for _, c := range segments {
		texts = append(texts, c.text)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(texts), 1, 4).Draw(t, "texts"), " ")
		first := rapid.Bool().Draw(t, "first")
		want := streamed(segmenter{first: first}, text)

		var tokens []string
		for rest := text; rest != ""; {
			n := strings.IndexFunc(rest[1:], unicode.IsSpace) + 1 // " word", as models write
			if n == 0 || rapid.IntRange(0, 5).Draw(t, "more") == 0 {
				n = len(rest)
			}
			tokens = append(tokens, rest[:n])
			rest = rest[n:]
		}
		if got := streamed(segmenter{first: first}, tokens...); !slices.Equal(got, want) {
			t.Fatalf("%q in words: %q, at once %q", text, got, want)
		}

		var parts []string
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "runes")
			parts = append(parts, string(rest[:n]))
			rest = rest[n:]
		}
		if got := streamed(segmenter{first: first}, parts...); words(strings.Join(got, " ")) != words(text) {
			t.Fatalf("%q in parts: %q", parts, got)
		}
	})
}

// TestSegmentsOfAnything: no text breaks the segmenter, and what is no markup stays.
func TestSegmentsOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("aB1.,!? \n\"»…"))))).Draw(t, "parts")
		for i := range parts {
			parts[i] = strings.NewReplacer("<", "", "&", "", "[", "", "`", "", "~", "").Replace(parts[i])
		}
		got := streamed(segmenter{}, parts...)
		if words(strings.Join(got, "")) != words(strings.Join(parts, "")) {
			t.Fatalf("%q of %q", got, parts)
		}
		for _, p := range got {
			if p != strings.TrimSpace(p) || words(p) == "" {
				t.Fatalf("piece %q", p)
			}
		}
	})
}
