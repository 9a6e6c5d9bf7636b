package pipeline

import (
	"context"
	"log/slog"
	"time"

	"parley/inference"
	"parley/media"
	"parley/media/record"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/listen"
	"parley/pipeline/reply"
	"parley/pipeline/scribe"
	"parley/pipeline/tool"
	"parley/pipeline/toolbox"
	"parley/pipeline/turn"
)

// Config is everything a call needs. It is not changed after New, but by the conductor: the language of Turn, and who ends turns in it;
// and in a hand-over the agent's part. Goroutines beside the call are given what they need of that.
type Config struct {
	Agent    agent.Agent
	ASR      inference.ASR    // nil: typed turns only
	Feed     inference.Format // in which ASR gets the caller's audio, as its Info takes it; zero: 16 kHz PCM
	LLM      inference.LLM
	TTS      inference.TTS
	Lines    *reply.Lines    // of all calls; nil: the call makes its own
	FrontEnd listen.FrontEnd // denoiser and voice activity detector
	// Answering is answering-machine detection; nil: there is none.
	Answering *journal.Answering
	Turn      turn.Config // zero Complete: turn.DefaultConfig of the agent's language
	// Scorer judges the caller's pauses, beside the words; nil: nobody does.
	Scorer inference.TurnScorer

	// ClientTools says that the observer can run Agent.Tools; when it is false
	// they are not offered to the model.
	ClientTools bool
	ToolTimeout time.Duration // how long a function of the client may take; 0: 10 s
	// Functions are run by this server. No two have one name, nor one the name of a
	// function of the call itself: Prepare refuses that.
	Functions []tool.Function
	// Keys are the functions of a telephone's keys, toolbox.SendDTMF and CollectDigits, that the
	// agent has on a leg that is a media.Keypad.
	Keys     []string
	Transfer *bridge.Transfer // nil: there are no transfers
	HandOver *HandOver        // nil: there are no hand-overs
	OptOut   DoNotCall        // nil: there is no list
	Scribe   *scribe.Scribe   // nil: what supervisors say is not written down

	Speculation reply.SpeculationLevel

	Recorder record.Keeper // nil: the call is not recorded. The End event comes after its Close
	// Journal takes what reaches the call, from which it can be replayed; nil: nothing is kept.
	Journal journal.Sink

	// Resume is how far another call was, from which this one goes on; nil: the call begins.
	Resume *journal.Conversation

	// MaxDuration ends the call with a goodbye; 0: never. It counts from Run on.
	MaxDuration time.Duration
	// Quiet ends the call without a word when neither side has spoken for this
	// long; 0: never.
	Quiet time.Duration

	// Recognised is called on the conductor's goroutine with the time that the recogniser took,
	// from the end of each utterance to its last result. It may be nil.
	Recognised func(wait time.Duration)

	// Interrupted is called on the conductor's goroutine when the caller has interrupted the agent, with how much of the
	// reply's audio they heard: an engine that remembers what it said forgets the rest. It may be nil.
	Interrupted func(heard time.Duration)

	// Begins is called on the conductor's goroutine before the first frame, with what requests will say and offer: an engine that
	// answers by itself has to know it before. It may be nil.
	Begins func(*inference.Request)

	// Meter takes what streams of the recogniser and the voice have consumed; nil: nobody does.
	Meter inference.Meter

	// OnHangup is called on the conductor's goroutine when either side has hung up, before the
	// leg and the engines are torn down: it stops the meter. It may be nil.
	OnHangup func(at time.Time)
	// Inspect reports the inside of the call to the observer, too.
	Inspect bool
	// Observe is called on the conductor's goroutine. It must not block, nor call
	// the Call back, but for Stop.
	Observe func(event.Event)
	Log     *slog.Logger
}

// New returns a call that has not begun.
func New(cfg Config) *Call {
	cfg.complete()
	cfg.Turn.OnMachine = cfg.Answering.Screening()
	c := &Call{cfg: cfg, agent: cfg.Agent, crew: newCrew(), caller: listen.Caller{Language: cfg.Agent.Language},
		observer: journal.NewObserver(cfg.Journal, journal.Live{})}
	c.replies.Maker = reply.NewMaker(cfg.LLM, cfg.TTS, cfg.Lines, &c.crew)
	if cfg.Resume != nil {
		c.resume(cfg.Resume)
	}
	return c
}

// complete sets what was left out.
func (cfg *Config) complete() {
	if cfg.Turn.Complete == nil {
		cfg.Turn = turn.DefaultConfig(cfg.Agent.Language)
	}
	if cfg.ToolTimeout == 0 {
		cfg.ToolTimeout = 10 * time.Second
	}
	if cfg.Observe == nil {
		cfg.Observe = func(event.Event) {}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.ASR == nil {
		cfg.Turn.NoiseMax = forever // without a recogniser there is no "Sorry?"
	}
	cfg.Turn.Scorer = cfg.Scorer != nil
}

// fillers is how many the agent may have to say: of functions that may take their time, and to callers who wait for a transfer.
func (c *Config) fillers() int {
	switch {
	case c.Transfer.Offers() && c.Turn.Announce > 0:
		return turn.Announcement + 1
	case len(c.Functions) > 0 || c.HandOver.offers() || c.ClientTools && len(c.Agent.Tools) > 0 || c.Transfer.Offers():
		return agent.Fillers
	}
	return 0
}

// forever is a time that no call reaches.
const forever = media.Time(1<<62 - 1)

// Prepare opens the engines for the call: the recogniser now, the agent's own
// lines in the background. ctx is the life of the whole call: its cause, a
// *media.Ended, says why the call ends. A call that was prepared must be Run or
// Closed; one that could not be is over.
func (c *Call) Prepare(ctx context.Context) error {
	c.crew.Life, c.crew.Kill = context.WithCancelCause(c.cfg.Meter.With(ctx))
	if err := toolbox.Check(c.cfg.Functions, bridge.TransferCall); err != nil {
		c.crew.Kill(err)
		return err
	}
	c.prepareReplies()
	if c.cfg.ASR != nil {
		asr, err := c.recogniser(c.agent.Language)()
		if err != nil {
			c.crew.Kill(nil)
			return err
		}
		c.attach(asr)
	}
	return nil
}

// Fit has the call hear a leg whose audio is at another rate than its configuration is for: by front, and by the recogniser in
// the format that it takes of that rate. It comes after Prepare, where the rate is known only from the answer, and before Run.
func (c *Call) Fit(rate media.Rate, front listen.FrontEnd) {
	c.cfg.FrontEnd = front
	if c.cfg.ASR == nil {
		return
	}
	info := c.cfg.ASR.Info()
	if feed := info.Takes(rate); feed != c.cfg.Feed {
		c.cfg.Feed = feed
		c.replace(c.caller.Renew(c.agent.Language, feed.SampleRate()), 0)
	}
}

// Rate is that of the audio that the leg brings. It may be asked while the call runs.
func (c *Call) Rate() media.Rate { return c.far.Format().In }

// prepareReplies has the engines get ready, and make the agent's own lines in the background.
func (c *Call) prepareReplies() {
	for _, engine := range []any{c.cfg.LLM, c.cfg.TTS} {
		c.crew.Spawn("pipeline/warm", func() { inference.Warm(c.crew.Life, engine) })
	}
	c.replies.Maker.Rehearse(c.crew.Life, c.agent, c.cfg.opening(), c.cfg.fillers())
}

// Rehearsed is closed when the first message has its audio, or cannot have it: a
// telephone call is answered then. Of a call whose process died it is the line with which the agent comes back.
func (c *Call) Rehearsed() <-chan struct{} { return c.replies.Maker.Rehearsed() }

// Close releases what Prepare opened, for a call that is not Run.
func (c *Call) Close() {
	c.crew.Kill(nil)
	c.settle()
}
