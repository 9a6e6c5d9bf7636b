package reply

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"parley/inference/spoken"

	"pgregory.net/rapid"
)

// goldenSegments reads testdata/segments/<language>.txt: on each line the pieces of one
// text as the model writes them, with a bar between. Where the bar has no spaces there
// is none in the text either, and lines of lists, tables and headings are their own.
func goldenSegments(t testing.TB) map[string][][]string {
	golden := map[string][][]string{}
	for _, language := range []string{"en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de"} {
		data, err := os.ReadFile(filepath.Join("..", "testdata", "segments", language+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			golden[language] = append(golden[language], strings.Split(strings.TrimSpace(line), "¦"))
		}
		if len(golden[language]) < 40 {
			t.Fatalf("%s has %d lines", language, len(golden[language]))
		}
	}
	return golden
}

// written is a line's text as a model writes it, and the pieces it makes.
func written(line []string) (text string, want []string) {
	for i, p := range line {
		if piece := strings.TrimSpace(spoken.Plain(strings.TrimSpace(p))); piece != "" {
			want = append(want, piece)
		}
		if block := strings.TrimLeft(line[0], "#-|1 ") != strings.TrimLeft(line[0], " "); block && i > 0 {
			p = "\n" + strings.TrimSpace(p)
		}
		text += strings.ReplaceAll(p, "  ", " ")
	}
	return strings.ReplaceAll(text, "  ", " "), want
}

func TestGoldenSegments(t *testing.T) {
	for language, lines := range goldenSegments(t) {
		for _, line := range lines {
			text, want := written(line)
			if i := slices.IndexFunc(want, func(p string) bool { return !strings.ContainsFunc(p, speakable) }); i >= 0 {
				t.Fatalf("%s: %q is nothing to speak", language, want[i])
			}
			if got := Pieces(text, language); !slices.Equal(got, want) {
				t.Errorf("%s: %q is cut %q, want %q", language, text, got, want)
			}
		}
	}
}

// TestGoldenSegmentsStreamed: the pieces are the same however the text comes, but for
// parts that end with a full stop, which are eagerly spoken.
func TestGoldenSegmentsStreamed(t *testing.T) {
	golden := goldenSegments(t)
	rapid.Check(t, func(t *rapid.T) {
		language := rapid.SampledFrom([]string{"en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de"}).Draw(t, "language")
		var texts []string
		for _, line := range rapid.SliceOfN(rapid.SampledFrom(golden[language]), 1, 3).Draw(t, "lines") {
			text, _ := written(line)
			texts = append(texts, text)
		}
		text := strings.Join(texts, rapid.SampledFrom([]string{" ", "\n", "\n\n"}).Draw(t, "between"))
		first := rapid.Bool().Draw(t, "first")
		want := streamed(segmenter{language: language, first: first}, text)
		var parts []string
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 12)).Draw(t, "runes")
			for n < len(rest) && rest[n-1] == '.' {
				n++
			}
			parts = append(parts, string(rest[:n]))
			rest = rest[n:]
		}
		if got := streamed(segmenter{language: language, first: first}, parts...); !slices.Equal(got, want) {
			t.Fatalf("%q is cut %q, at once %q", parts, got, want)
		}
	})
}

// TestSegmentsLoseNothing: but for spaces, and what follows the last word, the pieces are
// the text, however it comes. Markup is not in these texts.
func TestSegmentsLoseNothing(t *testing.T) {
	dense := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringOfN(rapid.RuneFrom([]rune("aÉz19.,!?…»«”¿) \n🎉")), 0, 8, -1)
		parts := rapid.SliceOfN(part, 0, 7).Draw(t, "parts")
		language := rapid.SampledFrom([]string{"en", "fr", "de"}).Draw(t, "language")
		text := strings.Join(parts, "")
		all, got := dense(text), dense(strings.Join(streamed(segmenter{language: language}, parts...), ""))
		spoken := dense(strings.TrimRightFunc(text, func(r rune) bool { return !speakable(r) }))
		if !strings.HasPrefix(all, got) || len(got) < len(spoken) {
			t.Fatalf("%q became %q", all, got)
		}
	})
}

func BenchmarkSegments(b *testing.B) {
	text := strings.Repeat("Of course, I can help you with that. Dr. Smith is free at 3.30 p.m. on May 3. Shall I book it? ", 10)
	tokens := strings.SplitAfter(text, " ")
	b.ReportAllocs()
	for b.Loop() {
		streamed(segmenter{language: "en"}, tokens...)
	}
}
