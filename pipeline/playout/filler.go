package playout

// Filler is speech that fills a wait. Package turn says when; it is no reply, and no part
// of the history. Its zero value is that of none. It belongs to the conductor.
type Filler struct {
	Playing      *Sentence // nil: none
	Number, Turn int       // public generation, and turn, that it belongs to

	gen int // of the fillers' sentences: below 0
}

// Next is the sentence of a filler to come, which has no audio yet.
func (f *Filler) Next(text string) *Sentence {
	return &Sentence{Gen: f.gen - 1, Text: text, Complete: true}
}

// Begin is the beginning of the one that is next, in a public generation and its turn.
func (f *Filler) Begin(s *Sentence, number, turn int) {
	f.gen--
	f.Playing, f.Number, f.Turn = s, number, turn
}

// End takes the one that plays.
func (f *Filler) End() *Sentence {
	s := f.Playing
	f.Playing = nil
	return s
}
