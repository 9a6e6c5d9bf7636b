package turn

import (
	"math/bits"

	"parley/media"
)

// The way of a frame is in this file: what the detector hears (voice), and the timers that are checked.

// Queue is the events that the machine has yet to take, of which the first is being dealt with, and what it decides of that.
type Queue struct {
	Events  []Event
	Actions []Action
}

// Add takes an event and says whether it is the only one.
func (q *Queue) Add(e Event) (alone bool) {
	q.Events = append(q.Events, e)
	return len(q.Events) == 1
}

// step carries one Step: the state being changed and the actions so far.
type step struct {
	State
	cfg  *Config
	now  media.Time
	acts []Action
}

func (s *step) do(a Action) { s.acts = append(s.acts, a) }

// Step takes one event. It appends the actions to acts, in the order in which
// they must be carried out, and returns the state after them.
func Step(c *Config, s State, e Event, acts []Action) (State, []Action) {
	m := step{State: s, cfg: c, now: e.Now, acts: acts}
	if s.Phase != Over {
		m.event(e)
	}
	return m.State, m.acts
}

func (s *step) event(e Event) {
	if s.Phase == Bridged && e.Kind != Stop || s.Speaker == supervisorSpeaks && e.Kind.ofReply() {
		return
	}
	switch e.Kind {
	case Frame:
		s.frame(e)
	case Ready:
		s.ready()
	case Adopted:
		s.adopted(e)
	case Tick:
		s.tick(e)
	case AnsweredBy, GreetedBy:
		s.answeredBy(e)
	case Partial, Final, LastFinal:
		s.result(e)
	case Scored, Unscored, EngineEnd:
		s.scored(e)
	case Words:
		s.endCollecting(bySpeech)
	case Typed:
		s.typed(e.Text)
	case Digit:
		s.digit(e.Key)
	case Collect:
		s.Collecting = collecting{Stage: collectPrompt, Number: e.Number}
	case Collected:
		s.Collecting = collecting{LateUntil: s.Collecting.LateUntil}
	case Interrupt:
		s.button()
	case FirstAudio:
		s.firstAudio(e)
	case ReplyFailed:
		s.failed()
	case ToolsCalled:
		s.toolsCalled()
	case ToolsDone:
		s.Reply.Tools = toolsDone
		s.followUp()
	case Hangup:
		s.Reply.Then = thenHangUp
	case Drained:
		s.drained()
	case Held:
		s.hold()
	case Resumed:
		s.unhold()
	case Connected:
		s.connected()
	case SteppedIn:
		s.stepIn(e)
	case SteppedOut:
		s.stepOut()
	case Stop:
		s.stop(e)
	}
}

// frame hears 20 ms of the caller and checks the timers of the phase.
func (s *step) frame(e Event) {
	if s.Idle.Held {
		s.Reply.Since += media.FrameTime
	}
	began, ended := s.hear(e)
	if e.Tone != NoTone && !began {
		s.intone(e.Tone)
	}
	s.Caller.Asked = max(s.Caller.Asked, e.Question)
	s.Speculation.Allowed = e.MaySpeculate && !s.Screens() && !s.WithMachine() && s.Speaker == agentSpeaks
	if e.Behind {
		s.Recogniser.BehindAt = s.now
	}
	opened := s.Reply.Uninterruptible
	s.Reply.Uninterruptible = s.uninterruptible(e.First)
	opened = opened && !s.Reply.Uninterruptible
	if ended {
		s.Recogniser.FinishedAt, s.Recogniser.Settled = notFinished, 0
		if s.Phase == UserSpeaking {
			s.Phase = Pause
			s.ask()
		}
	}
	s.checkFinish()
	if began {
		s.unscore()
		s.speechBegan(e)
	}
	switch s.Phase {
	case UserSpeaking:
		s.checkEndless()
	case Pause:
		s.checkEndpoint()
		s.checkSpeculate()
	case Speaking:
		if opened && !began {
			s.interruptible(e)
		}
	case Yielding:
		s.checkOverlap()
	case Thinking:
		s.checkThink()
	case Listening:
		s.checkIdle()
	case Closing:
		s.checkEnd()
	}
}

// tick checks the timers that do not belong to the caller's audio: of fillers and of keys.
func (s *step) tick(e Event) {
	if s.Collecting.Stage != collectOff {
		s.checkCollecting(e)
	}
	if e.Output == Sounding {
		s.Fillers.After = s.now
	}
	if e.Output == Filling || s.Phase == ToolWait {
		s.checkFiller(e)
	}
	if s.Pressed.Keys != "" {
		s.checkPressed()
	}
}

// Screens says that it is not known yet who answered.
func (s *State) Screens() bool { return s.Screening.Stage != screeningOff }

// WithMachine says that a machine answered which does not get a conversation.
func (s *State) WithMachine() bool { return s.Screening.By == Machine }

// uninterruptible says that the caller may not interrupt the agent now. opening says that
// the first sentence of the reply is not played to its end.
func (s *step) uninterruptible(opening bool) bool {
	policy := s.cfg.Barge
	if s.Reply.Line == Greeting {
		policy = s.cfg.Greeting
	}
	return policy == Never || s.WithMachine() || policy == AfterFirst && opening
}

// checkFinish finishes the utterance after which the caller has been silent for long enough.
func (s *step) checkFinish() {
	if s.Recogniser.FinishedAt != notFinished {
		return
	}
	if wait := s.finishAfter(); wait > 0 && (s.Voice.SpeechRun > 0 || s.now < s.Voice.LastSpeech+wait) {
		return
	}
	s.finish()
}

// checkEndless ends a turn that would never end. With a television or other people behind
// the caller the detector may hear speech for ever. The turn then ends by its text: when
// that has not changed for TextStable and the caller's own level was not heard meanwhile,
// or for three times as long at any level; and when speech has gone on for SpeechMax
// without a pause. What goes on after that is background.
func (s *step) checkEndless() {
	c, v, textAt := s.cfg, &s.Voice, s.Caller.TextAt
	stable := c.TextStable > 0 && s.Caller.heard() != "" && v.SpeechRun >= c.TextStable &&
		(s.now-max(textAt, v.OwnAt) >= c.TextStable || s.now-textAt >= 3*c.TextStable)
	if !stable && (c.SpeechMax <= 0 || v.SpeechRun < c.SpeechMax) {
		return
	}
	s.background()
	s.finish()
}

// background takes what the detector hears for something behind the caller: the caller pauses.
func (s *step) background() {
	v := &s.Voice
	v.Kind, v.SpeechRun, v.Own, v.SilenceRun = voiceBackground, 0, 0, 0
	s.Recogniser.FinishedAt, s.Recogniser.Settled = notFinished, 0
	s.Phase = Pause
}

func (s *step) checkIdle() {
	if s.Idle.Held || s.Idle.At == 0 || s.now < s.Idle.At {
		return
	}
	if s.Idle.Reprompts >= s.cfg.Reprompts {
		s.stop(Event{Reason: media.AgentHangup, Detail: "idle", Line: Goodbye})
		return
	}
	s.Idle.Reprompts++
	s.say(Reprompt)
}

// heard is the text of the turn as far as it is known.
func (t *callerTurn) heard() string { return join(t.Text, t.Partial) }

// join appends text to a text.
func join(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + " " + b
}

// voice is what the detector hears of the caller.
type voice struct {
	Kind       voiceKind
	SpeechRun  media.Time // speech without a pause; what is shorter than StartAfter may be a click
	SilenceRun media.Time // silence since the latest speech
	LastSpeech media.Time // end of the last speech heard
	Gap        media.Time // silence before the current run of speech
	Own        uint64     // the latest frames of the current run of speech: a bit each, set when at the caller's own level
	OwnFrames  int        // the most of the latest 16 that were, in the current turn or overlap
	OwnRun     int        // the most of them at a stretch
	OwnAt      media.Time // when most of the latest frames were the caller's own
}

// voiceKind says what the detector hears at the moment.
type voiceKind uint8

const (
	voiceQuiet      voiceKind = iota
	voiceSpeech               // a run of speech has passed StartAfter
	voiceBackground           // speech goes on that is not the caller's: checkEndless
)

// The barge-in level gate. Of the latest 16 frames (320 ms) at least ownStop, for a stop
// word, which is short, or ownWords, for other words, must be within 12 dB of the caller's
// learned speech level; where no word says so, ownPercent of those of BargeInAfter. It
// keeps background talkers from interrupting: now and then a person behind the caller is
// as loud for a syllable, and recognisers are sure of words in what they say. Of eight
// people 10 dB behind the caller eleven frames of sixteen were the most in half an hour.
// Of "stop" the vowel alone is loud, six frames in some voices, but at a stretch
// (ownStretch), which happened in one of two hundred overlaps of those people.
const (
	ownWindow  = 16
	ownStop    = 10
	ownStretch = 6
	ownWords   = 12
	ownPercent = 73
)

// add takes a frame: own says that it is speech at the caller's own level.
func (v *voice) add(own bool) {
	v.Own <<= 1
	if own {
		v.Own |= 1
	}
}

// ownFrames is how many of the latest frames are at the caller's own level.
func (v *voice) ownFrames() int { return bits.OnesCount64(v.Own & (1<<ownWindow - 1)) }

// ownRun is how many of them are so without a gap.
func (v *voice) ownRun() int { return bits.TrailingZeros64(^v.Own) }

// hear updates the caller's voice from one frame and says whether a run of speech began
// or ended with it.
func (s *step) hear(e Event) (began, ended bool) {
	v := &s.Voice
	if v.Kind == voiceBackground && s.hearBackground(e) {
		return false, false
	}
	if e.Speech == NoSpeech {
		v.SilenceRun += media.FrameTime
		ended = v.Kind == voiceSpeech && v.SilenceRun >= s.cfg.StopAfter
		if ended || v.Kind != voiceSpeech {
			v.Kind, v.SpeechRun, v.Own = voiceQuiet, 0, 0
		}
		return false, ended
	}
	v.SpeechRun += media.FrameTime
	v.add(e.Speech == CallerSpeech)
	if v.ownFrames() >= ownWords {
		v.OwnAt = e.Now
	}
	v.OwnFrames, v.OwnRun = max(v.OwnFrames, v.ownFrames()), max(v.OwnRun, v.ownRun())
	switch {
	case v.Kind == voiceSpeech:
		s.Caller.Spoken += media.FrameTime
	case v.SpeechRun < s.cfg.StartAfter:
		return false, false
	default:
		v.Kind, began = voiceSpeech, true
		v.Gap = e.Now - v.SpeechRun - v.LastSpeech
		s.Caller.Spoken += v.SpeechRun
	}
	v.SilenceRun, v.LastSpeech = 0, e.Now
	return began, false
}

// hearBackground takes a frame while what is heard counts as background, and says
// whether it still does: until it pauses or the caller's own voice comes.
func (s *step) hearBackground(e Event) bool {
	v := &s.Voice
	v.add(e.Speech == CallerSpeech)
	if v.SilenceRun += media.FrameTime; e.Speech != NoSpeech {
		v.SilenceRun = 0
	}
	if v.SilenceRun < s.cfg.StopAfter && v.ownFrames() < ownWords {
		return true
	}
	v.Kind, v.Own = voiceQuiet, 0
	return false
}
