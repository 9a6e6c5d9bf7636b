package turn

import "parley/media"

// Policy says whether the caller may interrupt the agent.
type Policy uint8

// The interruption policies.
const (
	Always     Policy = iota
	Never             // speech is kept and answered afterwards
	AfterFirst        // as Never, until the first sentence of the reply was heard
)

// Config holds one conversation's settings. Journals keep it under the names of its JSON.
type Config struct {
	Language string // two letters, for the word lists

	// The detector.
	StartAfter media.Time // speech this long opens the caller's turn (60 ms)
	StopAfter  media.Time // silence this long is a pause (100 ms)

	// Endpointing.
	MinDelay    media.Time // wait after the last speech when the words of the turn sound complete (950 ms)
	ScoredDelay media.Time // instead of MinDelay where it is longer, when an engine says that the turn has ended (450 ms); 0: as MinDelay
	LikelyDelay media.Time // added to MinDelay when the words may be all, and often are not (600 ms)
	MaxDelay    media.Time // wait when they sound incomplete (2.4 s)
	LearntMax   media.Time // the most that either shortest wait becomes for callers who pause within their turns (600 ms)
	DigitDelay  media.Time // added when the last words are digits or spelling, or when the agent asked for such (600 ms)

	// Recogniser is how long after the last speech a final result may take
	// before the partial text is trusted, or silence means nothing was heard. While the
	// recogniser is Behind it may take BehindMax (5 s): what it has heard so far is a part.
	Recogniser, BehindMax media.Time
	// Batch is a recogniser whose every end of an utterance is a request: an utterance is
	// finished when there is a candidate for the end of the turn (finishAfter), not at each pause.
	Batch bool `json:",omitempty"`
	// EngineTurns leaves the end of turn to a recogniser that finds it: an utterance is
	// finished when it has, or after MaxDelay.
	EngineTurns bool `json:",omitempty"`
	// EagerEnds is such a recogniser that also says early when the turn has likely ended: a speculative
	// reply is begun then, and answers the turn unless the recogniser takes that back.
	EagerEnds bool `json:",omitempty"`
	// StandIn is a recogniser that finds no ends of turns and took over from one that does: the words end them.
	StandIn bool `json:"-"`
	// Scorer says that there is one to judge pauses, by AskScore.
	Scorer bool `json:"-"`

	NoiseMax media.Time // speech shorter than this without words is noise (700 ms)

	// TextStable is how long the text of a turn stays the same, while speech that is not
	// the caller's goes on, before the turn ends (2 s), and SpeechMax how long speech
	// lasts without a pause (30 s); 0: neither ends it.
	TextStable, SpeechMax media.Time

	// Barge-in.
	FalseInterruptionTimeout media.Time `json:"Verdict"`     // an overlap undecided for this long is a false interruption (700 ms)
	BargeInAfter             media.Time `json:"OverlapMax"`  // continuous speech this long interrupts (600 ms)
	OverlapSilence           media.Time `json:"OverlapIdle"` // silence this long in an overlap without words ends it (400 ms)
	AnswerWindow             media.Time `json:"TailAnswer"`  // speech over the last part of a reply answers it (500 ms)
	// Salutation is how long speech may be that begins with the first message to be taken
	// for a salutation, which does not interrupt (1.2 s); 0: all speech may.
	Salutation media.Time
	Barge      Policy // nothing interrupts a message for a machine
	Greeting   Policy // the policy for the agent's first message
	Keys       bool   // a key that the caller presses interrupts, where speech would

	// A speculative reply is begun after SpeculateAfter of silence (120 ms), when the text
	// is final or has not changed for SpeculateStable (80 ms), SpeculateMost times in a
	// turn (2) of at most SpeculateSpeech of speech (20 s).
	SpeculateAfter  media.Time `json:"AdvanceAfter"`
	SpeculateStable media.Time `json:"AdvanceSteady"`
	SpeculateSpeech media.Time `json:"AdvanceSpeech"`
	SpeculateMost   int        `json:"AdvanceMost"`

	Idle      media.Time // silence after which the agent asks (10 s); 0: never
	Reprompts int        // how often it asks before it says goodbye (2)

	Announce media.Time `json:",omitempty"` // how often who waits for a transfer hears that they are on hold; 0: never

	Think      media.Time // a reply without audio for this long has failed (15 s)
	HangupGap  media.Time // silence between the last word and the hang-up (200 ms)
	ClosingMax media.Time // the longest last words may take (8 s)

	OnMachine OnMachine `json:"-"` // what a machine gets that answers an outbound call

	// Complete is the probability, 0 to 1, that a turn with this text has ended.
	Complete func(text string) float64 `json:"-"`
}

// engineTurns says that the recogniser in use ends turns.
func (c *Config) engineTurns() bool { return c.EngineTurns && !c.StandIn }

// Speak changes the language of the words.
func (c *Config) Speak(language string) {
	c.Language, c.Complete = language, DefaultConfig(language).Complete
}

// DefaultConfig is what a conversation in language starts from.
func DefaultConfig(language string) Config {
	const ms = media.Millisecond
	return Config{
		Language:   language,
		StartAfter: 60 * ms, StopAfter: 100 * ms,
		MinDelay: 950 * ms, ScoredDelay: 450 * ms, LikelyDelay: 600 * ms, MaxDelay: 2400 * ms, LearntMax: 600 * ms, DigitDelay: 600 * ms,
		Recogniser: 600 * ms, BehindMax: 5 * media.Second, NoiseMax: 700 * ms,
		TextStable: 2 * media.Second, SpeechMax: 30 * media.Second,
		FalseInterruptionTimeout: 700 * ms, BargeInAfter: 600 * ms, OverlapSilence: 400 * ms, AnswerWindow: 500 * ms,
		Salutation: 1200 * ms, Keys: true,
		SpeculateAfter: 120 * ms, SpeculateStable: 80 * ms, SpeculateSpeech: 20 * media.Second, SpeculateMost: 2,
		Idle: 10 * media.Second, Reprompts: 2,
		Think: 15 * media.Second, HangupGap: 200 * ms, ClosingMax: 8 * media.Second,
		Complete: func(text string) float64 { return Complete(language, text) },
	}
}
