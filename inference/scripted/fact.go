package scripted

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// fact is a sentence of the prompt that may be said to a caller.
type fact struct {
	text  string
	words []string        // folded
	ideas map[string]bool // what it is about
	worth float64         // below 1 for sentences that had to be turned around
}

// clockForm is a time or a range of hours, which makes a sentence about days one
// about opening hours.
var clockForm = regexp.MustCompile(`^\d{1,2}([:.h]\d{2})?$`)

// addSentences sorts the sentences of a line into what can be said and what only
// tells the agent how to behave.
func (l *language) addSentences(s *script, heading, line string) {
	for _, text := range sentences(line) {
		if len(s.facts) == maxFacts {
			return
		}
		if told, ok := cut(text, l.relay); ok {
			s.facts = append(s.facts, l.newFact(capital(told), 1))
			continue
		}
		if !l.isInstruction(text) {
			if heading != "" {
				text = heading + ": " + text
			}
			s.facts = append(s.facts, l.newFact(text, 1))
			continue
		}
		if own, ok := l.aboutMe(text); ok {
			s.self = append(s.self, own)
			s.facts = append(s.facts, l.newFact(own, 0.7))
		}
	}
}

// sentences cuts a line after . ! ? and … where a space follows, but not after
// initials and short abbreviations (St. Mary, 9 a.m. to).
func sentences(line string) []string {
	var list []string
	runes := []rune(line)
	start := 0
	for i, r := range runes {
		end := i == len(runes)-1
		if !end && (!strings.ContainsRune(".!?…", r) || !unicode.IsSpace(runes[i+1])) {
			continue
		}
		if !end && r == '.' {
			word := i
			for word > start && unicode.IsLetter(runes[word-1]) {
				word--
			}
			after := i + 1
			for after < len(runes) && unicode.IsSpace(runes[after]) {
				after++
			}
			short := i-word <= 2 && i > word && (unicode.IsUpper(runes[word]) || word > 0 && runes[word-1] == '.')
			if short || after < len(runes) && unicode.IsLower(runes[after]) {
				continue
			}
		}
		if text := strings.TrimSpace(string(runes[start : i+1])); text != "" {
			list = append(list, text)
		}
		start = i + 1
	}
	return list
}

// starts says whether a text begins with one of the phrases of a list.
func starts(text, list string) bool {
	heard := tokens(text)
	for _, p := range split(list) {
		run := tokens(p)
		if len(run) > 0 && len(run) <= len(heard) && slices.Equal(heard[:len(run)], run) {
			return true
		}
	}
	return false
}

// isInstruction: prompts are often English whatever language is spoken, so both
// are looked at.
func (l *language) isInstruction(text string) bool {
	return starts(text, l.instructions) || starts(text, english.instructions)
}

// cut removes the first phrase of a list that a text begins with.
func cut(text, list string) (rest string, ok bool) {
	for _, p := range append(split(list), split(english.relay)...) {
		if len(text) > len(p)+1 && strings.EqualFold(text[:len(p)], p) && text[len(p)] == ' ' {
			return strings.TrimSpace(text[len(p):]), true
		}
	}
	return "", false
}

// aboutMe turns a sentence about "you", the agent, into one about itself.
func (l *language) aboutMe(text string) (string, bool) {
	swaps := pairs(l.self)
	if first := strings.ToLower(text); strings.HasPrefix(first, "you") {
		swaps = pairs(english.self)
	}
	turned := false
	for i, s := range swaps {
		at := 0
		for {
			found := indexWord(text[at:], s[0])
			if found < 0 {
				break
			}
			at += found
			if i < len(swaps) && at == 0 {
				turned = true
			}
			text = text[:at] + s[1] + text[at+len(s[0]):]
			at += len(s[1])
		}
	}
	return capital(text), turned
}

// indexWord finds a whole word or phrase, whatever its case.
func indexWord(text, word string) int {
	lower := strings.ToLower(text)
	if len(lower) != len(text) { // some letter changes its length with its case
		return -1
	}
	for from := 0; ; {
		at := strings.Index(lower[from:], word)
		if at < 0 {
			return -1
		}
		at += from
		end := at + len(word)
		before, after := at == 0 || !letter(lower[at-1]), end == len(lower) || !letter(lower[end])
		if before && after {
			return at
		}
		from = end
	}
}

// letter counts the bytes of accented letters as letters.
func letter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 0x80 }

func (l *language) newFact(text string, worth float64) fact {
	f := fact{text: text, words: tokens(text), ideas: map[string]bool{}, worth: worth}
	day, clock := false, false
	for i, w := range f.words {
		if idea := l.ideaOf(w); idea != "" {
			f.ideas[idea] = true
		}
		day = day || l.day[w] != "" && !l.stop[w]
		clock = clock || clockForm.MatchString(w) || i > 0 && l.isNumber(w)
	}
	if day {
		f.ideas["day"] = true
		if clock {
			f.ideas["hours"] = true
		}
	}
	return f
}

// asked is one thing a question is about.
type asked struct {
	word, idea string
	weight     float64
}

// about lists what a question is about: ideas where its words stand for one,
// else the words themselves. Days say when, not what, and count half.
func (l *language) about(heard []string) []asked {
	var list []asked
	seen := map[string]bool{}
	for _, w := range heard {
		a := asked{word: w, idea: l.ideaOf(w), weight: 1}
		switch {
		case l.day[w] != "":
			a.idea, a.weight = "day", 0.5
		case l.isNumber(w):
			a.weight = 0.3
		case l.stop[w] && a.idea != "":
			a.weight = 0.5
		case l.stop[w] || len(w) == 1 && a.idea == "":
			continue
		}
		key := a.idea
		if key == "" {
			key = w
		}
		if !seen[key] {
			seen[key] = true
			list = append(list, a)
		}
	}
	return list
}

// covers says how well a fact knows one thing that is asked about.
func (f fact) covers(a asked) float64 {
	if a.idea != "" && f.ideas[a.idea] {
		return 1
	}
	best := 0.0
	for _, w := range f.words {
		best = max(best, alike(w, a.word))
	}
	return best
}

// lookUp finds what the prompt says about a question: the sentence that covers
// most of it, and a second one when that adds what the first one lacks. score is
// 0 when nothing fits.
func (l *language) lookUp(s *script, heard []string) (text string, score float64) {
	question := l.about(heard)
	first, score, matched := s.best(question)
	total := 0.0
	for _, a := range question {
		total += a.weight
	}
	if first < 0 || score < 0.5 || matched < min(0.95, total) {
		return "", 0
	}
	text = s.facts[first].text
	var rest []asked
	for _, a := range question {
		if a.weight >= 1 && s.facts[first].covers(a) == 0 {
			rest = append(rest, a)
		}
	}
	if second, most, _ := s.best(rest); len(rest) > 0 && second >= 0 && most >= 0.9 {
		text += " " + s.facts[second].text
	}
	return text, score
}

// best is the fact that covers most of a question; of equal ones the first.
// What many facts know tells them apart less than what only one does.
func (s *script) best(question []asked) (index int, score, matched float64) {
	index = -1
	total, most := 0.0, 0.0
	know := make([]float64, len(question))
	for i, a := range question {
		total += a.weight
		for _, f := range s.facts {
			if f.covers(a) > 0 {
				know[i]++
			}
		}
	}
	if total == 0 {
		return -1, 0, 0
	}
	for n, f := range s.facts {
		sum, rank := 0.0, 0.0
		for i, a := range question {
			c := f.covers(a) * a.weight
			sum += c
			if know[i] > 0 {
				rank += c * (1 + 1/know[i]) / 2
			}
		}
		if rank *= f.worth; rank > most {
			index, score, matched, most = n, sum/total, sum, rank
		}
	}
	return index, score, matched
}
