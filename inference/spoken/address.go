package spoken

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAddress bounds an address, in code points; what is longer is spoken as words.
const maxAddress = 200

// domains are the last parts of names that make a word with a point an address
// without anything else that says so.
var domains = strings.Fields("com org net edu gov int io es de fr it pt cat eus gal uk us eu info biz app dev ai co me tv ch at be nl mx br ar cl pe ie ca example test shop store online tech")

// webAddress is the scheme, the host and the path of one; what follows is not spoken.
var webAddress = regexp.MustCompile(`^(https?://)?([^/?#]+)/?([^?#]*)`)

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
		s.say(end, s.l.spellAddress(user, false)+" "+s.l.signs["@"]+" "+s.l.spellAddress(host, true))
		return true
	}
	m := webAddress.FindStringSubmatch(text)
	if m == nil || m[1] == "" && !strings.HasPrefix(m[2], "www.") && !hostname(m[2], true) {
		return false
	}
	words := s.l.spellAddress(m[2], true)
	for part := range strings.SplitSeq(m[3], "/") {
		if part != "" {
			words += " " + s.l.signs["/"] + " " + s.l.spellAddress(part, false)
		}
	}
	s.say(end, words)
	return true
}

func endsAddress(c rune) bool {
	return unicode.IsSpace(c) || strings.ContainsRune("<>\"«»“”()|,;", c)
}

var host = regexp.MustCompile(`^(?:[\pL\p{Nd}-]+\.)*([\pL\p{Nd}-]+)\.([\pL-]{2,})$`)

// hostname says that text is the name of a host: with known, its last part must be
// one that everybody takes for the end of an address.
func hostname(text string, known bool) bool {
	m := host.FindStringSubmatch(text)
	return m != nil && (!known || slices.Contains(domains, m[2]) && strings.ContainsFunc(m[1], unicode.IsLetter))
}

// parts of an address: words, digits, signs.
var addressParts = regexp.MustCompile(`\pL+|\p{Nd}+|.`)

// spellAddress speaks a part of an address: words as words, digits one by one,
// signs by their names. The last part of a host's name is spelled when it is no word.
func (l *language) spellAddress(text string, host bool) string {
	var words []string
	for _, at := range addressParts.FindAllStringIndex(text, -1) {
		part := text[at[0]:at[1]]
		first, _ := utf8.DecodeRuneInString(part)
		switch {
		case unicode.IsLetter(first):
			last := host && at[1] == len(text) && at[0] > 0 && utf8.RuneCountInString(part) == 2
			if last && !slices.Contains(l.saidDomains, part) || part == "www" {
				part = strings.Join(strings.Split(part, ""), " ")
			}
		case isDigit(first):
			digits, _ := (&scan{t: []rune(part)}).digits(0)
			part = l.oneByOne(digits)
			if len(digits) <= 2 {
				part = l.spell(numeral{whole: digits}, alone)
			}
		default:
			part = l.inAddress(first)
		}
		if part != "" {
			words = append(words, part)
		}
	}
	return strings.Join(words, " ")
}

// inAddress is the name of a sign in an address.
func (l *language) inAddress(c rune) string {
	if strings.ContainsRune("@.-_/:+&", c) {
		return l.signs[string(c)]
	}
	return ""
}
