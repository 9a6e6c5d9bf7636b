package pipeline

import (
	"context"
	"errors"
	"time"

	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/reply"
	"parley/pipeline/tool"
	"parley/pipeline/toolbox"
	"parley/pipeline/turn"
)

// A call in the terms of its journal: what it begins with, its messages and its events.

// origin is what the call begins with.
func (c *Call) origin() journal.Origin {
	cfg := &c.cfg
	o := journal.Origin{Format: c.leg.Format(), Agent: *journal.PersonOf(&c.agent), Turn: cfg.Turn, Hears: cfg.ASR != nil,
		LLM: cfg.LLM.Info().Name, TTS: cfg.TTS.Info().Name, ClientTools: cfg.ClientTools, ToolTimeout: cfg.ToolTimeout,
		Answering: cfg.Answering, Speculate: cfg.Speculation != reply.SpeculationOff, AnyVoice: cfg.Speculation == reply.SpeculateSpeech, MaxDuration: cfg.MaxDuration, Quiet: cfg.Quiet, Resume: cfg.Resume}
	if cfg.ASR != nil {
		o.ASR = cfg.ASR.Info().Name
	}
	for _, f := range c.tools.Functions[:len(c.tools.Functions)-len(cfg.Functions)] {
		o.Own = append(o.Own, f.Spec.Name)
	}
	for i := range cfg.Functions {
		f := &cfg.Functions[i]
		o.Functions = append(o.Functions, journal.Function{Name: f.Spec.Name, Timeout: f.Timeout, Cancel: f.Cancel})
	}
	return o
}

// configOf is the configuration of a call that began so, with engines that are never asked.
func configOf(o *journal.Origin) Config {
	c := Config{Turn: o.Turn, ClientTools: o.ClientTools, ToolTimeout: o.ToolTimeout, Answering: o.Answering,
		MaxDuration: o.MaxDuration, Quiet: o.Quiet, Resume: o.Resume, Speculation: reply.SpeculationOf(o.Speculate, o.AnyVoice)}
	c.Turn.Complete = turn.DefaultConfig(o.Agent.Language).Complete
	o.Agent.Apply(&c.Agent)
	c.LLM, c.TTS = journal.Engine{Name: o.LLM}, journal.Engine{Name: o.TTS}
	if o.Hears {
		c.ASR = journal.Engine{Name: o.ASR}
	}
	for _, f := range o.Functions {
		c.Functions = append(c.Functions, tool.Function{Spec: inference.Tool{Name: f.Name}, Timeout: f.Timeout, Cancel: f.Cancel})
	}
	for _, name := range o.Own {
		switch name {
		case bridge.TransferCall:
			c.Transfer = &bridge.Transfer{Any: true}
		case toolbox.SendDTMF, toolbox.CollectDigits:
			c.Keys = append(c.Keys, name)
		case toolbox.HandOver:
			c.HandOver = &HandOver{To: []agent.Successor{{}}}
		case toolbox.OptOut:
			c.OptOut = func(context.Context) error { return nil }
		}
	}
	return c
}

// Names of the messages in a journal.
var messageNames = [...]string{msgResult: "result", msgStreamEnded: "deaf", msgRecogniser: "ear", msgGivenUp: "given_up", msgScore: "score", msgSentence: "sentence", msgAudio: "audio",
	msgSpoken: "spoken", msgTool: "tool", msgWritten: "written", msgBroken: "broken", msgDone: "done", msgToolResult: "tool_result",
	msgFunction: "function", msgConnect: "connect", msgSuccessor: "successor", msgTyped: "typed", msgInterrupt: "interrupt", msgUpdate: "update", msgPause: "pause",
	msgSteppedIn: "stepped_in", msgSteppedOut: "stepped_out", msgSupervisorSaid: "supervisor_said", msgListens: "listens", msgInvited: "invited", msgIntroduced: "introduced", msgWhisper: "whisper", msgCoaches: "coaches"}

// Causes of errors that mean something to the conductor.
var errorCauses = map[string]error{"connected": bridge.ErrConnected, "transferred": bridge.ErrTransferred, "deadline": context.DeadlineExceeded}

// Bounds of what a journal keeps of texts, in bytes. What a function returned makes no
// difference to the conductor.
const (
	maxKey      = 200
	maxReturned = 1000
)

// recorded is a message as the journal has it.
func (c *Call) recorded(m *message) *journal.Message {
	p, err := &m.part, m.err
	out := &journal.Message{Kind: messageNames[m.kind], Gen: p.Gen, Seg: m.seg, Text: m.text, ID: m.id, Engine: p.Engine, Pause: m.pause, Prob: m.prob,
		Sent: c.observer.Since(p.Sent), At: c.observer.Since(p.At), Whole: c.observer.Since(p.Whole)}
	if m.kind > msgPart {
		out.Seg, out.Text, err = p.Seg, p.Text, p.Err
	}
	switch m.kind {
	case msgResult:
		r := m.result
		r.Utterance += c.caller.Offset()
		out.Result = &r
	case msgAudio:
		out.Samples, out.Rate, out.Words, out.Engine = len(p.Chunk.Samples), p.Chunk.Rate, p.Chunk.Words, p.Chunk.Engine
	case msgFunction, msgToolResult:
		out.Text = tool.Clip(m.text, maxReturned)
	case msgTool:
		out.Call, out.Own = &p.Call, p.Own
	case msgSuccessor:
		out.Brief = m.brief
		if call := c.tools.Begun(toolbox.HandOver); call != nil {
			out.ID = call.ID
		}
	case msgWritten:
		out.Usage = &p.Usage
	}
	if err != nil {
		out.Err = err.Error()
		for name, cause := range errorCauses {
			if errors.Is(err, cause) {
				out.Cause = name
			}
		}
	}
	return out
}

// replayed is a message that was recorded, as if it came again; false: there is no such message.
func (s *Simulation) replayed(from *journal.Message) (m message, ok bool) {
	if from == nil {
		return m, false
	}
	for k, name := range messageNames {
		if name == from.Kind && name != "" {
			m.kind, ok = messageKind(k), true
		}
	}
	c := s.c
	at := func(since *time.Duration) (t time.Time) {
		if since != nil {
			t = c.times.start.Add(*since)
		}
		return t
	}
	m.seg, m.text, m.id, m.pause, m.prob = from.Seg, from.Text, from.ID, from.Pause, from.Prob
	if from.Err != "" {
		if m.err = errorCauses[from.Cause]; m.err == nil {
			m.err = errors.New(from.Err)
		}
	}
	p := &m.part
	if m.kind > msgPart {
		*p = reply.Part{Kind: reply.PartKind(m.kind - msgPart), Gen: from.Gen, Seg: from.Seg, Text: from.Text, Engine: from.Engine,
			Err: m.err, Sent: at(from.Sent), At: at(from.At), Whole: at(from.Whole)}
	}
	switch m.kind {
	case msgResult:
		if from.Result == nil {
			return m, false
		}
		m.result, m.seg = *from.Result, c.caller.Stream()
		m.result.Utterance -= c.caller.Offset()
	case msgStreamEnded:
		m.seg = c.caller.Stream()
	case msgRecogniser:
		m.asr = s.world.Recognition()
	case msgSentence:
		agent := s.agents[p.Gen]
		p.Form, p.Stop = agent.Form(p.Text), func(error) {}
	case msgAudio:
		p.Chunk = inference.Chunk{Samples: make([]int16, from.Samples), Rate: from.Rate, Words: from.Words, Engine: from.Engine}
	case msgTool:
		if from.Call == nil {
			return m, false
		}
		p.Call, p.Own = *from.Call, from.Own
	case msgWritten:
		if from.Usage != nil {
			p.Usage = *from.Usage
		}
	case msgBroken:
		p.Again = make(chan string, 1)
	case msgSuccessor:
		if from.Origin == nil {
			return m, false
		}
		m.brief, m.next = from.Brief, new(configOf(from.Origin))
	case msgConnect:
		m.second = bridge.NewSecond(s.world.Second())
	case msgUpdate:
		m.update = func(a *agent.Agent) {
			if from.Agent != nil {
				from.Agent.Apply(a)
			}
		}
	}
	return m, ok
}

// noteReply records what the engines of a reply are asked for.
func (c *Call) noteReply(agent *agent.Agent, gen int, request *inference.Request, text string) {
	asked := "line: " + text
	if request != nil {
		asked = "answer"
		if n := len(request.Messages); n > 0 {
			m := &request.Messages[n-1]
			asked = string(m.Role) + ": " + m.Text
		}
	}
	c.observer.Note(journal.Note{Kind: journal.NoteReply, N: gen, Text: tool.Clip(asked, maxKey),
		Of: &journal.Asked{Agent: *agent, Request: request, Line: text}})
}

// recordEvent records an event. Phonemes follow from the audio, and what the call reports of its inside
// depends on who watches.
func (c *Call) recordEvent(e *event.Event) {
	if e.Kind == event.Phones || e.Kind == event.Phased || e.Kind == event.Asked {
		return
	}
	c.observer.Event(func() journal.Event { return e.Logged() })
	if e.Kind == event.ToolAsked || e.Kind == event.ToolBegun {
		c.observer.Note(journal.Note{Kind: journal.NoteFunction, Text: e.Call.ID})
	}
}
