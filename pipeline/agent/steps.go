package agent

import (
	"fmt"
	"slices"
	"strings"

	"parley/pipeline/schema"
)

// Step is a part of a conversation, with instructions of its own beside the prompt.
type Step struct {
	Name   string `json:"name"`
	Prompt string `json:"prompt"`
	Next   []Way  `json:"next,omitempty"` // none: it is the last one
}

// Way leads from one step to another.
type Way struct {
	To   string `json:"to"`   // the name of a step
	When string `json:"when"` // for the model
}

// Bounds of steps.
const (
	maxSteps = 32
	maxWays  = 16 // of a step
)

// At is the prompt of an agent at a step.
func (s *Step) At(prompt string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nYou are at the step %q of this conversation:\n%s\n\n", prompt, s.Name, s.Prompt)
	if len(s.Next) == 0 {
		b.WriteString("It is the last step.")
	} else {
		b.WriteString("As soon as one of these holds, go on with next_step:")
	}
	for _, w := range s.Next {
		fmt.Fprintf(&b, "\n- to %q: %s", w.To, w.When)
	}
	return strings.TrimSpace(b.String())
}

// Overview is the prompt of an agent that goes through its steps by itself: it cannot be given another prompt while it talks.
func Overview(prompt string, list []Step) string {
	var b strings.Builder
	b.WriteString(prompt + "\n\nGo through this conversation in steps, from the first one on:")
	for i := range list {
		fmt.Fprintf(&b, "\n\n%q: %s", list[i].Name, list[i].Prompt)
		for _, w := range list[i].Next {
			fmt.Fprintf(&b, "\n- then to %q: %s", w.To, w.When)
		}
	}
	return strings.TrimSpace(b.String())
}

// Steps are the steps of an agent with the values of variables in them.
func (f Fill) Steps(list []Step) []Step {
	list = slices.Clone(list)
	for i := range list {
		s := &list[i]
		s.Prompt, s.Next = f.prompt(s.Prompt), slices.Clone(s.Next)
		for k := range s.Next {
			s.Next[k].When = f.prompt(s.Next[k].When)
		}
	}
	return list
}

// checkSteps wants steps of different names, and ways that lead to them.
func (s *Settings) checkSteps(wrong *schema.Mistakes) {
	names := map[string]bool{}
	for i := range s.Steps {
		step := &s.Steps[i]
		step.Name = strings.TrimSpace(step.Name)
		path := fmt.Sprintf("settings.steps[%d].name", i)
		switch {
		case step.Name == "":
			wrong.Add(path, "is empty")
		case names[step.Name]:
			wrong.Add(path, "there are two of %q", step.Name)
		}
		names[step.Name] = true
	}
	for i := range s.Steps {
		for k := range s.Steps[i].Next {
			w := &s.Steps[i].Next[k]
			w.To, w.When = strings.TrimSpace(w.To), strings.TrimSpace(w.When)
			if path := fmt.Sprintf("settings.steps[%d].next[%d].to", i, k); !names[w.To] {
				wrong.Add(path, "there is no step %q", w.To)
			} else if w.To == s.Steps[i].Name {
				wrong.Add(path, "leads back to the step itself")
			}
		}
	}
}

// stepsSchema describes them.
func stepsSchema() *schema.Schema {
	return schema.List("The parts of the conversation, one after the other: the agent begins at the first, has its instructions beside the prompt, and goes on with the function next_step "+
		"when the model finds that a condition holds. An engine that hears and speaks by itself has the instructions of all.",
		maxSteps, schema.Form("", []*schema.Schema{
			needed(line("What it is called. No two have one name.", maxLabel)).
				Named("name", "Name", schema.Entry{Placeholder: "Booking", Width: "short"}),
			filled("What the agent does at this step. It may have variables.", maxSnippet).
				Named("prompt", "Instructions", schema.Entry{Lines: 3, Placeholder: "Ask for how many people, and on which day."}),
			schema.List("The steps that follow, and when; none: it is the last one.", maxWays, schema.Form("", []*schema.Schema{
				needed(line("The step that follows.", maxLabel)).Named("to", "Step", schema.Entry{}),
				needed(line("When to go on to it. It may have variables.", maxDescription)).Named("when", "When", schema.Entry{}),
			}, "to", "when")).
				Named("next", "What follows", schema.Entry{Lines: 2, Placeholder: "Goodbye = the table is booked", Hint: "A line each: the name of a step, an equals sign, when to go on to it."}),
		}, "name", "prompt").Named("", "Step", schema.Entry{})).
		Named("steps", "Steps", schema.Entry{Add: "Add a step",
			Lead: "A conversation in parts: at each step the agent has the instructions of that step alone beside its prompt, and goes on when a condition holds."})
}

// needed is a text that is not empty.
func needed(s *schema.Schema) *schema.Schema {
	s.MinLength = 1
	return s
}
