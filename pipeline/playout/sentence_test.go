package playout

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/spoken"
	"parley/media"

	"pgregory.net/rapid"
)

// evenly marks the words of a text, a quarter of a second each.
func evenly(text string, chars, ends bool) (marks []inference.Mark) {
	at := 0
	for i, w := range strings.Fields(text) {
		m := inference.Mark{Text: w, Start: time.Duration(i) * 250 * time.Millisecond, Char: -1}
		if ends {
			m.End = m.Start + 250*time.Millisecond
		}
		if chars {
			m.Char = len([]rune(text[:at+strings.Index(text[at:], w)]))
		}
		at += strings.Index(text[at:], w) + len(w)
		marks = append(marks, m)
	}
	return marks
}

func TestHeardText(t *testing.T) {
	const text = "Sí, tenemos ñandú, tenemos “sopa”."
	words := strings.Fields(text) // five, 1,250 ms
	for _, c := range []struct {
		name     string
		marks    []inference.Mark
		ms       media.Time
		complete bool
		want     string
	}{
		{"nothing", evenly(text, true, true), 0, true, ""},
		{"less than the margin", evenly(text, true, true), 30, true, ""},
		{"not a word", evenly(text, true, true), 280, true, ""},
		{"a word and the margin", evenly(text, true, true), 290, true, "Sí,"},
		{"three words", evenly(text, true, true), 1000, true, "Sí, tenemos ñandú,"},
		{"without places", evenly(text, false, true), 1000, true, "Sí, tenemos ñandú,"},
		{"a word that occurs twice", evenly(text, false, true), 1100, true, "Sí, tenemos ñandú, tenemos"},
		{"without ends", evenly(text, true, false), 1000, true, "Sí, tenemos ñandú,"},
		{"the last word has no end", evenly(text, true, false), 1240, true, "Sí, tenemos ñandú, tenemos"},
		{"all of it", evenly(text, true, true), 1250, true, text},
		{"all but the margin", evenly(text, true, true), 1240, true, "Sí, tenemos ñandú, tenemos"},
		{"marks of the first words only", evenly(text, true, true)[:2], 1000, false, "Sí, tenemos"},
		{"and without places", evenly(text, false, true)[:2], 1000, false, "Sí, tenemos"},
		{"words that are spelled otherwise", []inference.Mark{{Text: "uno", End: 250 * time.Millisecond, Char: -1}}, 1000, false, ""},
		{"no marks", nil, 700, true, "Sí, tenemos"},
		{"no marks, all of it", nil, 1250, true, text},
		{"no marks, still being made", nil, 1240, false, "Sí, tenemos ñandú,"},
	} {
		s := Sentence{Text: text, rate: media.Rate8k, total: len(words) * 2000, marks: c.marks, Complete: c.complete}
		if got := s.Heard(c.ms * media.Millisecond); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := (&Sentence{Text: text, Complete: true}).Heard(media.Second); got != "" {
		t.Errorf("a sentence without audio was heard: %q", got)
	}
}

// TestTruncate: each word is in what was said or in what is said again, wherever the audio breaks off.
func TestTruncate(t *testing.T) {
	const text = "Sí, tenemos ñandú, tenemos “sopa”."
	words := strings.Fields(text)
	for ms := range 1251 {
		for name, marks := range map[string][]inference.Mark{"marked": evenly(text, true, true), "without places": evenly(text, false, true),
			"without ends": evenly(text, true, false), "unmarked": nil} {
			for len(marks) > 0 && marks[len(marks)-1].Start > time.Duration(ms)*time.Millisecond {
				marks = marks[:len(marks)-1] // they come with their audio
			}
			whole := min(len(marks), ms/250)
			if name == "without ends" {
				whole = max(0, min(whole, len(marks)-1)) // a word ends where the next begins
			}
			s := Sentence{Text: text, rate: media.Rate8k, total: 8 * ms, marks: marks}
			if again, want := s.Truncate(), strings.Join(words[whole:], " "); again != want {
				t.Fatalf("%s, %d ms: again %q, want %q", name, ms, again, want)
			}
			if said := strings.Join(words[:whole], " "); len(marks) > 0 && s.Text != said || !strings.HasPrefix(text, s.Text) {
				t.Fatalf("%s, %d ms: said %q, want %q", name, ms, s.Text, said)
			}
		}
	}
}

// TestHeardIsABeginning: whatever an engine marks, what was heard is a beginning of
// the text, it grows with time and ends with all.
func TestHeardIsABeginning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.TrimSpace(rapid.StringOf(rapid.RuneFrom([]rune("aé ñ.,“İß漢"))).Draw(t, "text"))
		s := Sentence{Text: text, rate: media.Rate16k, total: rapid.IntRange(1, 100000).Draw(t, "samples"), Complete: rapid.Bool().Draw(t, "complete")}
		for at := time.Duration(0); len(s.marks) < 5 && rapid.Bool().Draw(t, "another"); {
			m := inference.Mark{Text: rapid.StringN(0, 5, -1).Draw(t, "word"), Start: at, Char: rapid.IntRange(-1, len(text)+3).Draw(t, "char")}
			at += time.Duration(rapid.IntRange(0, 1000).Draw(t, "ms")) * time.Millisecond
			if rapid.Bool().Draw(t, "end") {
				m.End = at
			}
			s.marks = append(s.marks, m)
		}
		for off := media.Time(0); off < s.Length()+100*media.Millisecond; off += 150 * media.Millisecond {
			if got := s.Heard(off); !strings.HasPrefix(text, got) {
				t.Fatalf("%q is no beginning of %q", got, text)
			}
		}
		if got := s.Heard(s.Length()); s.Complete && got != text {
			t.Fatalf("%q of %q was heard in the end", got, text)
		}
	})
}

func TestReplyHeardText(t *testing.T) {
	made := func(seg, ms int, text string) *Sentence {
		return &Sentence{Gen: 3, Seg: seg, Text: text, rate: media.Rate8k, total: 8 * ms, Complete: true}
	}
	r := []*Sentence{made(0, 1000, "One."), made(1, 0, "(2)"), made(2, 1000, "Three four."), made(3, 1000, "Five.")}
	for _, c := range []struct {
		seg  int
		ms   media.Time
		gen  int
		want string
	}{
		{0, 0, 3, ""}, {0, 1000, 3, "One."}, {2, 700, 3, "One. Three"}, {2, 1000, 3, "One. Three four."}, {3, 1000, 3, "One. Three four. Five."},
		{2, 1000, 2, ""},
	} {
		if got := Heard(r, Position{Gen: c.gen, Seg: c.seg, Off: c.ms * media.Millisecond}); got != c.want {
			t.Errorf("%d ms into %d: %q, want %q", c.ms, c.seg, got, c.want)
		}
	}
}

// TestHeardInProportion: without marks the audio is shared out over what is spoken, and
// what stands for several words is heard with the last of them.
func TestHeardInProportion(t *testing.T) {
	f := spoken.New("en", nil).Read("That is $1,250 now.")
	length := len(f.Spoken) // a sample each: "That is one thousand two hundred fifty dollars now."
	var got []string
	for n := 0; n <= length; n++ {
		s := Sentence{Text: f.Shown, Form: f, rate: media.Rate8k, total: length * 800, Complete: true}
		h := s.Heard(s.rate.Duration(n*800) + HeardMargin)
		if len(got) == 0 || got[len(got)-1] != h {
			got = append(got, h)
		}
		if strings.HasSuffix(h, "$1,250") && n < strings.Index(f.Spoken, " now") {
			t.Errorf("after %q the amount was heard", f.Spoken[:n])
		}
	}
	if want := []string{"", "That", "That is", "That is $1,250", "That is $1,250 now."}; !slices.Equal(got, want) {
		t.Errorf("heard %q", got)
	}
}
