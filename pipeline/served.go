package pipeline

import (
	"parley/inference"
	"parley/pipeline/agent"
)

// serving is which engine served each stage last, of those that were told of. It belongs
// to the conductor.
type serving struct{ asr, llm, tts string }

// serves tells that an engine served a stage, when it is another than before. An empty
// name means the engine that was asked.
func (c *Call) serves(stage agent.Stage, last *string, name string, asked interface{ Info() inference.Info }) {
	if name == "" {
		if *last != "" {
			return // the same as ever: only failovers name theirs
		}
		name = asked.Info().Name
	}
	if name == *last {
		return
	}
	*last = name
	c.emit(Event{Kind: Served, Stage: stage, Text: name})
}
