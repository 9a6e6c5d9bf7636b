package turn

import "parley/media"

// State is everything that is known about whose turn it is. The zero value with
// a Config is a conversation that has not begun. It is a value: keep a copy and
// the conversation can be resumed or compared from there.
type State struct {
	Config *Config
	Phase  Phase

	// The caller's voice.
	run        media.Time // length of the current run of speech or, when quiet, of silence
	speaking   bool       // a run of speech has passed StartAfter
	hot        media.Time // run of speech that is not yet a start
	lastSpeech media.Time // end of the last speech heard
	over       int        // the latest utterance that began over the agent's voice
	gap        media.Time // silence before the current run of speech
	voice      uint64     // the latest frames of the current run of speech: a bit each, set when loud
	near       int        // how much of it was the caller's own, at most, in the current turn or overlap: own
	ownAt      media.Time // when most of the latest frames were the caller's own
	background bool       // speech goes on that is not the caller's: hearBackground
	steady     int        // and how much at a stretch: stretch

	// The caller's turn.
	turn       int        // its number
	spoken     media.Time // speech in it so far
	text       string     // final text in it, joined
	partial    string     // text that may still change
	said       string     // its text when it was committed
	committed  bool       // it is committed and nothing of the reply was heard yet
	guessed    bool       // it was committed with a partial text
	base       string     // its final text without that partial
	first      int        // its first utterance
	utt        int        // the latest utterance opened
	last       int        // the latest utterance that is completely recognised
	unfinished bool       // the latest utterance goes on in the pause: finish
	finishedAt media.Time // when the latest was finished
	behindAt   media.Time // when the recogniser was last behind
	settled    bool       // a final result came since the last pause
	apologised bool       // "sorry?" was said and nothing understood since
	textAt     media.Time // when its words last changed
	asked      Question   // what the agent had asked before it
	reading    reading    // of the text in it
	paused     media.Time // the moving average of pauses, those in this turn included
	learnt     media.Time // and without them; 0: none yet

	ahead ahead // the reply begun in advance

	// The reply.
	line     Line       // the agent's own line it is; NoLine when the model made it
	toolsDue bool       // functions were called and not all have answered
	results  bool       // they have, and the follow-up waits for the caller
	hangup   bool       // the model wants to end the call
	since    media.Time // when it was asked for

	// The overlap.
	overlapAt media.Time
	ducked    bool
	answer    bool       // it is an answer, not a backchannel
	early     bool       // it began with the reply: the caller was going on with the turn
	audibleAt media.Time // the first audio of the reply
	opening   bool       // the first sentence of the reply is not played to its end
	shut      bool       // the agent may not be interrupted now

	// The first message.
	salutation   bool // the overlap began with it
	interrupted  bool // it was, and no turn committed since
	greetedAgain bool // its rest was said after that

	// Idle and end.
	held      bool
	idleAt    media.Time // when the agent will ask; 0: not armed
	reprompts int
	endAt     media.Time // when the hang-up is due; 0: not armed
	closeBy   media.Time
	reason    media.EndReason
	detail    string
}

// New returns the state of a conversation that has not begun.
func New(c *Config) State { return State{Config: c} }

// Turn is the number of the caller's current turn, from 1.
func (s *State) Turn() int { return s.turn }

// Utterance is the number of the latest utterance opened, from 1.
func (s *State) Utterance() int { return s.utt }

// Owed says whether the recogniser owes a last result for the latest utterance.
func (s *State) Owed() bool { return s.last < s.utt }

// Over says whether utterance utt began while the agent was speaking.
func (s *State) Over(utt int) bool { return utt > 0 && utt == s.over }

// Ending says why the call is being closed; empty while it is not.
func (s *State) Ending() media.EndReason { return s.reason }

// hear updates the caller's voice from one frame and says whether a run of
// speech began or ended with it.
func (s *State) hear(e Event) (began, ended bool) {
	if s.background && s.hearBackground(e) {
		return false, false
	}
	if e.Speech {
		s.hot += media.FrameTime
		s.voice <<= 1
		if e.Loud {
			s.voice |= 1
		}
		if s.own() >= ownWords {
			s.ownAt = e.Now
		}
		s.near, s.steady = max(s.near, s.own()), max(s.steady, s.stretch())
		if !s.speaking && s.hot < s.Config.StartAfter {
			return false, false
		}
		if !s.speaking {
			s.speaking, began = true, true
			s.gap = e.Now - s.hot - s.lastSpeech
			s.spoken += s.hot
		} else {
			s.spoken += media.FrameTime
		}
		s.run, s.lastSpeech = 0, e.Now
		return began, false
	}
	s.run += media.FrameTime
	if !s.speaking {
		s.hot, s.voice = 0, 0
		return false, false
	}
	if s.run < s.Config.StopAfter {
		return false, false
	}
	s.speaking, s.hot, s.voice = false, 0, 0
	return false, true
}

// listenTo takes in a recognition result and says whether it belongs to the
// caller's current turn, and whether it brought words to it.
func (s *State) listenTo(e Event) (ours, words bool) {
	// While the caller speaks, an end of the utterance in progress is one that was
	// taken back: more of it follows.
	if e.Kind == Final && e.Last && e.Utt > s.last && e.Utt <= s.utt && !(s.speaking && e.Utt == s.utt) {
		s.last = e.Utt
	}
	if s.first == 0 || e.Utt < s.first || e.Utt > s.utt {
		return false, false
	}
	known := s.heard()
	defer func() {
		if !sameWords(known, s.heard()) {
			s.textAt = e.Now
		}
	}()
	if e.Kind == Partial {
		s.partial = e.Text
		return true, e.Text != ""
	}
	before := s.text
	if s.guessed {
		// The turn was committed with a guess at this text.
		s.text, s.guessed = s.base, false
	}
	s.partial = ""
	if !s.speaking && (e.Last || !s.Config.Batch) { // a batch recogniser's piece is not the rest
		s.settled = true
	}
	s.text = join(s.text, e.Text)
	return true, e.Text != "" && !sameWords(before, s.text)
}

// Heard is the text of the caller's turn as far as it is known.
func (s *State) Heard() string {
	if s.Phase != UserSpeaking && s.Phase != Pause && s.Phase != Yielding {
		return ""
	}
	return s.heard()
}

// Silence is how long the caller has been silent at now.
func (s *State) Silence(now media.Time) media.Time { return now - s.lastSpeech }

// heard is the text of the caller's turn as far as it is known.
func (s *State) heard() string { return join(s.text, s.partial) }

// complete says whether no more text is to be expected for what was spoken.
func (s *State) complete() bool {
	return s.partial == "" && (s.settled || s.last >= s.utt)
}

func join(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + " " + b
}

// reading is what a text amounts to. It is worked out when the text changes, not
// with every frame.
type reading struct {
	known         bool
	text, partial string   // the text it is of
	asked         Question // and what it answers
	words         overlap
	complete      float64    // the probability that the turn is over
	delay         media.Time // wait after the last speech before it is
}

func (s *State) read() *reading {
	r := &s.reading
	if !r.known || r.text != s.text || r.partial != s.partial || r.asked != s.asked {
		text := s.heard()
		*r = reading{known: true, text: s.text, partial: s.partial, asked: s.asked,
			words: weigh(s.Config.Language, text), complete: s.Config.Complete(text)}
		r.delay = s.delay(text, r.complete)
	}
	return r
}

// endpoint is when the caller's turn is over if nothing more comes.
func (s *State) endpoint() media.Time { return s.lastSpeech + s.read().delay }

// leastDelay is the wait after any turn.
func (s *State) leastDelay() media.Time {
	c := s.Config
	return min(c.MaxDelay, max(c.MinDelay, min(s.learnt, c.LearntMax)))
}

// patient says that the text of the turn is still waited for.
func (s *State) patient(now media.Time) bool {
	c := s.Config
	from := s.lastSpeech
	if c.Batch { // it was asked later
		from = s.finishedAt
	}
	return s.unfinished || now < from+c.Recogniser || now < min(s.behindAt+c.Recogniser, from+c.BehindMax)
}

// delay is the wait after a turn with this text, which is over with probability p:
// short when it sounds complete.
func (s *State) delay(text string, p float64) media.Time {
	c := s.Config
	f := media.Time(0) // share of the way from the least to MaxDelay, in hundredths
	switch {
	case p >= 0.75:
	case p >= 0.5:
		f = 25
	case p >= 0.3:
		f = 60
	default:
		f = 100
	}
	least := s.leastDelay()
	d := least + (c.MaxDelay-least)*f/100
	if s.asked == DictationQuestion || endsInDigits(c.Language, text) {
		d += c.DigitDelay
	}
	return d
}

// pausedFor notes a pause after which the caller went on with the turn. It counts for
// the turns after this one.
func (s *State) pausedFor(d media.Time) {
	if s.paused == 0 {
		s.paused = s.Config.MinDelay
	}
	s.paused = (9*s.paused + d) / 10
}
