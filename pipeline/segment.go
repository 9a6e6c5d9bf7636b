package pipeline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences are spoken one by one while the model still writes. The first may end
// at a comma, so that the voice begins early; none is longer than maxSentence, so
// that the audio held for one stays bounded.
const (
	firstClause = 24  // bytes before a comma ends the first piece
	maxSentence = 280 // bytes
)

const (
	marks   = ".!?…"       // end a sentence
	closers = "\"'”’»)]}*" // belong to the sentence they follow
)

// segmenter cuts a growing text into pieces to speak. What it gives does not
// depend on how the text came, but for one case: a text that stops after a long
// word and a full stop is taken for a sentence, though "example." may go on with
// "com". Waiting would hold up the words before a function call.
type segmenter struct {
	text  string
	first bool // the first piece is out
}

// pieces cuts a whole text, of which the first piece need not be short.
func pieces(text string) []string {
	var list []string
	s := segmenter{text: text, first: true}
	for p := s.next(); p != ""; p = s.next() {
		list = append(list, p)
	}
	if p := s.rest(); p != "" {
		list = append(list, p)
	}
	return list
}

// add appends text. Whole pieces are then taken with next.
func (s *segmenter) add(text string) { s.text += text }

// next takes the next whole piece, or "" when there is none yet.
func (s *segmenter) next() string {
	for cut := s.boundary(); cut > 0; cut = s.boundary() {
		piece := trim(s.text[:cut])
		s.text = s.text[cut:]
		if piece != "" {
			s.first = true
			return piece
		}
	}
	return ""
}

// rest takes what is left when the text is complete.
func (s *segmenter) rest() string {
	piece := trim(s.text)
	s.text = ""
	return piece
}

// trim takes off spaces, and marks left over from the sentence before. A piece
// without a letter or digit is nothing to speak.
func trim(s string) string {
	s = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(s), marks+"”’»)]}"))
	if !strings.ContainsFunc(s, spoken) {
		return ""
	}
	return s
}

func spoken(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// boundary is where the first whole piece ends; 0 when it is not there yet.
func (s *segmenter) boundary() int {
	space := 0
	for i := 0; i < len(s.text); {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		end := i + size
		switch {
		case r == '\n':
			return end
		case strings.ContainsRune(marks, r):
			end = s.past(end, marks+closers)
			if yes, known := s.endsSentence(i, end); !known {
				return 0
			} else if yes {
				return end
			}
		case strings.ContainsRune(",;:", r) && !s.first && i >= firstClause:
			if end == len(s.text) {
				return 0
			}
			if startsWithSpace(s.text[end:]) {
				return end
			}
		case unicode.IsSpace(r):
			space = end
		}
		switch {
		case end < maxSentence:
		case space > 0:
			return space
		default:
			return end
		}
		i = end
	}
	return 0
}

// past is the end of the run of characters of set that begins at i.
func (s *segmenter) past(i int, set string) int {
	return len(s.text) - len(strings.TrimLeft(s.text[i:], set))
}

// endsSentence says whether the marks from i to end are the end of a sentence;
// known is false while that depends on what follows.
func (s *segmenter) endsSentence(i, end int) (yes, known bool) {
	word := s.text[:i]
	word = word[strings.LastIndexFunc(word, unicode.IsSpace)+1:]
	plain := s.text[i:end] == "."
	if rest := s.text[end:]; rest == "" {
		return plain && longWord(word), plain && longWord(word)
	} else if !startsWithSpace(rest) {
		return false, true // "3.5", "e.g.", "example.com"
	}
	return !plain || !abbreviated(word), true
}

// longWord says whether the full stop after word ends a sentence whatever follows.
func longWord(word string) bool {
	n := 0
	for _, r := range word {
		if !unicode.IsLetter(r) {
			return false
		}
		n++
	}
	return n > 3 && !abbreviated(word)
}

func startsWithSpace(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && unicode.IsSpace(r)
}

// abbreviated says whether a full stop after word belongs to the word: after a
// known abbreviation, an initial, "z.B", "p.m" or a number such as a day of the
// month, which has one or two digits.
func abbreviated(word string) bool {
	word = strings.ToLower(strings.TrimLeftFunc(word, func(r rune) bool { return !spoken(r) }))
	if word == "" || abbreviations[word] {
		return word != ""
	}
	if strings.TrimLeft(word, "0123456789") == "" {
		return len(word) <= 2
	}
	initials := strings.Contains(word, ".") || utf8.RuneCountInString(word) == 1
	for part := range strings.SplitSeq(word, ".") {
		initials = initials && utf8.RuneCountInString(part) <= 2
	}
	return initials
}

// abbreviations of the languages, without their full stop.
var abbreviations = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`mr mrs ms dr prof st vs etc approx
		sr sra srta dra av avda núm tel ud uds
		mme mlle
		sig sigra dott avv ing
		hr fr nr bzw usw ca inkl str`) {
		set[w] = true
	}
	return set
}()
