package simulate

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/toolbox"
)

// Subject is the agent that is talked to.
type Subject struct {
	// Config is a call's, as a server makes it: agent, turn-taking, functions, limits. Its
	// LLM answers; recogniser, voice and listener are not needed.
	Config pipeline.Config
	// Steps are those that the agent goes through; none: it has none.
	Steps []agent.Step
	// Successor is an agent of Config.HandOver, whose model reads the text of an error otherwise.
	Successor func(to *agent.Successor) (Subject, error)
	// Caller plays callers with a persona, and Judge judges by criteria; nil: Config.LLM.
	Caller, Judge inference.LLM
}

// Result is one conversation.
type Result struct {
	Run           int             `json:"run"` // from 1
	OK            bool            `json:"ok"`
	Problem       string          `json:"problem,omitempty"` // the model's, which ended the run
	Ended         string          `json:"ended"`
	Detail        string          `json:"detail,omitempty"`
	LengthMS      int64           `json:"length_ms"`
	Interruptions int             `json:"interruptions"`
	SlowestMS     int64           `json:"slowest_turn_ms"`
	Lines         []Line          `json:"transcript"`
	Functions     []Called        `json:"functions"`
	Turns         []Timed         `json:"turns"`
	Faults        []string        `json:"faults,omitempty"`
	Checks        []Checked       `json:"checks"`
	Events        []journal.Event `json:"events"`
	// Took is what models were asked for, in order: also in a run with a Problem.
	Took []Took `json:"-"`
}

// Role is whom a model speaks for.
type Role string

// Whom models speak for.
const (
	TheAgent Role = "agent"
	Caller   Role = "caller" // with a persona
	Judge    Role = "judge"  // of criteria
)

// Took is a whole answer of a model, and what it took.
type Took struct {
	Role   Role
	Engine string // its name; of a failover, of the engine that made it
	Usage  inference.Usage
}

// Line is what was said.
type Line struct {
	AtMS int64  `json:"at_ms"`
	Role string `json:"role"` // user or agent
	Text string `json:"text"`
}

// Called is a function that the agent called.
type Called struct {
	AtMS      int64  `json:"at_ms"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
}

// Timed is where the time of a turn went.
type Timed struct {
	Turn       int   `json:"turn"`
	EndpointMS int64 `json:"endpoint_ms"`
	ModelMS    int64 `json:"model_ms"`
	VoiceMS    int64 `json:"voice_ms"`
	TotalMS    int64 `json:"total_ms"`
}

// Epoch is when simulated calls begin.
var Epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Run has the caller of the script talk to the agent, once; run counts from 1. The
// context's end is the Result's Problem.
func Run(ctx context.Context, s *Script, subject Subject, run int) Result {
	w := &world{ctx: ctx, script: s, random: rand.New(rand.NewPCG(s.Seed, uint64(run))),
		varies: s.Runs > 1}
	f := media.Format{In: media.Rate8k, Out: media.Rate8k, Continuous: true}
	if s.Telephone != nil && !*s.Telephone {
		f = media.Format{In: media.Rate16k, Out: media.Rate16k, Lead: 300 * time.Millisecond}
	}
	w.call = pipeline.NewSimulation(Epoch, f, w.watched(w.conducts(subject)), w)
	defer w.call.Close()
	w.caller.parts, w.caller.answering = len(s.Caller), -1
	w.play(time.Duration(s.LimitSeconds) * time.Second)
	r := Result{Run: run, Events: w.events, Lines: []Line{}, Functions: []Called{}, Turns: []Timed{}, Checks: []Checked{}}
	r.sum(w.events)
	s.judge(&r, w.caller.answers)
	w.criteria(&r)
	if w.problem != nil {
		r.Problem = w.problem.Error()
	}
	r.Took = w.took
	r.conclude()
	return r
}

// world is everything that a call meets: time, the caller, engines and functions.
type world struct {
	ctx     context.Context
	script  *Script
	subject Subject        // that conducts the call
	steps   *toolbox.Steps // of the subject; nil: it has none
	random  *rand.Rand
	varies  bool
	call    *pipeline.Simulation
	now     time.Duration
	due     []item // in order
	events  []journal.Event
	caller  caller
	took    []Took
	problem error
}

// item is an input to come.
type item struct {
	at     time.Duration
	in     *journal.Input
	spoken bool   // it is a result of the recogniser
	do     func() // in place of in; nil: nothing
}

// play feeds the call frame by frame, and what came in between at its time.
func (w *world) play(limit time.Duration) {
	w.call.Feed(&journal.Input{Kind: journal.Began})
	for !w.call.Over() && w.problem == nil && !w.caller.gone && w.now < limit {
		if w.problem = w.ctx.Err(); w.problem == nil {
			w.frame(w.now + media.FrameDuration)
		}
	}
	w.feed(&journal.Input{Kind: journal.Concluded, Ended: &media.Ended{Reason: media.UserHangup}}) // unless it has ended
	for _, it := range w.due {
		if it.in != nil && it.in.Message != nil && it.in.Message.Usage != nil { // consumption is reported
			w.feed(&journal.Input{Kind: journal.Late, Message: it.in.Message})
		}
	}
	w.feed(&journal.Input{Kind: journal.Closed})
}

// frame plays 20 ms, up to end.
func (w *world) frame(end time.Duration) {
	for len(w.due) > 0 && w.due[0].at <= end && !w.call.Over() {
		it := w.due[0]
		w.due = w.due[1:]
		w.now = max(w.now, it.at)
		if it.do != nil {
			it.do()
			continue
		}
		if it.spoken {
			it.in.Message.Result.Utterance = w.call.Opened()
		}
		w.feed(it.in)
	}
	w.now = end
	if w.call.Over() {
		return
	}
	tick := &journal.Input{Kind: journal.Ticked}
	heard := journal.Heard{Level: -90}
	if w.caller.speaks(end - media.FrameDuration) {
		heard = journal.Heard{Speech: true, Level: -20}
	}
	tick.AddHeard(heard)
	w.feed(tick)
	w.act()
}

func (w *world) feed(in *journal.Input) {
	in.At = w.now
	w.call.Feed(in)
}

// later has an input come.
func (w *world) later(it item) {
	k := len(w.due)
	for k > 0 && w.due[k-1].at > it.at {
		k--
	}
	w.due = slices.Insert(w.due, k, it)
}

func (w *world) tell(at time.Duration, m journal.Message) {
	m.At = &at
	if m.Kind == "sentence" {
		m.Whole = &at
	}
	w.later(item{at: at, in: &journal.Input{Kind: journal.Received, Message: &m}})
}

// vary is a time, in runs with chance up to a third more or less.
func (w *world) vary(d time.Duration) time.Duration {
	if !w.varies {
		return d
	}
	return (d * time.Duration(667+w.random.IntN(667)) / 1000).Round(time.Millisecond)
}

// Begin implements journal.Sink.
func (w *world) Begin(journal.Origin) {}

// Input implements journal.Sink.
func (w *world) Input(*journal.Input) {}

// Note implements journal.Sink: the engines are asked for a reply.
func (w *world) Note(n journal.Note) {
	if n.Of != nil {
		w.asked(n.N, n.Of)
	}
}

// Event implements journal.Sink.
func (w *world) Event(e journal.Event) { w.events = append(w.events, e) }

// Close implements journal.Sink.
func (w *world) Close() {}

// watched has the functions and the caller follow the call's events.
func (w *world) watched(c pipeline.Config) pipeline.Config {
	c.Observe = func(e event.Event) {
		switch e.Kind {
		case event.ToolBegun, event.ToolAsked:
			w.function(e)
		}
		w.caller.observe(e, w.now)
	}
	return c
}

// functionAfter is how long functions take.
const functionAfter = 300 * time.Millisecond

// function gives what the script has for a function. Of keys that the caller presses the
// conductor itself knows.
func (w *world) function(e event.Event) {
	if e.Call.Name == toolbox.CollectDigits {
		return
	}
	m := journal.Message{Kind: "function", ID: e.Call.ID, Text: `{"ok":true}`}
	switch e.Call.Name {
	case toolbox.NextStep:
		w.step(&e.Call, &m)
	case toolbox.HandOver:
		w.handOver(&e.Call, &m)
	}
	if given, ok := w.script.Functions[e.Call.Name]; ok {
		m.Text = string(given)
	} else if e.Call.Name == bridge.TransferCall {
		m.Err, m.Cause = "transferred", "transferred"
	}
	if e.Kind == event.ToolAsked {
		m.Kind = "tool_result"
	}
	w.tell(w.now+w.vary(functionAfter), m)
}
