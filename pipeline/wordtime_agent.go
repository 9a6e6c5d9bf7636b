package pipeline

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/inference/spoken"
	"parley/media"
)

// maxAnchors bounds what is known of one sentence's playing: a voice that falls behind
// more often is followed from the last one on.
const maxAnchors = 8

// anchor is when a place in a sentence's audio is heard.
type anchor struct {
	off media.Time // in the audio
	at  media.Time // in the call
}

// heardFrom notes that the audio from off on is heard at a media time of the call. It
// does not allocate.
func (s *sentence) heardFrom(off, at media.Time) {
	if n := s.anchored; n > 0 {
		// Frames come a little early and late; what counts is a gap.
		if late := at - s.when(off, false); n == maxAnchors || late <= media.FrameTime && late >= -media.FrameTime {
			return
		}
	}
	s.anchors[s.anchored] = anchor{off, at}
	s.anchored++
}

// when is the media time at which a place in the audio is heard, which must be played: the
// end of what is before it, or the beginning of what follows.
func (s *sentence) when(off media.Time, end bool) media.Time {
	k := s.anchored - 1
	for k > 0 && (s.anchors[k].off > off || end && s.anchors[k].off == off) {
		k--
	}
	at := s.anchors[k].at + off - s.anchors[k].off
	if k+1 < s.anchored {
		at = min(at, s.anchors[k+1].at)
	}
	return at
}

// knot ties a place in the shown text, in code points, to one in the audio.
type knot struct {
	char int
	off  media.Time
}

// knots are known places, in order, by the engine's marks or else in proportion to the
// audio.
func (s *sentence) knots() (list []knot, estimated bool) {
	length, n := s.length(), utf8.RuneCountInString(s.text)
	tie := func(char int, off media.Time) {
		if k := len(list) - 1; k >= 0 {
			char, off = max(char, list[k].char), max(off, list[k].off)
		}
		list = append(list, knot{min(char, n), off})
	}
	if len(s.marks) == 0 {
		form := s.form
		if form == nil {
			form = spoken.As(s.text)
		}
		runes := utf8.RuneCountInString(form.Spoken)
		if !s.complete {
			length = max(length, media.Time(runes)*leastPerChar)
		}
		for i := range runes + 1 {
			tie(form.ShownAt(i), length/media.Time(max(1, runes))*media.Time(i))
		}
		return list, true
	}
	at := 0
	for i, m := range s.marks {
		letters := utf8.RuneCountInString(m.Text)
		char := m.Char
		if char < 0 {
			char = s.find(m.Text, at) - letters
		}
		end := m.End
		if end == 0 && i+1 < len(s.marks) {
			end = s.marks[i+1].Start
		}
		tie(char, media.FromDuration(m.Start))
		if at = max(0, char) + letters; end > 0 {
			tie(at, media.FromDuration(end))
		}
	}
	if s.complete {
		if last := list[len(list)-1]; !strings.ContainsFunc(string([]rune(s.text)[last.char:]), speakable) {
			length = last.off // a full stop takes no time, nor does the silence behind it count
		}
		tie(n, length)
	}
	return list, false
}

// between is where a place in the text lies in the audio: the first that is known of it,
// or the last for the end of something, and a share of the way where nothing is.
func between(list []knot, char int, end bool) media.Time {
	i := sort.Search(len(list), func(k int) bool { return list[k].char >= char })
	if end {
		for i+1 < len(list) && list[i+1].char == char {
			i++
		}
	}
	switch {
	case i == len(list):
		return list[i-1].off
	case i == 0 || list[i].char == char:
		return list[i].off
	}
	a, b := list[i-1], list[i]
	return a.off + (b.off-a.off)*media.Time(char-a.char)/media.Time(b.char-a.char)
}

// words are the first n words of the sentence, which were played, and when.
func (s *sentence) words(n int) (words []Word, estimated bool) {
	if n == 0 || s.anchored == 0 {
		return nil, false
	}
	list, estimated := s.knots()
	text := []rune(s.text)
	for i := 0; len(words) < n; {
		for i < len(text) && unicode.IsSpace(text[i]) {
			i++
		}
		from := i
		for i < len(text) && !unicode.IsSpace(text[i]) {
			i++
		}
		if from == i {
			break
		}
		words = append(words, Word{string(text[from:i]), s.when(between(list, from, false), false), s.when(between(list, i, true), true)})
	}
	return words, estimated
}

// said is how the reply was said when playing has come to h. With cut it was cut off at
// now.
func (r *reply) said(h trail, cut bool, now media.Time) *Said {
	out := &Said{Interrupted: cut}
	var rest []string
	for i, s := range r.texts {
		part := s.part(r.gen, i, h)
		words, estimated := s.words(len(strings.Fields(part)))
		out.Words = append(out.Words, words...)
		out.Estimated = out.Estimated || estimated
		if left := strings.TrimSpace(strings.TrimPrefix(s.text, part)); left != "" && (i >= h.seg || h.gen != r.gen) {
			rest = append(rest, left)
		}
	}
	if cut {
		out.Cut, out.Unheard = now, strings.Join(rest, " ")
	}
	return out
}

// part is what is heard of the reply's sentence seg when playing has come to h. What has
// no audio was not heard.
func (s *sentence) part(gen, seg int, h trail) string {
	switch {
	case h.gen != gen || seg > h.seg || s.total == 0:
		return ""
	case seg == h.seg:
		return s.heard(h.off)
	}
	return s.text
}
