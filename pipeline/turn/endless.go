package turn

import "parley/media"

// A turn that never ends. With a television or other people behind the caller the
// detector may hear speech for ever. The turn then ends by its text: when that has not
// changed for TextStable and the caller's own level was not heard meanwhile, or for three
// times as long at any level; and when speech has gone on for SpeechMax without a pause.
// What goes on after that is background, until it pauses or the caller's own voice comes.

// endless says that the turn must be ended though speech goes on.
func (s *State) endless(now media.Time) bool {
	c := s.Config
	stable := c.TextStable > 0 && s.heard() != "" && s.hot >= c.TextStable
	quiet := now - max(s.textAt, s.ownAt)
	return stable && (quiet >= c.TextStable || now-s.textAt >= 3*c.TextStable) || c.SpeechMax > 0 && s.hot >= c.SpeechMax
}

// checkEndless ends a turn that would never end.
func (s *step) checkEndless() {
	if !s.endless(s.now) {
		return
	}
	s.background, s.speaking, s.hot, s.voice, s.run = true, false, 0, 0, 0
	s.finishedAt = s.now
	s.do(Action{Kind: CloseUtterance})
	s.settled = false
	s.Phase = Pause
}

// hearBackground takes a frame while what is heard counts for background, and says
// whether it still does.
func (s *State) hearBackground(e Event) bool {
	s.voice <<= 1
	if e.Speech && e.Loud {
		s.voice |= 1
	}
	if s.run += media.FrameTime; e.Speech {
		s.run = 0
	}
	if s.run < s.Config.StopAfter && s.own() < ownWords {
		return true
	}
	s.background, s.voice = false, 0
	return false
}
