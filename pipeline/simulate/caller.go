package simulate

import (
	"slices"
	"strings"
	"time"

	"parley/inference"
	"parley/pipeline/event"
	"parley/pipeline/journal"
)

// How people behave who are not told otherwise.
const (
	reaction   = 600 * time.Millisecond // from the agent's last word to theirs
	perLetter  = 65 * time.Millisecond  // of speech
	keyEvery   = 300 * time.Millisecond
	leaveAfter = 2 * time.Second // silence after the last answer
	// unanswered is how long they wait for an answer before they do what is next.
	unanswered = 10 * time.Second
)

// caller is the person who calls.
type caller struct {
	parts     int // steps of the script
	next      int // step
	lines     int // of the persona
	speech    []span
	busy      time.Duration // until when they do what they do
	wants     bool          // an answer to it
	answers   []string      // what the agent said to each step that was done
	answering int           // the step, from 0, after which the agent began to speak; -1: before the first
	gone      bool

	agent   agentPhase
	since   time.Duration // of its last turn to listening
	silent  time.Duration // of the end of its last reply
	began   time.Duration
	reply   int // number of the one
	over    int // of the one that was talked over
	history []inference.Message
}

// agentPhase is what the caller notices of the agent.
type agentPhase uint8

const (
	agentPauses agentPhase = iota
	agentListens
	agentSpeaks
)

// span is a time in which they speak, or make noise.
type span struct{ from, to time.Duration }

func (c *caller) speaks(at time.Duration) bool {
	return slices.ContainsFunc(c.speech, func(s span) bool { return at >= s.from && at < s.to })
}

// observe hears the agent.
func (c *caller) observe(e event.Event, now time.Duration) {
	switch e.Kind {
	case event.Thinking:
		c.wants = false
		if c.agent == agentListens {
			c.agent = agentPauses
		}
	case event.Speaking:
		c.agent, c.began, c.reply = agentSpeaks, now, e.Generation
		c.answering = len(c.answers) - 1
	case event.Listening:
		c.agent, c.since = agentListens, now
	case event.AgentLine:
		if c.silent = now; c.agent == agentSpeaks {
			c.agent = agentPauses
		}
		c.history = append(c.history, inference.Message{Role: inference.RoleUser, Text: e.Text}) // to them the agent is the other
		if step := c.answering; step >= 0 {
			c.answers[step] = strings.TrimSpace(c.answers[step] + " " + e.Text)
		}
	}
}

// act has the caller do what is due.
func (w *world) act() {
	c := &w.caller
	if w.now < c.busy {
		return
	}
	if c.next < c.parts {
		step := &w.script.Caller[c.next]
		if w.ready(step) {
			c.next++
			w.do(step)
		}
		return
	}
	rests := c.agent == agentListens && w.now-max(c.since, c.busy) >= w.patience()
	switch {
	case !rests:
	case w.script.Persona != "" && c.lines < w.script.PersonaTurns:
		c.lines++
		w.improvise()
	default:
		c.gone = true
	}
}

// patience is how long the agent must be silent until a caller without a script goes on.
func (w *world) patience() time.Duration {
	switch {
	case w.caller.wants:
		return unanswered
	case w.script.Persona != "" && w.caller.lines < w.script.PersonaTurns:
		return reaction
	}
	return leaveAfter
}

// ready says that a step's time has come.
func (w *world) ready(step *Step) bool {
	c := &w.caller
	waited := w.now - c.busy
	if step.OverMS > 0 {
		over := time.Duration(step.OverMS) * time.Millisecond
		if c.agent == agentSpeaks && c.reply != c.over && w.now-c.began >= over {
			c.over = c.reply
			return true
		}
		return waited >= unanswered && c.agent == agentListens
	}
	after := w.reaction(step)
	if step.Press != "" && !c.wants && c.agent != agentSpeaks && w.now-max(c.silent, c.busy) >= after {
		return true // the agent may wait for keys
	}
	if c.agent != agentListens || w.now-max(c.since, c.busy) < after {
		return false
	}
	return !c.wants || waited >= unanswered
}

func (w *world) reaction(step *Step) time.Duration {
	if step.AfterMS != nil {
		return time.Duration(*step.AfterMS) * time.Millisecond
	}
	return reaction
}

// do does a step.
func (w *world) do(step *Step) {
	c := &w.caller
	c.answers = append(c.answers, "")
	switch {
	case step.HangUp:
		c.gone = true
	case step.Say != "":
		w.say(step.Say)
	case step.Press != "":
		for i := range step.Press {
			w.later(item{at: w.now + time.Duration(i)*keyEvery, in: &journal.Input{Kind: journal.Keyed, Digit: step.Press[i]}})
		}
		c.busy = w.now + time.Duration(len(step.Press))*keyEvery
	case step.NoiseMS > 0:
		c.busy = w.now + time.Duration(step.NoiseMS)*time.Millisecond
		c.speech = []span{{w.now, c.busy}}
	default:
		c.busy = w.now + time.Duration(step.WaitMS)*time.Millisecond
	}
}

// say speaks a line: its words come as partial texts, and each part between pauses as a
// final one.
func (w *world) say(line string) {
	c := &w.caller
	parts, err := cut(line)
	if err != nil || len(parts) == 0 {
		return
	}
	c.speech, c.wants = nil, true
	at := w.now
	for _, p := range parts {
		at += p.pause.Duration()
		from := at
		words := strings.Fields(p.text)
		for i, word := range words {
			at += w.vary(time.Duration(len([]rune(word))+1) * perLetter)
			w.recognise(at+partialAfter, inference.Result{Text: strings.Join(words[:i+1], " ")})
		}
		w.recognise(at+finalAfter, inference.Result{Text: p.text, Final: true, Last: true})
		c.speech = append(c.speech, span{from, at})
	}
	c.busy = at
	c.history = append(c.history, inference.Message{Role: inference.RoleAgent, Text: plain(parts)})
}

func (w *world) recognise(at time.Duration, r inference.Result) {
	r.Confidence = 0.9
	w.later(item{at: at, in: &journal.Input{Kind: journal.Received, Message: &journal.Message{Kind: "result", Result: &r}}, spoken: true})
}

func plain(parts []part) string {
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.text)
	}
	return strings.Join(texts, " ")
}

// hangUpMark is what a model writes that plays a caller who is done.
const hangUpMark = "[hang up]"

// improvise has a model say the caller's next line.
func (w *world) improvise() {
	c := &w.caller
	model := w.subject.Caller
	if model == nil {
		model = w.subject.Config.LLM
	}
	system := "You play a person who is on the telephone with somebody. You are not an assistant. " + w.script.Persona +
		"\nSay what this person says next: one or two short spoken sentences and nothing else. When the conversation is over for them, write " + hangUpMark + "."
	messages := c.history
	if len(messages) == 0 || messages[0].Role == inference.RoleAgent {
		messages = append([]inference.Message{{Role: inference.RoleUser, Text: "Hello?"}}, messages...)
	}
	text, _, err := w.complete(Caller, model, inference.Request{System: system, Messages: messages, Language: w.subject.Config.Agent.Language, NoTools: true})
	if err != nil {
		w.problem = err
		return
	}
	text, over := strings.CutSuffix(strings.TrimSpace(text), hangUpMark)
	text = strings.Map(func(r rune) rune {
		if r == '<' || r == '>' {
			return -1
		}
		return r
	}, strings.TrimSpace(text))
	if text != "" {
		w.say(text)
	}
	if over {
		c.lines = w.script.PersonaTurns
		c.gone = text == ""
	}
}
