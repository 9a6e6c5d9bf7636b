package dashboard

import (
	"slices"
	"strings"
)

// kind is how a part of an agent's document is entered.
type kind uint8

const (
	aMember kind = iota // of the document itself, which is read by name
	aText
	aNumber
	aFlag   // a box that is empty unless somebody ticks it
	aOn     // a box that is ticked unless somebody empties it
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
