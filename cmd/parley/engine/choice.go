package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"parley/cmd/parley/config"
	"parley/inference"
	"parley/pipeline/agent"
)

// Choice is the engines of a conversation, or of the work after it.
type Choice struct {
	ASR inference.ASR
	LLM inference.LLM
	TTS inference.TTS
	// VAD and Denoise are names, as listen.NewFrontEnd takes them.
	VAD, Denoise string
}

// Hears says whether the recogniser knows a language.
func (c *Choice) Hears(language string) bool {
	return slices.Contains(c.ASR.Info().Languages, language)
}

// Chosen is the engines that an agent wants, in its order. A stage that the agent leaves open,
// or for which it names no engine of this server, has the server's own list.
func (e *Set) Chosen(wanted *agent.Engines) Choice {
	return Choice{
		ASR: e.pools.asr.pick(wanted.Of(agent.StageASR), e.ASR),
		LLM: e.pools.llm.pick(wanted.Of(agent.StageLLM), e.LLM),
		TTS: e.pools.tts.pick(wanted.Of(agent.StageTTS), e.TTS),

		VAD:     built(agent.StageVAD, wanted, e.VAD),
		Denoise: built(agent.StageDenoise, wanted, e.Denoise),
	}
}

// built is the engine of a stage that an agent wants of those that are part of the program; otherwise, when it wants none.
func built(stage agent.Stage, wanted *agent.Engines, otherwise string) string {
	for _, name := range wanted.Of(stage) {
		if slices.Contains(config.Built(string(stage)), name) {
			return name
		}
	}
	return otherwise
}

// Offered is the names that agents may give, but for the stages of which every server has all that there are.
func (e *Set) Offered() map[agent.Stage][]string {
	return map[agent.Stage][]string{agent.StageASR: e.pools.asr.names, agent.StageLLM: e.pools.llm.names, agent.StageTTS: e.pools.tts.names}
}

// EndsTurns is the names of those recognisers that find the ends of turns.
func (e *Set) EndsTurns() (names []string) {
	for i, engine := range e.pools.asr.all {
		if engine.Info().Caps.Turns {
			names = append(names, e.pools.asr.names[i])
		}
	}
	return names
}

// pool is the engines of one stage. A list that agents ask for is made once, so that
// conversations share what is known of an engine's failures. A server has few engines, so the
// lists are few.
type pool[E any] struct {
	names []string
	all   []E
	// chosen is the list of those that the server uses unless an agent names others.
	chosen E
	join   func([]E) E

	mu     sync.Mutex
	joined map[string]E
}

// open makes the engines of a stage, in order. join makes one of several.
func (p *pool[E]) open(name string, stage config.Stage, all makers[E], join func([]E) E) error {
	p.join = join
	for _, engine := range stage.All() {
		begin := all[engine.Vendor]
		if begin == nil {
			return fmt.Errorf("%s: there is no engine %q", name, engine.Name)
		}
		made, err := begin(engine)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.names, p.all = append(p.names, engine.Name), append(p.all, made)
	}
	p.chosen = join(p.all[:len(stage.Engines)])
	return nil
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
