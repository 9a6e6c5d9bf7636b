package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/inference/spoken"
)

// Sentences are spoken one by one while the model still writes. The first may end
// at a comma, so that the voice begins early; none is longer than maxSentence, so
// that the audio held for one stays bounded.
const (
	firstClause = 24  // bytes before a comma ends the first piece
	maxSentence = 280 // bytes
)

const (
	marks   = ".!?…"            // end a sentence
	closers = "\"'”“’‘»)]}*_`~" // belong to the sentence they follow
)

// segmenter cuts a growing text into pieces to speak, without their markup. What it
// gives does not depend on how the text came, but for one case: a text that stops
// after a long word and a full stop is taken for a sentence, though "example." may go
// on with "com". Waiting would hold up the words before a function call.
type segmenter struct {
	text     string
	language string // two letters, whose abbreviations it knows
	first    bool   // the first piece is out
	kept     string // what came before and is nothing to speak by itself
	quotes   int    // « that are open
}

// Pieces cuts a whole text, of which the first piece need not be short.
func Pieces(text, language string) []string {
	var list []string
	s := segmenter{text: text, language: language, first: true}
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
		s.quotes += quotes(s.text[:cut])
		piece := s.piece(s.text[:cut])
		s.text = s.text[cut:]
		if piece != "" {
			s.first = true
			return piece
		}
	}
	return ""
}

// rest takes what is left when the text is complete. What is nothing to speak is
// dropped then.
func (s *segmenter) rest() string {
	piece := s.piece(s.text)
	s.text, s.kept = "", ""
	return piece
}

// piece is a part of the text as it is shown. What has no letter or digit is nothing to
// speak, and kept for the piece after it.
func (s *segmenter) piece(text string) string {
	text = strings.TrimSpace(spoken.Plain(text))
	if text == "" {
		return ""
	}
	if s.kept != "" && len(s.kept)+len(text) < maxSentence { // else it is too much to keep
		text = s.kept + " " + text
	}
	s.kept = ""
	if !strings.ContainsFunc(text, speakable) {
		s.kept = text
		return ""
	}
	return text
}

// EndsSentence says that a text has come to the end of a sentence, a quoted one too.
func EndsSentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, "\"'”’»)] "))
	return strings.ContainsRune(marks, last)
}

func speakable(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// boundary is where the first whole piece ends; 0 when it is not there yet.
func (s *segmenter) boundary() int {
	space, inside := 0, 0 // inside: brackets or a tag end there, at the earliest
	for i := 0; i < len(s.text); {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		end := i + size
		switch {
		case r == '\n':
			return end
		case r == '[' || r == '<':
			inside = max(inside, s.brackets(i))
		case i < inside:
		case strings.ContainsRune(marks, r):
			end = s.past(end, marks+closers)
			if cut, known := s.endsSentence(i, end); !known {
				return 0
			} else if cut > 0 {
				return cut
			}
		case strings.ContainsRune(",;:", r) && !s.first && i >= firstClause:
			if end == len(s.text) {
				return 0
			}
			if startsWithSpace(s.text[end:]) {
				return end
			}
		}
		if unicode.IsSpace(r) {
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

// maxTag bounds a tag of HTML, in bytes.
const maxTag = 120

// brackets is where the link or the tag ends that begins at i; i when it is none. An
// unfinished one goes on to the end.
func (s *segmenter) brackets(i int) int {
	text := s.text[i:min(len(s.text), i+2*maxSentence)]
	if text[0] == '<' {
		next := text[1:min(len(text), 2)]
		if next != "" && next != "/" && next != "!" && !isLetter(next[0]) {
			return i
		}
		switch end := strings.IndexAny(text[:min(len(text), maxTag)], ">\n"); {
		case end >= 0:
			return i + end + 1
		case len(text) >= maxTag:
			return i
		}
		return len(s.text)
	}
	end := strings.IndexAny(text, "]\n")
	switch {
	case end < 0:
		return len(s.text)
	case text[end] == '\n' || !strings.HasPrefix(text[end:], "]("):
		return i + end
	}
	if shut := strings.IndexAny(text[end:], ")\n "); shut >= 0 {
		return i + end + shut
	}
	return len(s.text)
}

// endsInDigit says that text ends with a digit.
func endsInDigit(text string) bool {
	return text != "" && text[len(text)-1] >= '0' && text[len(text)-1] <= '9'
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// quotes is how many guillemets a text leaves open; below 0 when it shuts some.
func quotes(text string) int { return strings.Count(text, "«") - strings.Count(text, "»") }

// past is the end of the run of characters of set that begins at i.
func (s *segmenter) past(i int, set string) int {
	return len(s.text) - len(strings.TrimLeft(s.text[i:], set))
}

// endsSentence says where the sentence ends whose last marks are those from i to end;
// 0 when they are none. known is false while that depends on what follows.
func (s *segmenter) endsSentence(i, end int) (cut int, known bool) {
	begin := strings.LastIndexFunc(s.text[:i], unicode.IsSpace) + 1
	word, plain := s.text[begin:i], strings.TrimRight(s.text[i:end], "*_`~") == "."
	rest := s.text[end:]
	switch {
	case rest == "":
		if s.text[i:end] == "." && s.longWord(word) {
			return end, true
		}
		return 0, false
	case strings.HasPrefix(rest, "¿"), strings.HasPrefix(rest, "¡"):
		return end, true
	case !startsWithSpace(rest):
		return 0, true // "3.5", "e.g.", "example.com"
	}
	after := strings.TrimLeftFunc(rest, func(r rune) bool { return r != '\n' && unicode.IsSpace(r) })
	next, _ := utf8.DecodeRuneInString(after)
	if s.quotes+quotes(s.text[:end]) > 0 { // French: « Oui. »
		if after == "" {
			return 0, false
		}
		if next == '»' {
			return len(s.text) - len(after) + len("»"), true
		}
	}
	if !plain {
		return s.unlessGoesOn(i, end, after, next)
	}
	if numbered(word, s.language, strings.TrimSpace(s.text[:begin]) == "") {
		return 0, true
	}
	if s.language == "en" && beforeNumbers[strings.ToLower(word)] { // "No. 5", but "No. Never."
		if after == "" {
			return 0, false
		}
		if unicode.IsDigit(next) {
			return 0, true
		}
	}
	yes, open := abbreviated(word, s.language)
	if len(word) == 1 && strings.Contains("hmgls", word) && endsInDigit(strings.TrimRightFunc(s.text[:begin], unicode.IsSpace)) {
		open = true // "14.30 h."
	}
	switch {
	case !yes:
		return end, true
	case !open:
		return 0, true
	case after == "":
		return 0, false
	case unicode.IsUpper(next) || next == '¿' || next == '¡':
		return end, true
	}
	return 0, true
}

// unlessGoesOn ends a sentence at dots, or at a mark other than a full stop, unless a
// small letter follows.
func (s *segmenter) unlessGoesOn(i, end int, after string, next rune) (cut int, known bool) {
	run := strings.TrimRight(s.text[i:end], closers)
	dots := run == "…" || len(run) > 1 && strings.Trim(run, ".") == ""
	if len(run) != end-i && !dots || run == "." {
		return end, true
	}
	if after == "" {
		return 0, false
	}
	if unicode.IsLower(next) {
		return 0, true
	}
	return end, true
}

// longWord says whether the full stop after word ends a sentence whatever follows.
func (s *segmenter) longWord(word string) bool {
	n := 0
	for _, r := range word {
		if !unicode.IsLetter(r) {
			return false
		}
		n++
	}
	yes, _ := abbreviated(word, s.language)
	return n > 3 && !yes
}

func startsWithSpace(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && unicode.IsSpace(r)
}
