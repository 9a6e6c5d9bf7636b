package supertonic

import (
	"slices"
	"strings"
	"unicode"
)

// Sizes in code points.
const (
	// chunkChars bounds what the model is given at once; longer texts it reads badly. Where a
	// character is a syllable, denseChars do.
	chunkChars = 300
	denseChars = 120
	// A text that is no longer than shortText is made so soon that it stays whole, and a first
	// chunk has shortClause at least: the model gives fewer words an odd melody.
	shortText   = 60
	shortClause = 20
)

// border is what ends between two characters.
type border int

const (
	noBorder border = iota
	wordEnd
	clauseEnd
	sentenceEnd
)

// chunks cuts a text at the ends of sentences, else of clauses, else of words, else anywhere, the
// first chunk after its first clause. What has neither letters nor numbers is left out.
func chunks(text []rune, language string) []string {
	limit := chunkChars
	if language == "ko" || language == "ja" {
		limit = denseChars
	}
	var list []string
	for from := 0; from < len(text); {
		to := cut(text, from, limit)
		if from == 0 {
			to = min(to, firstClause(text))
		}
		if slices.ContainsFunc(text[from:to], spoken) {
			list = append(list, string(text[from:to]))
		}
		from = to
	}
	return list
}

func spoken(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// cut is where the chunk that begins at from ends.
func cut(text []rune, from, limit int) int {
	if len(text)-from <= limit {
		return len(text)
	}
	at, best := from+limit, noBorder
	for i := from + limit; i > from; i-- {
		if b := borderAt(text, i); b > best {
			at, best = i, b
		}
	}
	return at
}

// firstClause is where the first clause of a long text ends.
func firstClause(text []rune) int {
	if len(text) > shortText {
		for i := shortClause; i < len(text); i++ {
			if borderAt(text, i) >= clauseEnd {
				return i
			}
		}
	}
	return len(text)
}

// borderAt is what ends before the character at i, above 0: the space after a word belongs to it.
// Chinese characters and kana have no spaces between them, but marks of their own.
func borderAt(text []rune, i int) border {
	last := text[i-1]
	switch {
	case strings.ContainsRune("。！？\n", last):
		return sentenceEnd
	case strings.ContainsRune("、，；：", last):
		return clauseEnd
	case !unicode.IsSpace(last):
		return noBorder
	case i > 1 && strings.ContainsRune(".!?…", text[i-2]):
		return sentenceEnd
	case i > 1 && strings.ContainsRune(",;:–—", text[i-2]):
		return clauseEnd
	}
	return wordEnd
}
