package espeak

import (
	"unicode"

	"parley/inference"
	"parley/inference/worker"
)

// marker turns the worker's events of one segment into marks of the Speech.
type marker struct {
	*speaker
	spelled spelling
	from    int // index of the segment in the text
	word    int // index of the word being spoken
	length  int // of that word, in code points
	phones  int // of that word, so far
	pause   bool
}

// mark adds the events of a chunk to it. base is where the segment's audio
// begins in the Speak, in samples.
func (m *marker) mark(c *inference.Chunk, events []worker.Event, base int) {
	for _, e := range events {
		at := inference.Mark{Text: e.Text, Start: Rate.Duration(base + e.Sample).Duration()}
		switch {
		case e.Word:
			if m.begin(m.from + m.spelled.original(e.Char)) {
				at.Text, at.Char = string(m.text[m.word:m.word+m.length]), m.word
				c.Words = append(c.Words, at)
			}
		case e.Text == "" && m.pause: // the engine reports both ends of a pause
		default:
			at.Char = m.phone(e.Text == "")
			c.Phones = append(c.Phones, at)
		}
		m.pause = !e.Word && e.Text == ""
	}
}

// begin makes the word at index i the current one and says whether it is new:
// the engine has several words where we see one, such as the parts of a number.
func (m *marker) begin(i int) bool {
	for i < len(m.text) && unicode.IsSpace(m.text[i]) {
		i++
	}
	from, to := i, i
	for from > 0 && !unicode.IsSpace(m.text[from-1]) {
		from--
	}
	for to < len(m.text) && !unicode.IsSpace(m.text[to]) {
		to++
	}
	if from < m.spoken || from == to {
		return false
	}
	m.spoken = to
	if a, b := trim(m.text, from, to); a < b {
		from, to = a, b
	}
	m.word, m.length, m.phones = from, to-from, 0
	return true
}

// trim takes punctuation off both ends of a word.
func trim(text []rune, from, to int) (int, int) {
	for from < to && unicode.IsPunct(text[from]) {
		from++
	}
	for from < to && unicode.IsPunct(text[to-1]) {
		to--
	}
	return from, to
}

// phone is the index of the letter that a phoneme stands for: the first phoneme
// of a word is its first letter and so on, a pause the last one. It is exact
// where spelling is phonetic and stays inside the word elsewhere.
func (m *marker) phone(pause bool) int {
	i := m.word + max(0, min(m.phones, m.length-1))
	if pause {
		i = m.word + max(0, m.length-1)
	} else {
		m.phones++
	}
	m.char = min(max(m.char, i), len(m.text)-1)
	return m.char
}
