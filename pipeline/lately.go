package pipeline

import (
	"strings"
	"time"
	"unicode"
)

// lately is what the agent has said in the last seconds. It tells a recogniser's text
// that is an echo of it, which the echo guard did not keep from being heard.
type lately struct {
	texts [8]struct {
		text string
		at   time.Time // when its last frame was written
	}
	n int // written; the latest is at (n-1) modulo len
}

const (
	latelyFor = 4 * time.Second
	// A text is an echo when echoWords hundredths of its words are the agent's, in their
	// order. Where no echo was found on the line it must have leastEcho words: a short
	// answer often repeats the question.
	echoWords = 80
	leastEcho = 5
)

// note takes the sentence whose frame is being written. It does not allocate.
func (l *lately) note(text string, now time.Time) {
	if l.n == 0 || l.texts[(l.n-1)%len(l.texts)].text != text {
		l.n++
	}
	t := &l.texts[(l.n-1)%len(l.texts)]
	t.text, t.at = text, now
}

// echoes says whether text is the agent's own. over says that it was begun while the
// agent spoke: what is said after it answers it. found says that the line has an echo.
func (l *lately) echoes(text string, over, found bool, now time.Time) bool {
	if !over || text == "" {
		return false
	}
	words := wordsOf(text)
	if len(words) == 0 || !found && len(words) < leastEcho {
		return false
	}
	var said []string
	for i := max(0, l.n-len(l.texts)); i < l.n; i++ {
		if t := &l.texts[i%len(l.texts)]; now.Sub(t.at) <= latelyFor {
			said = append(said, wordsOf(t.text)...)
		}
	}
	return 100*common(words, said) >= echoWords*len(words)
}

// wordsOf is a text's words in lower case without punctuation.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// common is the length of the longest sequence of words that a and b share, in order
// and with others in between.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, w := range a {
		diagonal := 0
		for j, v := range b {
			up := row[j+1]
			if w == v {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diagonal = up
		}
	}
	return row[len(b)]
}
