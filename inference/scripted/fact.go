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
	words []string        // those with content, folded
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

// forCaller begin sentences that tell the agent what to do, or the caller when
// "we" are in them: "You can park behind our house."
var forCaller = runs("you can|you may|you will")

// isInstruction: prompts are often English whatever language is spoken, so both
// are looked at.
func (l *language) isInstruction(text string) bool {
	heard := tokens(text)
	if lead(heard, forCaller) > 0 {
		return !slices.ContainsFunc(heard, func(w string) bool { return w == "we" || w == "us" || w == "our" })
	}
	return lead(heard, l.orderedRuns) > 0 || lead(heard, languages["en"].orderedRuns) > 0
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

// orders are sentences about the agent that are not for the caller.
var orders = runs("you must|you should|you will|you never|you always|you do not|you don't|you cannot|you can not|you have to|you need to|" +
	"your task|your job|your goal|your answers|your replies|your style|your tone")

// aboutMe turns a sentence about "you", the agent, into one about itself.
func (l *language) aboutMe(text string) (string, bool) {
	if lead(tokens(text), orders) > 0 {
		return "", false
	}
	swaps := pairs(l.self)
	if first := strings.ToLower(text); strings.HasPrefix(first, "you") {
		swaps = pairs(english.self)
	}
	turned := false
	for _, s := range swaps {
		at := 0
		for {
			found := indexWord(text[at:], s[0])
			if found < 0 {
				break
			}
			at += found
			turned = turned || at == 0
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
	f := fact{text: text, words: tokens(text[:min(len(text), maxSaid)]), ideas: map[string]bool{}, worth: worth}
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
	f.words = slices.DeleteFunc(f.words, func(w string) bool { return l.stop[w] })
	return f
}

// asked is one thing a question is about: an idea and the words for it that were
// heard, or one word.
type asked struct {
	words  []string
	idea   string
	weight float64
}

// about lists what a question is about: ideas where its words stand for one,
// else the words themselves. Days say when, not what, and count half.
func (l *language) about(heard []string) []asked {
	var list []asked
	for _, w := range heard {
		a := asked{words: []string{w}, idea: l.ideaOf(w), weight: 1}
		switch {
		case l.day[w] != "":
			a.idea, a.weight = "day", 0.5
		case l.isNumber(w):
			a.weight = 0.3
		case l.stop[w] && a.idea != "":
			a.weight = 0.5
		case l.stop[w] || l.polite[w] || len(w) == 1 && a.idea == "":
			continue
		}
		at := slices.IndexFunc(list, func(b asked) bool { return a.idea == b.idea && (a.idea != "" || b.words[0] == w) })
		if at < 0 {
			list = append(list, a)
			continue
		}
		list[at].weight = max(list[at].weight, a.weight)
		if !slices.Contains(list[at].words, w) {
			list[at].words = append(list[at].words, w)
		}
	}
	return list
}

// covers says how well a fact knows one thing that is asked about.
func (f fact) covers(a asked) float64 {
	if a.idea != "" && f.ideas[a.idea] {
		return 1
	}
	return f.literally(a)
}

// literally says how much of what was asked stands in a fact in the very words,
// on the mean of the words.
func (f fact) literally(a asked) float64 {
	sum := 0.0
	for _, q := range a.words {
		best := 0.0
		for _, w := range f.words {
			best = max(best, alike(w, q))
		}
		sum += best
	}
	return sum / float64(len(a.words))
}

// lookUp finds what the prompt says about a question: the sentence that covers
// most of it, and a second one when that adds what the first one lacks. score is
// 0 when nothing fits.
func (l *language) lookUp(s *script, heard []string) (text string, score float64) {
	question := l.about(heard)
	for i, a := range question {
		if a.idea == "" && slices.ContainsFunc(s.self, func(t string) bool { return indexWord(fold(t), a.words[0]) >= 0 }) {
			question[i].weight = 0.3 // our own name says little
		}
	}
	first, score, matched := s.best(question)
	total := 0.0
	for _, a := range question {
		total += a.weight
	}
	if first < 0 || score < 0.55 || matched < min(0.95, total) {
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
	most := 0.0
	know := make([]float64, len(question))
	for i, a := range question {
		for _, f := range s.facts {
			if f.covers(a) > 0 {
				know[i]++
			}
		}
	}
	for n, f := range s.facts {
		sum, total, rank := 0.0, 0.0, 0.0
		for i, a := range question {
			c := f.covers(a) * a.weight
			sum += c
			if total += a.weight; c == 0 && know[i] > 0 {
				total -= a.weight / 2 // a second question, which another sentence answers
			}
			if know[i] > 0 {
				rank += (c + a.weight*f.literally(a)/2) * (1 + 1/know[i]) / 2
			}
		}
		if rank *= f.worth; rank > most {
			index, score, matched, most = n, sum/total, sum, rank
		}
	}
	return index, score, matched
}
