package dashboard

import (
	"fmt"
	"slices"
	"strings"

	"parley/api/status"
	"parley/api/tts"
)

// Voices are the choices.
func (v *agentView) Voices() []Option {
	var out []Option
	for _, e := range tts.Voices() {
		out = append(out, Option{Value: e.ID, Label: fmt.Sprintf("%s, %s, %s", e.Name, e.Gender, e.Description)})
	}
	return out
}

// Languages are the choices.
func (v *agentView) Languages() []Option {
	var out []Option
	for _, l := range tts.Languages() {
		out = append(out, Option{Value: l.Code, Label: l.Name})
	}
	return out
}

// Interruptions are the choices.
func (v *agentView) Interruptions() []Option {
	return []Option{{Value: "", Label: "Always"}, {Value: "after_first_sentence", Label: "After the first sentence of each answer"}, {Value: "never", Label: "Never: it always finishes"}}
}

// Speculation are the choices.
func (v *agentView) Speculation() []Option {
	usual := "no"
	if v.Early {
		usual = "yes"
	}
	return []Option{{Value: "", Label: "As usual (" + usual + ")"}, {Value: "on", Label: "Yes"}, {Value: "off", Label: "No"}}
}

// FirstInterruptions are the choices.
func (v *agentView) FirstInterruptions() []Option {
	return []Option{{Value: "", Label: "As above"}, {Value: "always", Label: "Always"}, {Value: "after_first_sentence", Label: "After its first sentence"}, {Value: "never", Label: "Never: callers hear all of it"}}
}

// Machines are the choices.
func (v *agentView) Machines() []Option {
	return []Option{{Value: "", Label: "The agent talks, as to a person"}, {Value: "hangup", Label: "Hang up"}, {Value: "message", Label: "Leave the message below after the tone"}}
}

// Announcing are the choices of how somebody gets a caller.
func (Row) Announcing() []Option {
	return []Option{{Value: "", Label: "Hand the caller over at once"}, {Value: "on", Label: "First tell them what it is about"}}
}

// Needed are the choices of what becomes of a fact that nobody mentioned.
func (Row) Needed() []Option {
	return []Option{{Value: "", Label: "Leave it out"}, {Value: "on", Label: "Fill it in all the same"}}
}

// Kinds are the choices of what a fact is.
func (Row) Kinds() []Option {
	return []Option{{Value: "", Label: "A text"}, {Value: oneOf, Label: "One of several answers"}, {Value: "integer", Label: "A whole number"},
		{Value: "number", Label: "A number"}, {Value: "boolean", Label: "Yes or no"}}
}

// agentStage is what an agent may choose engines for.
type agentStage struct {
	List, Title, What string
	Names             []string // of the engines that the server offers, in its order
}

// Usual is what counts when the agent chooses none.
func (s agentStage) Usual() string { return strings.Join(s.Names, ", then ") }

func agentStages(engines []status.ModelEntry) []agentStage {
	stages := []agentStage{{List: "engines_asr", Title: "Hearing", What: "turns speech into text"}, {List: "engines_llm", Title: "Answering", What: "decides what to say"},
		{List: "engines_tts", Title: "Speaking", What: "turns text into speech"}}
	kinds := []status.Kind{status.STT, status.LLM, status.TTS}
	for _, e := range engines {
		if i := slices.Index(kinds, e.Kind); i >= 0 {
			stages[i].Names = append(stages[i].Names, e.Name)
		}
	}
	return stages
}

// Engine is the field of an engine in its list.
func (s agentStage) Engine(r Row) Field {
	label, none := "If that one fails", "None"
	if r.N == 0 {
		label, none = "First choice", "As the server has it"
	}
	choices := []Option{{Value: "", Label: none}}
	for _, name := range s.Names {
		choices = append(choices, Option{Value: name, Label: name})
	}
	if chosen := r.Cells["engine"]; chosen != "" && !slices.Contains(s.Names, chosen) {
		choices = append(choices, Option{Value: chosen, Label: chosen + " (not offered here)"})
	}
	return r.Select("engine", label, "", choices, "plain")
}
