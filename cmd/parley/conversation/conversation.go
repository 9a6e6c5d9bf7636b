// Package conversation prepares the conversations of agents, whatever brings them: the telephone
// (packages inbound and outbound), a WebSocket or WebRTC (Agents). It reads what the agent decides
// (Plan), makes the call with its engines, functions, recording and books (Maker), and keeps how
// it went on the wire (Wire).
package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/api"
	"parley/api/recording"
	"parley/api/wire"
	"parley/billing"
	"parley/cmd/parley/engine"
	"parley/cmd/parley/metrics"
	"parley/cmd/parley/trace"
	"parley/inference"
	"parley/inference/realtime"
	"parley/inference/scripted"
	"parley/media"
	"parley/media/monitor"
	"parley/media/record"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/listen"
	"parley/pipeline/reply"
	"parley/pipeline/scribe"
	"parley/pipeline/session"
	"parley/pipeline/tool"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/history"
	"parley/store/knowledge"
	"parley/store/ledger"
)

// Maker makes calls. All fields but CRM are set. Its methods may be called from several
// goroutines.
type Maker struct {
	Store   *store.DB
	Ledger  *ledger.Ledger
	History *history.Store // keeps the signalling and the quality of calls
	Engines *engine.Set
	Tools   *tool.Provider
	// Documents are the collections that agents search.
	Documents *knowledge.Store
	Records   *recording.Service
	Metrics   *metrics.Calls
	// Stream sends the audio of a call that begins on, as its agent wants it.
	Stream func(heard *monitor.Monitor, account, call, agent string, to wire.NewStream)
	Card   func() *billing.RateCard // in force
	CRM    bool                     // the operator has a customer database
	Log    *slog.Logger

	lines    reply.Lines    // of agents
	wires    wires          // of calls in progress
	saving   sync.WaitGroup // wires that are still to be stored
	movables movables
}

// Wait returns when the wires of all calls are stored. No call begins any more.
func (m *Maker) Wait() { m.saving.Wait() }

// Asked is the request that asked for a call; the zero value: none did.
type Asked = metrics.Asked

// AskedIn is the request in ctx, which asks for a call.
func AskedIn(ctx context.Context) Asked {
	return Asked{Parent: api.TraceParentOf(ctx), Request: api.RequestIDOf(ctx)}
}

// Begin begins to count and trace a call that was admitted, and for which a request asked; its End must be called.
func (m *Maker) Begin(ctx context.Context, leg string, s *session.Session, p *Plan, asked Asked) *metrics.Call {
	return m.Metrics.Begin(leg, asked, func() trace.Facts {
		engines := m.chosen(ctx, s.Account(), p)
		if r := engines.Realtime; r != nil {
			name := r.Info().Name
			return trace.Facts{ID: s.ID(), Agent: p.ID, Language: p.Agent.Language, ASR: name, LLM: name, TTS: name}
		}
		facts := trace.Facts{ID: s.ID(), Agent: p.ID, Language: p.Agent.Language, LLM: engines.LLM.Info().Name, TTS: engines.TTS.Info().Name}
		if engines.Hears(p.Agent.Language) {
			facts.ASR = engines.ASR.Info().Name
		}
		return facts
	})
}

// Options are what a call has beside its agent's plan.
type Options struct {
	Rate media.Rate // of the audio that the leg brings, or most likely brings: see Fit
	// Other is the number of the far end, "+" when it is withheld; empty: it is no telephone call.
	Other string
	// Parent is the traceparent header of requests that functions make.
	Parent string
	// Telephone gives the configuration what the agent of a plan may do on the telephone, also of one that takes the call over; nil: it
	// is no telephone call.
	Telephone func(cfg *pipeline.Config, p *Plan)
	// Recorded is up to which moment of the call another node has recorded it; it is asked when the call begins here. Nil: none has.
	Recorded func() media.Time
	// Change completes the configuration. deaf says that no recogniser knows the language.
	Change func(cfg *pipeline.Config, deaf bool)
}

// Make makes the call of an admitted session: its engines, functions, recording and books. When
// there is no error, the functions must be closed after the call, also when its Prepare fails.
func (m *Maker) Make(ctx context.Context, s *session.Session, p *Plan, o Options) (call *pipeline.Call, functions *tool.Set, err error) {
	engines := m.chosen(ctx, s.Account(), p)
	cfg, deaf, err := m.config(*engines, p, o.Rate, s.Spoke)
	if err != nil {
		return nil, nil, err
	}
	s.Serves(engines.Engine)
	functions = m.functions(ctx, s, p, o.Other, o.Parent)
	defer func() {
		if call == nil {
			functions.Close() // a panic
		}
	}()
	t := &takeover{maker: m, session: s, options: o, hears: !deaf, open: functions}
	t.equip(&cfg, functions, p)
	o.Change(&cfg, deaf)
	s.Bind(&cfg)
	cfg.LLM = m.lookingUp(cfg.LLM, s, p)
	var recorder record.Keeper
	if p.records() {
		kept := new(journal.Writer)
		s.Replayed(kept.Bytes)
		if recorder, cfg.Journal = m.Records.Recorder(s.ID()), kept; o.Recorded != nil {
			recorder = m.Records.Continue(s.ID(), o.Recorded)
		}
	}
	heard := monitor.New(recorder)
	s.Monitored(heard)
	cfg.Recorder = heard
	if to := p.Settings.Stream; to != nil && to.URL != "" {
		heard.OnBegin(func() {
			m.Stream(heard, s.Account(), s.ID(), p.ID, wire.NewStream{URL: to.URL, Tracks: to.Tracks, Headers: to.Headers})
		})
	}
	t.call = pipeline.New(cfg)
	return t.call, functions, nil
}

// Fit has a call that was made for audio at another rate than its leg brings hear the leg; others stay as they are.
func (m *Maker) Fit(call *pipeline.Call, p *Plan, made media.Rate, leg media.Leg) error {
	rate := leg.Format().In
	if rate == made {
		return nil
	}
	front, err := m.FrontEnd(p, rate)
	if err == nil {
		call.Fit(rate, front)
	}
	return err
}

// chosen is the engines of a call of an account, which stay the same. A realtime engine serves where the rate card in force has its
// prices, or the account has a key for it, and it knows the language.
func (m *Maker) chosen(ctx context.Context, account string, p *Plan) *engine.Choice {
	if p.chosen != nil {
		return p.chosen
	}
	c := m.Engines.For(ctx, account, p.Settings.Engines)
	if r := c.Realtime; r != nil && (!m.Card().SellsRealtime() && !c.Engine(agent.StageRealtime, "").Own || !slices.Contains(r.Info().Languages, p.Agent.Language)) {
		c.Realtime = nil
	}
	p.chosen = &c
	return p.chosen
}

// config makes a call's configuration. spoke counts the audio of a realtime engine.
func (m *Maker) config(engines engine.Choice, p *Plan, rate media.Rate, spoke func(inference.Usage)) (cfg pipeline.Config, deaf bool, err error) {
	front, err := listen.NewFrontEnd(engines.Denoise, engines.VAD, rate)
	if err != nil {
		return cfg, false, err
	}
	cfg, deaf = m.part(engines, p, rate, spoke)
	cfg.FrontEnd = front
	if !deaf {
		cfg.Scribe = &scribe.Scribe{ASR: engines.ASR, FrontEnd: func(rate media.Rate) (listen.FrontEnd, error) {
			return listen.NewFrontEnd(engines.Denoise, engines.VAD, rate)
		}}
	}
	return cfg, deaf, nil
}

// part is the agent's part of a call's configuration, all of it but the front end, which stays when another agent takes over.
func (m *Maker) part(engines engine.Choice, p *Plan, rate media.Rate, spoke func(inference.Usage)) (cfg pipeline.Config, deaf bool) {
	var speaks *realtime.Call
	if r := engines.Realtime; r != nil {
		if len(p.steps) > 0 { // its prompt stays
			p.Agent.Prompt = agent.Overview(p.Agent.Prompt, p.steps)
		}
		c := inference.RealtimeConfig{Prompt: p.Agent.Prompt, Voice: p.Agent.Voice, Language: p.Agent.Language}
		if p.Follows {
			c.Language = "" // it answers in the one that it hears
		}
		speaks = realtime.New(r, c, spoke)
		engines.ASR, engines.LLM, engines.TTS = speaks.ASR(), speaks.LLM(), speaks.TTS()
	}
	cfg = pipeline.Config{Agent: p.Agent, LLM: engines.LLM, TTS: engines.TTS,
		Turn: p.Settings.Turn(p.Agent.Language), MaxDuration: p.Settings.MaxDuration(), Log: m.Log}
	if m.Card().SpeculativeReplies() {
		cfg.Speculation = reply.SpeculateText
	}
	cfg.Speculation = cfg.Speculation.With(&p.Settings)
	deaf = !engines.Hears(p.Agent.Language)
	if !deaf {
		info := engines.ASR.Info()
		cfg.ASR, cfg.Feed = engines.ASR, info.Takes(rate)
		cfg.Turn.EngineTurns = p.Settings.EngineTurns(info)
		cfg.Turn.EagerEnds = cfg.Turn.EngineTurns && info.Caps.Eager
		m.Engines.Patience.Fit(&cfg, info)
		if s := m.Engines.Turns; s != nil && (p.Follows || slices.Contains(s.Info().Languages, p.Agent.Language)) {
			cfg.Scorer = s
		}
	}
	if p.Follows {
		cfg.Agent.Follows = engines.TTS.Info().Languages
	}
	if speaks != nil {
		cfg.Turn.EngineTurns, cfg.Speculation, cfg.Interrupted = engines.Realtime.Info().Caps.Turns, reply.SpeculationOff, speaks.Interrupted
		cfg.Begins = speaks.Begins
	} else {
		cfg.Lines = &m.lines
	}
	cfg.Agent.VoiceNormalises = engines.TTS.Info().NormalisesText
	if engines.LLM.Info().Scripted {
		cfg.Agent.Phrases = slices.Concat(cfg.Agent.Phrases, scripted.Phrases(p.Agent.Language))
	}
	return cfg, deaf
}

// OnTelephone completes the configuration of a telephone call. Without a recogniser for its
// language, the call ends after its first message.
func OnTelephone(cfg *pipeline.Config, deaf bool, s *session.Session, record *metrics.Call) {
	cfg.Observe = record.Observe
	if !deaf {
		return
	}
	cfg.Turn.Idle = 0
	cfg.Observe = func(e event.Event) {
		record.Observe(e)
		if e.Kind == event.Listening {
			s.Stop(media.Ended{Reason: media.Failed, Detail: "no_recogniser"})
		}
	}
}

// FrontEnd makes the denoiser and detector that an agent's calls have, for a leg that brings audio at rate.
func (m *Maker) FrontEnd(p *Plan, rate media.Rate) (listen.FrontEnd, error) {
	engines := m.Engines.Chosen(p.Settings.Engines)
	return listen.NewFrontEnd(engines.Denoise, engines.VAD, rate)
}

// noteTime bounds storing that a call is to be noted.
const noteTime = 3 * time.Second

// functions makes the functions of a conversation and tells its session what they cost. The
// parent header goes into the call's note in a customer database, too.
func (m *Maker) functions(ctx context.Context, session *session.Session, p *Plan, other, parent string) *tool.Set {
	set := m.Tools.Open(ctx, tool.Who{Account: session.Account(), Other: strings.TrimSuffix(other, "+"), Trace: parent}, p.Functions)
	session.Offers(set.Functions)
	if len(p.Settings.KnowledgeBases) > 0 && !m.looksUp(m.chosen(ctx, session.Account(), p), p) {
		m.offerSearch(set, session.Account(), p)
	}
	for _, d := range p.Functions {
		if d.Kind != tool.CRMKind || !d.CRM.Logs() || other == "" || d.CRM.Provider == "" && !m.CRM {
			continue
		}
		source, err := json.Marshal(d.CRM)
		if err == nil {
			ctx, cancel := context.WithTimeout(ctx, noteTime)
			err = aftercall.New(m.Store).WantCRMNote(ctx, session.Account(), session.ID(), source, parent)
			cancel()
		}
		if err != nil {
			m.Log.Warn("a call will not be noted in the customer database", "session", session.ID(), "err", err)
		}
	}
	return set
}

// NotFound says that an account has no such agent.
func NotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %w", api.ErrNoAgent, err)
	}
	return err
}

// Refusal is the manager's refusal as the error table knows it.
func Refusal(err error) error {
	if errors.Is(err, session.ErrDraining) || errors.Is(err, session.ErrFull) {
		return fmt.Errorf("%w: %w", api.ErrDraining, err)
	}
	return NotFound(err)
}
