package playout

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/media"
	"parley/pipeline/wordtime"
)

// Said is how a reply was said when playing has come to h, and what was made of it and nobody hears then.
func Said(reply []*Sentence, h Position) (said *wordtime.Said, unheard string) {
	said = &wordtime.Said{}
	var rest []string
	for _, s := range reply {
		part := s.part(h)
		words, estimated := s.Words(len(strings.Fields(part)))
		said.Words, said.Estimated = append(said.Words, words...), said.Estimated || estimated
		if left := strings.TrimSpace(strings.TrimPrefix(s.Text, part)); left != "" && (s.Seg >= h.Seg || h.Gen != s.Gen) {
			rest = append(rest, left)
		}
	}
	return said, strings.Join(rest, " ")
}

// Words are the first n words of the sentence, which were played, and when.
func (s *Sentence) Words(n int) (words []wordtime.Word, estimated bool) {
	if n == 0 || len(s.clock) == 0 {
		return nil, false
	}
	list := s.knots()
	return s.clock.Words(s.Text, n, list.place), len(s.marks) == 0
}

// knot ties a place in the shown text, in code points, to one in the audio.
type knot struct {
	char int
	off  media.Time
}

type knots []knot

// tie adds a place, which is not before the last one.
func (l *knots) tie(char int, off media.Time) {
	if k := len(*l) - 1; k >= 0 {
		char, off = max(char, (*l)[k].char), max(off, (*l)[k].off)
	}
	*l = append(*l, knot{char, off})
}

// knots are known places, in order, by the engine's marks or else in proportion to the
// audio.
func (s *Sentence) knots() (list knots) {
	n := utf8.RuneCountInString(s.Text)
	if len(s.marks) == 0 {
		form, chars, length := s.spoken()
		for i := range chars + 1 {
			list.tie(min(form.ShownAt(i), n), length/media.Time(max(1, chars))*media.Time(i))
		}
		return list
	}
	at := 0
	for i, m := range s.marks {
		letters := utf8.RuneCountInString(m.Text)
		char := m.Char
		if char < 0 {
			char = s.find(m.Text, at) - letters
		}
		list.tie(min(char, n), media.FromDuration(m.Start))
		at = max(0, char) + letters
		if end := s.markEnd(i); end > 0 {
			list.tie(min(at, n), media.FromDuration(end))
		}
	}
	if s.Complete {
		last, length := list[len(list)-1], s.Length()
		if !strings.ContainsFunc(string([]rune(s.Text)[last.char:]), voiced) {
			length = last.off // a full stop takes no time, nor does the silence behind it count
		}
		list.tie(n, length)
	}
	return list
}

// voiced says that a character is heard.
func voiced(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// place is where a place in the text lies in the audio: the first that is known of it,
// or the last for the end of something, and a share of the way where nothing is.
func (l knots) place(char int, end bool) media.Time {
	i := sort.Search(len(l), func(k int) bool { return l[k].char >= char })
	if end {
		for i+1 < len(l) && l[i+1].char == char {
			i++
		}
	}
	switch {
	case i == len(l):
		return l[i-1].off
	case i == 0 || l[i].char == char:
		return l[i].off
	}
	a, b := l[i-1], l[i]
	return a.off + (b.off-a.off)*media.Time(char-a.char)/media.Time(b.char-a.char)
}
