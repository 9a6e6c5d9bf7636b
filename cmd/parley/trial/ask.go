package trial

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"

	routes "parley/api/cases"
	"parley/api/wire"
	"parley/billing"
	"parley/cmd/parley/conversation"
	"parley/inference"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/agent"
	"parley/pipeline/journal"
	"parley/pipeline/replay"
	"parley/pipeline/session"
)

const (
	asksAtOnce = 4 // turns of one comparison
	turnsACall = 8 // expected
)

// Asking has the models of agents answer the turns of recorded calls again, which is charged like simulations. All
// fields are set.
type Asking struct {
	Sessions func() *session.Manager
	// Model is that of Work.
	Model func(ctx context.Context, account string, wanted *agent.Engines) (llm inference.LLM, of func(engine string) session.Engine)
	Log   *slog.Logger
}

// Ask implements Comparing.Ask: agents are those of Options. The error is that of the books.
func (a Asking) Ask(ctx context.Context, o routes.Asking) (routes.Asked, error) {
	s := &asked{turns: o.Turns, ctx: ctx}
	for _, of := range []any{o.Of, o.Other} {
		if of == nil {
			continue
		}
		one, err := a.open(ctx, &o, of)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.sides = append(s.sides, one)
	}
	return s, nil
}

// open opens the books of one agent's model.
func (a Asking) open(ctx context.Context, o *routes.Asking, of any) (*answerer, error) {
	settings, err := settingsOf(of)
	if err != nil {
		return nil, err
	}
	s := &answerer{agent: conversation.AgentOf(of.(agent.Document)), log: a.Log}
	llm, books := a.Model(ctx, o.Account, settings.Engines)
	s.model = llm
	s.rehearsal = conversation.Rehearsal{Log: a.Log, Model: func(*agent.Engines) (inference.LLM, error) { return llm, nil }}
	in := int64(len(s.agent.Prompt)+len(s.agent.Tools)+otherBytes) / perToken
	turns := int64(min(o.Turns, o.Calls*turnsACall))
	order := session.Order{Account: o.Account, Key: o.Key, Agent: o.Agent, Kind: billing.Test, Tokens: [2]int64{turns * in, turns * perAnswer},
		Engines: func(_ agent.Stage, name string) session.Engine { return books(name) }}
	if s.work, err = a.Sessions().Work(ctx, order); err != nil {
		return nil, conversation.Refusal(err)
	}
	return s, nil
}

// asked are the models of one agent, or of two, the one that is compared first.
type asked struct {
	ctx   context.Context
	sides []*answerer
	turns int // that may still be asked about
	over  bool
}

// Answer implements routes.Asked.
func (a *asked) Answer(record []byte, results map[string]string) (answers []wire.ComparedAnswer, left int) {
	answers = []wire.ComparedAnswer{}
	f, err := journal.Read(bytes.NewReader(record))
	if err != nil {
		return answers, 0
	}
	meetings := make([]*meeting, len(a.sides))
	for i, s := range a.sides {
		if meetings[i], err = s.meets(f); err != nil {
			s.log.Warn("an agent cannot answer a recorded call again", "err", err)
			return answers, 0
		}
	}
	list := replay.Exchanges(f, results)
	if first, any := a.greeting(&list[0], meetings); any {
		answers = append(answers, first)
	}
	list = list[1:]
	if n := len(list); n > a.turns {
		a.over, left, list = true, n-a.turns, list[:a.turns]
	}
	a.turns -= len(list)
	done := make([]*wire.ComparedAnswer, len(list))
	room := make(chan struct{}, asksAtOnce)
	var wg sync.WaitGroup
	for i := range list {
		room <- struct{}{}
		wg.Add(1)
		failed := func(error) { done[i] = compare(&list[i], make([]*wire.AnswerSide, len(meetings))) }
		isolate.Go("cmd/parley/trial/answer", failed, func() { done[i] = a.turn(list[:i+1], meetings) }, func() { <-room }, wg.Done)
	}
	wg.Wait()
	for _, one := range done {
		if one == nil {
			left++
			continue
		}
		answers = append(answers, *one)
	}
	return answers, left
}

// greeting compares first messages, for which no model is asked; false: there is none.
func (a *asked) greeting(x *replay.Exchange, meetings []*meeting) (first wire.ComparedAnswer, any bool) {
	any = x.Said != ""
	sides := make([]*wire.AnswerSide, len(meetings))
	for i, m := range meetings {
		sides[i] = &wire.AnswerSide{Text: m.subject.Config.Agent.FirstMessage, Functions: []wire.ComparedFunction{}}
		any = any || sides[i].Text != ""
	}
	return *compare(x, sides), any
}

// turn answers the last of the turns of a call again; nil: there was no time for it, or no money.
func (a *asked) turn(until []replay.Exchange, meetings []*meeting) *wire.ComparedAnswer {
	sides := make([]*wire.AnswerSide, len(meetings))
	for i, m := range meetings {
		if sides[i] = m.answer(until); m.work.Context().Err() != nil {
			return nil
		}
	}
	return compare(&until[len(until)-1], sides)
}

// Close implements routes.Asked.
func (a *asked) Close() (in, out int64, stopped string) {
	if a.over {
		stopped = "turns"
	}
	if errors.Is(a.ctx.Err(), context.DeadlineExceeded) {
		stopped = "time"
	}
	for _, s := range a.sides {
		ended := context.Cause(s.work.Context())
		if e, ok := errors.AsType[*media.Ended](ended); ok && e.Reason == media.BalanceExhausted {
			stopped = "balance"
		}
		if stopped == "time" { // what was answered is done
			ended = nil
		}
		s.work.End(ended)
		in, out = in+s.in.Load(), out+s.out.Load()
	}
	return in, out, stopped
}
