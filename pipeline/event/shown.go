package event

import "parley/pipeline/agent"

// Shown is what the observer of a call knows: of some events it gets changes only. The zero Shown knows nothing.
type Shown struct {
	idle    bool   // the agent listens
	partial string // the caller's words
	phase   string
	echo    bool
	served  map[agent.Stage]string // the engine of each stage
}

// News says whether an event tells the observer something that it does not know, and keeps it.
func (s *Shown) News(e *Event) bool {
	before := *s
	switch e.Kind {
	case Listening:
		s.idle = true
		return !before.idle
	case Thinking, Speaking:
		s.idle = false
	case UserPartial:
		s.partial = e.Text
		return s.partial != before.partial
	case Phased:
		s.phase = e.Text
		return s.phase != before.phase
	case Echoed:
		s.echo = true
		return !before.echo
	case Served:
		if s.served == nil {
			s.served = map[agent.Stage]string{}
		}
		known := s.served[e.Stage] == e.Text
		s.served[e.Stage] = e.Text
		return !known
	}
	return true
}

// Serves is the engine that was named last for a stage; empty: none was.
func (s *Shown) Serves(stage agent.Stage) string { return s.served[stage] }

// TurnBegins forgets the words of the turn before.
func (s *Shown) TurnBegins() { s.partial = "" }

// TakenOver forgets the engines: those of another agent serve.
func (s *Shown) TakenOver() { s.served = nil }
