package openai

import (
	"strings"
	"time"

	"parley/inference"
	"parley/inference/duplex"
	"parley/media"
	"parley/media/resample"
)

const (
	// replyStall is how long OpenAI may say nothing of a reply that it owes.
	replyStall = 10 * time.Second
	// wordsWait is how long the words of a turn may be missing. The slowest hundredth takes 1.7 s.
	wordsWait = 2 * time.Second
)

// conversation is what is said in one session. OpenAI makes one reply at a time, so they are asked for one after the other.
type conversation struct {
	*realtime
	duplex.Order
	config  inference.RealtimeConfig
	up      *resample.Stream
	current *realtimeReply            // the reply that was asked for last and is not complete; nil: there is none
	waiting []string                  // instructions of replies that are to be asked for
	came    time.Time                 // when something of the current reply came last
	replies map[string]*realtimeReply // by response
	names   map[string]string         // of functions, by call
}

// realtimeReply is a reply.
type realtimeReply struct {
	response     string // OpenAI's name for it; empty: it has not begun
	instructions string
	parts        []*realtimePart
	calls        bool // it calls functions
	cut          bool // nothing more of it is reported but its end
}

// realtimePart is one message of a reply, with its samples so far.
type realtimePart struct {
	item    string
	samples int
}

// Due implements duplex.Connection.
func (c *conversation) Due(now time.Time) (time.Duration, error) {
	wait := replyStall
	if c.current != nil {
		if wait -= now.Sub(c.came); wait <= 0 {
			return 0, c.Fault(inference.ErrFailed, inference.ErrStalled)
		}
	}
	return min(wait, c.Order.Due(now)), nil
}

// Commit implements duplex.Connection.
func (c *conversation) Commit() { c.Send(object{"type": "input_audio_buffer.commit"}) }

// Reply implements duplex.Connection.
func (c *conversation) Reply(instructions string) {
	c.waiting = append(c.waiting, instructions)
	c.next()
}

// next asks for the next reply, unless there is one.
func (c *conversation) next() {
	if c.current != nil || len(c.waiting) == 0 {
		return
	}
	c.current, c.came = &realtimeReply{instructions: c.waiting[0]}, time.Now()
	c.waiting = c.waiting[1:]
	event := object{"type": "response.create", "event_id": replyEvent}
	if i := c.current.instructions; i != "" { // which stand for those of the session
		event["response"] = object{"instructions": strings.TrimSpace(duplex.Prompt(c.config) + "\n\n" + i)}
	}
	c.Send(event)
}

// Interrupt implements duplex.Connection.
func (c *conversation) Interrupt(item string) {
	if p := c.current; p != nil && item != "" && p.response == item && !p.cut {
		p.cut = true
		c.Send(object{"type": "response.cancel", "response_id": item})
	}
}

// Truncate implements duplex.Connection. OpenAI refuses more than it has sent of a message, and may be silent for good then.
func (c *conversation) Truncate(item string, heard time.Duration) {
	p := c.replies[item]
	if p == nil {
		return
	}
	for _, m := range p.parts {
		length := media.Rate24k.Duration(m.samples).Duration()
		if heard < length {
			end := max(0, heard)
			m.samples = media.FromDuration(end).Samples(media.Rate24k)
			c.Send(object{"type": "conversation.item.truncate", "item_id": m.item, "content_index": 0, "audio_end_ms": end.Milliseconds()})
		}
		heard -= length
	}
}

// ToolResult implements duplex.Connection.
func (c *conversation) ToolResult(id, output string) {
	c.item(object{"type": "function_call_output", "call_id": id, "output": output})
}

// Update implements duplex.Connection.
func (c *conversation) Update(prompt string, tools []inference.Tool) {
	c.config.Prompt, c.config.Tools = prompt, tools
	c.Send(object{"type": "session.update", "session": c.instructed()})
}
