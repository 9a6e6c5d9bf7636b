package scripted

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// rule answers what callers say in a certain way: with a text, or with a tool
// call and a text about its result.
type rule struct {
	phrases []phrase
	say     string // with {slots}
	call    string // the tool's name; empty: only say
	args    string // a JSON object with {slots} in it; empty: none
	then    string // said after the call, with {slots} and {result.field}
}

// phrase is one way to say it. A token that begins with { is a slot.
type phrase []string

// script is a prompt, taken apart.
type script struct {
	rules    []rule
	facts    []fact
	self     []string // what the prompt says about the agent
	asks     map[string]string
	fallback string
}

// leads are the words a rule begins with, in the languages of the prompts.
var leads = []string{
	"when the caller says", "if the caller says", "when the caller asks", "if the caller asks", "when the user says", "if the user says",
	"cuando el cliente diga", "si el cliente dice", "quando o cliente disser", "se o cliente disser",
	"quand l'appelant dit", "si l'appelant dit", "quand le client dit", "quando il cliente dice", "se il cliente dice",
	"wenn der anrufer sagt", "wenn der kunde sagt", "quan el client digui", "cando o cliente diga",
}

var (
	quoted   = regexp.MustCompile(`^[\s,]*(?:or|o|ou|oder|e|y|and)?\s*(?:"([^"]+)"|“([^”]+)”|«([^»]+)»)`)
	askLine  = regexp.MustCompile(`(?i)^ask for \{([\pL_][\pL\pN_]*)\}:\s*(.+)$`)
	missLine = regexp.MustCompile(`(?i)^when nothing matches:\s*(.+)$`)
	question = regexp.MustCompile(`^(?:Q|Question|P|F):\s*(.+)$`)
	answer   = regexp.MustCompile(`^(?:A|Answer|R):\s*(.+)$`)
	action   = regexp.MustCompile(`^call\s+([A-Za-z_][A-Za-z0-9_.-]*)\s*(.*)$`)
	slotName = regexp.MustCompile(`\{([\pL_][\pL\pN_]*)\}`)
	slotForm = regexp.MustCompile(`\{[\pL_][\pL\pN_.]*\}`)
	bullet   = regexp.MustCompile(`^\s*(?:[-*•–]|\d+[.)])\s+`)
)

// Bounds of what is read of a prompt; prompts come from outside.
const (
	maxPrompt = 64 << 10 // bytes
	maxRules  = 500
	maxFacts  = 1000
)

// parse takes a prompt apart: rules by their form, the rest into sentences.
func (l *language) parse(prompt string) *script {
	s := &script{asks: map[string]string{}}
	prompt = strings.ToValidUTF8(prompt[:min(len(prompt), maxPrompt)], "")
	heading, pending := "", ""
	for line := range strings.Lines(prompt) {
		marked := bullet.MatchString(line)
		line = strings.TrimSpace(bullet.ReplaceAllString(line, ""))
		if !marked && !strings.HasSuffix(line, ":") && !strings.HasPrefix(line, "#") {
			heading = ""
		}
		switch {
		case line == "":
		case s.directive(line):
		case question.MatchString(line):
			pending = question.FindStringSubmatch(line)[1]
		case pending != "" && answer.MatchString(line):
			s.addRule(rule{phrases: []phrase{phraseOf(pending)}, say: answer.FindStringSubmatch(line)[1]})
			pending = ""
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimLeft(line, "# ")
		case strings.HasSuffix(line, ":"):
			heading = strings.TrimSuffix(line, ":")
		default:
			l.addSentences(s, heading, line)
		}
	}
	return s
}

// directive reads a line of the documented form; false when it is none.
func (s *script) directive(line string) bool {
	if m := askLine.FindStringSubmatch(line); m != nil {
		s.asks[strings.ToLower(m[1])] = unquote(m[2])
		return true
	}
	if m := missLine.FindStringSubmatch(line); m != nil {
		s.fallback = unquote(m[1])
		return true
	}
	for _, lead := range leads {
		if len(line) > len(lead) && strings.EqualFold(line[:len(lead)], lead) {
			if r, ok := parseRule(line[len(lead):]); ok {
				s.addRule(r)
				return true
			}
		}
	}
	return false
}

func (s *script) addRule(r rule) {
	if len(s.rules) < maxRules {
		s.rules = append(s.rules, r)
	}
}

// parseRule reads the phrases and the action after a rule's lead.
func parseRule(rest string) (r rule, ok bool) {
	for {
		m := quoted.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		if p := phraseOf(m[1] + m[2] + m[3]); len(p) > 0 {
			r.phrases = append(r.phrases, p)
		}
		rest = rest[len(m[0]):]
	}
	rest = strings.TrimLeft(rest, " ,\t")
	if len(r.phrases) == 0 || !strings.HasPrefix(rest, ":") {
		return r, false
	}
	rest = strings.TrimSpace(rest[1:])
	m := action.FindStringSubmatch(rest)
	if m == nil {
		r.say = unquote(rest)
		return r, r.say != ""
	}
	r.call, rest = m[1], m[2]
	if strings.HasPrefix(rest, "{") {
		end := closing(rest)
		if end < 0 {
			return r, false
		}
		r.args, rest = rest[:end], strings.TrimSpace(rest[end:])
		if !json.Valid([]byte(slotName.ReplaceAllString(r.args, "0"))) {
			return r, false
		}
	}
	if rest == "" {
		return r, true
	}
	then, found := strings.CutPrefix(rest, "then say ")
	r.then = unquote(then)
	return r, found
}

// closing is the place after the brace that closes the first one, with strings
// and slots in it.
func closing(s string) int {
	depth, inside := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// unquote drops quotes around a whole text.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' && !strings.Contains(s[1:len(s)-1], `"`) {
		return s[1 : len(s)-1]
	}
	return s
}

func phraseOf(text string) phrase {
	var p phrase
	for {
		at := slotName.FindStringSubmatchIndex(text)
		if at == nil {
			return append(p, tokens(text)...)
		}
		p = append(append(p, tokens(text[:at[0]])...), "{"+strings.ToLower(text[at[2]:at[3]]))
		text = text[at[1]:]
	}
}

// slots lists the slots a text needs, in order; {result} is not one.
func slots(texts ...string) []string {
	var list []string
	for _, text := range texts {
		for _, m := range slotName.FindAllStringSubmatch(text, -1) {
			if name := strings.ToLower(m[1]); name != "result" && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// match compares what was heard with a phrase. Slots match what is of their
// kind; a slot of kind text takes the words between its neighbours.
func (l *language) match(p phrase, heard []string, found map[string]string) (covered, used float64, taken map[string]string) {
	taken = map[string]string{}
	var plain []string
	rest := slices.Clone(heard)
	missing := 0.0
	for i, w := range p {
		name, isSlot := strings.CutPrefix(w, "{")
		if !isSlot {
			plain = append(plain, w)
			continue
		}
		value := found[kindOf(name)]
		if kindOf(name) == kindText {
			value, rest = l.between(p, i, heard, rest)
		}
		if value == "" {
			missing++
			continue
		}
		taken[name] = value
	}
	if len(plain) == 0 {
		if len(taken) == 0 {
			return 0, 0, taken
		}
		return 1 - missing/float64(len(p)), 0.5, taken
	}
	covered, used = l.overlap(plain, rest)
	return covered, used, taken
}

// between is the text slot at place i of a phrase: what was heard after the word
// before it and before the word after it, four words at most. rest is heard
// without them.
func (l *language) between(p phrase, i int, heard, rest []string) (string, []string) {
	from, to := 0, len(heard)
	if i > 0 {
		from = len(heard)
		for j, h := range heard {
			if alike(p[i-1], h) >= 0.8 {
				from = j + 1
			}
		}
	}
	if i+1 < len(p) {
		for j := len(heard) - 1; j >= from; j-- {
			if alike(p[i+1], heard[j]) >= 0.8 {
				to = j
			}
		}
	}
	var value []string
	for _, h := range heard[min(from, to):to] {
		if len(value) > 0 || !l.stop[h] {
			value = append(value, h)
		}
	}
	if len(value) == 0 || len(value) > 4 {
		return "", rest
	}
	for _, v := range value {
		if at := slices.Index(rest, v); at >= 0 {
			rest = slices.Delete(rest, at, at+1)
		}
	}
	return titled(value), rest
}
