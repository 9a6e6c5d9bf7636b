package node

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"parley/api"
	"parley/api/talk"
	"parley/api/tts"
	"parley/api/webrtc"
	"parley/inference"
	"parley/inference/scripted"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/listen"
	"parley/pipeline/session"
	"parley/pipeline/tool"
	"parley/store"
	"parley/store/ledger"
)

// plan is everything about a conversation that the agent decides.
type plan struct {
	id       string // of the stored agent
	version  int64
	agent    agent.Agent
	settings agent.Settings
	// functions are those of the agent's that this server runs.
	functions []tool.Definition
}

// planOf reads a stored agent. What was stored by an older version and cannot be
// read is left at its default and logged.
func planOf(a *store.Agent, log *slog.Logger) plan {
	p := plan{id: a.ID, version: a.Version, agent: agent.Agent{Prompt: a.Prompt, FirstMessage: a.FirstMessage, Voice: a.Voice, Language: a.Language}}
	functions, err := tool.Parse(a.Tools)
	if err != nil {
		log.Warn("an agent's functions cannot be read", "agent", a.ID, "err", err)
	}
	for _, f := range functions {
		if f.Kind == tool.Client {
			p.agent.Tools = append(p.agent.Tools, f.Spec)
		} else {
			p.functions = append(p.functions, f)
		}
	}
	if p.settings, err = agent.ParseSettings(a.Settings); err != nil {
		log.Warn("an agent's settings cannot be read", "agent", a.ID, "err", err)
	}
	p.agent.Phrases = p.settings.Phrases
	p.agent.Pronunciation = p.settings.Dictionary()
	if s := p.settings.Speed; s != nil {
		p.agent.Speed = *s
	}
	if g := p.settings.Goodbye; g != nil {
		p.agent.Goodbye = *g
	}
	return p
}

// begin makes the agent's texts those of one conversation.
func (p *plan) begin(c agent.Call) agent.Fill {
	fill := agent.Filled(&p.settings, c)
	fill.Agent(&p.agent, &p.settings)
	return fill
}

// Defaults of an agent that a client defines by its messages.
const (
	defaultVoice    = "F1"
	defaultLanguage = "en"
)

// config makes a call's configuration. deaf says that nobody hears the language.
func (n *Node) config(p plan, rate media.Rate) (cfg pipeline.Config, deaf bool, err error) {
	front, err := n.frontEnd(rate)
	if err != nil {
		return cfg, false, err
	}
	engines := n.engines.Chosen(p.settings.Engines)
	cfg = pipeline.Config{Agent: p.agent, LLM: engines.LLM, TTS: engines.TTS, FrontEnd: front,
		Turn: p.settings.Turn(p.agent.Language), MaxDuration: p.settings.MaxDuration(), Log: n.log}
	if n.db.RateCard().SpeculativeReplies() {
		cfg.Speculation = pipeline.SpeculateText
	}
	cfg.Speculation = cfg.Speculation.With(&p.settings)
	deaf = !engines.Hears(p.agent.Language)
	if !deaf {
		cfg.ASR = engines.ASR
		n.engines.Patience.Fit(&cfg, engines.ASR.Info())
	}
	cfg.Agent.VoiceNormalises = engines.TTS.Info().NormalisesText
	if engines.LLM.Info().Scripted {
		cfg.Agent.Phrases = append(scripted.Phrases(p.agent.Language), cfg.Agent.Phrases...)
	}
	return cfg, deaf, nil
}

// frontEnd is the denoiser and detector of a leg that brings audio at rate.
func (n *Node) frontEnd(rate media.Rate) (listen.FrontEnd, error) {
	return listen.NewFrontEnd(n.engines.Denoise, n.engines.VAD, rate)
}

// conversations starts conversations on agent sockets and over WebRTC.
type conversations struct{ *Node }

// Admit implements talk.Agents.
func (n conversations) Admit(ctx context.Context, who api.Principal, agentID string) (talk.Conversation, error) {
	ask := session.Admission{Start: ledger.Start{Account: who.Account, Key: who.Key, Terms: webTerms}}
	var longest time.Duration
	if t := who.Ticket; t != nil && t.Agent != "" {
		if agentID != "" && agentID != t.Agent {
			return nil, api.ErrTicketScope
		}
		agentID, longest = t.Agent, t.MaxDuration
		ask.Ticket, ask.TicketLimit, ask.MaxCost = t.ID, t.MaxSessions, t.MaxCost
	}
	talk := &conversation{node: n.Node, id: agentID, longest: longest, running: make(chan struct{}), inside: insight{may: owns(who)}, ticket: who.Ticket != nil}
	talk.ready = sync.OnceFunc(func() { close(talk.running) })
	talk.plan.agent = agent.Agent{Voice: defaultVoice, Language: defaultLanguage}
	if agentID != "" {
		stored, err := n.db.Agent(ctx, who.Account, agentID)
		if err != nil {
			return nil, notFound(err)
		}
		talk.plan = planOf(stored, n.log)
		talk.plan.begin(agent.Call{Now: n.db.Now()})
	}
	ask.Agent, ask.AgentVersion = agentID, talk.plan.version
	session, err := n.manager.Admit(ctx, ask)
	if err != nil {
		return nil, refusal(err)
	}
	talk.session = session
	return talk, nil
}

// conversation is that of one agent socket or WebRTC session.
type conversation struct {
	node    *Node
	id      string // of the stored agent; empty when the client brings its own
	plan    plan
	longest time.Duration // as the ticket says; 0: as the agent says
	session *session.Session
	call    *pipeline.Call
	leg     talk.Leg
	record  *record
	inside  insight
	running chan struct{} // closed by ready when call may be used, or never will be
	ready   func()
	// ticket says that the client has a ticket, and fixed that the prompt of the stored
	// agent stays: this server runs functions beside it, and whoever holds a ticket did
	// not write them.
	ticket, fixed bool
}

// Cancel implements talk.Conversation.
func (c *conversation) Cancel() {
	defer c.ready()
	c.session.End(media.Ended{Reason: media.UserHangup})
}

// Fail implements talk.Conversation.
func (c *conversation) Fail() {
	defer c.ready()
	c.session.End(*isolate.Internal)
}

// Converse implements talk.Conversation.
func (c *conversation) Converse(ctx context.Context, asked talk.Change, leg talk.Leg) {
	defer c.session.End(*isolate.Internal) // where nothing else has ended it
	defer c.ready()
	c.leg = leg
	c.inside.leg, c.inside.session = leg, c.session
	if c.id == "" {
		apply(&c.plan.agent, asked)
	} else if asked.ToolsSet {
		// The stored agent wins over what clients always send at the start.
		c.plan.agent.Tools = append(c.plan.agent.Tools, asked.Tools...)
	}
	c.record = c.node.record(leg.Transport(), c.session, c.plan, api.TraceParentOf(ctx))
	cfg, deaf, err := c.node.config(c.plan, leg.Format().In)
	if err == nil {
		cfg.ClientTools, cfg.Inspect = true, c.inside.may
		functions := c.node.functionsOf(ctx, c.session, c.plan, "", c.record.trace.Header())
		defer functions.Close()
		cfg.Functions = functions.Functions
		c.fixed = c.id != "" && c.ticket && len(functions.Functions) > 0
		cfg.Observe = c.observe
		c.session.Bind(&cfg)
		cfg.Recorder, cfg.Journal = c.node.recorder(c.session, c.plan), c.node.journal(c.session, c.plan)
		if c.longest > 0 {
			cfg.MaxDuration = min(cfg.MaxDuration, c.longest)
		}
		if c.id == "" {
			cfg.Turn.Idle = 0 // nobody wrote re-prompts for it
			cfg.Quiet = quietClient
		}
		call := pipeline.New(cfg)
		if err = call.Prepare(ctx); err == nil {
			c.call = call
		}
	}
	if err != nil {
		c.ready()
		c.node.log.Warn("a conversation could not start", "session", c.session.ID(), "err", err)
		leg.Error(api.ErrSessionStart, "")
		failed := media.Ended{Reason: media.Failed, Detail: "engine"}
		c.session.End(failed)
		c.record.ended(failed)
		return
	}
	if deaf {
		leg.Error(api.ErrCannotHear, cfg.Agent.Language)
	}
	leg.Status("prompt_set", 0)
	if l, ok := leg.(*webrtc.Leg); ok {
		c.session.BeginAt(l.Started())
	} else {
		c.session.Begin()
	}
	c.ready()
	c.node.log.Info("conversation begins", "session", c.session.ID(), "agent", c.id)
	ended := c.session.Conduct(c.call, leg)
	c.record.ended(ended)
	c.node.ended(leg.Transport(), c.session.ID(), ended)
	if l, ok := leg.(*webrtc.Leg); ok {
		c.node.keepQuality(c.session, l)
	}
}

// apply changes an agent as the client asks.
func apply(a *agent.Agent, c talk.Change) {
	if c.Voice != nil {
		a.Voice = *c.Voice
	}
	if c.Language != nil {
		a.Language = *c.Language
	}
	if c.Prompt != nil {
		a.Prompt = *c.Prompt
	}
	if c.ToolsSet {
		a.Tools = c.Tools
	}
}

// live waits until the call runs; nil when it could not start.
func (c *conversation) live() *pipeline.Call {
	<-c.running
	return c.call
}

// Type implements talk.Conversation.
func (c *conversation) Type(text string) {
	if call := c.live(); call != nil {
		call.Type(text)
	}
}

// Interrupt implements talk.Conversation.
func (c *conversation) Interrupt() {
	if call := c.live(); call != nil {
		call.Interrupt()
	}
}

// ToolResult implements talk.Conversation.
func (c *conversation) ToolResult(id, result string) {
	if call := c.live(); call != nil {
		call.ToolResult(id, result)
	}
}

// Update implements talk.Conversation.
func (c *conversation) Update(change talk.Change) {
	if call := c.live(); call != nil {
		if c.fixed {
			change.Prompt = nil
		}
		call.Update(func(a *agent.Agent) { apply(a, change) })
	}
}

// observe turns the call's events into messages to the client. It runs on the
// conductor.
func (c *conversation) observe(e pipeline.Event) {
	c.record.observe(e)
	c.inside.observe(e)
	l := c.leg
	switch e.Kind {
	case pipeline.Thinking, pipeline.Speaking:
		l.Status(e.Kind.String(), e.Generation)
	case pipeline.Listening, pipeline.Interrupted:
		l.Status(e.Kind.String(), 0)
	case pipeline.UserPartial:
		l.Caption("user", e.Text)
	case pipeline.AgentPartial:
		l.Caption("agent", e.Text)
	case pipeline.UserLine:
		l.Transcript("user", e.Text)
	case pipeline.UserLineAgain:
		l.Correction("user", e.Text, e.Replaces)
	case pipeline.AgentLine:
		l.Transcript("agent", e.Text)
	case pipeline.ToolAsked:
		l.ToolCall(e.Call, e.Generation)
	case pipeline.Phones:
		if l.WantsVisemes() {
			l.Visemes(visemes(e.Phones), e.Generation)
		}
	case pipeline.Fault:
		l.Error(e.Err, "")
	}
}

// visemes are the mouth shapes of phonemes.
func visemes(phones []inference.Mark) []talk.Viseme {
	list := make([]talk.Viseme, len(phones))
	for i, p := range phones {
		shape := tts.Shape(p.Text)
		list[i] = talk.Viseme{V: max(0, p.Char), C: tts.Alphabet[shape], T: p.Start.Seconds(), ID: shape}
	}
	return list
}
