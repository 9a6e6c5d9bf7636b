package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"parley/cmd/parley/config"
	"parley/inference"
	"parley/inference/remote"
	"parley/pipeline/agent"
	"parley/pipeline/schema"
)

// Choice is the engines of a conversation, or of the work after it.
type Choice struct {
	ASR inference.ASR
	LLM inference.LLM
	TTS inference.TTS
	// Realtime hears, answers and speaks in calls, in place of the three; nil: the agent names none.
	Realtime inference.Realtime
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

		Realtime: e.pools.realtime.pick(wanted.Of(agent.StageRealtime), nil),

		VAD:     built(agent.StageVAD, wanted, e.VAD),
		Denoise: built(agent.StageDenoise, wanted, e.Denoise),
	}
}

// built is the engine of a stage that an agent wants of those that are part of the program; otherwise, when it wants none.
func built(stage agent.Stage, wanted *agent.Engines, otherwise string) string {
	for _, one := range wanted.Of(stage) {
		if slices.Contains(config.Built(string(stage)), one.Name) {
			return one.Name
		}
	}
	return otherwise
}

// Names implements agent.Offer, but for the stages of which every server has all that there are.
func (e *Set) Names(stage agent.Stage) []string {
	switch stage {
	case agent.StageASR:
		return e.pools.asr.names
	case agent.StageLLM:
		return e.pools.llm.names
	case agent.StageTTS:
		return e.pools.tts.names
	case agent.StageRealtime:
		return e.pools.realtime.names
	}
	return nil
}

// Check implements agent.Offer.
func (e *Set) Check(stage agent.Stage, wanted agent.Engine) (member, problem string) {
	var err error
	switch stage {
	case agent.StageASR:
		_, err = e.pools.asr.own(wanted)
	case agent.StageLLM:
		_, err = e.pools.llm.own(wanted)
	case agent.StageTTS:
		_, err = e.pools.tts.own(wanted)
	case agent.StageRealtime:
		_, err = e.pools.realtime.own(wanted)
	}
	if of, ok := errors.AsType[*remote.OptionError](err); ok {
		return strings.TrimSuffix("options."+of.Option, "."), of.Problem
	}
	if of, ok := errors.AsType[*wrongMember](err); ok {
		return of.member, of.problem
	}
	if err != nil { // of what the agent may say, only the model is left
		return "model", strings.TrimPrefix(strings.TrimPrefix(err.Error(), wanted.Name+": "), "model: ")
	}
	return "", ""
}

// EndsTurns implements agent.Offer.
func (e *Set) EndsTurns(wanted agent.Engine) bool {
	asr, err := e.pools.asr.own(wanted)
	return err == nil && asr.Info().Caps.Turns
}

// pool is the engines of one stage. A list that agents ask for is made once, so that
// conversations share what is known of an engine's failures, and its connections.
type pool[E any] struct {
	names []string
	all   []E
	// chosen is the list of those that the server uses unless an agent names others.
	chosen E
	join   func([]E) E
	makers makers[E]
	listed []config.Engine // what all are made of

	mu     sync.Mutex
	joined map[string]E
	owned  []E // those in joined that are as an agent wants them
}

// maxJoined bounds the lists that are kept. A server has few engines, but agents give them any options; when there
// are more all are forgotten, and those of calls that go on live as long as these.
const maxJoined = 256

// open makes the engines of a stage, in order. join makes one of several.
func (p *pool[E]) open(name string, stage config.Stage, all makers[E], join func([]E) E) error {
	p.join, p.makers = join, all
	for _, engine := range stage.All() {
		begin := all[engine.Vendor]
		if begin == nil {
			return fmt.Errorf("%s: there is no engine %q", name, engine.Name)
		}
		made, err := begin(engine)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.together(made, engine)
		p.names, p.all, p.listed = append(p.names, engine.Name), append(p.all, made), append(p.listed, engine)
	}
	p.chosen = join(p.all[:len(stage.Engines)])
	return nil
}

// together has an engine share what is known of its key with an earlier one that has the same, and keeps to the vendor's limit.
func (p *pool[E]) together(made E, c config.Engine) {
	own, ok := any(made).(reaching)
	if !ok {
		return
	}
	same := func(other config.Engine) bool {
		return other.Vendor == c.Vendor && other.URL == c.URL && other.APIKey == c.APIKey
	}
	if i := slices.IndexFunc(p.listed, same); i >= 0 {
		own.Remote().Share(any(p.all[i]).(reaching).Remote())
	}
	own.Remote().Limit(c.Concurrency)
}

// close ends the connections that engines keep open.
func (p *pool[E]) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, engine := range append(p.owned, p.all...) {
		closeEngine(engine)
	}
}

func closeEngine(engine any) {
	if c, ok := engine.(interface{ Close() }); ok {
		c.Close()
	}
}

// wrongMember is what an agent says of an engine that it may not say.
type wrongMember struct{ member, problem string }

func (w *wrongMember) Error() string { return w.member + ": " + w.problem }

// own is an engine as an agent wants it, which contacts nobody. It shares the connections and the places of the server's, and
// leaves its vendor alone when that has to.
func (p *pool[E]) own(wanted agent.Engine) (one E, err error) {
	i := slices.Index(p.names, wanted.Name)
	switch {
	case i < 0:
		return one, &wrongMember{"engine", "is not here"}
	case !wanted.Own():
		return p.all[i], nil
	}
	c := p.listed[i]
	switch {
	case c.Embedded() && wanted.Model != "":
		return one, &wrongMember{"model", "this engine has no models"}
	case c.Embedded():
		return one, &wrongMember{"options", "this engine has none"}
	case wanted.Model != "" && wanted.Model != c.Model && len(c.Models) > 0 && !slices.Contains(c.Models, wanted.Model):
		return one, &wrongMember{"model", schema.Quote(wanted.Model) + ", allowed are " + schema.And(c.Models)}
	}
	c.Model = cmp.Or(wanted.Model, c.Model)
	if c.Options, err = merged(c.Options, wanted.Options); err != nil {
		return one, &wrongMember{"options", "must be an object"}
	}
	if one, err = p.makers[c.Vendor](c); err != nil {
		return one, err
	}
	if own, ok := any(one).(reaching); ok {
		own.Remote().Share(any(p.all[i]).(reaching).Remote())
	}
	return one, nil
}

// reaching is an engine of a vendor.
type reaching interface{ Remote() *remote.Client }

// merged is options, with those of an agent in place of the server's of the same name.
func merged(server, agents json.RawMessage) (json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	for _, options := range []json.RawMessage{server, agents} {
		if len(options) == 0 {
			continue
		}
		if err := json.Unmarshal(options, &all); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return json.Marshal(all)
}

// pick is the engines of those names; otherwise, when there are none. One whose model or options the server
// takes no more is as the server has it.
func (p *pool[E]) pick(wanted agent.EngineList, otherwise E) E {
	var keys []string
	var known agent.EngineList
	for _, e := range wanted {
		key := fmt.Sprintf("%q %q %s", e.Name, e.Model, e.Options)
		if slices.Contains(p.names, e.Name) && !slices.Contains(keys, key) {
			keys, known = append(keys, key), append(known, e)
		}
	}
	if len(known) == 0 {
		return otherwise
	}
	key := strings.Join(keys, "\n")
	p.mu.Lock()
	defer p.mu.Unlock()
	if list, there := p.joined[key]; there {
		return list
	}
	if p.joined == nil || len(p.joined) == maxJoined {
		p.joined, p.owned = map[string]E{}, nil
	}
	var found []E
	for _, e := range known {
		one, err := p.own(e)
		switch {
		case err != nil:
			one = p.all[slices.Index(p.names, e.Name)]
		case e.Own():
			p.owned = append(p.owned, one)
		}
		found = append(found, one)
	}
	p.joined[key] = p.join(found)
	return p.joined[key]
}
