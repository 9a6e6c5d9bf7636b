package spoken

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Form is a text in its two shapes. It does not change.
type Form struct {
	Shown  string // as people read it
	Spoken string // as a voice is given it
	spans  []span // nil: both are the same
}

// span is a part of the spoken form and where what it stands for begins, both in
// code points; it ends where the next one begins. The last is the end of both.
type span struct {
	spoken, shown int
	same          bool // letter by letter, else as a whole
}

// As returns a text that is spoken as it is shown.
func As(text string) *Form { return &Form{Shown: text, Spoken: text} }

// ShownAt is how much of the shown text has been said when the spoken form has been
// said up to index i, both in code points. What is spoken otherwise than it is shown
// counts when all of it was said. It never falls as i rises, is 0 for 0 unless the
// text begins with something unspoken, and all of it for the whole.
func (f *Form) ShownAt(i int) int {
	if f.spans == nil {
		return max(0, min(i, utf8.RuneCountInString(f.Shown)))
	}
	n := sort.Search(len(f.spans), func(k int) bool { return f.spans[k].spoken > i }) - 1
	switch {
	case n < 0:
		return 0
	case n == len(f.spans)-1, !f.spans[n].same:
		return f.spans[n].shown
	}
	return min(f.spans[n].shown+i-f.spans[n].spoken, f.spans[n+1].shown)
}

// writer makes a Form.
type writer struct {
	out   strings.Builder
	n     int  // code points written
	last  rune // the last of them
	spans []span
	other bool // something is spoken otherwise than it is shown
	// apart says that what follows must not touch what was written: it stands for
	// another part of the text.
	apart bool
}

// copy writes what is spoken as it is shown.
func (w *writer) copy(at int, text []rune) {
	if w.apart && wordRune(text[0]) && wordRune(w.last) {
		w.put(' ')
	}
	w.apart = false
	if k := len(w.spans) - 1; k < 0 || !w.spans[k].same || w.spans[k].shown-w.spans[k].spoken != at-w.n {
		w.spans = append(w.spans, span{w.n, at, true})
	}
	for _, c := range text {
		w.put(c)
	}
}

// say writes words for the text that begins at an index; none for what is silent.
func (w *writer) say(at int, words string) {
	w.other = true
	w.spans = append(w.spans, span{w.n, at, false})
	if words == "" {
		w.apart = true
		return
	}
	first, _ := utf8.DecodeRuneInString(words)
	if w.n > 0 && !unicode.IsSpace(w.last) && (wordRune(first) && !opening(w.last) || wordRune(w.last) && !closing(first)) {
		w.put(' ')
	}
	for _, c := range words {
		w.put(c)
	}
	w.apart = true
}

// opening and closing stand beside a word without a space between.
func opening(c rune) bool { return strings.ContainsRune("([{«“‘\"'¿¡-–—’/", c) }
func closing(c rune) bool { return strings.ContainsRune(",.;:!?…)]}", c) }

// put writes one code point.
func (w *writer) put(c rune) {
	w.out.WriteRune(c)
	w.last = c
	w.n++
}

func (w *writer) form(text string, length int) *Form {
	if !w.other && w.n == length {
		return As(text)
	}
	return &Form{Shown: text, Spoken: w.out.String(), spans: append(w.spans, span{w.n, length, false})}
}
