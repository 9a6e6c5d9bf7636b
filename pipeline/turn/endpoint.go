package turn

import "parley/media"

// Endpointing decides that the caller has finished: the end of turn. After the last
// speech it waits as long as the words ask for (endpoint), and for the recogniser as long
// as it may take (patient).

// reading is what the text of the turn amounts to. It is worked out when the text changes,
// not with every frame.
type reading struct {
	Text, Partial string   // the text it is of
	Asked         Question // and what it answers
	Words         wordCounts
	Complete      float64    // the probability that the turn has ended
	Delay         media.Time // wait after the last speech before it has; 0: not read yet
}

func (s *step) read() *reading {
	r, t := &s.Reading, &s.Caller
	if r.Delay == 0 || r.Text != t.Text || r.Partial != t.Partial || r.Asked != t.Asked {
		text := t.heard()
		*r = reading{Text: t.Text, Partial: t.Partial, Asked: t.Asked,
			Words: countWords(s.cfg.Language, text), Complete: s.complete(text)}
		r.Delay = s.delay(text, r.Complete)
	}
	return r
}

// pauses is what is learnt of pauses after which the caller went on with the turn.
type pauses struct {
	Average media.Time // moving average, the pauses of this turn included
	Learnt  media.Time // and without them, which counts; 0: none yet
}

// add takes a pause. It counts for the turns after this one.
func (p *pauses) add(d media.Time, c *Config) {
	if p.Average == 0 {
		p.Average = c.least(true)
	}
	p.Average = (9*p.Average + d) / 10
}

// least is the shortest wait, by the words of a turn or as an engine may have scored it.
func (c *Config) least(scored bool) media.Time {
	if scored && c.ScoredDelay > 0 {
		return min(c.MinDelay, c.ScoredDelay)
	}
	return c.MinDelay
}

// leastDelay is the wait after any turn of this caller.
func (s *step) leastDelay(scored bool) media.Time {
	c := s.cfg
	return min(c.MaxDelay, max(c.least(scored), min(s.Pauses.Learnt, c.LearntMax)))
}

// delay is the wait after a turn with this text, which has ended with probability p:
// short when it sounds complete.
func (s *step) delay(text string, p float64) media.Time {
	c := s.cfg
	if c.engineTurns() {
		return s.scoredDelay()
	}
	scored := s.Score.Stage != unscored
	least := s.leastDelay(scored)
	d, most := least, c.MaxDelay
	switch {
	case p >= sureEnd, p >= likelyEnd && scored:
	case p >= likelyEnd:
		d += c.LikelyDelay
	case p >= 0.5:
		d += max(c.LikelyDelay, (most-least)*25/100)
	case p >= 0.3:
		d += max(c.LikelyDelay, (most-least)*60/100)
	default:
		d = most
	}
	d = min(d, most)
	if s.Caller.Asked == DictationQuestion || endsInDigits(c.Language, text) {
		d += c.DigitDelay
	}
	return d
}

// patient says that the text of the turn is still waited for.
func (s *step) patient() bool {
	c, r := s.cfg, &s.Recogniser
	from := s.Voice.LastSpeech
	if c.Batch || c.engineTurns() { // it was asked later
		from = r.FinishedAt
	}
	return r.FinishedAt == notFinished || s.now < from+c.Recogniser || s.now < min(r.BehindAt+c.Recogniser, from+c.BehindMax)
}

// checkEndpoint commits the turn when it has ended, or drops what was no speech.
func (s *step) checkEndpoint() {
	if s.now < s.Voice.LastSpeech+s.read().Delay || s.Voice.SpeechRun > 0 {
		return
	}
	text := s.Caller.heard()
	if !s.textComplete() && s.patient() && (s.Score.Stage != ended || text == "") {
		return
	}
	if text != "" && !s.onlySalutes() {
		s.commit(text, false)
		return
	}
	long := !s.Supervised() && s.Overlap.Kind != overlapSalutation && s.Caller.Spoken >= s.cfg.NoiseMax
	s.dropSpeculation()
	s.dropTurn()
	if long && s.Idle.Apologies == 0 {
		s.Idle.Apologies, s.Reply.Then = 1, thenListen
		s.say(Sorry)
		return
	}
	s.rest()
}

// finishAfter is the silence after which an utterance is finished: none, but for a recogniser that ends turns itself, which
// says when they have, and for a batch recogniser. That one waits for a candidate for the end of the turn, which is where it
// would end were its words complete, or sooner where the tone says that they are: a caller who goes on before has taken a breath.
// Over the agent the words decide whether the reply goes on, and are asked for at once.
func (s *step) finishAfter() media.Time {
	switch {
	case s.cfg.engineTurns() && s.Phase == Pause:
		return s.read().Delay
	case s.cfg.engineTurns(), !s.cfg.Batch, s.Phase == Yielding, s.Phase == Speaking && !s.Reply.Uninterruptible:
		return 0
	case s.Score.Stage != unscored:
		return s.delay("", s.Score.Prob)
	case s.Score.Tone == Falling:
		return s.delay("", sureEnd) - s.leastDelay(false) + s.leastDelay(true)
	}
	return s.delay("", sureEnd)
}

func (s *step) finish() {
	s.Recogniser.FinishedAt = s.now
	s.do(Action{Kind: CloseUtterance})
}
