package tts

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func cutAll(text string) []string {
	var list []string
	runes := []rune(text)
	for p := range pieces(runes) {
		list = append(list, string(runes[p.from:p.to]))
	}
	return list
}

func TestPieces(t *testing.T) {
	long := strings.Repeat("palabra ", 60)
	for _, c := range []struct {
		text string
		want []string
	}{
		{"Hello.", []string{"Hello."}},
		{"  Hello.  ", []string{"Hello."}},
		{"Hello. How are you today? We are open from nine to five, every day.", []string{"Hello.", "How are you today? We are open from nine to five, every day."}},
		{"Well, the first piece may end at a comma, so that it is short. The rest is not cut there, because nobody waits.",
			[]string{"Well, the first piece may end at a comma,", "so that it is short. The rest is not cut there, because nobody waits."}},
		{"Dr. Smith comes at 3.30 p.m. on the 5. of May. Please wait.", []string{"Dr. Smith comes at 3.30 p.m. on the 5. of May. Please wait."}},
		{"«¿Qué tal?» Bien…", []string{"«¿Qué tal?»", "Bien…"}},
		{"One line\nanother line", []string{"One line", "another line"}},
		{"...", []string{"..."}},
		{long, nil},
	} {
		got := cutAll(c.text)
		if c.want != nil && !slices.Equal(got, c.want) {
			t.Errorf("%q is cut into %q, want %q", c.text, got, c.want)
		}
	}
}

// However a text looks, its pieces are all of it, in order, and of the lengths that
// were promised.
func TestPiecesCoverTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []rune(rapid.StringOf(rapid.SampledFrom([]rune("aaaéé b,.?!\n»ß😀3 "))).Draw(t, "text"))
		for range rapid.IntRange(0, 3).Draw(t, "doublings") {
			text = append(text, text...)
		}
		at, n := skipSpaces(text, 0), 0
		for p := range pieces(text) {
			most := pieceMax
			if n == 0 {
				most = firstMax
			}
			if p.from != at || p.to <= p.from || p.to-p.from > most || p.end < p.to {
				t.Fatalf("piece %d is %+v after %d", n, p, at)
			}
			if strings.TrimSpace(string(text[p.to:p.end])) != "" {
				t.Fatalf("piece %d leaves %q out", n, string(text[p.to:p.end]))
			}
			at, n = p.end, n+1
		}
		if at != len(text) {
			t.Fatalf("%d of %d are covered", at, len(text))
		}
	})
}
