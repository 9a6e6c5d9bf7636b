package playout

import (
	"strings"

	"parley/inference"
	"parley/media"
	"parley/pipeline/wordtime"
)

// Filler is speech that fills a wait. Package turn says when; it is no reply, and no part
// of the history. Its zero value is that of none. It belongs to the conductor.
type Filler struct {
	Playing      *Sentence // nil: none
	Number, Turn int       // public generation, and turn, that it belongs to

	gen int // of the fillers' sentences: below 0
}

// Begin begins a filler, in a public generation and its turn, and returns the sentence to play; nil: there is no audio. The audio
// belongs to the filler from now on.
func (f *Filler) Begin(text string, audio []inference.Chunk, number, turn int) *Sentence {
	s := &Sentence{Gen: f.gen - 1, Text: text, Complete: true}
	for _, chunk := range audio {
		s.Append(chunk)
	}
	if s.Length() == 0 {
		return nil
	}
	f.gen--
	f.Playing, f.Number, f.Turn = s, number, turn
	return s
}

// Heard is the part of the playing filler's text that a far end has heard when playout has come to h.
func (f *Filler) Heard(h Position) string {
	if h.Gen == f.Playing.Gen {
		return f.Playing.Heard(h.Off)
	}
	return f.Playing.Text
}

// End ends the playing filler, of which heard was heard, and returns when its words were spoken. A filler that was not heard to its
// end was cut off at the media time cut.
func (f *Filler) End(heard string, cut media.Time) *wordtime.Said {
	s, how := f.Playing, &wordtime.Said{}
	f.Playing = nil
	if how.Words, how.Estimated = s.Words(len(strings.Fields(heard))); heard != s.Text {
		how.Interrupted, how.Cut, how.Unheard = true, cut, strings.TrimSpace(strings.TrimPrefix(s.Text, heard))
	}
	return how
}
