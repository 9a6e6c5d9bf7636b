package scripted

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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

// phrase is one way to say it, in tokens.
type phrase []string

// script is a prompt, taken apart.
type script struct {
	rules     []rule
	sentences []sentence
	asks      map[string]string // own questions for slots
	fallback  string
}

// sentence is one that may be said to a caller.
type sentence struct {
	text  string
	words []string // those with content, folded
}

var (
	// lead is what a rule begins with, in the languages of the prompts.
	lead = regexp.MustCompile(`(?i)^(?:(?:when|if) the (?:caller|user) (?:says|asks)|(?:cuando|si) el cliente (?:diga|dice)|(?:quando|se) o cliente disser|` +
		`(?:quand|si) (?:l'appelant|le client) dit|(?:quando|se) il cliente dice|wenn der (?:anrufer|kunde) sagt|quan el client digui|cando o cliente diga)`)
	quoted   = regexp.MustCompile(`^[\s,]*(?:or|o|ou|oder|e|y|and)?\s*(?:"([^"]+)"|“([^”]+)”|«([^»]+)»)`)
	askLine  = regexp.MustCompile(`(?i)^ask for \{([\pL_][\pL\pN_]*)\}:\s*(.+)$`)
	missLine = regexp.MustCompile(`(?i)^when nothing matches:\s*(.+)$`)
	question = regexp.MustCompile(`^(?:Q|Question|P|F):\s*(.+)$`)
	answer   = regexp.MustCompile(`^(?:A|Answer|R):\s*(.+)$`)
	action   = regexp.MustCompile(`^call\s+([A-Za-z_][A-Za-z0-9_.-]*)\s*(\{.*\})?\s*(?:then say (.+))?$`)
	slotName = regexp.MustCompile(`\{([\pL_][\pL\pN_]*)\}`)
	slotForm = regexp.MustCompile(`\{[\pL_][\pL\pN_.]*\}`)
	bullet   = regexp.MustCompile(`^\s*(?:[-*•–]|\d+[.)])\s+`)
)

// Bounds of what is read of a prompt; prompts come from outside.
const (
	maxPrompt    = 64 << 10 // bytes
	maxRules     = 500
	maxSentences = 1000
)

// parse takes a prompt apart: rules by their form, the rest into sentences.
func (l *language) parse(prompt string) script {
	s := script{asks: map[string]string{}}
	prompt = strings.ToValidUTF8(prompt[:min(len(prompt), maxPrompt)], "")
	asked := ""
	for line := range strings.Lines(prompt) {
		line = strings.TrimSpace(bullet.ReplaceAllString(line, ""))
		if m := question.FindStringSubmatch(line); m != nil {
			asked = m[1]
			continue
		}
		m := answer.FindStringSubmatch(line)
		switch {
		case s.directive(line) || strings.HasPrefix(line, "#"):
		case asked != "" && m != nil:
			s.addRule(rule{phrases: []phrase{phraseOf(asked)}, say: m[1]})
			asked = ""
		default:
			for _, text := range sentences(line) {
				if words := l.content(tokens(text[:min(len(text), maxSaid)])); len(words) > 0 && len(s.sentences) < maxSentences && !l.isInstruction(text) {
					s.sentences = append(s.sentences, sentence{text, words})
				}
			}
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
	if begin := lead.FindString(line); begin != "" {
		if r, ok := parseRule(line[len(begin):]); ok {
			s.addRule(r)
			return true
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
	for m := quoted.FindStringSubmatch(rest); m != nil; m = quoted.FindStringSubmatch(rest) {
		if p := phraseOf(m[1] + m[2] + m[3]); len(p) > 0 {
			r.phrases = append(r.phrases, p)
		}
		rest = rest[len(m[0]):]
	}
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " ,\t"), ":")
	if len(r.phrases) == 0 || !ok {
		return r, false
	}
	rest = strings.TrimSpace(rest)
	m := action.FindStringSubmatch(rest)
	if m == nil {
		r.say = unquote(rest)
		return r, r.say != "" && !strings.HasPrefix(rest, "call ")
	}
	r.call, r.args, r.then = m[1], m[2], unquote(m[3])
	return r, r.args == "" || json.Valid([]byte(slotName.ReplaceAllString(r.args, "0")))
}

// unquote drops quotes around a whole text.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' && !strings.Contains(s[1:len(s)-1], `"`) {
		return s[1 : len(s)-1]
	}
	return s
}

// phraseOf is what is compared of a way to say it: {slots} stand for anything.
func phraseOf(text string) phrase { return tokens(slotName.ReplaceAllString(text, " ")) }

// sentenceEnd is a mark that ends a sentence: not that of an initial or of a short
// abbreviation (St. Mary, 9 a.m. to).
var sentenceEnd = regexp.MustCompile(`(?:[!?…]|(?:\b\p{Ll}{2,}|\pL{3,}|[^\pL.])\.)\s+`)

// sentences cuts a line after its sentences. What goes on with a small letter is the same one.
func sentences(line string) (list []string) {
	start := 0
	for _, at := range sentenceEnd.FindAllStringIndex(line, -1) {
		if next, _ := utf8.DecodeRuneInString(line[at[1]:]); !unicode.IsLower(next) {
			list = append(list, strings.TrimSpace(line[start:at[1]]))
			start = at[1]
		}
	}
	return append(list, line[start:])
}

// isInstruction says that a sentence tells the agent what to do. "You can park behind our
// house" is for callers.
func (l *language) isInstruction(text string) bool {
	heard := tokens(text)
	for _, p := range append(l.instructions, english.instructions...) {
		if leads(heard, p) {
			return !slices.ContainsFunc(heard, func(w string) bool { return w == "we" || w == "us" || w == "our" })
		}
	}
	return false
}

// content is the words that say what a sentence is about.
func (l *language) content(heard []string) []string {
	return slices.DeleteFunc(heard, func(w string) bool { return l.stop[w] || l.isNumber(w) || len(w) == 1 })
}

// lookUp is the sentence of the prompt that has most of a question's words, and their
// share; 0: none has half of them. Days say when, not what, and count half.
func (d *dialogue) lookUp(heard []string) (text string, most float64) {
	question := d.content(slices.Clone(heard))
	for _, s := range d.script.sentences {
		total, known := 0.0, 0.0
		for _, w := range question {
			weight := 1.0
			if d.days[w] != "" {
				weight = 0.5
			}
			total += weight
			if slices.ContainsFunc(s.words, func(own string) bool { return alike(own, w) > 0 }) {
				known += weight
			}
		}
		if known >= total/2 && known > 0 && known/total > most {
			text, most = s.text, known/total
		}
	}
	return text, most
}
