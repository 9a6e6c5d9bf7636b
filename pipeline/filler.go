package pipeline

import (
	"strings"

	"parley/pipeline/wordtime"
)

// sayFiller plays a filler of the turn, if it was made ahead: one that had to be made now
// would come with what it is to bridge.
func (c *Call) sayFiller(n int) {
	f := &c.between.Filler
	text := c.agent.Filler(n)
	s := f.Next(text)
	for _, chunk := range c.observer.ObserveAudio(c.replies.Maker.Line(&c.agent, text)) {
		s.Append(chunk)
	}
	if s.Length() == 0 {
		return
	}
	f.Begin(s, c.replies.Number, c.replies.Latest.Turn)
	c.playout.Follow(s.Gen)
	c.emit(Event{Kind: Speaking, Turn: f.Turn, Generation: f.Number})
	c.emit(Event{Kind: AgentPartial, Turn: f.Turn, Generation: f.Number, Text: text})
	c.playout.Add(s)
}

// filled is the end of a filler, of which text was heard.
func (c *Call) filled(text string) {
	f := &c.between.Filler
	s := f.End()
	if text == "" {
		return
	}
	how := &wordtime.Said{}
	if how.Words, how.Estimated = s.Words(len(strings.Fields(text))); text != s.Text {
		how.Interrupted, how.Cut, how.Unheard = true, c.moment(), strings.TrimSpace(strings.TrimPrefix(s.Text, text))
	}
	c.emit(Event{Kind: AgentLine, Turn: f.Turn, Generation: f.Number, Text: text, Said: how})
}

// stopFiller stops a filler: the caller has the floor.
func (c *Call) stopFiller() {
	s := c.between.Filler.Playing
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
