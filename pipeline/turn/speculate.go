package turn

import "parley/media"

// Speculative (preemptive) replies. In a pause that is likely the end of the turn, by its
// words or as the recogniser says (EagerEnds), the reply to it is begun; when the turn is
// committed with the same words, it is the answer, and otherwise it is dropped unheard.
// This is no phase: the pause goes on as it would.

// speculation is the speculative reply, and how those before it ended.
type speculation struct {
	Stage   speculationStage
	Allowed bool       // the call allows one now
	Text    string     // what it answers
	Tries   int        // begun in this turn
	Wait    media.Time // more silence than configured before one is begun
	Ended   int        // whose end is known, of the window in progress
	Used    int        // and that became answers
}

type speculationStage uint8

const (
	noSpeculation  speculationStage = iota
	speculating                     // there is a speculative reply
	speculationOff                  // too many were in vain: none in this call any more
)

// Enough of a chance that the turn has ended to begin a reply; and how the share of
// those that become answers, in percent of a window, governs the next ones.
const (
	speculateLeast  = 0.3
	speculateWindow = 8
	speculatePoor   = 50 // below: speculateMore more silence
	speculateVain   = 30 // below: speculationOff
	speculateMore   = 150 * media.Millisecond
)

// checkSpeculate begins a reply when the rules are met.
func (s *step) checkSpeculate() {
	c, a, t := s.cfg, &s.Speculation, &s.Caller
	if s.Phase != Pause || !a.Allowed || a.Stage != noSpeculation || a.Tries >= c.SpeculateMost || s.Voice.SpeechRun > 0 ||
		s.Reply.Tools != noTools || t.Spoken > c.SpeculateSpeech || t.heard() == "" {
		return
	}
	switch {
	case c.EagerEnds && c.engineTurns():
		if s.Score.Stage == unscored {
			return
		}
	case s.Silence(s.now) < c.SpeculateAfter+a.Wait, !s.textComplete() && s.now-t.TextAt < c.SpeculateStable, s.read().Complete < speculateLeast:
		return
	}
	a.Stage, a.Text = speculating, t.heard()
	a.Tries++
	s.do(Action{Kind: Speculate, Turn: t.Number, Text: a.Text, Again: t.Commitment != uncommitted})
}

// dropSpeculation drops the speculative reply, if there is one: the caller goes on, or
// said something else.
func (s *step) dropSpeculation() {
	if s.Speculation.Stage == speculating {
		s.Speculation.end(false)
		s.do(Action{Kind: DropSpeculation})
	}
}

// useSpeculation decides at the commit whether the speculative reply answers its text.
func (s *step) useSpeculation(text string, typed bool) (ready bool) {
	a := &s.Speculation
	if a.Stage != speculating || typed || s.misses(text) {
		s.dropSpeculation()
		return false
	}
	a.end(true)
	return true
}

// misses says that the speculative reply answers something else than text. What it was begun at the early end of a turn for
// stays the turn, for a recogniser that would add to it takes that end back.
func (s *step) misses(text string) bool {
	return !(s.cfg.EagerEnds && s.cfg.engineTurns()) && !sameMeaning(s.cfg.Language, s.Speculation.Text, text)
}

// end notes how the reply ended and governs the next ones.
func (a *speculation) end(used bool) {
	a.Stage, a.Text = noSpeculation, ""
	a.Ended++
	if used {
		a.Used++
	}
	if a.Ended < speculateWindow {
		return
	}
	switch share := 100 * a.Used / a.Ended; {
	case share < speculateVain:
		a.Stage = speculationOff
	case share < speculatePoor:
		a.Wait += speculateMore
	}
	a.Ended, a.Used = 0, 0
}
