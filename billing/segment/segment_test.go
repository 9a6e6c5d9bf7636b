package segment_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"parley/billing/segment"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		name, text string
		encoding   segment.Encoding
		want       int
	}{
		{"nothing", "", segment.GSM7, 1},
		{"a word", "Hello", segment.GSM7, 1},
		{"all that fits", strings.Repeat("a", 160), segment.GSM7, 1},
		{"one more", strings.Repeat("a", 161), segment.GSM7, 2},
		{"two full ones", strings.Repeat("a", 306), segment.GSM7, 2},
		{"three", strings.Repeat("a", 307), segment.GSM7, 3},
		{"letters of the alphabet that are not ASCII", strings.Repeat("ñ", 160), segment.GSM7, 1},
		{"Greek capitals", strings.Repeat("Ω", 160), segment.GSM7, 1},
		{"the extension takes two", strings.Repeat("€", 80), segment.GSM7, 1},
		{"and no more than 80 of it fit", strings.Repeat("€", 81), segment.GSM7, 2},
		{"an escape is not cut", strings.Repeat("a", 152) + strings.Repeat("€", 77), segment.GSM7, 3}, // 152, then 76 in 152 septets, then 1
		{"no grave accent in the alphabet", "`", segment.UCS2, 1},
		{"no cedilla in small", "ç", segment.UCS2, 1},
		{"UCS-2", strings.Repeat("я", 70), segment.UCS2, 1},
		{"one more of UCS-2", strings.Repeat("я", 71), segment.UCS2, 2},
		{"two full ones of UCS-2", strings.Repeat("я", 134), segment.UCS2, 2},
		{"three of UCS-2", strings.Repeat("я", 135), segment.UCS2, 3},
		{"one strange character changes all", strings.Repeat("a", 70) + "я", segment.UCS2, 2},
		{"a surrogate pair takes two", strings.Repeat("😀", 35), segment.UCS2, 1},
		{"and is not cut", strings.Repeat("😀", 67), segment.UCS2, 3}, // 33 pairs a segment
	} {
		if got := segment.Count(c.text); got != c.want || segment.Of(c.text) != c.encoding {
			t.Errorf("%s: %d segments in %s, want %d in %s", c.name, got, segment.Of(c.text), c.want, c.encoding)
		}
	}
}

// TestAlphabet: TS 23.038 has 128 positions, of which one is the escape, and 10 characters beyond it.
func TestAlphabet(t *testing.T) {
	one, two := 0, 0
	for r := rune(1); r < 0x3000; r++ {
		switch {
		case segment.Of(string(r)) == segment.UCS2:
		case segment.Count(strings.Repeat(string(r), 160)) == 1:
			one++
		default:
			two++
		}
	}
	if one != 127 || two != 10 {
		t.Errorf("%d characters take one septet and %d two, want 127 and 10", one, two)
	}
}

// TestSplitKeepsTheText: whatever is written, the segments joined are the text, none has more than its room, and no
// two neighbours would have fitted into one.
func TestSplitKeepsTheText(t *testing.T) {
	characters := rapid.OneOf(rapid.SampledFrom([]rune("abc €[~ñΩ\n")), rapid.SampledFrom([]rune("abcя😀")), rapid.Rune())
	size := func(e segment.Encoding, text string) int {
		if e == segment.UCS2 {
			return len(utf16.Encode([]rune(text)))
		}
		n := 0
		for _, r := range text {
			n++
			if strings.ContainsRune("\f^{}\\[~]|€", r) {
				n++
			}
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		text := string(slices.Repeat(rapid.SliceOf(characters).Draw(t, "text"), rapid.IntRange(1, 60).Draw(t, "times")))
		parts, e := segment.Split(text), segment.Of(text)
		if strings.Join(parts, "") != text || len(parts) != segment.Count(text) || len(parts) == 0 {
			t.Fatalf("%q is not %q", parts, text)
		}
		alone, joined := 160, 153
		if e == segment.UCS2 {
			alone, joined = 70, 67
		}
		if whole := size(e, text); (len(parts) == 1) != (whole <= alone) {
			t.Fatalf("%d segments for %d in %s", len(parts), whole, e)
		}
		for i, p := range parts {
			switch n := size(e, p); {
			case len(parts) > 1 && (n > joined || n == 0):
				t.Fatalf("segment %d has %d in %s", i, n, e)
			case i+1 < len(parts) && n < joined-1:
				t.Fatalf("segment %d has only %d in %s", i, n, e)
			}
		}
	})
}
