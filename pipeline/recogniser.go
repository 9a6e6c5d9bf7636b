package pipeline

import (
	"slices"
	"time"

	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/amd"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/listen"
	"parley/pipeline/turn"
)

// recogniser opens a stream of the recogniser for a language. It may be called beside the call.
func (c *Call) recogniser(language string) (open func() (inference.Recognition, error)) {
	cfg := inference.ASRConfig{Language: language, Detect: len(c.cfg.Agent.Follows) > 0, Hints: c.cfg.Agent.Hints(language), Format: c.cfg.Feed}
	if c.cfg.Turn.OnMachine > turn.Converse {
		cfg.Hints.Terms = slices.Concat(cfg.Hints.Terms, amd.Phrases(language))
	}
	asr := c.cfg.ASR
	return func() (inference.Recognition, error) { return asr.Open(c.crew.Life, cfg) }
}

// attach makes asr the recogniser from now on.
func (c *Call) attach(asr inference.Recognition) {
	c.cfg.Turn.StandIn = false
	info := c.cfg.ASR.Info()
	stream := c.caller.Attach(asr, info, c.state.Utterance())
	c.crew.Spawn("pipeline/recogniser", func() { c.forward(stream, info.Name, asr.Results()) })
}

// forward hands the results of an engine's stream to the conductor, and its end.
func (c *Call) forward(stream int, engine string, results <-chan inference.Result) {
	failed := listen.Forward(engine, results, func(r inference.Result) bool {
		return c.crew.Send(c.crew.Life, message{kind: msgResult, seg: stream, result: r})
	})
	c.crew.Send(c.crew.Life, message{kind: msgStreamEnded, seg: stream, err: failed})
}

// engineEvents are what a recogniser that finds the ends of turns says of them. The beginning of speech
// is not among them: barge-in is decided by the detector, which knows the echo.
var engineEvents = map[inference.Event]turn.EventKind{
	inference.EventEagerEnd: turn.Scored, inference.EventResumed: turn.Unscored, inference.EventTurnEnd: turn.EngineEnd,
}

// recognised takes a result of the recogniser.
func (c *Call) recognised(res inference.Result) {
	if res.Event != inference.EventText {
		if kind := engineEvents[res.Event]; kind != 0 {
			since, _ := c.state.Paused()
			c.step(turn.Event{Kind: kind, Prob: res.EndProb, Pause: since})
		}
		return
	}
	c.heardOf(res)
	if c.caller.Served(res.Engine) {
		c.cfg.Turn.Batch = c.observer.ObserveBool(journal.Batch, c.cfg.ASR.Info().Feed == inference.FeedBatch)
		c.cfg.Turn.StandIn = c.cfg.Turn.EngineTurns && !c.observer.ObserveBool(journal.EndsTurns, c.cfg.ASR.Info().Caps.Turns)
	}
	if res.Text != "" {
		c.serves(agent.StageASR, res.Engine, c.cfg.ASR)
	}
	res.Utterance += c.caller.Offset()
	e := turn.Event{Kind: turn.Partial, Utt: res.Utterance}
	if res.Confidence >= 0 && res.Confidence < 0.5 {
		e.Confidence = turn.Unsure
	}
	e.Text = c.caller.Recognised(res, c.state.OverAgent(e.Utt), c.now())
	if res.Final {
		if e.Kind = turn.Final; res.Last {
			e.Kind = turn.LastFinal
		}
		if res.Text != "" {
			c.step(turn.Event{Kind: turn.Words})
		}
	}
	c.step(e)
	c.caller.Owe(c.state.Owed())
	if res.Last {
		if wait, ok := c.caller.Took(e.Utt, c.now()); ok && c.cfg.Recognised != nil {
			c.cfg.Recognised(wait)
		}
	}
	if text := c.state.Heard(); text != "" {
		c.emit(event.Event{Kind: event.UserPartial, Turn: c.state.Turn(), Text: text})
	}
}

// streamEnded replaces a recogniser's stream that has ended, or ends the call where no other can be had.
func (c *Call) streamEnded(stream int, err error) {
	if old, wait := c.caller.Fallen(stream, err); old != nil {
		c.emit(event.Event{Kind: event.Fault, Turn: c.state.Turn(), Err: err})
		c.replace(old, wait)
	}
}

// relisten replaces a recogniser's stream that was opened for another language than the agent speaks.
func (c *Call) relisten() {
	if old := c.caller.Outdated(c.cfg.ASR, c.agent.Language, len(c.cfg.Agent.Follows) > 0 || c.cfg.Begins != nil); old != nil {
		c.replace(old, 0)
	}
}

// replace opens another stream of the recogniser after wait. Closing the old one, if there is one, may take a while, for which
// the caller need not wait.
func (c *Call) replace(old inference.Recognition, wait time.Duration) {
	open := c.recogniser(c.caller.Language)
	if old != nil {
		c.crew.Spawn("pipeline/recogniser-fallen", old.Close)
	}
	c.crew.Spawn("pipeline/recogniser-again", func() {
		m := message{kind: msgRecogniser}
		if m.asr = listen.Reopen(c.crew.Life, wait, open); m.asr == nil {
			m.kind = msgGivenUp
		}
		if !c.crew.Send(c.crew.Life, m) && m.asr != nil {
			m.asr.Close()
		}
	})
}
