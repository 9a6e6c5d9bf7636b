package session

import (
	"cmp"
	"slices"

	"parley/billing"
	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/store"
	"parley/store/history"
)

// Engine is what the books of a session have to know of an engine that serves it.
type Engine struct {
	Stage agent.Stage // that it serves
	Name  string
	Model string        // empty: the vendor's usual one
	Own   bool          // on a key of the account's
	Costs billing.Costs // what its vendor charges the operator
}

// Serves says where to learn of the engines of the call: of names a stage's, or of what wrote nothing at all. Call it before the
// call begins, and again when another agent takes it over. Work has it from its Order.
func (s *Session) Serves(of func(stage agent.Stage, name string) Engine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uses.of = of
}

// uses is what engines have used in a session.
type uses struct {
	of   func(agent.Stage, string) Engine // nil: nothing is known of them
	sums map[use]int64
	by   map[string]Engine // by stage and name
}

// use is one sum.
type use struct {
	engine string // in uses.by
	unit   billing.Unit
	source inference.UsageSource
}

// add counts what an engine has used, and returns what is known of it.
func (u *uses) add(stage agent.Stage, name string, used inference.Usage) Engine {
	e := Engine{Stage: stage, Name: name}
	if u.of != nil {
		e = u.of(stage, name)
	}
	for unit, n := range map[billing.Unit]int64{
		billing.AudioSeconds: used.Audio.Milliseconds(), billing.OpenSeconds: used.Open.Milliseconds(),
		billing.Characters: int64(used.Characters), billing.Requests: int64(used.Requests),
		billing.TokensIn: int64(used.In - used.Cached), billing.TokensInCached: int64(used.Cached), billing.TokensOut: int64(used.Out),
		billing.TokensInAudio: int64(used.AudioIn - used.AudioCached), billing.TokensInAudioCached: int64(used.AudioCached), billing.TokensOutAudio: int64(used.AudioOut),
	} {
		u.count(e, unit, used.Source, n)
	}
	return e
}

// count counts n more units of an engine.
func (u *uses) count(e Engine, unit billing.Unit, source inference.UsageSource, n int64) {
	if u.sums == nil {
		u.sums, u.by = map[use]int64{}, map[string]Engine{}
	}
	key := string(e.Stage) + " " + e.Name
	u.by[key] = e
	if n > 0 {
		u.sums[use{key, unit, source}] += n
	}
}

// charged are the components that a session pays by the token. Of what is not there, nothing is charged beside the call itself.
var charged = map[billing.Unit]billing.Component{
	billing.TokensIn: billing.ReplyIn, billing.TokensInCached: billing.ReplyIn, billing.TokensOut: billing.ReplyOut,
	billing.TokensInAudio: billing.AudioIn, billing.TokensInAudioCached: billing.AudioCached, billing.TokensOutAudio: billing.AudioOut,
}

// onOwnKey are the same on keys of the account's.
var onOwnKey = map[billing.Unit]billing.Component{billing.TokensIn: billing.OwnIn, billing.TokensInCached: billing.OwnIn, billing.TokensOut: billing.OwnOut}

// stored is what is stored of them, in the same order each time, at a session's prices.
func (u *uses) stored(tariff *billing.Tariff) (list []store.EngineUse) {
	for of, n := range u.sums {
		e := u.by[of.engine]
		one := store.EngineUse{Stage: string(e.Stage), Engine: e.Name, Model: e.Model, Own: e.Own, Unit: of.unit, Quantity: n, Source: string(of.source)}
		paid := charged
		if e.Own {
			paid = onOwnKey
		}
		one.Settle(e.Costs, tariff, paid)
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b store.EngineUse) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Engine, b.Engine), cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Source, b.Source))
	})
	return list
}

// Spent counts what a stream of a recogniser or a voice has consumed. It implements inference.Meter.
func (s *Session) Spent(stage, engine string, u inference.Usage) {
	s.note(func() { s.uses.add(agent.Stage(stage), engine, u) })
}

// Spoke counts the audio of a reply of a realtime engine. It does not block.
func (s *Session) Spoke(u inference.Usage) {
	audio := inference.Usage{AudioIn: u.AudioIn, AudioOut: u.AudioOut, AudioCached: u.AudioCached, Source: u.Source} // its text is a completion's
	var e Engine
	s.note(func() { e = s.uses.add(agent.StageRealtime, "", audio) })
	if !e.Own {
		s.meter.AddAudio(u.AudioIn, u.AudioCached, u.AudioOut)
	}
	s.checkpointSoon()
}

// used counts the tokens of a completion.
func (s *Session) used(e *event.Event) {
	t := e.Usage.Tokens
	text := inference.Usage{In: t.In, Out: t.Out, Cached: t.Cached, Source: t.Source}
	s.note(func() {
		own := s.uses.add(agent.StageLLM, e.Usage.Engine, text).Own
		switch {
		case own:
			s.meter.AddOwn(t.In, t.Out)
		case e.Usage.Speculative():
			s.meter.AddTokens(billing.Speculative, t.In, t.Out)
		default:
			s.meter.AddTokens(billing.Reply, t.In, t.Out)
		}
		if g := s.history.addGeneration(e, own); g != nil {
			s.happens(history.Event{Generation: g})
		}
	})
	s.checkpointSoon()
}
