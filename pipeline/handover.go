package pipeline

import (
	"context"
	"slices"

	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/reply"
	"parley/pipeline/toolbox"
)

// A hand-over has another agent conduct the call from here on. What that agent is comes as the Config of a call of its own,
// of which the conductor takes the agent's part; the leg, the books, the recording and the limits stay those of the call.

// HandOver is whom the agent of a call may pass its caller to. nil: nobody.
type HandOver struct {
	To []agent.Successor // no two have one name
	// Prepare makes what a call of to's would be made from on this leg. It hears when this call does. It runs beside the call; the
	// model gets the text of an error.
	Prepare func(ctx context.Context, to *agent.Successor) (*Config, error)
}

// offers says that there is somebody.
func (h *HandOver) offers() bool { return h != nil && len(h.To) > 0 }

// handOver is the function of a call whose agent may hand over.
func (c *Call) handOver() toolbox.Function {
	h := c.cfg.HandOver
	return toolbox.ToHandOver(h.To, func(ctx context.Context, to *agent.Successor) error {
		next, err := h.Prepare(ctx, to)
		if err == nil && !c.crew.Send(ctx, message{kind: msgSuccessor, text: to.Name, brief: to.Summarised(), next: next}) {
			err = context.Cause(ctx)
		}
		return err
	})
}

// takeOver has another agent conduct the call.
func (c *Call) takeOver(m message) {
	call := c.tools.Begun(toolbox.HandOver)
	if call == nil { // a replay that goes another way
		return
	}
	c.dropSpeculative(reply.Discarded)
	c.cfg.become(m.next)
	spoken, advice := c.agent.Language, c.agent.Advice
	c.agent = c.cfg.Agent
	if c.agent.Advice = advice; slices.Contains(c.agent.Follows, spoken) {
		c.agent.Speak(spoken, &c.cfg.Agent)
		c.cfg.Turn.Speak(spoken)
	}
	if m.brief {
		c.replies.History.Forget(call.ID)
	}
	c.replies.Maker = reply.NewMaker(c.cfg.LLM, c.cfg.TTS, c.cfg.Lines, &c.crew)
	c.prepareReplies()
	c.replies.Updated()
	c.tools.Functions, c.between.Notice.On = c.functions().Functions, c.agent.ListeningTone
	c.shown.TakenOver()
	// The recogniser is to expect other words, where it is no other engine.
	if old := c.caller.Renew(c.agent.Language, c.cfg.Feed.SampleRate()); c.cfg.ASR != nil {
		c.replace(old, 0)
	}
	c.observer.TakenOver(c.origin)
	c.emit(event.Event{Kind: event.HandedOver, Turn: c.state.Turn(), Text: m.text})
}

// become takes the agent's part of another configuration. The caller has been greeted: there is no first message.
func (cfg *Config) become(next *Config) {
	next.complete()
	next.Agent.FirstMessage, next.Turn.OnMachine = "", cfg.Turn.OnMachine
	cfg.Agent, cfg.Turn, cfg.Scorer, cfg.Speculation = next.Agent, next.Turn, next.Scorer, next.Speculation
	cfg.ASR, cfg.Feed, cfg.Recognised, cfg.LLM, cfg.TTS, cfg.Lines = next.ASR, next.Feed, next.Recognised, next.LLM, next.TTS, next.Lines
	cfg.Functions, cfg.Keys, cfg.Transfer, cfg.HandOver, cfg.OptOut = next.Functions, next.Keys, next.Transfer, next.HandOver, next.OptOut
}
