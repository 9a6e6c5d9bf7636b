package pipeline

import (
	"errors"
	"slices"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/amd"
	"parley/pipeline/turn"
)

// A recogniser whose stream falls is opened again at once, then after waits that
// double: it may be down for good, and the call lives without it.
const (
	reopenFirst = 250 * time.Millisecond
	reopenMost  = 4 * time.Second
	// maxReplays is how many streams get to hear the same utterance: it may be what
	// brings them down.
	maxReplays = 3
)

// errStreamEnded is the fault of a recogniser that gives no reason.
var errStreamEnded = errors.New("the stream ended")

// openEar opens a stream of the recogniser.
func (c *Call) openEar() (inference.Recognition, error) {
	return c.cfg.ASR.Open(c.life, inference.ASRConfig{Language: c.cfg.Agent.Language, Hints: c.hints()})
}

// hints are what the caller may be expected to say.
func (c *Call) hints() inference.Hints {
	a := &c.cfg.Agent
	h := inference.Hints{Terms: a.Phrases, Context: a.FirstMessage, Prompt: a.Prompt}
	if c.cfg.Answering.waits() {
		h.Terms = append(slices.Clone(h.Terms), amd.Phrases(a.Language)...)
	}
	return h
}

// listen makes asr the recogniser from now on. What it owes of the utterance in
// progress it is told again.
func (c *Call) listen(asr inference.Recognition) {
	c.stream++
	c.ear.open(asr, c.state.Utterance(), c.fallen <= maxReplays)
	stream := c.stream
	c.spawn("pipeline/recogniser", func() { c.forward(stream, asr.Results()) })
}

// forward hands the recogniser's results to the conductor, and its end.
func (c *Call) forward(stream int, results <-chan inference.Result) {
	failed := error(&inference.Error{Engine: c.cfg.ASR.Info().Name, Fault: inference.ErrFailed, Err: errStreamEnded})
	for r := range results {
		if r.Err != nil {
			failed = r.Err
			break
		}
		if !c.post(c.life, message{kind: msgResult, seg: stream, result: r}) {
			return
		}
	}
	c.post(c.life, message{kind: msgDeaf, seg: stream, err: failed})
}

// recognised takes a result of the recogniser.
func (c *Call) recognised(stream int, res inference.Result) {
	if stream != c.stream {
		return
	}
	c.heardOf(res)
	if res.Text != "" {
		c.serves(agent.StageASR, &c.serving.asr, res.Engine, c.cfg.ASR)
	}
	e := turn.Event{Kind: turn.Partial, Utt: res.Utterance + c.ear.offset, Last: res.Last, Text: res.Text,
		Unsure: res.Confidence >= 0 && res.Confidence < 0.5}
	if c.said.echoes(res.Text, c.state.OverAgent(e.Utt), c.echo.found, c.now()) {
		e.Text = ""
	}
	c.uttered.recognised(e.Utt, recognisedText{e.Text, res.Words}, res.Final, c.now())
	if res.Final {
		e.Kind = turn.Final
		c.fallen = 0
		if res.Text != "" {
			c.spokenInstead()
		}
	}
	c.step(e)
	c.ear.owed = c.state.Owed() || c.ear.feeds
	if res.Last {
		if wait, ok := c.ear.took(e.Utt, c.now()); ok && c.cfg.Recognised != nil {
			c.cfg.Recognised(wait)
		}
	}
	if text := c.state.Heard(); text != "" && text != c.shown {
		c.shown = text
		c.emit(Event{Kind: UserPartial, Turn: c.state.Turn(), Text: text})
	}
}

// behind says that the recogniser has not heard all that the caller said before the pause.
// It is asked when the turn could rest on what it has heard.
func (c *Call) behind() bool {
	r, knows := c.ear.asr.(inference.Lagging)
	return knows && c.state.Phase == turn.Pause && c.state.Owed() && r.Lag() > 0
}

// deafened replaces a recogniser's stream that has ended. Closing the old one may
// take a while, for which the caller need not wait.
func (c *Call) deafened(stream int, err error) {
	if stream != c.stream || c.ear.asr == nil {
		return
	}
	c.emit(Event{Kind: Fault, Turn: c.state.Turn(), Err: err})
	old := c.ear.asr
	c.ear.asr, c.ear.asked = nil, [maxAsked]time.Time{}
	wait := time.Duration(0)
	if c.fallen > 0 {
		wait = min(reopenMost, reopenFirst<<min(c.fallen-1, 8))
	}
	c.fallen++
	c.spawn("pipeline/recogniser-fallen", old.Close)
	c.spawn("pipeline/recogniser-again", func() { c.reopen(wait) })
}

// reopen opens the recogniser again, as often as it takes.
func (c *Call) reopen(wait time.Duration) {
	for {
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-c.life.Done():
			t.Stop()
			return
		}
		asr, err := c.openEar()
		if err == nil {
			if !c.post(c.life, message{kind: msgEar, asr: asr}) {
				asr.Close()
			}
			return
		}
		wait = min(reopenMost, max(reopenFirst, 2*wait))
	}
}

// hear takes every frame that is ready.
func (c *Call) hear(now time.Time) {
	for f, ok := c.leg.Read(now); ok; f, ok = c.leg.Read(now) {
		if c.asks.who != nil {
			c.asks.who.Listen(f)
		}
		c.echo.listen(f)
		clean, a := c.cfg.Listener.Hear(f)
		a.Speech = c.echo.speech(a.Speech)
		a, behind := c.witness(a)
		c.ear.push(clean)
		c.wallAt = now
		c.levels.hear(a.Level)
		if a.Speech {
			c.levels.speech(a.Level)
			c.active = now
		}
		e := turn.Event{Kind: turn.Frame, Speech: a.Speech, Loud: c.levels.loud(a.Level), Behind: behind}
		if r := c.reply; r != nil {
			e.Question, e.First = c.question(r), c.opening(r)
			if r.live {
				e.Tail = turn.Unfinished
			}
			if r.live && r.made {
				e.Tail = c.playout.Remaining(c.playedBy(now))
			}
		}
		e.MaySpeculate = c.mayAdvance()
		c.step(e)
		c.weigh(a)
	}
}

func (c *Call) legEvent(e media.LegEvent) {
	switch e.Kind {
	case media.LegDigit:
		c.active = c.now()
		if c.key(e.Digit, c.active) {
			return
		}
		c.stray(e.Digit, c.active)
		c.step(turn.Event{Kind: turn.Digit})
	case media.LegHold:
		c.putOnHold()
	case media.LegResume:
		c.resumed()
	}
}

// putOnHold stops everything that waits for the caller. The leg takes no audio meanwhile.
func (c *Call) putOnHold() {
	if c.heldAt.IsZero() {
		c.heldAt = c.now()
		c.step(turn.Event{Kind: turn.Held})
	}
}

// resumed goes on after a hold. A sentence that it interrupted is said again.
func (c *Call) resumed() {
	if c.heldAt.IsZero() {
		return
	}
	now := c.now()
	if k := &c.tools.keys; !k.by.IsZero() {
		k.by = k.by.Add(now.Sub(c.heldAt))
	}
	c.heldAt, c.active = time.Time{}, now
	if r := c.reply; r != nil {
		r.movedAt, r.quietAt = now, now
	}
	c.playout.Rewind()
	c.step(turn.Event{Kind: turn.Resumed})
}
