package node

import (
	"slices"
	"strings"
	"sync"

	"parley/inference"
	"parley/pipeline/agent"
)

// choice is the engines of a conversation, or of the work after it.
type choice struct {
	asr inference.ASR
	llm inference.LLM
	tts inference.TTS
}

// hears says whether the recogniser knows a language.
func (c *choice) hears(language string) bool {
	return slices.Contains(c.asr.Info().Languages, language)
}

// chosen are the engines that an agent wants, in its order, and for what it says nothing
// of, or names only what is not offered any more, the server's own lists.
func (e *Engines) chosen(wanted *agent.Engines) choice {
	return choice{
		asr: e.pools.asr.pick(wanted.Of(agent.StageASR), e.ASR),
		llm: e.pools.llm.pick(wanted.Of(agent.StageLLM), e.LLM),
		tts: e.pools.tts.pick(wanted.Of(agent.StageTTS), e.TTS),
	}
}

// offered are the names that agents may give.
func (e *Engines) offered() map[agent.Stage][]string {
	return map[agent.Stage][]string{agent.StageASR: e.pools.asr.names, agent.StageLLM: e.pools.llm.names, agent.StageTTS: e.pools.tts.names}
}

// pool is the engines of one stage. Lists of them that agents ask for are made once, so
// that conversations share what is known of an engine's failures; there are no more of
// them than orders of the few engines a server has.
type pool[E any] struct {
	names []string
	all   []E
	join  func([]E) E

	mu     sync.Mutex
	joined map[string]E
}

// pick is the engines of those names; otherwise, when there are none.
func (p *pool[E]) pick(names []string, otherwise E) E {
	var known []string
	var found []E
	for _, name := range names {
		if i := slices.Index(p.names, name); i >= 0 && !slices.Contains(known, name) {
			known, found = append(known, name), append(found, p.all[i])
		}
	}
	if len(found) == 0 {
		return otherwise
	}
	key := strings.Join(known, ",")
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.joined == nil {
		p.joined = map[string]E{}
	}
	list, there := p.joined[key]
	if !there {
		list = p.join(found)
		p.joined[key] = list
	}
	return list
}
