package listen

import (
	"strings"

	"parley/inference"
)

// languages follows which language the caller speaks, as the recogniser reports it with its final texts.
type languages struct {
	words  map[string]int // of the turn in progress, by language; nil: none yet
	turn   string         // of the latest turn that had one
	before string         // of the one before that
}

// heard takes a result.
func (l *languages) heard(r inference.Result) {
	if !r.Final || r.Language == "" {
		return
	}
	if l.words == nil {
		l.words = map[string]int{}
	}
	l.words[r.Language] += len(strings.Fields(r.Text))
}

// drop forgets the turn in progress.
func (l *languages) drop() { clear(l.words) }

// commit takes the turn, which is that of most of its words, and returns its language where the turn before had the same; empty:
// it had another, or nothing is known. again says that the turn is the latest one, with more words.
func (l *languages) commit(again bool) (steady string) {
	language, most := "", 0
	for code, n := range l.words {
		if n > most || n == most && code < language {
			language, most = code, n
		}
	}
	l.drop()
	if language == "" {
		return ""
	}
	if !again {
		l.before = l.turn
	}
	if l.turn = language; language == l.before {
		return language
	}
	return ""
}
