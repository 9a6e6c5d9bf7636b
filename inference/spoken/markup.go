package spoken

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain is a text without its markup: Markdown's headings, lists, tables, fences,
// emphasis and links, whose text stays, and HTML's tags and entities. Everything
// else stays as it is, emoji too. It takes one text as a whole, which may be a piece
// of a longer one: marks need not be paired.
func Plain(text string) string {
	if !strings.ContainsAny(text, "*_`#|~<>[]&\\+-=•") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\r\n")
		plainLine(&b, body)
		b.WriteString(line[len(body):])
	}
	return b.String()
}

// plainLine takes the marks off the beginning of a line, then those inside it.
func plainLine(b *strings.Builder, line string) {
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	rest := line[len(indent):]
	if strings.HasPrefix(rest, "```") || strings.HasPrefix(rest, "~~~") {
		if info := strings.TrimLeft(rest, "`~"); !strings.ContainsAny(info, " `~") {
			return // a fence, with the name of a language
		}
	}
	if rule(rest) {
		return
	}
	b.WriteString(indent)
	for m := blockMark.FindStringSubmatch(rest); m != nil; m = blockMark.FindStringSubmatch(rest) {
		if rest = rest[len(m[0]):]; m[1] != "" {
			rest = strings.TrimRight(rest, "# ")
		}
	}
	if strings.HasPrefix(rest, "|") {
		row(b, rest)
		return
	}
	inline(b, rest)
}

// rule says that a line only draws: a rule, the line under a heading or in a table.
func rule(line string) bool {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "|") && strings.Contains(line, "--") && strings.Trim(line, "|:- ") == "" {
		return true
	}
	return len(line) >= 3 && (strings.Trim(line, "- ") == "" || strings.Trim(line, "* ") == "" || strings.Trim(line, "_ ") == "" || strings.Trim(line, "=") == "")
}

// blockMark is one mark at the beginning of a line: of a heading, a quotation, a list or a
// task.
var blockMark = regexp.MustCompile(`^(?:(#{1,6})(?: +|$)|(?:[>*+•-]|\[[ xX]\]) +)`)

// row writes the cells of a table's row, with a comma between.
func row(b *strings.Builder, line string) {
	first := true
	for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
		if cell = strings.TrimSpace(cell); cell == "" {
			continue
		}
		if !first {
			b.WriteString(", ")
		}
		first = false
		inline(b, cell)
	}
}

// Bounds of what is looked for inside a line, in bytes.
const (
	maxTag    = 300
	maxLink   = 500
	maxEntity = 10
)

// inline writes a line without the marks inside it.
func inline(b *strings.Builder, s string) {
	before := rune(' ')
	for i := 0; i < len(s); {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("*_`#|~<>[]()+-.!&\\", s[i+1]) >= 0 {
			i++ // what follows is no mark
			b.WriteByte(s[i])
			before = rune(s[i])
			i++
			continue
		}
		n, out := mark(s[i:], before)
		if n > 0 {
			if out != "" {
				if s[i] != '<' && strings.ContainsAny(out, "*_`~[<\\&") {
					var inner strings.Builder
					inline(&inner, out)
					out = inner.String()
				}
				b.WriteString(out)
				before, _ = utf8.DecodeLastRuneInString(out)
			}
			i += n
			continue
		}
		c, size := utf8.DecodeRuneInString(s[i:])
		b.WriteString(s[i : i+size])
		before = c
		i += size
	}
}

// mark is how long the mark at the beginning of s is, 0 when there is none, and what
// stays of it. before is the character in front of it.
func mark(s string, before rune) (int, string) {
	switch s[0] {
	case '`':
		return 1, ""
	case '*', '_', '~':
		return emphasis(s, before)
	case '!':
		if len(s) > 1 && s[1] == '[' {
			if n, text := link(s[1:]); n > 0 {
				return n + 1, text
			}
		}
	case '[':
		return link(s)
	case ']':
		if strings.HasPrefix(s, "](") { // of a link whose beginning was another piece
			if end := bracket(s[1:], '(', ')'); end > 0 {
				return 1 + end, ""
			}
		}
	case '<':
		return tag(s)
	case '&':
		if end := strings.IndexByte(s[:min(len(s), maxEntity)], ';'); end > 1 {
			if text := html.UnescapeString(s[:end+1]); text != s[:end+1] {
				return end + 1, strings.ReplaceAll(text, "\u00a0", " ")
			}
		}
	}
	return 0, ""
}

// emphasis is a run of stars, underscores or tildes that touches a word, as those do
// which are marks: "5 * 3" and "snake_case" hold none.
func emphasis(s string, before rune) (int, string) {
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	after, _ := utf8.DecodeRuneInString(s[n:])
	if n == len(s) {
		after = ' '
	}
	switch {
	case s[0] == '~' && n < 2, unicode.IsSpace(before) && unicode.IsSpace(after) && n == 1 && len(s) > n:
		return 0, ""
	case s[0] == '_' && wordRune(before) && wordRune(after):
		return 0, ""
	case s[0] == '*' && n == 1 && wordRune(before) && wordRune(after):
		return 0, ""
	case s[0] == '*' && n == 2 && isDigit(before) && isDigit(after):
		return n, "^" // of code: "2**8" is not 28
	case s[0] == '*' && n == 1 && keys(s):
		return 0, ""
	}
	return n, ""
}

// keys says that s begins with what is typed on a telephone, such as "*21*5550#": with
// the other key that is no digit among it, or it would be a number in emphasis.
func keys(s string) bool {
	return strings.Contains(s[:len(s)-len(strings.TrimLeft(s, "0123456789*#"))], "#")
}

// link is a link or a picture, whose text stays; also a reference to a note.
func link(s string) (int, string) {
	end := bracket(s, '[', ']')
	if end == 0 {
		return 0, ""
	}
	text, rest := s[1:end-1], s[end:]
	switch {
	case strings.HasPrefix(text, "^"):
		return end, ""
	case strings.HasPrefix(rest, "("):
		if n := bracket(rest, '(', ')'); n > 0 {
			return end + n, text
		}
	case strings.HasPrefix(rest, "["):
		if n := bracket(rest, '[', ']'); n > 0 {
			return end + n, text
		}
	}
	return 0, ""
}

// bracket is the index behind the bracket that closes the one s begins with; 0 when
// it is not near.
func bracket(s string, open, shut byte) int {
	depth := 0
	for i := 0; i < len(s) && i < maxLink; i++ {
		switch s[i] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

var (
	htmlTag = regexp.MustCompile(`^<(?:!--(?:|-|.*?--)|/?(([a-zA-Z][a-zA-Z0-9]*)[^>]*))>`)
	// apart are the tags that keep words apart.
	apart = strings.Fields("br p li div tr td th h1 h2 h3 ul ol hr break")
)

// tag is a tag or comment of HTML, or an address in angle brackets, which stays.
func tag(s string) (int, string) {
	m := htmlTag.FindStringSubmatch(s[:min(len(s), maxTag)])
	switch {
	case m == nil:
		return 0, ""
	case strings.Contains(m[1], "://") && !strings.ContainsAny(m[1], " \""), strings.Contains(m[1], "@") && !strings.ContainsAny(m[1], " ="):
		return len(m[0]), m[1]
	case slices.Contains(apart, strings.ToLower(m[2])):
		return len(m[0]), " "
	}
	return len(m[0]), ""
}
