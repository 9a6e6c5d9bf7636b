package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

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

	set    *Set
	wanted *agent.Engines
	who    *owner
}

// Hears says whether the recogniser knows a language.
func (c *Choice) Hears(language string) bool {
	return slices.Contains(c.ASR.Info().Languages, language)
}

// Chosen is the engines that an agent wants, in its order. A stage that the agent leaves open,
// or for which it names no engine of this server, has the server's own list.
func (e *Set) Chosen(wanted *agent.Engines) Choice { return e.chosen(wanted, nil) }

func (e *Set) chosen(wanted *agent.Engines, who *owner) Choice {
	return Choice{
		ASR: e.pools.asr.pick(wanted.Of(agent.StageASR), e.ASR, who),
		LLM: e.pools.llm.pick(wanted.Of(agent.StageLLM), e.LLM, who),
		TTS: e.pools.tts.pick(wanted.Of(agent.StageTTS), e.TTS, who),

		Realtime: e.pools.realtime.pick(wanted.Of(agent.StageRealtime), nil, who),

		VAD:     built(agent.StageVAD, wanted, e.VAD),
		Denoise: built(agent.StageDenoise, wanted, e.Denoise),

		set: e, wanted: wanted, who: who,
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
func (e *Set) Names(stage agent.Stage) (names []string) {
	for _, one := range e.listed(stage) {
		names = append(names, one.Name)
	}
	return names
}

// Check implements agent.Offer.
func (e *Set) Check(stage agent.Stage, wanted agent.Engine) (member, problem string) {
	var err error
	switch stage {
	case agent.StageASR:
		_, err = e.pools.asr.own(wanted, "")
	case agent.StageLLM:
		_, err = e.pools.llm.own(wanted, "")
	case agent.StageTTS:
		_, err = e.pools.tts.own(wanted, "")
	case agent.StageRealtime:
		_, err = e.pools.realtime.own(wanted, "")
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
	asr, err := e.pools.asr.own(wanted, "")
	return err == nil && asr.Info().Caps.Turns
}

// pool is the engines of one stage. A list that agents ask for is made once, so that
// conversations share what is known of an engine's failures, and its connections. Where an account has keys of its own the list
// is the account's.
type pool[E any] struct {
	stage agent.Stage
	names []string
	all   []E
	// chosen is the list of those that the server uses unless an agent names others, of the first usual names.
	chosen E
	usual  int
	// join makes one engine of several. report, unless nil, gets their failures.
	join   func(list []E, report func(engine string, err error)) E
	makers makers[E]
	listed []config.Engine // what all are made of

	mu     sync.Mutex
	joined map[string]*joined[E]
}

// joined is a list of engines that agents have asked for.
type joined[E any] struct {
	list  E
	owned []owned[E] // those in it that are as an agent wants them, or have a key of the account's
	used  time.Time  // when it was asked for last
}

// owned is an engine that is not as the server has it.
type owned[E any] struct {
	key    string // whose it is at which vendor, with owner.mark; empty: the server's
	engine E
}

// maxJoined bounds the lists that are kept. A server has few engines, but agents give them any options, and accounts keys; when there
// are more the one is forgotten that nobody has asked for the longest. It serves the calls that have it until they end, and then its
// connections end as any that are idle.
const maxJoined = 256

// open makes the engines of a stage, in order. join makes one of several.
func (p *pool[E]) open(stage agent.Stage, configured config.Stage, all makers[E], join func([]E, func(string, error)) E) error {
	p.stage, p.join, p.makers, p.usual = stage, join, all, len(configured.Engines)
	var usual []E
	for i, engine := range configured.All() {
		begin := all[engine.Vendor]
		if begin == nil {
			return fmt.Errorf("%s: there is no engine %q", stage, engine.Name)
		}
		if engine.AccountKeys {
			engine.APIKey = noKey
		}
		made, err := begin(engine)
		if err != nil {
			return fmt.Errorf("%s: %w", stage, err)
		}
		p.together(made, engine)
		p.names, p.all, p.listed = append(p.names, engine.Name), append(p.all, made), append(p.listed, engine)
		if i < p.usual && !engine.AccountKeys {
			usual = append(usual, made)
		}
	}
	p.chosen = join(usual, nil)
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
	for _, engine := range p.all {
		closeEngine(engine)
	}
	for _, j := range p.joined {
		for _, o := range j.owned {
			closeEngine(o.engine)
		}
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

// own is an engine as an agent wants it, which contacts nobody; with a key, unless that is empty, in place of the server's.
func (p *pool[E]) own(wanted agent.Engine, key string) (one E, err error) {
	i := slices.Index(p.names, wanted.Name)
	switch {
	case i < 0:
		return one, &wrongMember{"engine", "is not here"}
	case !wanted.Own() && key == "":
		return p.all[i], nil
	}
	c := p.listed[i]
	switch {
	case c.Local() && wanted.Model != "":
		return one, &wrongMember{"model", "this engine has no models"}
	case c.Local():
		return one, &wrongMember{"options", "this engine has none"}
	case wanted.Model != "" && wanted.Model != c.Model && len(c.Models) > 0 && !slices.Contains(c.Models, wanted.Model):
		return one, &wrongMember{"model", schema.Quote(wanted.Model) + ", allowed are " + schema.And(c.Models)}
	}
	if name := keptOption(p.stage, c.Vendor, c.Options, wanted.Options); name != "" {
		return one, &wrongMember{"options." + name, "the operator has set it, and agents cannot change it"}
	}
	c.Model = cmp.Or(wanted.Model, c.Model)
	if c.Options, err = merged(c.Options, wanted.Options); err != nil {
		return one, &wrongMember{"options", "must be an object"}
	}
	c.APIKey = cmp.Or(key, c.APIKey)
	return p.makers[c.Vendor](c)
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

// pick is the engines of those names, in whose place who has keys of their own for them; otherwise, when there are none. One whose
// model or options the server takes no more is as the server has it. One that only serves accounts with a key is none for others.
func (p *pool[E]) pick(wanted agent.EngineList, otherwise E, who *owner) E {
	names, ids, keyed := p.known(wanted, who)
	if len(names) == 0 {
		var usual agent.EngineList
		for _, name := range p.names[:p.usual] {
			usual = append(usual, agent.Engine{Name: name})
		}
		if names, ids, keyed = p.known(usual, who); !keyed {
			return otherwise
		}
	}
	id := strings.Join(ids, "\n")
	p.mu.Lock()
	defer p.mu.Unlock()
	if j := p.joined[id]; j != nil {
		j.used = time.Now()
		return j.list
	}
	j := &joined[E]{used: time.Now()}
	var found []E
	for _, e := range names {
		if one, ok := p.pickLocked(j, e, who); ok {
			found = append(found, one)
		}
	}
	if len(found) == 0 {
		return otherwise
	}
	var report func(string, error)
	if keyed {
		report = who.failed
	}
	j.list = p.join(found, report)
	p.keepLocked(id, j)
	return j.list
}

// known is what is wanted of engines that may serve who, with the identity of each; keyed says that one has a key of theirs.
func (p *pool[E]) known(wanted agent.EngineList, who *owner) (list agent.EngineList, ids []string, keyed bool) {
	for _, e := range wanted {
		i := slices.Index(p.names, e.Name)
		if i < 0 {
			continue
		}
		key := p.keyOf(e.Name, who)
		if p.listed[i].AccountKeys && key == "" {
			continue
		}
		id := fmt.Sprintf("%q %q %s %s", e.Name, e.Model, e.Options, who.mark(key))
		if !slices.Contains(ids, id) {
			ids, list, keyed = append(ids, id), append(list, e), keyed || key != ""
		}
	}
	return list, ids, keyed
}

// keyOf is the key that who has for an engine of the pool; empty: it has none, or the engine takes none.
func (p *pool[E]) keyOf(name string, who *owner) string {
	if who == nil || !p.listed[slices.Index(p.names, name)].TakesKeys() {
		return ""
	}
	return who.keys[name]
}

// pickLocked is one engine of the list j; false: it cannot be made. With its key it has connections, a standing with its vendor and
// places of its own, which it shares with the others that have the key.
func (p *pool[E]) pickLocked(j *joined[E], e agent.Engine, who *owner) (one E, ok bool) {
	key := p.keyOf(e.Name, who)
	one, err := p.own(e, key)
	if err != nil {
		e = agent.Engine{Name: e.Name}
		if one, err = p.own(e, key); err != nil {
			return one, false
		}
	}
	if !e.Own() && key == "" {
		return one, true
	}
	o, i := owned[E]{engine: one}, slices.Index(p.names, e.Name)
	like, found := p.all[i], true
	if c := p.listed[i]; key != "" {
		o.key = c.Vendor + " " + c.URL + " " + who.mark(key)
		like, found = p.alikeLocked(o.key)
	}
	if own, ok := any(one).(reaching); ok && found {
		own.Remote().Share(any(like).(reaching).Remote())
	} else if ok {
		own.Remote().Limit(p.places(p.listed[i]))
	}
	j.owned = append(j.owned, o)
	return one, true
}

// places is how many streams a key may have at a vendor: the lowest number that engines of it have; 0: any.
func (p *pool[E]) places(vendors config.Engine) (least int) {
	for _, c := range p.listed {
		if c.Vendor == vendors.Vendor && c.URL == vendors.URL && c.Concurrency > 0 && (least == 0 || c.Concurrency < least) {
			least = c.Concurrency
		}
	}
	return least
}

// alikeLocked is an engine that has the key already.
func (p *pool[E]) alikeLocked(key string) (one E, found bool) {
	for _, j := range p.joined {
		for _, o := range j.owned {
			if o.key == key {
				return o.engine, true
			}
		}
	}
	return one, false
}

// keepLocked keeps a list, in place of the one that nobody has asked for the longest when there are too many.
func (p *pool[E]) keepLocked(id string, j *joined[E]) {
	if p.joined == nil {
		p.joined = map[string]*joined[E]{}
	}
	if len(p.joined) >= maxJoined {
		delete(p.joined, slices.MinFunc(slices.Collect(maps.Keys(p.joined)), func(a, b string) int { return p.joined[a].used.Compare(p.joined[b].used) }))
	}
	p.joined[id] = j
}
