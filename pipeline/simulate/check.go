package simulate

import (
	"fmt"

	"parley/media"
	"parley/pipeline/journal"
	"parley/pipeline/toolbox"
)

// Checked is the result of an expectation.
type Checked struct {
	Expected string `json:"expected"`
	OK       bool   `json:"ok"`
	Found    string `json:"found,omitempty"`  // what was there instead
	Reason   string `json:"reason,omitempty"` // why a criterion is met or not, as the model says
}

func (c *Check) kind() string {
	kind := ""
	for name, set := range map[string]bool{"says": c.Says != "", "never_says": c.NeverSays != "", "hears": c.Hears != "", "calls": c.Calls != "",
		"never_calls": c.NeverCalls != "", "ended": c.Ended != "", "interruptions": c.Interruptions != nil, "turn_ms": c.TurnMS != nil, "seconds": c.Seconds != nil} {
		if !set {
			continue
		}
		if kind != "" {
			return ""
		}
		kind = name
	}
	return kind
}

// judge holds a conversation to the script.
func (s *Script) judge(r *Result, answers []string) {
	for i, step := range s.Caller {
		for _, phrase := range step.Expect {
			said := ""
			if i < len(answers) {
				said = answers[i]
			}
			r.add(fmt.Sprintf("step %d: says %q", i+1, phrase), found(phrase, said), fmt.Sprintf("%q", said))
		}
	}
	for _, c := range s.Expect {
		r.check(&c)
	}
}

// conclude says whether all went well.
func (r *Result) conclude() {
	r.OK = r.Problem == ""
	for _, c := range r.Checks {
		r.OK = r.OK && c.OK
	}
}

func (r *Result) add(expected string, ok bool, found string) {
	c := Checked{Expected: expected, OK: ok}
	if !ok {
		c.Found = found
	}
	r.Checks = append(r.Checks, c)
}

func found(phrase, text string) bool {
	m, err := match(phrase)
	return err == nil && m(text)
}

// said is the first line of a role's that has a phrase.
func (r *Result) said(role, phrase string) (string, bool) {
	for _, l := range r.Lines {
		if l.Role == role && found(phrase, l.Text) {
			return l.Text, true
		}
	}
	return "", false
}

func (r *Result) check(c *Check) {
	switch c.kind() {
	case "says":
		_, ok := r.said("agent", c.Says)
		r.add(fmt.Sprintf("says %q", c.Says), ok, "never")
	case "never_says":
		line, said := r.said("agent", c.NeverSays)
		r.add(fmt.Sprintf("never says %q", c.NeverSays), !said, fmt.Sprintf("%q", line))
	case "hears":
		_, ok := r.said("user", c.Hears)
		r.add(fmt.Sprintf("hears %q", c.Hears), ok, "never")
	case "calls":
		r.add("calls "+c.Calls, r.called(c.Calls) > 0, "never")
	case "never_calls":
		r.add("never calls "+c.NeverCalls, r.called(c.NeverCalls) == 0, fmt.Sprintf("%d times", r.called(c.NeverCalls)))
	case "ended":
		r.add("ends with "+c.Ended, r.Ended == c.Ended, r.Ended)
	case "interruptions":
		r.add(fmt.Sprintf("%d interruptions", *c.Interruptions), r.Interruptions == *c.Interruptions, fmt.Sprint(r.Interruptions))
	case "turn_ms":
		r.add(fmt.Sprintf("answers within %d ms", *c.TurnMS), r.SlowestMS <= int64(*c.TurnMS), fmt.Sprintf("%d ms", r.SlowestMS))
	case "seconds":
		r.add(fmt.Sprintf("takes at most %d s", *c.Seconds), r.LengthMS <= int64(*c.Seconds)*1000, fmt.Sprintf("%.1f s", float64(r.LengthMS)/1000))
	}
}

// called is how often the agent called a function.
func (r *Result) called(name string) int {
	n := 0
	for _, f := range r.Functions {
		if f.Name == name {
			n++
		}
	}
	return n
}

// sum makes the short form of a log.
func (r *Result) sum(events []journal.Event) {
	for i := range events {
		e := &events[i]
		at := e.At().Milliseconds()
		switch e.Kind {
		case "user_line", "agent_line":
			role := "user"
			if e.Kind == "agent_line" {
				role = "agent"
			}
			r.Lines = append(r.Lines, Line{AtMS: at, Role: role, Text: e.Text})
		case "user_line_again":
			for k := len(r.Lines) - 1; k >= 0; k-- {
				if r.Lines[k].Role == "user" {
					r.Lines[k].Text = e.Text
					break
				}
			}
		case "tool_begun", "tool_asked":
			r.Functions = append(r.Functions, Called{AtMS: at, Name: e.Call.Name, Arguments: e.Call.Arguments})
		case "interrupted":
			r.Interruptions++
		case "timed":
			r.Turns = append(r.Turns, Timed{Turn: e.Turn, EndpointMS: e.Timing.EndpointUS / 1000, ModelMS: e.Timing.ModelUS / 1000,
				VoiceMS: e.Timing.VoiceUS / 1000, TotalMS: e.Timing.TotalUS / 1000})
			r.SlowestMS = max(r.SlowestMS, e.Timing.TotalUS/1000)
		case "fault":
			r.Faults = append(r.Faults, e.Error)
		case "end":
			r.LengthMS, r.Ended, r.Detail = at, e.Reason, e.Detail
			if e.Reason == string(media.AgentHangup) && e.Detail == toolbox.EndCall { // the function has no events of its own
				r.Functions = append(r.Functions, Called{AtMS: at, Name: toolbox.EndCall})
			}
		}
	}
}
