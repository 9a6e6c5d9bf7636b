package pipeline

import (
	"context"
	"errors"
	"time"

	"parley/inference"
	"parley/inference/spoken"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/amd"
	"parley/pipeline/listen"
	"parley/pipeline/playout"
	"parley/pipeline/tool"
	"parley/pipeline/turn"
)

// Everything that is not a function of the call's earlier inputs passes through here: the
// clock, what came, and what the leg answers. So a journal can keep it, and a Rerun put
// what was kept in its place.

// arrive begins to deal with an input: until the next one, it is now.
func (c *Call) arrive(kind InputKind) {
	if c.rerun != nil {
		return
	}
	c.instant = time.Now()
	if c.cfg.Journal == nil {
		return
	}
	c.arrived()
	c.input = Input{Kind: kind, At: c.instant.Sub(c.start), NoSpeculation: c.noSpeculation.Load()}
}

// arrived hands the input that was dealt with to the journal.
func (c *Call) arrived() {
	if c.input.Kind != 0 {
		c.cfg.Journal.Input(&c.input)
		c.input = Input{}
	}
}

// arriveStop begins to deal with an end that was asked for.
func (c *Call) arriveStop(e turn.Event) {
	c.arrive(Stopped)
	if c.keeps() {
		c.input.Stop = &StopAsked{Reason: e.Reason, Detail: e.Detail, Line: e.Line}
	}
}

// arriveKey begins to deal with what the leg tells.
func (c *Call) arriveKey(e media.LegEvent) {
	c.arrive(Keyed)
	switch e.Kind {
	case media.LegDigit:
		c.input.Digit = e.Digit
	case media.LegHold, media.LegResume:
		c.input.Hold = e.Kind
	}
}

// arriveEnd begins to close the books of a call whose end is known.
func (c *Call) arriveEnd(outside bool) {
	c.arrive(Concluded)
	if c.keeps() {
		ended := *c.ended
		c.input.Ended, c.input.Outside = &ended, outside
	}
}

// keepEvent has the journal keep an event. Phonemes follow from the audio, and what is
// told of the inside of the call depends on who watches.
func (c *Call) keepEvent(e Event) {
	if c.cfg.Journal == nil || e.Kind == Phones || e.Kind == Phased || e.Kind == Asked {
		return
	}
	c.cfg.Journal.Event(e)
	if e.Kind == ToolAsked || e.Kind == ToolBegun {
		c.note(NoteFunction, 0, e.Call.ID)
	}
}

// unkeep ends the journal.
func (c *Call) unkeep() {
	if c.cfg.Journal != nil {
		c.arrived()
		c.cfg.Journal.Close()
	}
}

// fillerAudio is the audio of a filler, without its marks; none when it was not made
// ahead.
func (c *Call) fillerAudio(text string) []inference.Chunk {
	var made []inference.Chunk
	for _, p := range pieces(text, c.agent.Language) {
		for _, chunk := range c.lines.get(lineKey(&c.agent, c.agent.Form(p))) {
			made = append(made, inference.Chunk{Samples: chunk.Samples, Rate: chunk.Rate})
		}
	}
	if n := int(c.told(AnsweredPieces, int64(len(made)))); n != len(made) {
		made = make([]inference.Chunk, n)
	}
	for i := range made {
		chunk := &made[i]
		chunk.Rate = media.Rate(c.told(AnsweredRate, int64(chunk.Rate)))
		if length := int(c.told(AnsweredLength, int64(len(chunk.Samples)))); length != len(chunk.Samples) {
			chunk.Samples = make([]int16, length)
		}
	}
	return made
}

// keeps says that there is a journal.
func (c *Call) keeps() bool { return c.cfg.Journal != nil && c.rerun == nil }

// now is when the input came that is being dealt with.
func (c *Call) now() time.Time { return c.instant }

// speculationOff says that no speculative reply may be begun; it does not change within an
// input.
func (c *Call) speculationOff() bool {
	if c.keeps() {
		return c.input.NoSpeculation
	}
	return c.noSpeculation.Load()
}

// told is what the world answered, or did when the call was journalled.
func (c *Call) told(kind AnswerKind, value int64) int64 {
	if c.rerun != nil {
		return c.rerun.answer(kind, value)
	}
	if c.cfg.Journal != nil {
		c.input.AddAnswer(Answer{kind, value})
	}
	return value
}

func (c *Call) toldWhether(kind AnswerKind, value bool) bool {
	v := int64(0)
	if value {
		v = 1
	}
	return c.told(kind, v) == 1
}

// playedBy is how far the far end has played what was written.
func (c *Call) playedBy(now time.Time) media.Time {
	written := c.playout.Written()
	return written - media.Time(c.told(AnsweredLag, int64(written-c.leg.Played(now))))
}

// heardBy is what the far end has heard of the reply that is followed.
func (c *Call) heardBy(now time.Time) playout.Position {
	c.playout.Advance(c.playedBy(now))
	return c.playout.Heard()
}

// due is how many frames the leg wants.
func (c *Call) due(now time.Time) int { return int(c.told(AnsweredDue, int64(c.leg.Due(now)))) }

// witness keeps what was made of a frame, and says whether the recogniser was behind it.
func (c *Call) witness(a listen.Activity, behind bool) bool {
	if c.rerun != nil {
		return c.rerun.frame.Behind
	}
	if c.cfg.Journal != nil {
		c.input.AddHeard(Heard{Speech: a.Speech, Level: a.Level, Echo: a.Echo, Behind: behind})
	}
	return behind
}

// whoAnswered follows the answer of the call by one frame.
func (c *Call) whoAnswered(heard listen.Activity) (v amd.Verdict, open bool) {
	if c.rerun != nil {
		return c.rerun.who()
	}
	v = c.answer.who.Step(heard.Speech, heard.Level)
	open = c.answer.who.Open()
	if c.cfg.Journal != nil {
		h := c.input.last()
		h.Verdict, h.Open = uint8(v), open
	}
	return v, open
}

// receive takes a message.
func (c *Call) receive(m message, kind InputKind, take func(message)) {
	c.arrive(kind)
	if c.keeps() {
		c.input.Message = c.kept(&m)
	}
	take(m)
	if c.keeps() && m.kind == msgUpdate {
		c.input.Message.Agent = personOf(&c.agent)
	}
}

func (c *Call) note(kind NoteKind, n int, text string) {
	if c.cfg.Journal != nil {
		c.cfg.Journal.Note(Note{Kind: kind, At: c.now().Sub(c.start), N: n, Text: text})
	}
}

// noteReply says what the engines of a reply were asked for.
func (c *Call) noteReply(agent *agent.Agent, gen int, request *inference.Request, text string) {
	if c.rerun != nil {
		c.rerun.agents[gen] = *agent
		if c.rerun.asked != nil {
			c.rerun.asked(gen, request, text)
		}
	}
	if c.cfg.Journal == nil {
		return
	}
	if request != nil {
		text = "answer"
		if n := len(request.Messages); n > 0 {
			m := &request.Messages[n-1]
			text = string(m.Role) + ": " + m.Text
		}
	} else {
		text = "line: " + text
	}
	c.note(NoteReply, gen, clipped(text, maxKey))
}

// Names of the messages in a journal.
var messageNames = [...]string{msgResult: "result", msgStreamEnded: "deaf", msgRecogniser: "ear", msgSentence: "sentence", msgAudio: "audio",
	msgSpoken: "spoken", msgTool: "tool", msgWritten: "written", msgBroken: "broken", msgDone: "done", msgToolResult: "tool_result",
	msgFunction: "function", msgConnect: "connect", msgTyped: "typed", msgInterrupt: "interrupt", msgUpdate: "update"}

// Causes of errors that mean something to the conductor.
var errorCauses = map[string]error{"connected": errConnected, "transferred": errTransferred, "deadline": context.DeadlineExceeded}

// Bounds of what a journal keeps of texts, in bytes. What a function gave makes no
// difference to the conductor.
const (
	maxKey   = 200
	maxGiven = 1000
)

// kept is a message as a journal keeps it.
func (c *Call) kept(m *message) *Message {
	out := &Message{Kind: messageNames[m.kind], Gen: m.gen, Seg: m.seg, Text: m.text, ID: m.id, Engine: m.engine}
	switch m.kind {
	case msgResult:
		r := m.result
		r.Utterance += c.caller.Offset()
		out.Result = &r
	case msgAudio:
		out.Samples, out.Rate, out.Words, out.Engine = len(m.chunk.Samples), m.chunk.Rate, m.chunk.Words, m.chunk.Engine
	case msgFunction, msgToolResult:
		out.Text = clipped(m.text, maxGiven)
	case msgTool:
		out.Call = &m.call
	case msgWritten:
		out.Usage = &m.usage
	}
	if m.err != nil {
		out.Err = m.err.Error()
		for name, err := range errorCauses {
			if errors.Is(m.err, err) {
				out.Cause = name
			}
		}
	}
	out.Sent, out.At, out.Whole = c.sinceStart(m.sent), c.sinceStart(m.at), c.sinceStart(m.whole)
	return out
}

// sinceStart is when something was in the call; nil when it was not.
func (c *Call) sinceStart(t time.Time) *time.Duration {
	if t.IsZero() {
		return nil
	}
	d := t.Sub(c.start)
	return &d
}

// personOf is the agent as a journal keeps it.
func personOf(a *agent.Agent) *Person {
	p := &Person{Voice: a.Voice, Language: a.Language, FirstMessage: a.FirstMessage, Goodbye: a.Goodbye, Pronunciation: a.Pronunciation.Entries(), VoiceNormalises: a.VoiceNormalises}
	for i := range a.Tools {
		p.Tools = append(p.Tools, a.Tools[i].Name)
	}
	return p
}

// apply gives an agent what was kept of another.
func (p *Person) apply(a *agent.Agent) {
	a.Voice, a.Language, a.FirstMessage, a.Goodbye = p.Voice, p.Language, p.FirstMessage, p.Goodbye
	a.Pronunciation, a.VoiceNormalises = spoken.NewDictionary(p.Pronunciation), p.VoiceNormalises
	a.Tools = nil
	for _, name := range p.Tools {
		a.Tools = append(a.Tools, inference.Tool{Name: name})
	}
}

// origin is what the call begins with.
func (c *Call) origin() Origin {
	cfg := &c.cfg
	o := Origin{Start: c.start, Format: c.format, Agent: *personOf(&c.agent), Turn: cfg.Turn, Hears: cfg.ASR != nil,
		LLM: cfg.LLM.Info().Name, TTS: cfg.TTS.Info().Name, ClientTools: cfg.ClientTools, ToolTimeout: cfg.ToolTimeout,
		Answering: cfg.Answering, Speculate: cfg.Speculate, AnyVoice: cfg.SpeculateVoice, MaxDuration: cfg.MaxDuration, Quiet: cfg.Quiet}
	if cfg.ASR != nil {
		o.ASR = cfg.ASR.Info().Name
	}
	for i := range c.tools.own {
		o.Own = append(o.Own, c.tools.own[i].Spec.Name)
	}
	for i := range cfg.Functions {
		f := &cfg.Functions[i]
		o.Functions = append(o.Functions, OriginFunction{Name: f.Spec.Name, Timeout: f.Timeout, Cancel: f.Cancel})
	}
	return o
}

// config is a call's that began so.
func (o *Origin) config() Config {
	c := Config{Turn: o.Turn, ClientTools: o.ClientTools, ToolTimeout: o.ToolTimeout, Answering: o.Answering,
		Speculate: o.Speculate, SpeculateVoice: o.AnyVoice, MaxDuration: o.MaxDuration, Quiet: o.Quiet}
	o.Agent.apply(&c.Agent)
	c.LLM, c.TTS = silentLLM{name: o.LLM}, silentTTS{name: o.TTS}
	if o.Hears {
		c.ASR = silentASR{name: o.ASR}
	}
	for _, f := range o.Functions {
		c.Functions = append(c.Functions, tool.Function{Spec: inference.Tool{Name: f.Name}, Timeout: f.Timeout, Cancel: f.Cancel})
	}
	for _, name := range o.Own {
		switch name {
		case TransferCall:
			c.Transfer = &Transfer{Any: true}
		case SendDTMF:
			c.SendDTMF = true
		case CollectDigits:
			c.CollectDigits = true
		case OptOut:
			c.OptOut = func(context.Context) error { return nil }
		}
	}
	return c
}
