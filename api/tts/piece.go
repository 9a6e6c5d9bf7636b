package tts

import (
	"iter"
	"strings"
	"unicode"
)

// A text is given to the engine in pieces, so that speech begins early, a job that
// is given up stops soon, and memory stays bounded. All are in code points.
const (
	// The first piece is a sentence, or the part before a comma from clauseFrom on.
	clauseFrom = 24
	firstMax   = 120
	// Those after it are whole sentences, several where they are short.
	pieceFrom = 40
	pieceMax  = 280
)

// piece is what is spoken at once: text[from:to], of which the part up to end is
// covered, the spaces behind it included.
type piece struct{ from, to, end int }

const (
	sentenceMarks = ".!?…"
	clauseMarks   = ",;:"
	closers       = "\"'”’»)]}"
)

// pieces cuts a text. Together they cover all of it.
func pieces(text []rune) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		least, most := 1, firstMax
		for at := skipSpaces(text, 0); at < len(text); {
			p := piece{from: at, to: cut(text, at, least, most)}
			p.end = skipSpaces(text, p.to)
			if !yield(p) {
				return
			}
			at, least, most = p.end, pieceFrom, pieceMax
		}
	}
}

// cut is where the piece that begins at from ends. It has least code points, if
// there are so many, and not more than most. Only the first may have less than
// pieceFrom, and may end with a clause.
func cut(text []rune, from, least, most int) int {
	first := least < pieceFrom
	clause, space := 0, 0
	for i := from; i < len(text); i++ {
		n := i - from + 1
		switch r := text[i]; {
		case r == '\n' && n > least:
			return i
		case strings.ContainsRune(sentenceMarks, r):
			if end := endOfSentence(text, i); end > 0 && end-from >= least && end-from <= most {
				return end
			}
		case strings.ContainsRune(clauseMarks, r) && spaceAt(text, i+1):
			if clause = i + 1; first && n >= clauseFrom {
				return clause
			}
		case unicode.IsSpace(r):
			space = i
		}
		if n < most {
			continue
		}
		switch {
		case i+1 == len(text):
		case clause > from+most/2:
			return clause
		case space > from:
			return space
		default:
			return i + 1
		}
	}
	to := len(text)
	for to > from && unicode.IsSpace(text[to-1]) {
		to--
	}
	return to
}

// endOfSentence is where the sentence ends whose mark is at i, or 0 when it goes
// on. A full stop behind a short word may belong to the word ("Dr.", "p.m.", "3.");
// not to cut there costs nothing.
func endOfSentence(text []rune, i int) int {
	end := i + 1
	for end < len(text) && strings.ContainsRune(sentenceMarks+closers, text[end]) {
		end++
	}
	if end < len(text) && !unicode.IsSpace(text[end]) {
		return 0
	}
	next := skipSpaces(text, end)
	if next < len(text) && unicode.IsLower(text[next]) {
		return 0
	}
	if text[i] != '.' || end > i+1 || next == len(text) {
		return end
	}
	word := 0
	for j := i - 1; j >= 0 && unicode.IsLetter(text[j]); j-- {
		word++
	}
	if word <= 3 {
		return 0
	}
	return end
}

func spaceAt(text []rune, i int) bool { return i < len(text) && unicode.IsSpace(text[i]) }

func skipSpaces(text []rune, i int) int {
	for i < len(text) && unicode.IsSpace(text[i]) {
		i++
	}
	return i
}
