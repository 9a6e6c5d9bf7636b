package supertonic

import (
	"slices"
	"strings"
	"testing"
)

// latin knows what supertonictest's model does.
func latin(r rune) bool { return r >= ' ' && r < 0x370 || r >= 0x1100 && r < 0x1200 }

func TestPrepare(t *testing.T) {
	for _, c := range []struct{ language, in, out string }{
		{"en", "Hello", "<en>Hello.</en>"},
		{"en", "  Hello,\n\tyou!  ", "<en>Hello, you!</en>"},
		{"en", "Hello,", "<en>Hello,</en>"},
		{"en", "He said “no”", `<en>He said "no"</en>`},
		{"en", "It’s 50% off", "<en>It's 50% off.</en>"},
		{"es", "¿Qué tal?", "<es>¿Que\u0301 tal?</es>"},
		{"fr", "voilà… « oui »", "<fr>voila\u0300... « oui »</fr>"},
		{"ko", "한글", "<ko>\u1112\u1161\u11ab\u1100\u1173\u11af.</ko>"},
		{"en", "ﬁne ½ Ｗｉｄｅ", "<en>fine 1/2 Wide.</en>"},
		{"en", "</en><fr>oui</fr>", "<en>/en fr oui /fr.</en>"},
		{"en", "one \x00\x1b[2J two 👋🏽", "<en>one [2J two.</en>"},
		{"en", "a\xffb", "<en>ab.</en>"},
		{"en", "", ""}, {"en", " \n", ""}, {"en", "... !", ""}, {"en", "👋", ""}, {"en", "漢字", ""},
	} {
		if got := Prepare(c.in, c.language, latin); got != c.out {
			t.Errorf("%q: %q, want %q", c.in, got, c.out)
		}
	}
	if got := Prepare("It’s", "en", func(rune) bool { return true }); got != "<en>It’s.</en>" {
		t.Errorf("a mark that the model knows became %q", got)
	}
}

func TestChunks(t *testing.T) {
	sentence := "One more sentence that is said here. "
	for name, c := range map[string]struct {
		language, text string
		limit          int
		ends           string // of every chunk but the last
	}{
		"sentences":   {"en", strings.Repeat(sentence, 40), chunkChars, ". "},
		"clauses":     {"es", strings.Repeat("y luego otra cosa más, ", 60), chunkChars, ", "},
		"words":       {"de", strings.Repeat("Wort ", 300), chunkChars, " "},
		"no space":    {"en", strings.Repeat("é", 1000), chunkChars, ""},
		"Korean":      {"ko", strings.Repeat("안녕하세요 여러분. ", 60), denseChars, ". "},
		"Japanese":    {"ja", strings.Repeat("これは日本語の文です。", 40), denseChars, "。"},
		"full widths": {"ja", strings.Repeat("これは、日本語", 60), denseChars, "、"},
	} {
		list := chunks([]rune(c.text), c.language)
		if strings.Join(list, "") != c.text {
			t.Errorf("%s: something was lost or changed", name)
		}
		for i, chunk := range list {
			if n := len([]rune(chunk)); n > c.limit || i > 0 && i < len(list)-1 && n < c.limit/2 {
				t.Errorf("%s: chunk %d has %d characters", name, i, n)
			}
			if i < len(list)-1 && !strings.HasSuffix(chunk, c.ends) {
				t.Errorf("%s: chunk %d ends in %q", name, i, chunk[max(0, len(chunk)-10):])
			}
		}
		if len(list) < 3 {
			t.Errorf("%s: %d chunks", name, len(list))
		}
	}
}

// TestFirstChunk: of a long text it is the first clause; a short one stays whole.
func TestFirstChunk(t *testing.T) {
	for text, want := range map[string][]string{
		"Good morning, how are you?": {"Good morning, how are you?"},
		"Good morning, this is the office of Doctor Smith, and I call about your appointment.": {
			"Good morning, this is the office of Doctor Smith, ", "and I call about your appointment."},
		"We are open from nine to five. On Saturdays we are open from ten to one, on Sundays not at all.": {
			"We are open from nine to five. ", "On Saturdays we are open from ten to one, on Sundays not at all."},
		"This text goes on for quite a while, for it has 1,000 things to say, but none of them matter": {
			"This text goes on for quite a while, ", "for it has 1,000 things to say, but none of them matter"},
		"": nil, " \n ": nil, "... !": nil,
	} {
		if got := chunks([]rune(text), "en"); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}
