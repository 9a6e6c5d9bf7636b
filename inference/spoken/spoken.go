// Package spoken turns a text as it is shown into the words a voice is given:
// numbers, money, dates, times of day, telephone numbers and addresses as people
// say them, an agent's own pronunciations, and nothing that is not speech. It knows
// the grammar of nine languages: en es ca gl eu pt fr it de. What it makes stays
// aligned with what is shown, so that an interruption keeps the right words.
//
// Plain takes the markup off a text beforehand. Neither fails, whatever the text.
//
// What is shown and what is said are two texts. An agent's sentence loses its markup where it is
// cut; transcript, captions and history are that text. The voice gets the spoken form, which
// remembers which words stand for what: an amount that was interrupted in its middle was not
// heard. The speech endpoints give texts to
// the voice as they came, because they are charged, and mouth shapes positioned, in their
// characters.
//
// A voice that normalises text by itself (inference.Info.NormalisesText) gets it as it is
// shown, with the dictionary's words: its reader has no language. espeak-ng is none of
// these: it reads 03/05/2026 with its slashes, $3.50 as "dollar three point five zero" and
// 612 345 678 as three hundreds.
//
// # Languages
//
// A language is a table, one file each: rules for numbers in words, the genders of nouns,
// ordinals, times of day, units, currencies and signs, and traits (language.go). cardinal.go reads the rules for
// numbers, which describe their notation; grammar.go reads the other tables. English,
// German and Basque have functions beside their tables for what follows no common form,
// such as Basque case endings. The rest of the package finds what is to be read in a text.
package spoken

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reader reads texts of one language aloud. It does not change and may be used from
// several goroutines.
type Reader struct {
	l          *language // nil: a language without a table here
	dictionary *Dictionary
}

// New returns the reader of a language (two letters) with a dictionary, nil for none.
// In a language that it does not know numbers are left to the voice.
func New(code string, dictionary *Dictionary) *Reader {
	return &Reader{l: languages[code], dictionary: dictionary}
}

// Read makes the spoken form of a text without markup. It takes time in proportion
// to the text.
func (r *Reader) Read(text string) *Form {
	s := scan{r: r, l: r.l, t: []rune(text)}
	for s.i < len(s.t) {
		s.step()
	}
	return s.w.form(text, len(s.t))
}

// scan is the reading of one text.
type scan struct {
	r *Reader
	l *language
	t []rune
	i int // the next to read
	w writer
	// checked is the end of the last run without spaces that was looked at for an
	// address, so that each is looked at once.
	checked int
}

// step reads what begins at i.
func (s *scan) step() {
	c := s.t[s.i]
	if s.atWord() {
		if s.lookUp() {
			return
		}
		if s.l != nil && (s.address() || s.wanted(c) && s.quantity()) {
			return
		}
	}
	switch {
	case isDigit(c) && s.l != nil:
		s.loose()
	case unicode.IsLetter(c), unicode.IsMark(c) && !invisible(c):
		end := s.i + 1
		for end < len(s.t) && (unicode.IsLetter(s.t[end]) || unicode.IsMark(s.t[end]) && !invisible(s.t[end])) {
			end++
		}
		s.copy(end)
	default:
		s.symbol(c)
	}
}

// atWord says that a word or number may begin at i.
func (s *scan) atWord() bool {
	return s.i == 0 || !wordRune(s.t[s.i-1]) || !wordRune(s.t[s.i])
}

// wanted says that something that is read otherwise than it is written may begin
// with c. Most words are passed by here.
func (s *scan) wanted(c rune) bool {
	switch {
	case isDigit(c):
		return true
	case !unicode.IsLetter(c):
		return strings.ContainsRune("+-−($€£¥%#.", c)
	}
	// "EUR 5", "US$5", "nº 5": a few letters and a number behind them.
	for k := s.i; k < s.i+6; k++ {
		switch d := s.at(k); {
		case isDigit(d), d == '$':
			return true
		case !unicode.IsLetter(d) && d != ' ' && d != '\u00a0' && d != '.' && d != '°':
			return false
		}
	}
	return false
}

// quantity reads a number and what goes with it.
func (s *scan) quantity() bool {
	return s.numberSign() || s.calendar() || s.clock() || s.telephone() || s.amount() || s.number()
}

// copy passes the text up to end on as it is.
func (s *scan) copy(end int) {
	s.w.copy(s.i, s.t[s.i:end])
	s.i = end
}

// say speaks words for the text up to end.
func (s *scan) say(end int, words string) {
	s.w.say(s.i, words)
	s.i = end
}

// skip speaks nothing for the text up to end.
func (s *scan) skip(end int) { s.say(end, "") }

// at is the code point at index k, 0 beyond the text.
func (s *scan) at(k int) rune {
	if k < 0 || k >= len(s.t) {
		return 0
	}
	return s.t[k]
}

// window bounds what patterns look at, in code points.
const window = 64

// match is what a pattern finds at k, with its groups, and its end; nil: nothing.
func (s *scan) match(p *regexp.Regexp, k int) (groups []string, end int) {
	k = min(k, len(s.t))
	groups = p.FindStringSubmatch(string(s.t[k:min(k+window, len(s.t))]))
	if groups == nil {
		return nil, k
	}
	return groups, k + utf8.RuneCountInString(groups[0])
}

// spaces is the first index from k on that is no space on the same line.
func (s *scan) spaces(k int) int {
	for n := 0; n < maxWord && k < len(s.t) && s.t[k] != '\n' && unicode.IsSpace(s.t[k]); n++ {
		k++
	}
	return k
}

// maxWord bounds the words that are looked at around a number.
const maxWord = 24

// wordAt is the word of letters that begins at k, in lower case, and its end.
func (s *scan) wordAt(k int) (string, int) {
	if k >= len(s.t) {
		return "", len(s.t)
	}
	end := k
	for end < len(s.t) && end < k+maxWord && unicode.IsLetter(s.t[end]) {
		end++
	}
	return strings.ToLower(string(s.t[k:end])), end
}

// wordAfter is the word behind one space or none from k on, and its end.
func (s *scan) wordAfter(k int) (string, int) {
	w, end := s.wordAt(s.spaces(k))
	if w == "" {
		end = k
	}
	return w, end
}

// back is the word of letters before index k, in lower case, and where it begins.
func (s *scan) back(k int) (string, int) {
	for n := 0; k > 0 && n < maxWord && unicode.IsSpace(s.t[k-1]); n++ {
		k--
	}
	from := k
	for from > 0 && k-from < maxWord && unicode.IsLetter(s.t[from-1]) {
		from--
	}
	return strings.ToLower(string(s.t[from:k])), from
}

func (s *scan) wordBefore(k int) string {
	w, _ := s.back(k)
	return w
}

// twoBefore are the last two words before index k, or the one there is.
func (s *scan) twoBefore(k int) string {
	last, from := s.back(k)
	if last == "" {
		return ""
	}
	first, _ := s.back(from)
	return strings.TrimSpace(first + " " + last)
}

// literal says that the text goes on with word at k, in any case, and that the word
// ends there.
func (s *scan) literal(k int, word string) (end int, ok bool) {
	end = min(len(s.t), k+utf8.RuneCountInString(word))
	return end, k <= end && strings.EqualFold(string(s.t[k:end]), word) && !wordRune(s.at(end))
}

func isDigit(c rune) bool  { return c >= '0' && c <= '9' || c > 0x7f && unicode.IsDigit(c) }
func wordRune(c rune) bool { return unicode.IsLetter(c) || isDigit(c) }

// digit is the value of a decimal digit of any script: they stand in tens, which may touch.
func digit(c rune) (n int) {
	for unicode.IsDigit(c - 1) {
		c, n = c-1, n+1
	}
	return n % 10
}
