package knowledge_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"parley/store/knowledge"
	"parley/store/knowledge/document"
)

// sentence has 60 characters.
const sentence = "The workshop repairs bicycles of all makes within two days. "

func paragraph(n int) string { return strings.TrimSpace(strings.Repeat(sentence, n)) }

// TestCut: passages end with paragraphs, or with sentences where a paragraph is too long, and know where they are from.
func TestCut(t *testing.T) {
	blocks := []document.Block{
		{Page: 1, Heading: "Repairs", IsHeading: true, Text: "Repairs"},
		{Page: 1, Heading: "Repairs", Text: paragraph(6)},
		{Page: 2, Heading: "Repairs", Text: paragraph(16)},
		{Page: 2, Heading: "Prices", IsHeading: true, Text: "Prices"},
		{Page: 3, Heading: "Prices", Text: paragraph(45)},
		{Page: 4, Heading: "Prices", Text: "Cash only."},
	}
	got := knowledge.Cut(blocks)
	want := []struct {
		page             int
		heading          string
		begins           string
		shortest, larger int // characters
	}{{1, "Repairs", "Repairs\nThe", 367, 368}, {2, "Repairs", "The", 959, 960}, {2, "Prices", "Prices\nThe", 1100, 1201}, {3, "Prices", "The", 1100, 1201}, {3, "Prices", "The", 300, 1201}}
	if len(got) < 4 {
		t.Fatalf("%+v", got)
	}
	for i, p := range got {
		w, n := want[min(i, len(want)-1)], utf8.RuneCountInString(p.Text)
		if !strings.HasSuffix(p.Text, ".") {
			t.Errorf("passage %d ends within a sentence: %q", i, p.Text)
		}
		if p.Page != w.page || p.Heading != w.heading || !strings.HasPrefix(p.Text, w.begins) || n < w.shortest || n >= w.larger {
			t.Errorf("passage %d: page %d, %s, %d characters, %q", i, p.Page, p.Heading, n, p.Text)
		}
	}
	if last := got[len(got)-1].Text; !strings.HasSuffix(last, "\nCash only.") {
		t.Errorf("the last passage ends %q", last[len(last)-30:])
	}
}

// TestCutShort: what is short stays together, under the first heading.
func TestCutShort(t *testing.T) {
	got := knowledge.Cut([]document.Block{{Heading: "Hours", IsHeading: true, Text: "Hours"}, {Heading: "Hours", Text: "9 to 5."},
		{Heading: "Phone", IsHeading: true, Text: "Phone"}, {Heading: "Phone", Text: "555 0100."}})
	if len(got) != 1 || got[0].Heading != "Hours" || got[0].Text != "Hours\n9 to 5.\nPhone\n555 0100." {
		t.Errorf("%+v", got)
	}
	if got := knowledge.Cut(nil); len(got) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}

// TestCutKeepsAll: whatever the document, no word is lost, none is made up, and no passage is too long.
func TestCutKeepsAll(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "Fahrrad", "öffnet.", "¿Cuándo?", "営業時間は九時からです。", strings.Repeat("x", 1500), "\n", "and"})
	rapid.Check(t, func(t *rapid.T) {
		var blocks []document.Block
		letters := func(text string) string { return strings.Join(strings.Fields(text), "") }
		var want strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "blocks") {
			text := strings.Join(rapid.SliceOfN(word, 1, 400).Draw(t, "words"), " ")
			blocks = append(blocks, document.Block{Heading: rapid.SampledFrom([]string{"A", "B"}).Draw(t, "heading"), Text: text})
			want.WriteString(letters(text))
		}
		var got strings.Builder
		for _, p := range knowledge.Cut(blocks) {
			if n := utf8.RuneCountInString(p.Text); n == 0 || n > 1200 {
				t.Fatalf("a passage of %d characters", n)
			}
			got.WriteString(letters(p.Text))
		}
		if got.String() != want.String() {
			t.Fatalf("%d letters of %d", got.Len(), want.Len())
		}
	})
}

// TestCutSizes: passages of running text are neither short nor long.
func TestCutSizes(t *testing.T) {
	var blocks []document.Block
	for i := range 200 {
		blocks = append(blocks, document.Block{Page: i/4 + 1, Text: paragraph(1 + i%9)})
	}
	sizes := []int{}
	for _, p := range knowledge.Cut(blocks) {
		sizes = append(sizes, utf8.RuneCountInString(p.Text))
	}
	sizes = sizes[:len(sizes)-1] // the end of a document may be short
	if slices.Min(sizes) < 300 || slices.Max(sizes) > 1200 {
		t.Errorf("passages of %d to %d characters", slices.Min(sizes), slices.Max(sizes))
	}
}
