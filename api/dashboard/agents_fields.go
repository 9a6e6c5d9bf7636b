package dashboard

import (
	"fmt"
	"slices"
	"strings"

	"parley/api/status"
	"parley/api/tts"
)

// kind is how a part of an agent's document is entered.
type kind uint8

const (
	aMember kind = iota // of the document itself, which is read by name
	aText
	aNumber
	aFlag   // a box that is empty unless the user ticks it
	aOn     // a box that is ticked unless the user empties it
	aSwitch // yes, no, or as otherwise
	aLines  // texts, a line each
	aPairs  // lines of "word = how it is said"
	aValues // lines of "name = value"
	aRows   // entries with fields of their own: agentColumns
)

// agentField is a field of the form. What is no member of the document is a setting.
type agentField struct {
	Name, Label string
	how         kind
	section     string // the part of the form that stays closed while nothing is in it; empty: it is open
	path        string // in the settings, where it is not the name
	usual       string // what means the same as nothing
}

// setting is where the field's value is in the settings: one name, or two with a dot.
func (x agentField) setting() string {
	if x.path != "" {
		return x.path
	}
	return x.Name
}

// agentFields are the fields of the form, in its order.
var agentFields = []agentField{
	{Name: "name", Label: "Name"}, {Name: "first_message", Label: "First message"}, {Name: "prompt", Label: "Prompt"},
	{Name: "voice", Label: "Voice"}, {Name: "language", Label: "Language"}, {Name: "speed", Label: "Pace", how: aNumber},
	{Name: "pronunciation", Label: "Pronunciation", how: aPairs},

	{Name: "interruptible", Label: "Interruptions", how: aText, section: "manner", usual: "always"},
	{Name: "first_message_interruptible", Label: "Interruptions of the first message", how: aText, section: "manner"},
	{Name: "idle_seconds", Label: "Silence", how: aNumber, section: "manner"},
	{Name: "idle_reprompts", Label: "Reminders", how: aNumber, section: "manner"},
	{Name: "max_duration_seconds", Label: "Longest conversation", how: aNumber, section: "manner"},
	{Name: "goodbye", Label: "Goodbye", how: aText, section: "manner"},

	{Name: "turns", Label: "End of a turn", how: aText, section: "pace", usual: "words"},
	{Name: "min_endpoint_ms", Label: "Shortest pause", how: aNumber, section: "pace"},
	{Name: "max_endpoint_ms", Label: "Longest pause", how: aNumber, section: "pace"},
	{Name: "barge_in_ms", Label: "Time to interrupt", how: aNumber, section: "pace"},
	{Name: "speculative_llm", Label: "Begin answers early", how: aSwitch, section: "pace"},
	{Name: "speculative_voice", Label: "Speak them early", how: aFlag, section: "pace"},

	{Name: "knowledge", Label: "Knowledge", how: aRows, section: "knows"}, {Name: "variables", Label: "Variables", how: aValues, section: "knows"},
	{Name: "timezone", Label: "Time zone", how: aText, section: "knows"}, {Name: "phrases", Label: "Expected words", how: aLines, section: "knows"},

	{Name: "tools", Label: "Functions", section: "does"},

	{Name: "transfer_to", Label: "Transfers", how: aRows, section: "phone"}, {Name: "transfer_any", Label: "Transfers to any number", how: aFlag, section: "phone"},
	{Name: "on_machine", Label: "Answering machines", how: aText, section: "phone", usual: "continue"},
	{Name: "machine_message", Label: "Message for machines", how: aText, section: "phone"},
	{Name: "ring_ms", Label: "Ringing", how: aNumber, section: "phone"}, {Name: "key_interrupts", Label: "Keys interrupt", how: aOn, section: "phone"},
	{Name: "send_dtmf", Label: "Pressing keys", how: aOn, section: "phone"}, {Name: "collect_digits", Label: "Typed numbers", how: aOn, section: "phone"},
	{Name: "opt_out", Label: "Do-not-call list", how: aOn, section: "phone"},

	{Name: "analysis_summary", Label: "Summary", how: aFlag, section: "after", path: "analysis.summary"},
	{Name: "analysis_summary_prompt", Label: "What the summary looks at", how: aText, section: "after", path: "analysis.summary_prompt"},
	{Name: "analysis_extract", Label: "Facts", how: aRows, section: "after", path: "analysis.extract"},

	{Name: "engines_asr", Label: "Engines for hearing", how: aRows, section: "engines", path: "engines.asr"},
	{Name: "engines_llm", Label: "Engines for answering", how: aRows, section: "engines", path: "engines.llm"},
	{Name: "engines_tts", Label: "Engines for speaking", how: aRows, section: "engines", path: "engines.tts"},

	{Name: "record", Label: "Recording", how: aFlag, section: "records"}, {Name: "record_transfers", Label: "Recording of transfers", how: aFlag, section: "records"},
	{Name: "recording_notice", Label: "Notice of recording", how: aText, section: "records"},
}

// agentColumns are the fields of an entry of each list.
var agentColumns = map[string][]string{
	"knowledge":        {"title", "text"},
	"transfer_to":      {"number", "name", "description", "warm"},
	"analysis_extract": {"name", "kind", "choices", "description", "needed"},
	"engines_asr":      {"engine"}, "engines_llm": {"engine"}, "engines_tts": {"engine"},
}

// fieldAt finds the field of a document's path, and what of the path lies within it.
func fieldAt(path string) (x agentField, within string, ok bool) {
	path, inSettings := strings.CutPrefix(path, "settings.")
	for _, f := range agentFields {
		at := f.setting()
		rest, found := strings.CutPrefix(path, at)
		if found && (f.how != aMember) == inSettings && (rest == "" || strings.ContainsAny(rest[:1], ".[")) && len(at) >= len(x.setting()) {
			x, within, ok = f, rest, true
		}
	}
	return x, within, ok
}

// wholes are what people read for settings that are several fields.
var wholes = map[string]string{"settings.engines": "Engines", "settings.analysis": "After the call"}

// labelOf is what people read for the field of a document's path; empty: there is no field.
func labelOf(path string) string {
	if label := wholes[path]; label != "" {
		return label
	}
	x, _, _ := fieldAt(path)
	return x.Label
}

// Filled says whether there is something in a part of the form, or something wrong.
func (f *agentForm) Filled(section string) bool {
	return slices.ContainsFunc(agentFields, func(x agentField) bool {
		switch value := f.Value(x.Name); {
		case x.section != section:
			return false
		case f.Errors[x.Name] != "", f.Value("more") == x.Name:
			return true
		case x.how == aRows:
			return value != "" || slices.ContainsFunc(f.Rows(x.Name), func(r Row) bool { return !r.empty() || len(r.Errors) > 0 })
		case x.how == aOn:
			return value == ""
		default:
			return value != ""
		}
	})
}

// Number makes a field of a setting that is a number, with the bounds that its schema has.
func (v *agentView) Number(name, label string, options ...string) Field {
	x := v.Form.Field(name, label, append(options, "type=number", "width=short")...)
	if v.settings == nil {
		return x
	}
	if s := v.settings.Properties[name]; s != nil && s.Minimum != nil && s.Maximum != nil {
		x.Min, x.Max = fmt.Sprint(*s.Minimum), fmt.Sprint(*s.Maximum)
	}
	return x
}

// Voices are the choices.
func (v *agentView) Voices() []Option {
	var out []Option
	for _, e := range tts.Voices() {
		out = append(out, Option{Value: e.ID, Label: fmt.Sprintf("%s, %s, %s", e.Name, e.Gender, e.Description)})
	}
	return out
}

// Languages are the choices.
func (v *agentView) Languages() []Option { return languageOptions() }

// languageOptions are the languages that agents speak.
func languageOptions() []Option {
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

// TurnEnds are the choices.
func (v *agentView) TurnEnds() []Option {
	return []Option{{Value: "", Label: "The words, and the pause after them"}, {Value: "engine", Label: "The recogniser, where it finds the ends of turns"}}
}

// FirstInterruptions are the choices.
func (v *agentView) FirstInterruptions() []Option {
	return []Option{{Value: "", Label: "As above"}, {Value: "always", Label: "Always"}, {Value: "after_first_sentence", Label: "After its first sentence"}, {Value: "never", Label: "Never: callers hear all of it"}}
}

// Machines are the choices.
func (v *agentView) Machines() []Option {
	return []Option{{Value: "", Label: "The agent talks, as to a person"}, {Value: "hangup", Label: "Hang up"}, {Value: "message", Label: "Leave the message below after the tone"}}
}

// Announcing are the choices of how a caller is handed over.
func (Row) Announcing() []Option {
	return []Option{{Value: "", Label: "Hand the caller over at once"}, {Value: "on", Label: "First tell them what it is about"}}
}

// Needed are the choices for a fact that was not mentioned.
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
