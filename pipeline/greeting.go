package pipeline

import (
	"strings"

	"parley/pipeline/playout"
	"parley/pipeline/turn"
)

// greeting follows the first message when it is interrupted.
type greeting struct {
	rest    string // from the beginning of the sentence that was interrupted; empty: it was not
	unheard string // from the first word that was not heard
}

// line is what the agent says for a line; of a first message that was interrupted, the
// rest.
func (c *Call) line(l turn.Line) string {
	if l == turn.Greeting && c.greeting.rest != "" {
		return c.greeting.rest
	}
	return c.agent.Line(l)
}

// greeted notes how much of the first message was heard, up to h.
func (c *Call) greeted(outcome Outcome, heard string, h playout.Position) {
	if outcome != Cut {
		if outcome == Committed {
			c.greeting = greeting{}
		}
		c.lines.greeted()
		return
	}
	list := pieces(c.line(turn.Greeting), c.agent.Language)
	all := strings.Join(list, " ")
	from := 0
	if h.Gen == c.reply.gen && !c.reply.voice.retried { // else the sentences are others
		from = min(h.Seg, len(list))
	}
	c.greeting = greeting{rest: strings.Join(list[from:], " "), unheard: strings.TrimSpace(strings.TrimPrefix(all, heard))}
}
