package pipeline

import (
	"strings"

	"parley/inference"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/playout"
	"parley/pipeline/turn"
	"parley/pipeline/wordtime"
)

// A caller who waits for a function hears that they are not forgotten: after
// fillAfter when nothing was said in this turn, else after fillEvery.
const (
	fillAfter = 900 * media.Millisecond
	fillEvery = 6 * media.Second
)

// filler is speech that fills a wait. It is no reply: nothing is interrupted when the
// caller speaks over it, and the model is not told of it.
type filler struct {
	count   int        // in this turn
	begun   media.Time // when the turn first waited for a function; 0: it has not
	said    bool       // something was said in this turn
	since   media.Time // when that was over, or the last filler began
	gen     int        // of the fillers' sentences: below 0
	playing *playout.Sentence
	number  int // public generation, and turn, that it belongs to
	turn    int
}

// next begins a turn: nothing was said in it.
func (f *filler) next() { f.count, f.begun, f.said = 0, 0, false }

// fill speaks when the wait has become long, and stops when the caller speaks.
func (c *Call) fill() {
	f, now := &c.tools.fill, c.clock()
	switch {
	case f.playing == nil:
		if !c.playout.Silent() {
			f.said, f.since = true, now
		}
	case c.playout.Silent():
		c.filled(f.playing.Text)
	case c.state.Phase == turn.UserSpeaking, c.state.Phase == turn.Pause:
		c.hush()
	}
	if c.state.Phase != turn.ToolWait || !c.tools.running() || c.rings() != nil {
		return
	}
	if f.begun == 0 {
		f.begun = now
	}
	due := f.begun + fillAfter
	if f.said {
		due = f.since + fillEvery
	}
	if now >= due && f.count < agent.Fillers && !c.tools.keys.open() && c.resting() {
		c.sayFiller(now)
	}
}

// resting says that the agent neither speaks nor is about to.
func (c *Call) resting() bool {
	return c.heldAt.IsZero() && !c.reply.live() && c.playout.Silent() && c.state.Phase == turn.ToolWait
}

// sayFiller plays the next filler, if it was made ahead: one that had to be made now
// would come with what it is to bridge.
func (c *Call) sayFiller(now media.Time) {
	f := &c.tools.fill
	text := c.agent.Filler(f.count)
	f.count++
	f.said, f.since = true, now
	s := &playout.Sentence{Gen: f.gen - 1, Text: text, Complete: true}
	for _, chunk := range c.observer.ObserveAudio(c.fillerAudio(text)) {
		s.Append(chunk)
	}
	if s.Length() == 0 {
		return
	}
	f.gen--
	f.playing, f.number, f.turn = s, c.number, c.reply.turn
	c.playout.Follow(s.Gen)
	c.emit(Event{Kind: Speaking, Turn: f.turn, Generation: f.number})
	c.emit(Event{Kind: AgentPartial, Turn: f.turn, Generation: f.number, Text: text})
	c.playout.Add(s)
}

// fillerAudio is the audio of a filler, without its marks; none when it was not made
// ahead.
func (c *Call) fillerAudio(text string) (made []inference.Chunk) {
	for _, p := range pieces(text, c.agent.Language) {
		for _, chunk := range c.lines.get(lineKey(&c.agent, c.agent.Form(p))) {
			made = append(made, inference.Chunk{Samples: chunk.Samples, Rate: chunk.Rate})
		}
	}
	return made
}

// filled is the end of a filler, of which text was heard.
func (c *Call) filled(text string) {
	f := &c.tools.fill
	s := f.playing
	f.playing = nil
	if text == "" {
		return
	}
	how := &wordtime.Said{}
	if how.Words, how.Estimated = s.Words(len(strings.Fields(text))); text != s.Text {
		how.Interrupted, how.Cut, how.Unheard = true, c.moment(), strings.TrimSpace(strings.TrimPrefix(s.Text, text))
	}
	c.emit(Event{Kind: AgentLine, Turn: f.turn, Generation: f.number, Text: text, Said: how})
}

// hush stops a filler: the caller has the floor.
func (c *Call) hush() {
	s := c.tools.fill.playing
	if s == nil {
		return
	}
	// What the far end has of it is played: a client drops that only when its user is
	// said to have interrupted, which nobody has.
	heard := s.Text
	if h := c.heardBy(c.now()); h.Gen == s.Gen {
		heard = s.Heard(h.Off)
	}
	c.playout.Cut(c.format.Continuous)
	c.filled(heard)
}

// mayWait says that the call has functions that may take their time.
func (c *Config) mayWait() bool {
	return len(c.Functions) > 0 || c.ClientTools && len(c.Agent.Tools) > 0 || c.Transfer.somebody()
}

// rehearseFillers makes their audio, which is kept as that of the other lines.
func (c *Call) rehearseFillers(a *agent.Agent) {
	if !c.cfg.mayWait() {
		return
	}
	for n := range agent.Fillers {
		for _, p := range pieces(a.Filler(n), a.Language) {
			if !c.rehearseOne(a, turn.NoLine, p) {
				return
			}
		}
	}
}
