package supertonic

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// plainer are marks that a model may not know, as one that it does.
var plainer = map[rune]rune{
	'‘': '\'', '’': '\'', '‚': '\'', '“': '"', '”': '"', '„': '"', '«': '"', '»': '"',
	'‐': '-', '‑': '-', '–': '-', '—': '-', '−': '-', '⁄': '/', '。': '.', '、': ',',
}

// Prepare is a text as the model reads it: its characters decomposed (NFKD, so that Hangul
// becomes letters), those left out that the model does not know, white space made one space, a
// full stop at an end that has no mark, and the tag of the language around it. It is empty when
// nothing of the text can be spoken.
func Prepare(text, language string, known func(rune) bool) string {
	var b strings.Builder
	speaks, gap, last := false, false, rune(0)
	for _, r := range norm.NFKD.String(text) {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == '<' || r == '>' { // no tags but ours
			gap = b.Len() > 0
			continue
		}
		if plain, ok := plainer[r]; ok && !known(r) {
			r = plain
		}
		if !known(r) {
			continue
		}
		if gap {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		gap, last, speaks = false, r, speaks || spoken(r)
	}
	if !speaks {
		return ""
	}
	if !unicode.In(last, unicode.Pe, unicode.Pf) && !strings.ContainsRune(".!?,;:…'\"。、", last) {
		b.WriteByte('.')
	}
	return "<" + language + ">" + b.String() + "</" + language + ">"
}
