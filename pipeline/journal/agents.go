package journal

import "parley/pipeline/agent"

// NoteAgents is a sink that notes in by, for each reply, which agent makes it: its sentences are read as that one reads them.
func NoteAgents(to Sink, by map[int]*agent.Agent) Sink { return agentSink{to, by} }

type agentSink struct {
	Sink
	by map[int]*agent.Agent
}

// Note implements Sink.
func (s agentSink) Note(n Note) {
	if n.Of != nil {
		s.by[n.N] = &n.Of.Agent
	}
	s.Sink.Note(n)
}
