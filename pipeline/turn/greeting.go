package turn

import "parley/media"

// The first words of a call. People answer the telephone with "Hello?" while the agent's first
// message begins. A short salutation is no barge-in: it would cost the first message,
// with the name of the caller and what else must be said. Speech that goes on is one.

// greetingStage follows the first message when the caller interrupts it.
type greetingStage uint8

const (
	greetingWhole       greetingStage = iota // it was not interrupted, or a turn was committed since
	greetingInterrupted                      // the caller interrupted it
	greetingResumed                          // its rest was said after that, which happens once
)

// salutationWithin is how long after the first audio of the first message speech over it
// may begin to be taken for a salutation.
const salutationWithin = 2 * media.Second

// salutes says that speech which begins now is taken for a salutation.
func (s *step) salutes() bool {
	return s.cfg.Salutation > 0 && s.Reply.Line == Greeting && (s.Phase != Speaking || s.now-s.Reply.AudibleAt <= salutationWithin)
}

// bargeWords is how many words of the overlap count for an interruption.
func (s *step) bargeWords(w *wordCounts) int {
	if s.Overlap.Kind != overlapSalutation {
		return w.Content
	}
	if n := w.Content - w.Salutations; n >= 2 { // the recogniser may have misheard one
		return n
	}
	return 0
}

// bargeInAfter is how much continuous speech interrupts.
func (s *step) bargeInAfter() media.Time {
	if s.Overlap.Kind == overlapSalutation {
		return max(s.cfg.BargeInAfter, s.cfg.Salutation)
	}
	return s.cfg.BargeInAfter
}

// falseInterruptionTimeout is how long an overlap may stay undecided.
func (s *step) falseInterruptionTimeout() media.Time {
	return s.cfg.FalseInterruptionTimeout + s.bargeInAfter() - s.cfg.BargeInAfter
}

// onlySalutes says that the caller's turn is nothing but a salutation that came with the
// first message, which answers it.
func (s *step) onlySalutes() bool {
	w := &s.read().Words
	return s.Overlap.Kind == overlapSalutation && w.Stops == 0 && s.bargeWords(w) == 0
}

// noteGreeting notes that the reply which is interrupted is the first message, or
// is not.
func (s *step) noteGreeting() {
	switch {
	case s.Greeting == greetingResumed:
	case s.Reply.Line == Greeting:
		s.Greeting = greetingInterrupted
	default:
		s.Greeting = greetingWhole
	}
}

// lineFor is what answers a turn with this text: the rest of a first message that was
// interrupted, once, when the caller has only said hello; NoLine leaves it to the model.
func (s *step) lineFor(text string, typed bool) Line {
	if s.Greeting != greetingInterrupted {
		return NoLine
	}
	s.Greeting = greetingWhole
	if w := countWords(s.cfg.Language, text); typed || w.Stops > 0 || w.Content > w.Salutations {
		return NoLine
	}
	s.Greeting = greetingResumed
	return Greeting
}
