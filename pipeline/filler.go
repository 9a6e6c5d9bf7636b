package pipeline

import (
	"strings"

	"parley/pipeline/playout"
	"parley/pipeline/wordtime"
)

// filler is speech that fills a wait. Package turn says when; it is no reply, and no part
// of the history.
type filler struct {
	gen     int // of the fillers' sentences: below 0
	playing *playout.Sentence
	number  int // public generation, and turn, that it belongs to
	turn    int
}

// begin is the beginning of a filler in a public generation and its turn.
func (f *filler) begin(s *playout.Sentence, number, turn int) {
	f.gen--
	f.playing, f.number, f.turn = s, number, turn
}

// end takes the one that plays.
func (f *filler) end() *playout.Sentence {
	s := f.playing
	f.playing = nil
	return s
}

// sayFiller plays a filler of the turn, if it was made ahead: one that had to be made now
// would come with what it is to bridge.
func (c *Call) sayFiller(n int) {
	f := &c.filler
	text := c.agent.Filler(n)
	s := &playout.Sentence{Gen: f.gen - 1, Text: text, Complete: true}
	for _, chunk := range c.observer.ObserveAudio(c.replies.Maker.Line(&c.agent, text)) {
		s.Append(chunk)
	}
	if s.Length() == 0 {
		return
	}
	f.begin(s, c.replies.Number, c.replies.Latest.Turn)
	c.playout.Follow(s.Gen)
	c.emit(Event{Kind: Speaking, Turn: f.turn, Generation: f.number})
	c.emit(Event{Kind: AgentPartial, Turn: f.turn, Generation: f.number, Text: text})
	c.playout.Add(s)
}

// filled is the end of a filler, of which text was heard.
func (c *Call) filled(text string) {
	f := &c.filler
	s := f.end()
	if text == "" {
		return
	}
	how := &wordtime.Said{}
	if how.Words, how.Estimated = s.Words(len(strings.Fields(text))); text != s.Text {
		how.Interrupted, how.Cut, how.Unheard = true, c.moment(), strings.TrimSpace(strings.TrimPrefix(s.Text, text))
	}
	c.emit(Event{Kind: AgentLine, Turn: f.turn, Generation: f.number, Text: text, Said: how})
}

// stopFiller stops a filler: the caller has the floor.
func (c *Call) stopFiller() {
	s := c.filler.playing
	if s == nil {
		return
	}
	// What the far end has of it is played: clients drop that only after Interrupted.
	heard := s.Text
	if h := c.heardBy(c.now()); h.Gen == s.Gen {
		heard = s.Heard(h.Off)
	}
	c.playout.Cut(c.leg.Format().Continuous)
	c.filled(heard)
}
