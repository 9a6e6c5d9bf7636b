package pipeline

import (
	"slices"

	"parley/inference"
	"parley/pipeline/agent"
	"parley/store"
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

// served notes which engine served a stage, in the call's history. What was there may be
// on its way to the store, and does not change.
func (s *Session) served(stage agent.Stage, engine string) {
	by := store.ServedBy{ASR: []string{}, LLM: []string{}, TTS: []string{}} // [] and not null
	if s.talk.Engines != nil {
		by = *s.talk.Engines
	}
	list := &by.TTS
	switch stage {
	case agent.StageASR:
		list = &by.ASR
	case agent.StageLLM:
		list = &by.LLM
	}
	if !slices.Contains(*list, engine) {
		*list = append(slices.Clone(*list), engine)
		s.talk.Engines = &by
	}
}
