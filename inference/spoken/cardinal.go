package spoken

import (
	"sort"
	"strconv"
	"strings"
)

// numberRule says a number from its base up to the next rule's in words.
type numberRule struct {
	base, divisor int64
	text          string
}

// numbers reads the rules of a language, separated by semicolons. A rule is a base and
// words for it and the numbers after it: "0 zero one two". "20+10 twenty thirty [->]" is
// for every tenth number, with a last text that belongs to each of them. "2000/1000" names
// a divisor, else it is the step, or the base. An underscore is a space. In a text
//
//	<       is the quotient in words, of the gender of the whole; <m masculine, <f feminine,
//	        <!m also says that the number goes on behind it
//	>       is the rest in words; >m masculine
//	[x]     is said when there is a rest
//	(x)     is said when there is none, and nothing of the number follows
//	{a|b|c} is a where the number counts nothing, b before masculines, c before feminines;
//	        {a|c} has c for feminines only
//	&       is the language's "and" before a rest that takes it
//	~       is "et" before a rest of 1 or 11, else a hyphen
func numbers(list string) (rules []numberRule) {
	for line := range strings.SplitSeq(list, ";") {
		fields := strings.Fields(line)
		head, divisor, divided := strings.Cut(fields[0], "/")
		head, step, stepped := strings.Cut(head, "+")
		base, words, tail := whole(head), fields[1:], ""
		next, r := int64(1), numberRule{divisor: base}
		if stepped {
			next = whole(step)
			r.divisor = next
			if k := len(words) - 1; words[k][0] == '[' {
				words, tail = words[:k], words[k]
			}
		}
		if divided {
			r.divisor = whole(divisor)
		}
		for i, w := range words {
			r.base, r.text = base+int64(i)*next, strings.ReplaceAll(w+tail, "_", " ")
			rules = append(rules, r)
		}
	}
	return rules
}

// whole is a whole number, which may be written as 1e6.
func whole(text string) int64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("spoken: " + err.Error())
	}
	return int64(f)
}

// cardinal is a number in words, up to 999,999,999,999,999.
func (l *language) cardinal(n int64, u use) string {
	if n == 1 && l.one[u] != "" {
		return l.one[u]
	}
	words := l.inWords(n, u, true)
	if l.sounds != nil {
		words = strings.TrimSuffix(l.sounds.Replace(words+" "), " ")
	}
	return words
}

// inWords applies the rule for n; last says that nothing of the number follows.
func (l *language) inWords(n int64, u use, last bool) string {
	r := l.rules[sort.Search(len(l.rules), func(i int) bool { return l.rules[i].base > n })-1]
	e := expansion{l: l, quotient: n / max(r.divisor, 1), rest: n % max(r.divisor, 1), use: u, last: last}
	e.expand(r.text)
	return e.out.String()
}

// expansion is a rule's text on its way to words.
type expansion struct {
	l              *language
	quotient, rest int64
	use            use
	last           bool
	out            strings.Builder
}

func (e *expansion) expand(text string) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '<', '>':
			n, u, last := e.quotient, max(e.use, masculine), e.last
			if c == '>' {
				n, u = e.rest, e.use
			}
			if i+1 < len(text) && text[i+1] == '!' {
				i, last = i+1, false
			}
			if i+1 < len(text) && (text[i+1] == 'm' || text[i+1] == 'f') {
				i++
				u = masculine
				if text[i] == 'f' {
					u = feminine
				}
			}
			e.out.WriteString(e.l.inWords(n, u, last))
		case '[', '(', '{':
			end := i + strings.IndexByte(text[i:], map[byte]byte{'[': ']', '(': ')', '{': '}'}[c])
			inner := text[i+1 : end]
			if i = end; c == '{' {
				forms := strings.Split(inner, "|")
				if len(forms) == 2 {
					forms = []string{forms[0], forms[0], forms[1]}
				}
				e.out.WriteString(forms[e.use])
			} else if c == '[' && e.rest > 0 || c == '(' && e.rest == 0 && e.last {
				e.expand(inner)
			}
		case '&':
			if e.l.takesAnd(e.rest) {
				e.out.WriteString(" " + e.l.and)
			}
		case '~':
			if e.rest == 1 || e.rest == 11 {
				e.out.WriteString(" " + e.l.and + " ")
			} else {
				e.out.WriteByte('-')
			}
		default:
			e.out.WriteByte(c)
		}
	}
}

// takesAnd says whether "and" stands before the last part of a number: tens, or whole
// hundreds.
func (l *language) takesAnd(rest int64) bool {
	if rest >= 1000 && rest%1000 == 0 && rest < 1e6 {
		if rest /= 1000; l.has(caseEndings) {
			return true
		}
	}
	return rest < 100 || rest < 1000 && rest%100 == 0
}
