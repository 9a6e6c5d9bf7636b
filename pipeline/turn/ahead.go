package turn

import "parley/media"

// Replies begun in advance. In a pause in which the turn is likely over the reply to
// it is begun; when the turn is committed with the same words, it is the answer, and
// otherwise nobody learns of it. It is no phase: the pause goes on as it would.

// ahead is the reply begun in advance, and what became of those before it.
type ahead struct {
	allowed bool       // the call allows one now
	begun   bool       // there is one
	text    string     // what it answers
	tries   int        // begun in this turn
	wait    media.Time // more silence than configured before one is begun
	off     bool       // too many were in vain
	done    int        // whose fate is known, of the window in progress
	used    int        // and that became answers
}

// Enough of a chance that the turn is over to begin a reply; and how the share of
// those that become answers, in percent of a window, governs the next ones.
const (
	aheadLeast  = 0.3
	aheadWindow = 8
	aheadPoor   = 50 // below: aheadMore more silence
	aheadVain   = 30 // below: none in this call any more
	aheadMore   = 150 * media.Millisecond
)

// checkAdvance begins a reply when the rules are met.
func (s *step) checkAdvance() {
	c, a := s.Config, &s.ahead
	if s.Phase != Pause || !a.allowed || a.begun || a.off || a.tries >= c.AdvanceMost || s.hot > 0 || s.toolsDue || s.results ||
		s.spoken > c.AdvanceSpeech || s.now-s.lastSpeech < c.AdvanceAfter+a.wait {
		return
	}
	if s.text == "" && s.partial == "" || !s.complete() && s.now-s.textAt < c.AdvanceSteady || s.read().complete < aheadLeast {
		return
	}
	a.begun, a.text = true, s.heard()
	a.tries++
	s.do(Action{Kind: Speculate, Turn: s.turn, Text: a.text, Again: s.committed})
}

// retract drops the reply: the caller goes on, or said something else.
func (s *step) retract() {
	if s.ahead.begun {
		s.ahead.end(false)
		s.do(Action{Kind: Retract})
	}
}

// settle decides at the commit whether the reply answers its text.
func (s *step) settle(text string, typed bool) (ready bool) {
	if !s.ahead.begun || typed || !sameMeaning(s.Config.Language, s.ahead.text, text) {
		s.retract()
		return false
	}
	s.ahead.end(true)
	return true
}

// end notes what became of the reply and governs the next ones.
func (a *ahead) end(used bool) {
	a.begun, a.text = false, ""
	a.done++
	if used {
		a.used++
	}
	if a.done < aheadWindow {
		return
	}
	switch share := 100 * a.used / a.done; {
	case share < aheadVain:
		a.off = true
	case share < aheadPoor:
		a.wait += aheadMore
	}
	a.done, a.used = 0, 0
}
