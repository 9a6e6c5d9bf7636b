package turn

import "parley/media"

// The first words of a call. People answer the telephone with "Hello?" while the agent's first
// message begins. A short salutation is no barge-in: it would cost the first message,
// with the name of the caller and what else must be said. Speech that goes on is one.

// salutationWithin is how long after the first audio of the first message speech over it
// may begin to be taken for a salutation.
const salutationWithin = 2 * media.Second

// salutes says that speech which begins now is taken for a salutation.
func (s *State) salutes(now media.Time) bool {
	return s.Config.Salutation > 0 && s.line == Greeting && (s.Phase != Speaking || now-s.audibleAt <= salutationWithin)
}

// barges is how many words of the overlap count for an interruption.
func (s *State) barges(o *overlap) int {
	if !s.salutation {
		return o.words
	}
	if n := o.words - o.hello; n >= 2 { // the recogniser may have misheard one
		return n
	}
	return 0
}

// bargeAfter is how much continuous speech interrupts.
func (s *State) bargeAfter() media.Time {
	if s.salutation {
		return max(s.Config.OverlapMax, s.Config.Salutation)
	}
	return s.Config.OverlapMax
}

// verdict is how long an overlap may stay undecided.
func (s *State) verdict() media.Time {
	return s.Config.Verdict + s.bargeAfter() - s.Config.OverlapMax
}

// onlySalutes says that the caller's turn is nothing but a salutation that came with the
// first message, which answers it.
func (s *State) onlySalutes() bool {
	o := &s.read().words
	return s.salutation && !o.stop && s.barges(o) == 0
}

// lineFor is what answers a turn with this text: the rest of a first message that was
// interrupted, once, when the caller has only said hello; NoLine leaves it to the model.
func (s *step) lineFor(text string, typed bool) Line {
	interrupted := s.interrupted
	s.interrupted = false
	if o := weigh(s.Config.Language, text); !interrupted || typed || s.greetedAgain || o.stop || o.words > o.hello {
		return NoLine
	}
	s.greetedAgain = true
	return Greeting
}
