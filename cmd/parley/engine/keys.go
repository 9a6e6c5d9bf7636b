package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/cmd/parley/config"
	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/session"
)

// Keys are the keys that accounts have set for engines. Its methods may be called from several goroutines.
type Keys interface {
	// Keys opens those of an account that no vendor has refused, by engine. An error comes with those that open.
	Keys(ctx context.Context, account string) (map[string]string, error)
	// Refused notes that a vendor has refused one, for which it says why.
	Refused(ctx context.Context, account, engine, key, why string) error
}

// For is Chosen for an account, whose own keys count before the server's.
func (e *Set) For(ctx context.Context, account string, wanted *agent.Engines) Choice {
	return e.chosen(wanted, e.owner(ctx, account))
}

// owner is an account with its keys; nil: this server takes none.
func (e *Set) owner(ctx context.Context, account string) *owner {
	if e.Keys == nil {
		return nil
	}
	keys, err := e.Keys.Keys(ctx, account)
	if err != nil {
		e.log.Warn("keys of an account for engines cannot be read", "account", account, "err", err)
	}
	return &owner{account, keys, e.refusals}
}

// Model is the language model of For, for what comes after a call; of is Choice.Engine of its engines.
func (e *Set) Model(ctx context.Context, account string, wanted *agent.Engines) (llm inference.LLM, of func(engine string) session.Engine) {
	c := e.For(ctx, account, wanted)
	c.Realtime = nil
	return c.LLM, func(engine string) session.Engine { return c.Engine(agent.StageLLM, engine) }
}

// Voice is the engine of that name that speaks, for an account; false: there is none, or it serves accounts with a key of their
// own and this one has none.
func (e *Set) Voice(ctx context.Context, account, name string) (inference.TTS, bool) {
	wanted := &agent.Engines{TTS: agent.EngineList{{Name: name}}}
	c := e.For(ctx, account, wanted)
	found, _, _ := e.pools.tts.known(wanted.TTS, c.who)
	return c.TTS, len(found) > 0
}

// Serving is Choice.Engine for work of an account that is no conversation: with the engine of that name, as Voice has it, or with
// the server's own, where name is empty.
func (e *Set) Serving(ctx context.Context, account, name string) func(stage agent.Stage, name string) session.Engine {
	c := &Choice{set: e}
	if name != "" {
		c.who = e.owner(ctx, account)
	}
	return c.Engine
}

// Engine is what the books of a call have to know of an engine of its own, by its name; empty: nothing came, of any. A realtime
// engine serves as every stage.
func (c *Choice) Engine(stage agent.Stage, name string) session.Engine {
	if c.Realtime != nil {
		stage, name = agent.StageRealtime, c.Realtime.Info().Name
	} else if name == "" && stage == agent.StageLLM {
		name, _, _ = strings.Cut(c.LLM.Info().Name, ",")
	}
	one := session.Engine{Stage: stage, Name: name}
	list := c.set.listed(stage)
	i := slices.IndexFunc(list, func(l config.Engine) bool { return l.Name == name })
	if i < 0 {
		return one
	}
	one.Model, one.Costs = list[i].Model, list[i].Costs
	one.Own = c.who != nil && list[i].TakesKeys() && c.who.keys[name] != ""
	for _, wanted := range c.wanted.Of(stage) {
		if wanted.Name == name && wanted.Model != "" {
			one.Model = wanted.Model
			break
		}
	}
	return one
}

// listed are the engines of a stage, as they are configured.
func (e *Set) listed(stage agent.Stage) []config.Engine {
	switch stage {
	case agent.StageASR:
		return e.pools.asr.listed
	case agent.StageLLM:
		return e.pools.llm.listed
	case agent.StageTTS:
		return e.pools.tts.listed
	case agent.StageRealtime:
		return e.pools.realtime.listed
	}
	return nil
}

// vendorStages are those with engines of vendors.
var vendorStages = []agent.Stage{agent.StageASR, agent.StageLLM, agent.StageTTS, agent.StageRealtime}

// TakeKeys are the names of the engines for which accounts may set keys, in the order of names.
func (e *Set) TakeKeys() (names []string) {
	for _, stage := range vendorStages {
		for _, one := range e.listed(stage) {
			if one.TakesKeys() {
				names = append(names, one.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Try asks an engine for as little as shows that it works with a key; where several stages have one of the name, the first.
// Its vendor charges the key's owner.
func (e *Set) Try(ctx context.Context, name, key string) error {
	for _, stage := range vendorStages {
		for _, one := range e.listed(stage) {
			if one.Name == name && one.TakesKeys() {
				one.APIKey = key
				return Try(ctx, string(stage), one)
			}
		}
	}
	return fmt.Errorf("there is no engine %q that takes keys", name)
}

// owner is an account with the keys that it has for engines, by their names.
type owner struct {
	account  string
	keys     map[string]string
	refusals chan<- refusal
}

// mark tells a key of the account from others, and does not hold it. No key has none.
func (o *owner) mark(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return o.account + " " + hex.EncodeToString(sum[:16])
}

// refusal is a key of an account that a vendor has refused.
type refusal struct{ account, engine, key, why string }

// refusalQueue holds the refusals that are not noted yet. When it is full a refusal is noted when it comes again.
const refusalQueue = 64

// failed takes the failure of an engine that may have a key of the account's. It does not block.
func (o *owner) failed(engine string, err error) {
	key := o.keys[engine]
	if key == "" || !inference.KeyRefused(err) {
		return
	}
	select {
	case o.refusals <- refusal{o.account, engine, key, inference.Reason(err)}:
	default:
	}
}

// noteTime bounds noting one refusal.
const noteTime = 5 * time.Second

// NoteRefusals has Keys note what vendors refuse, until ctx ends.
func (e *Set) NoteRefusals(ctx context.Context) error {
	for {
		select {
		case r := <-e.refusals:
			noting, cancel := context.WithTimeout(ctx, noteTime)
			if err := e.Keys.Refused(noting, r.account, r.engine, r.key, r.why); err != nil {
				e.log.Warn("the refusal of an account's key is not noted yet", "account", r.account, "engine", r.engine, "err", err)
			}
			cancel()
		case <-ctx.Done():
			return nil
		}
	}
}

// watched is a realtime engine whose failures to begin are reported. It stands in no list that would.
type watched struct {
	inference.Realtime
	failed func(engine string, err error)
}

// Open implements inference.Realtime.
func (w watched) Open(ctx context.Context, c inference.RealtimeConfig) (inference.Session, error) {
	s, err := w.Realtime.Open(ctx, c)
	if err != nil {
		w.failed(w.Info().Name, err)
	}
	return s, err
}

// noKey stands for the key of an engine that has none of the server's: it is described by it, and never asked.
const noKey = "none-of-the-servers"
