package pipeline

import "parley/pipeline/event"

// sayFiller plays a filler of the turn, if it was made ahead: one that had to be made now
// would come with what it is to bridge.
func (c *Call) sayFiller(n int) {
	f := &c.between.Filler
	text := c.agent.Filler(n)
	s := f.Begin(text, c.observer.ObserveAudio(c.replies.Maker.Line(&c.agent, text)), c.replies.Number, c.replies.Latest.Turn)
	if s == nil {
		return
	}
	c.playout.Follow(s.Gen)
	c.emit(event.Event{Kind: event.Speaking, Turn: f.Turn, Generation: f.Number})
	c.emit(event.Event{Kind: event.AgentPartial, Turn: f.Turn, Generation: f.Number, Text: text})
	c.playout.Add(s)
}

// filled is the end of a filler, of which text was heard.
func (c *Call) filled(text string) {
	f := &c.between.Filler
	if said := f.End(text, c.moment()); text != "" {
		c.emit(event.Event{Kind: event.AgentLine, Turn: f.Turn, Generation: f.Number, Text: text, Said: said})
	}
}

// stopFiller stops a filler: the caller has the floor, or somebody else.
func (c *Call) stopFiller() {
	f := &c.between.Filler
	if f.Playing == nil {
		return
	}
	// What the far end has of it is played: clients drop that only after Interrupted.
	heard := f.Heard(c.heardBy(c.now()))
	c.playout.Cut(c.leg.Format().Continuous)
	c.filled(heard)
}
