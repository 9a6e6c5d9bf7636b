package spoken

import (
	"slices"
	"strings"
	"unicode"
)

// maxAddress bounds an address, in code points; what is longer is spoken as words.
const maxAddress = 200

// domains are the last parts of names that make a word with a point an address
// without anything else that says so.
var domains = strings.Fields("com org net edu gov int io es de fr it pt cat eus gal uk us eu info biz app dev ai co me tv ch at be nl mx br ar cl pe ie ca example test shop store online tech")

// address reads a web or an e-mail address.
func (s *scan) address() bool {
	if s.i < s.checked || !wordRune(s.t[s.i]) || s.i > 0 && (wordRune(s.t[s.i-1]) || strings.ContainsRune(".@-_+", s.t[s.i-1])) {
		return false
	}
	end, marked := s.i, false
	for end < len(s.t) && end <= s.i+maxAddress && !endsAddress(s.t[end]) {
		marked = marked || s.t[end] == '@' || s.t[end] == '.' || s.t[end] == ':'
		end++
	}
	if s.checked = end; !marked {
		return false
	}
	for end > s.i && !wordRune(s.t[end-1]) && s.t[end-1] != '/' {
		end-- // the punctuation of the sentence
	}
	if end-s.i > maxAddress {
		return false
	}
	text := strings.TrimPrefix(strings.ToLower(string(s.t[s.i:end])), "mailto:")
	if user, host, ok := strings.Cut(text, "@"); ok {
		if user == "" || !hostname(host, false) {
			return false
		}
		s.say(end, s.l.spellAddress(user, false)+" "+s.l.atSign+" "+s.l.spellAddress(host, true))
		return true
	}
	rest, scheme := text, false
	for _, p := range []string{"https://", "http://"} {
		if after, ok := strings.CutPrefix(text, p); ok {
			rest, scheme = after, true
		}
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	if host == "" || !scheme && !strings.HasPrefix(host, "www.") && !hostname(host, true) {
		return false
	}
	words := s.l.spellAddress(host, true)
	for part := range strings.SplitSeq(path, "/") {
		if part != "" {
			words += " " + s.l.slash + " " + s.l.spellAddress(part, false)
		}
	}
	s.say(end, words)
	return true
}

func endsAddress(c rune) bool {
	switch c {
	case '<', '>', '"', '«', '»', '“', '”', '(', ')', '|', ',', ';':
		return true
	}
	return unicode.IsSpace(c)
}

// hostname says that text is the name of a host: with known, its last part must be
// one that everybody takes for the end of an address.
func hostname(text string, known bool) bool {
	parts := strings.Split(text, ".")
	if len(parts) < 2 {
		return false
	}
	for _, p := range parts {
		if p == "" || strings.ContainsFunc(p, func(c rune) bool { return !wordRune(c) && c != '-' }) {
			return false
		}
	}
	last := parts[len(parts)-1]
	if strings.ContainsFunc(last, isDigit) || len([]rune(last)) < 2 {
		return false
	}
	return !known || slices.Contains(domains, last) && strings.ContainsFunc(parts[len(parts)-2], unicode.IsLetter)
}

// spellAddress speaks a part of an address: words as words, digits one by one,
// signs by their names. The last part of a host's name is spelled when it is no word.
func (l *language) spellAddress(text string, host bool) string {
	var words []string
	runes := []rune(text)
	for i := 0; i < len(runes); {
		c := runes[i]
		end := i + 1
		switch {
		case unicode.IsLetter(c):
			for end < len(runes) && unicode.IsLetter(runes[end]) {
				end++
			}
			word := string(runes[i:end])
			last := host && end == len(runes) && i > 0
			if last && end-i == 2 && !slices.Contains(l.saidDomains, word) || word == "www" {
				word = strings.Join(strings.Split(word, ""), " ")
			}
			words = append(words, word)
		case isDigit(c):
			for end < len(runes) && isDigit(runes[end]) {
				end++
			}
			n := make([]byte, 0, end-i)
			for _, d := range runes[i:end] {
				n = append(n, byte('0'+digit(d)))
			}
			if len(n) <= 2 && n[0] != '0' {
				words = append(words, l.cardinal(atoi(string(n)), alone))
			} else {
				words = append(words, l.oneByOne(string(n)))
			}
		default:
			if w := l.inAddress(c); w != "" {
				words = append(words, w)
			}
		}
		i = end
	}
	return strings.Join(words, " ")
}

// inAddress is the name of a sign in an address.
func (l *language) inAddress(c rune) string {
	switch c {
	case '.':
		return l.dot
	case '-':
		return l.dash
	case '_':
		return l.underscore
	case '@':
		return l.atSign
	case '+':
		return l.plus
	case '&':
		return l.symbol('&')
	case ':':
		return l.colon
	}
	return ""
}
