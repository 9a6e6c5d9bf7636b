package scripted

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// lines are the engine's own sentences. {slot} is filled in.
type lines struct {
	hello, goodbye string
	fallback       string            // nothing matches
	ask            map[string]string // by kind; kindText for the kinds that are not there
	moment         string            // the tool is still at work on it
	failed         string            // a tool failed
	done           string            // a tool had nothing to say
	cannot         string            // a tool would be needed
}

// talk is a piece of small talk: what callers say, and the answer.
type talk struct {
	name    string
	phrases [][]string // in tokens
	answer  string
}

// The small talk.
const (
	greet  = "greet"
	bye    = "bye"
	thanks = "thanks"
	who    = "who"
	human  = "human"
	again  = "again"
	yes    = "yes"
	no     = "no"
)

// table is a language as its file writes it: words separated by spaces, phrases
// by |, and phrase=minutes inside.
type table struct {
	stop  string      // words without content
	talk  [][3]string // name, phrases, answer
	asked string      // what else callers say, for recognisers to expect

	numbers   string // 0 to 20
	tens      string // 20 to 90
	more      map[string]int
	and       string // between the numbers of a larger one
	days      string // Monday to Sunday, today, tomorrow
	at        string // what stands before a time
	clock     string // what stands after an hour
	shifts    string // phrase=minutes, before or after an hour
	afternoon string // phrases that mean p.m.
	noon      string
	nameLeads string // phrases that stand before the caller's name

	instructions string // how sentences begin that tell the agent what to do
}

// language is a table made ready for use. It is read only.
type language struct {
	lines
	talk         []talk
	stop         map[string]bool
	days         map[string]string // as they are written, by folded word
	dayNames     []string          // folded, in order
	numbers      map[string]int
	and          string
	instructions [][]string
	// Patterns of what the engine finds in figures: see language.figures.
	time, afternoon, name *regexp.Regexp
	shifts                map[string]int // minutes, by phrase
	phrases               []string       // see Phrases
}

// codes are the languages in the order of the engine's list.
var codes = []string{"en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de"}

var (
	english   = prepare(englishLines, &englishTable)
	languages = map[string]*language{"en": english, "es": prepare(spanishLines, &spanishTable)}
)

func init() {
	for code, row := range otherLines {
		languages[code] = prepare(ownLines(row), &table{})
	}
}

// languageOf is the language to answer in: the one asked for, else English.
func languageOf(code string) *language {
	if l := languages[strings.ToLower(code[:min(2, len(code))])]; l != nil {
		return l
	}
	return english
}

// full says that the language has a table, not only sentences.
func (l *language) full() bool { return len(l.days) > 0 }

func prepare(own lines, t *table) *language {
	l := &language{lines: own, stop: map[string]bool{}, days: map[string]string{},
		numbers: map[string]int{}, shifts: map[string]int{}, and: fold(t.and), instructions: phrases(t.instructions),
		afternoon: pattern(" (%s) ", t.afternoon),
		name:      pattern(` (?:%s) (\pL+(?: \pL+)?) `, t.nameLeads)}
	for _, w := range tokens(t.stop) {
		l.stop[w] = true
	}
	for i, w := range strings.Fields(t.numbers) {
		l.numbers[fold(w)] = i
	}
	for i, w := range strings.Fields(t.tens) {
		l.numbers[fold(w)] = 20 + 10*i
	}
	for w, n := range t.more {
		l.numbers[fold(w)] = n
	}
	for _, w := range strings.Fields(t.days) {
		l.days[fold(w)] = w
		l.dayNames = append(l.dayNames, fold(w))
	}
	for _, row := range t.talk {
		l.talk = append(l.talk, talk{row[0], phrases(row[1]), row[2]})
	}
	for _, p := range split(t.shifts) {
		text, minutes, _ := strings.Cut(p, "=")
		n, _ := strconv.Atoi(minutes)
		l.shifts[strings.Join(tokens(text), " ")] = n
	}
	moves := strings.Join(slices.Sorted(maps.Keys(l.shifts)), "|")
	l.time = pattern(` (?:(%s)|(?:(%s) )?(?:(%s) )?(\d\d?)(?:[:.h ](\d\d))?(?: (%s))?(?: (%s))?) `, t.noon, t.at, moves, moves, t.clock)
	l.phrases = t.phrases()
	return l
}

// pattern compiles a form with lists of phrases in it. An empty list matches nothing.
func pattern(form string, lists ...string) *regexp.Regexp {
	var alternatives []any
	for _, list := range lists {
		all := []string{"#"} // no token
		for _, p := range phrases(list) {
			all = append(all, strings.Join(p, " "))
		}
		alternatives = append(alternatives, strings.Join(all, "|"))
	}
	return regexp.MustCompile(fmt.Sprintf(form, alternatives...))
}

// phrases cuts a list of phrases into tokens.
func phrases(list string) [][]string {
	var all [][]string
	for _, p := range split(list) {
		all = append(all, tokens(p))
	}
	return all
}

// split cuts a list of phrases.
func split(list string) []string {
	return slices.DeleteFunc(strings.Split(list, "|"), func(p string) bool { return p == "" })
}

func (t *table) phrases() (list []string) {
	for _, row := range t.talk {
		list = append(list, split(row[1])...)
	}
	list = append(list, split(t.asked+"|"+t.nameLeads)...)
	list = append(list, strings.Fields(t.days)...)
	numbers := strings.Fields(t.numbers)
	for _, at := range split(t.at) {
		for _, n := range numbers[:13] {
			list = append(list, at+" "+n)
		}
	}
	list = append(list, strings.Fields(t.numbers+" "+t.tens)...)
	return append(list, split(t.afternoon+"|"+t.noon)...)
}

// Phrases are what callers are likely to say to an agent with the default rules:
// small talk, common questions, numbers, days and times. A recogniser may build
// its language model from them and the agent's prompt. The result is the
// caller's; nil for a language without a table.
func Phrases(code string) []string {
	if l := languages[code]; l != nil {
		return slices.Clone(l.phrases)
	}
	return nil
}
