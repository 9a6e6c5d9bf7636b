package turn

import (
	"embed"
	"strings"
)

// lexicon holds a language's word lists. Words are lower case without punctuation.
type lexicon struct {
	stop        []string // one of these interrupts the agent
	backchannel []string // these say "go on"
	salutation  []string // these are said by who takes a call
	open        []string // a turn whose text ends on one of these goes on
	preposition []string // likewise, and it has likely ended a few words after one of these
	leaning     []string // a turn whose text ends on one of these goes on more often than not; "tell_me" is two words
	hesitation  []string // likewise, and these mean nothing
	filler      []string // likewise
	closing     []string // a turn whose text ends on one of these has likely ended
	asking      []string // a question or a request has one of these; "_is" begins it
	auxiliary   []string // so has one in which one of these is followed
	subject     []string // by one of these
	fronting    []string // a sentence that begins with one of these has another clause
	digits      []string // spoken digits, and letters that have a name
	values      []byte   // the figure of each of digits; 0: it has none
	dictated    []string // an agent that asks for one of these is answered in pieces
	confirming  []string // but not when its question begins with one of these
}

//go:embed words/*.txt
var wordFiles embed.FS

// lexicons are those of the languages that can be recognised.
var lexicons = readLexicons()

func readLexicons() map[string]*lexicon {
	files, err := wordFiles.ReadDir("words")
	if err != nil {
		panic(err)
	}
	all := map[string]*lexicon{}
	for _, f := range files {
		text, err := wordFiles.ReadFile("words/" + f.Name())
		if err != nil {
			panic(err)
		}
		all[strings.TrimSuffix(f.Name(), ".txt")] = readLexicon(string(text))
	}
	return all
}

// readLexicon reads lines of the form "list: words". An unknown list is a mistake in
// the program.
func readLexicon(text string) *lexicon {
	l := &lexicon{}
	lists := map[string]*[]string{"stop": &l.stop, "backchannel": &l.backchannel, "salutation": &l.salutation, "open": &l.open, "preposition": &l.preposition,
		"leaning": &l.leaning, "hesitation": &l.hesitation, "filler": &l.filler, "closing": &l.closing, "asking": &l.asking, "auxiliary": &l.auxiliary,
		"subject": &l.subject, "fronting": &l.fronting, "digits": &l.digits, "dictated": &l.dictated, "confirming": &l.confirming}
	for line := range strings.Lines(text) {
		name, words, found := strings.Cut(strings.TrimSpace(line), ":")
		if !found || strings.HasPrefix(name, "#") {
			continue
		}
		list := lists[name]
		if list == nil {
			panic("turn: there is no word list " + name)
		}
		*list = strings.Fields(words)
	}
	l.values = make([]byte, len(l.digits))
	for i, d := range l.digits {
		if word, figure, found := strings.Cut(d, "="); found {
			l.digits[i], l.values[i] = word, figure[0]
		}
	}
	return l
}

// lexiconOf falls back to English, whose lists hold the sounds people share.
func lexiconOf(language string) *lexicon {
	if l, ok := lexicons[language]; ok {
		return l
	}
	return lexicons["en"]
}
