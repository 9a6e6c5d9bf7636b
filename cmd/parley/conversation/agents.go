package conversation

import (
	"context"
	"maps"
	"sync"
	"time"

	"parley/api"
	"parley/api/talk"
	"parley/api/tts"
	"parley/api/webrtc"
	"parley/billing"
	"parley/cmd/parley/metrics"
	"parley/inference"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/session"
	"parley/store/history"
	"parley/store/ledger"
)

// Defaults of an agent that a client defines by its messages.
const (
	defaultVoice    = "F1"
	defaultLanguage = "en"
)

// Agents starts conversations on agent sockets and over WebRTC. It implements talk.Agents.
type Agents struct {
	Maker *Maker
	Calls *session.Manager // of this node
}

// WebTerms price a conversation over a socket.
var WebTerms = billing.Terms{Kind: billing.Web}

// quietClient ends a conversation without a stored agent after so long without speech: clients
// reconnect while nobody listens.
const quietClient = time.Minute

// Admit implements talk.Agents.
func (a Agents) Admit(ctx context.Context, who api.Principal, agentID string) (talk.Conversation, error) {
	ask := session.Admission{Start: ledger.Start{Account: who.Account, Key: who.Key, Terms: WebTerms}}
	var longest time.Duration
	if t := who.Ticket; t != nil && t.Agent != "" {
		if agentID != "" && agentID != t.Agent {
			return nil, api.ErrTicketScope
		}
		agentID, longest = t.Agent, t.MaxDuration
		ask.Ticket, ask.TicketLimit, ask.MaxCost, ask.Metadata = t.ID, t.MaxSessions, t.MaxCost, t.Metadata
	}
	talk := &conversation{maker: a.Maker, id: agentID, longest: longest, running: make(chan struct{}), inside: insight{may: owns(who)}, ticket: who.Ticket}
	talk.ready = sync.OnceFunc(func() { close(talk.running) })
	talk.plan.Agent = agent.Agent{Voice: defaultVoice, Language: defaultLanguage}
	if agentID != "" {
		stored, err := a.Maker.Store.Agent(ctx, who.Account, agentID)
		if err != nil {
			return nil, NotFound(err)
		}
		talk.plan = PlanOf(stored, a.Maker.Log)
	}
	ask.Agent, ask.AgentVersion = agentID, talk.plan.Version
	session, err := a.Calls.Admit(ctx, ask)
	if err != nil {
		return nil, Refusal(err)
	}
	talk.session = session
	return talk, nil
}

// conversation is that of one agent socket or WebRTC session.
type conversation struct {
	maker   *Maker
	id      string // of the stored agent; empty when the client brings its own
	plan    Plan
	longest time.Duration // as the ticket says; 0: as the agent says
	session *session.Session
	call    *pipeline.Call
	leg     talk.Leg
	record  *metrics.Call
	inside  insight
	running chan struct{} // closed by ready when call may be used, or never will be
	ready   func()
	ticket  *api.Ticket // the client's; nil: it has a key
	// fixed says that the prompt of the stored agent stays: this server runs functions beside it, or other agents take over,
	// which the holder of a ticket did not write.
	fixed bool
}

// ID implements talk.Conversation.
func (c *conversation) ID() string { return c.session.ID() }

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
	c.begin(ctx, asked)
	c.record = c.maker.Begin(ctx, leg.Transport(), c.session, &c.plan, AskedIn(ctx))
	deaf := false
	call, functions, err := c.maker.Make(ctx, c.session, &c.plan, Options{Rate: leg.Format().In, Parent: c.record.Header(), Change: func(cfg *pipeline.Config, without bool) {
		deaf = without
		cfg.ClientTools, cfg.Inspect, cfg.Observe = true, c.inside.may, c.observe
		c.fixed = c.id != "" && c.ticket != nil && (len(cfg.Functions) > 0 || cfg.HandOver != nil)
		if c.longest > 0 {
			cfg.MaxDuration = min(cfg.MaxDuration, c.longest)
		}
		if c.id == "" {
			cfg.Turn.Idle = 0 // it has no re-prompts
			cfg.Quiet = quietClient
		}
	}})
	if err == nil {
		defer functions.Close()
		err = call.Prepare(ctx)
	}
	if err != nil {
		c.ready()
		c.maker.Log.Warn("a conversation could not start", "session", c.session.ID(), "err", err)
		leg.Error(api.ErrSessionStart, "")
		failed := media.Ended{Reason: media.Failed, Detail: media.EngineFailed}
		c.session.End(failed)
		c.record.End(failed)
		return
	}
	c.call = call
	if deaf {
		leg.Error(api.ErrCannotHear, c.plan.Agent.Language)
	}
	leg.Status("prompt_set", 0)
	if l, ok := leg.(*webrtc.Leg); ok {
		w := c.maker.Wire(c.session, nil)
		defer w.Keep()
		w.Answered(l)
		c.session.BeginAt(l.Started())
	} else {
		c.session.Begin()
	}
	c.ready()
	c.maker.Log.Info("conversation begins", "session", c.session.ID(), "agent", c.id)
	ended := c.session.Conduct(c.call, leg)
	c.record.End(ended)
	c.maker.Metrics.Ended(leg.Transport(), c.session.ID(), ended)
	if l, ok := leg.(*webrtc.Leg); ok {
		stats := l.Stats()
		c.maker.Metrics.Quality(c.session.ID(), stats.Quality())
	}
}

// begin makes the agent that of this conversation, and keeps the metadata that the client sent.
func (c *conversation) begin(ctx context.Context, asked talk.Change) {
	given, err := asked.Variables, error(nil)
	// The holder of a session ticket is a stranger, and the holder of another one did not write the functions
	// that this server runs: both write into the prompt only where the account lets them.
	if t := c.ticket; t != nil && (t.Agent != "" || len(c.plan.Functions) > 0 || len(c.plan.Settings.HandOverTo) > 0) {
		given, err = c.plan.Settings.Public(given)
		for name := range given {
			if _, ours := t.Variables[name]; !ours {
				c.plan.visitors = append(c.plan.visitors, name)
			}
		}
		maps.Copy(given, t.Variables)
	}
	if err == nil {
		err = agent.CheckGiven(&c.plan.Settings, given)
	}
	if err != nil { // it goes on with those that are right
		c.leg.Error(api.ErrBadRequest, err.Error())
	}
	if len(asked.Metadata) > 0 {
		keep := func(k *history.Kept) error { k.Metadata = asked.Metadata; return nil }
		if err := c.maker.History.Keep(ctx, c.session.Account(), c.session.ID(), keep); err != nil {
			c.maker.Log.Warn("the metadata of a conversation was not stored", "session", c.session.ID(), "err", err)
		}
	}
	if c.id == "" {
		apply(&c.plan.Agent, asked)
		return
	}
	c.plan.Begin(agent.Call{Now: c.maker.Store.Now(), Given: given})
	if asked.ToolsSet {
		// The stored agent wins over what clients always send at the start.
		c.plan.Agent.Tools = append(c.plan.Agent.Tools, asked.Tools...)
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
func (c *conversation) observe(e event.Event) {
	c.record.Observe(e)
	c.inside.observe(e)
	Tell(c.leg, e)
}

// Tell tells the client of a leg what has happened in its call.
func Tell(l talk.Leg, e event.Event) {
	switch e.Kind {
	case event.Thinking, event.Speaking:
		l.Status(e.Kind.String(), e.Generation)
	case event.Listening, event.Interrupted:
		l.Status(e.Kind.String(), 0)
	case event.UserPartial:
		l.Caption("user", e.Text)
	case event.AgentPartial:
		l.Caption("agent", e.Text)
	case event.UserLine:
		l.Transcript("user", e.Text)
	case event.UserLineAgain:
		l.Correction("user", e.Text, e.Replaces)
	case event.AgentLine, event.SupervisorLine:
		l.Transcript("agent", e.Text)
	case event.ToolAsked:
		l.ToolCall(e.Call, e.Generation)
	case event.Phones:
		if l.WantsVisemes() {
			l.Visemes(visemes(e.Phones), e.Generation)
		}
	case event.Fault:
		l.Error(e.Err, "")
	}
}

// visemes are the mouth shapes of phonemes.
func visemes(phones []inference.Mark) []tts.Viseme {
	list := make([]tts.Viseme, len(phones))
	for i, p := range phones {
		shape := tts.Shape(p.Text)
		list[i] = tts.Viseme{V: max(0, p.Char), C: tts.Alphabet[shape], T: p.Start.Seconds(), ID: shape}
	}
	return list
}
