package turn

import "parley/media"

// Scores of a pause. A recogniser that finds the ends of turns itself, or a scorer that
// judges a pause by its sound, knows more than the words tell: its probability takes the
// place of theirs in the pause that it is of. With EngineTurns the recogniser's end of a
// turn is the end of turn, and without one silence for MaxDelay is; a scorer is not asked then.

// score is what an engine says of the caller's present pause, and the tone before it.
type score struct {
	Stage scoreStage
	Prob  float64
	Tone  Tone
}

type scoreStage uint8

const (
	unscored scoreStage = iota
	scored              // Prob is the probability that the turn has ended
	ended               // the recogniser has ended the turn
)

// scored takes what an engine says. Of another pause than the present one it says nothing.
func (s *step) scored(e Event) {
	ends := e.Kind == EngineEnd && s.cfg.engineTurns()
	switch {
	case s.Phase == UserSpeaking && ends && s.Caller.heard() != "":
		s.background() // the detector hears somebody else, or a noise
	case s.Phase != Pause || e.Kind == Scored && e.Pause != s.Voice.LastSpeech:
		return
	}
	before := s.Score.Stage
	s.unscore()
	switch {
	case e.Kind == Unscored:
		s.dropSpeculation()
	case ends, before == ended:
		s.Score = score{Stage: ended, Prob: e.Prob}
	default:
		s.Score = score{Stage: scored, Prob: e.Prob}
	}
	s.Reading.Delay = 0 // to be worked out again
	s.checkFinish()
	s.checkEndpoint()
	s.checkSpeculate()
}

// ask has the scorer judge the pause that has begun, or whose words have changed, while its answer can still count: until the
// turn ends without it.
func (s *step) ask() {
	c := s.cfg
	if !c.Scorer || c.engineTurns() || s.Phase != Pause {
		return
	}
	delay := s.read().Delay
	if !s.textComplete() {
		delay = max(delay, c.Recogniser)
	}
	if wait := s.Voice.LastSpeech + delay - s.now; wait > 0 {
		s.do(Action{Kind: AskScore, Text: s.Caller.heard(), Pause: s.Voice.LastSpeech, Wait: wait})
	}
}

// unscore forgets what was said of the pause.
func (s *step) unscore() {
	if s.Score != (score{}) {
		s.Score, s.Reading.Delay = score{}, 0
	}
}

// intone takes the tone of the speech before the pause.
func (s *step) intone(t Tone) {
	s.Score.Tone, s.Reading.Delay = t, 0
}

// complete is the probability that a turn with this text has ended. Where the words leave it open the tone tells more.
func (s *step) complete(text string) float64 {
	if s.Score.Stage != unscored {
		return s.Score.Prob
	}
	p := s.cfg.Complete(text)
	if p >= likelyEnd && p < sureEnd {
		switch s.Score.Tone {
		case Falling:
			return sureEnd
		case Level:
			return commaEnd
		}
	}
	return p
}

// scoredDelay is the wait after the last speech where the recogniser ends turns.
func (s *step) scoredDelay() media.Time {
	if s.Score.Stage == ended {
		return 0
	}
	return s.cfg.MaxDelay
}
