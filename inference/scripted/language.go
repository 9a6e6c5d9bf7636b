package scripted

import (
	"strconv"
	"strings"
)

// talk is a piece of small talk: what callers say, and the answer.
type talk struct {
	phrases string // separated by |
	answer  string
}

// The small talk every language knows.
const (
	greet     = "greet"
	bye       = "bye"
	thanks    = "thanks"
	wellbeing = "wellbeing"
	who       = "who"
	human     = "human"
	help      = "help"
	again     = "again"
	presence  = "presence"
	hold      = "hold"
	yes       = "yes"
	no        = "no"
	booking   = "booking" // only where the prompt is about bookings
)

// texts are the engine's own sentences. {slot}, {name} and {topics} are filled in.
type texts struct {
	fallback []string // the first one for the first miss in a row, and so on
	topics   string   // what it can speak about
	and      string
	moment   string // a tool is already at work on it
	failed   string // a tool failed
	done     string // a tool had nothing to say
	cannot   string // a tool would be needed
	nothing  string // asked to repeat before anything was said
	meet     string // the caller said a name
	ask      map[string]string
}

// data is a language as its file writes it: words separated by spaces, phrases
// by |, and pairs by = inside.
type data struct {
	code     string
	stop     string
	concepts map[string]string // idea: words that stand for it
	labels   map[string]string // idea: how to name it to a caller
	talk     map[string]talk
	asked    string // what callers ask, for recognisers to expect
	texts    texts

	numbers   string // 0 to 20
	tens      string // 20 to 90
	more      map[string]int
	digits    string // words between the numbers of a larger one: "and"
	days      string // Monday to Sunday, today, tomorrow
	at        string // what stands before a time
	clock     string // what stands after an hour
	before    string // phrase=minutes, before an hour
	after     string // phrase=minutes, after an hour
	afternoon string // phrases that mean p.m.
	noon      string
	people    string // words after a number of people
	party     string // words before a number of people
	nameLeads string // phrases that stand before the caller's name

	instructions string // how sentences begin that tell the agent what to do
	relay        string // how they begin when the rest is for the caller
	self         string // you=I pairs, for speaking of oneself
}

// run is a phrase in tokens.
type run []string

// shift is a phrase that moves an hour by minutes.
type shift struct {
	run     run
	minutes int
}

// known is a word of an idea.
type known struct{ word, idea string }

// language is data made ready for use. It is read only.
type language struct {
	data
	long                                         []known // long enough to be recognised when misspelt
	atRuns, clockRuns, afternoonRuns, noonRuns   []run
	peopleRuns, partyRuns, nameRuns, orderedRuns []run
	beforeHour, afterHour                        []shift
	stop                                         map[string]bool
	idea                                         map[string]string // folded word: idea
	number                                       map[string]int
	phrase                                       map[string][][]string // small talk: its phrases in tokens
	day                                          map[string]string     // folded: as written
	polite                                       map[string]bool       // words of greetings, thanks and goodbyes, which ask nothing
}

// order in which ideas are named to a caller.
var ideas = []string{"hours", "where", "price", "book", "food", "deliver", "pay", "park", "contact"}

// languages by code, in the order of the engine's list.
var (
	codes     = []string{"en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de"}
	languages = prepare(english, spanish, catalan, galician, basque, portuguese, french, italian, german)
)

func prepare(list ...data) map[string]*language {
	all := map[string]*language{}
	for _, d := range list {
		l := &language{data: d, stop: map[string]bool{}, idea: map[string]string{}, number: map[string]int{},
			phrase: map[string][][]string{}, day: map[string]string{}, polite: map[string]bool{}}
		for _, w := range tokens(d.stop) {
			l.stop[w] = true
		}
		for _, idea := range ideas {
			for _, w := range tokens(d.concepts[idea]) {
				if l.idea[w] == "" { // the same words always, though a map is not in order
					l.idea[w] = idea
				}
			}
		}
		for i, w := range strings.Fields(d.numbers) {
			l.number[fold(w)] = i
		}
		for i, w := range strings.Fields(d.tens) {
			l.number[fold(w)] = 20 + 10*i
		}
		for w, n := range d.more {
			l.number[fold(w)] = n
		}
		for name, t := range d.talk {
			for _, p := range split(t.phrases) {
				l.phrase[name] = append(l.phrase[name], tokens(p))
				if name == greet || name == thanks || name == bye {
					for _, w := range tokens(p) {
						l.polite[w] = l.idea[w] == ""
					}
				}
			}
		}
		l.cut()
		for _, w := range strings.Fields(d.days) {
			w = strings.ReplaceAll(w, "_", " ")
			l.day[fold(w)] = w
		}
		all[d.code] = l
	}
	return all
}

// cut makes tokens of the phrases that are looked for in every sentence.
func (l *language) cut() {
	for _, idea := range ideas {
		for _, w := range tokens(l.concepts[idea]) {
			if len(w) >= 5 && l.idea[w] == idea {
				l.long = append(l.long, known{w, idea})
			}
		}
	}
	l.atRuns, l.clockRuns = runs(l.at), runs(l.clock)
	l.afternoonRuns, l.noonRuns = runs(l.afternoon), runs(l.noon)
	l.peopleRuns, l.partyRuns = runs(l.people), runs(l.party)
	l.nameRuns, l.orderedRuns = runs(l.nameLeads), runs(l.instructions)
	l.beforeHour, l.afterHour = shifts(l.before), shifts(l.after)
}

func runs(list string) []run {
	var all []run
	for _, p := range split(list) {
		all = append(all, tokens(p))
	}
	return all
}

func shifts(list string) []shift {
	var all []shift
	for _, p := range pairs(list) {
		minutes, _ := strconv.Atoi(p[1])
		all = append(all, shift{tokens(p[0]), minutes})
	}
	return all
}

// split cuts a list of phrases.
func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, "|")
}

// pairs cuts a list of a=b.
func pairs(list string) [][2]string {
	var all [][2]string
	for _, p := range split(list) {
		a, b, _ := strings.Cut(p, "=")
		all = append(all, [2]string{a, b})
	}
	return all
}

// speak is the language to answer in: the one asked for, else English.
func speak(code string) *language {
	if len(code) >= 2 {
		if l := languages[strings.ToLower(code[:2])]; l != nil {
			return l
		}
	}
	return languages["en"]
}

// ideaOf is the idea a heard word stands for; empty when it stands for itself.
func (l *language) ideaOf(word string) string {
	if i, ok := l.idea[word]; ok {
		return i
	}
	if len(word) >= 5 && !l.stop[word] {
		for _, k := range l.long { // in a fixed order, so that ties always fall alike
			if alike(k.word, word) >= 0.8 {
				return k.idea
			}
		}
	}
	return ""
}

// Phrases are what callers are likely to say to an agent with the default rules:
// small talk, common questions, numbers, days and times. A recogniser may build
// its language model from them and the agent's prompt. The result is the
// caller's; nil for a language the engine does not have.
func Phrases(code string) []string {
	l := languages[code]
	if l == nil {
		return nil
	}
	var list []string
	for _, name := range []string{greet, bye, thanks, wellbeing, who, human, help, again, presence, hold, yes, no, booking} {
		list = append(list, split(l.talk[name].phrases)...)
	}
	list = append(list, split(l.asked)...)
	list = append(list, split(l.nameLeads)...)
	for _, day := range strings.Fields(l.days) {
		list = append(list, strings.ReplaceAll(day, "_", " "))
	}
	for _, at := range split(l.at) {
		for _, n := range strings.Fields(l.numbers)[:min(13, len(strings.Fields(l.numbers)))] {
			list = append(list, at+" "+n)
		}
	}
	list = append(list, strings.Fields(l.numbers+" "+l.tens)...)
	list = append(list, split(l.afternoon)...)
	list = append(list, split(l.noon)...)
	return list
}
