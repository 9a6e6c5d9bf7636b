package editor

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"parley/api/dashboard/page"
	"parley/api/wire"
)

// settingsOf are an agent's settings by their names.
func settingsOf(a *wire.AgentDefinition) (out map[string]json.RawMessage, err error) {
	if len(a.Settings.RawMessage) > 0 {
		err = json.Unmarshal(a.Settings.RawMessage, &out)
	}
	return out, err
}

// agentForm is an agent as it is edited.
type agentForm struct {
	*page.Form
	fields *agentFields
	Others []wire.Mistake
}

// formOf fills a form with a document.
func formOf(q *page.Request, a *wire.AgentDefinition) (*agentForm, error) {
	fields, err := newAgentFields(q)
	if err != nil {
		return nil, err
	}
	settings, err := settingsOf(a)
	if err != nil {
		return nil, err
	}
	f := &agentForm{fields: fields, Form: page.NewForm("name", a.Name, "voice", a.Voice, "language", a.Language, "prompt", a.Prompt, "first_message", a.FirstMessage, "speaks", "agent",
		"version", strconv.FormatInt(a.Version, 10))}
	if a.FirstMessage == "" && a.ID != "" {
		f.Values.Set("speaks", "caller")
	}
	if tools := strings.TrimSpace(string(a.Tools.RawMessage)); tools != "" && tools != "[]" {
		text, err := wire.YAML(a.Tools.RawMessage)
		if err != nil {
			return nil, err
		}
		f.Values.Set("tools", text)
	}
	for _, x := range fields.all {
		if at, is := strings.CutPrefix(x.path, "settings."); is {
			f.fill(x, settingAt(settings, at))
		}
	}
	kept, err := json.Marshal(settings)
	f.Values.Set("kept", string(kept))
	return f, err
}

// fill enters a value; nil and null: it is not there.
func (f *agentForm) fill(x *agentField, raw json.RawMessage) {
	switch {
	case x.ticks != nil:
		f.tick(x, raw)
		return
	case x.entry == nil:
		f.Values.Set(x.Name, x.text(raw))
		return
	}
	rows, ok := x.rowsOf(raw)
	if !ok {
		text, _ := wire.YAML(raw) // what is nested without end is not stored
		f.Values.Set(x.Name, text)
		return
	}
	for _, r := range rows {
		for c, text := range r.cells {
			f.Values.Add(x.Name+"_"+c, text)
		}
	}
}

// unix are line ends as documents have them; browsers send others.
func unix(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// document is what was entered, for the API to judge. What no document can hold is
// complained about in the form.
func (f *agentForm) document() (*wire.AgentDefinition, error) {
	text := func(name string) string { return unix(f.Value(name)) }
	a := &wire.AgentDefinition{Name: text("name"), Voice: text("voice"), Language: text("language"), Prompt: unix(f.Values.Get("prompt")),
		Tools: wire.AgentTools{RawMessage: json.RawMessage("[]")}}
	if text("speaks") != "caller" {
		a.FirstMessage = unix(f.Values.Get("first_message"))
		if text("first_message") == "" && text("speaks") == "agent" {
			f.Fail("first_message", "Write what the agent says first, or let the caller begin.")
		}
	}
	settings := f.kept()
	if read := f.yaml("tools"); read != nil {
		a.Tools.RawMessage = read
	}
	if err := f.change(settings, "settings."); err != nil {
		return nil, err
	}
	var err error
	a.Settings.RawMessage, err = json.Marshal(settings)
	return a, err
}

// kept is the object that the form was made of, as it was.
func (f *agentForm) kept() map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	if text := f.Values.Get("kept"); text != "" && json.Unmarshal([]byte(text), &members) != nil {
		f.Fail("", "The form was damaged on its way. Open the page again.")
	}
	if members == nil { // it was null
		members = map[string]json.RawMessage{}
	}
	return members
}

// change puts what was entered into the members of the object that is at prefix of the document. What
// was not touched stays to the letter.
func (f *agentForm) change(members map[string]json.RawMessage, prefix string) error {
	for _, x := range f.fields.all {
		at, is := strings.CutPrefix(x.path, prefix)
		if !is || f.untouched(x, settingAt(members, at)) {
			continue
		}
		raw, err := f.entered(x)
		if err != nil {
			return err
		}
		putSetting(members, at, raw)
	}
	return nil
}

// untouched says whether a field shows a setting as it was, which then stays to the
// letter: also what the field cannot say.
func (f *agentForm) untouched(x *agentField, was json.RawMessage) bool {
	old := &agentForm{Form: page.NewForm()}
	old.fill(x, was)
	if x.ticks != nil {
		return f.sameTicks(x, old)
	}
	if f.listed(x) {
		same := func(a, b row) bool { return maps.Equal(a.cells, b.cells) }
		return old.listed(x) && slices.EqualFunc(f.written(x), old.written(x), same)
	}
	return unix(f.Value(x.Name)) == unix(old.Value(x.Name))
}

// entered is what is in a field as the document has it; nil: nothing.
func (f *agentForm) entered(x *agentField) (json.RawMessage, error) {
	var value any
	switch {
	case x.ticks != nil && len(f.ticked(x)) == 0:
		return nil, nil
	case x.ticks != nil:
		value = f.ticked(x)
	case x.entry != nil && !f.listed(x):
		return f.yaml(x.Name), nil
	case x.entry != nil:
		value = f.entries(x)
	default:
		value = x.value(unix(f.Value(x.Name)), func(what string) { f.Fail(x.Name, what) })
	}
	if value == nil {
		return nil, nil
	}
	return json.Marshal(value)
}

// settingAt is a setting, or one of an object among them: "engines.llm".
func settingAt(settings map[string]json.RawMessage, path string) json.RawMessage {
	name, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		return settings[name]
	}
	var inner map[string]json.RawMessage
	_ = json.Unmarshal(settings[name], &inner) // what is no object has no members
	return settingAt(inner, rest)
}

// putSetting replaces what settingAt finds; nil takes it away, and with it an object that
// has nothing else.
func putSetting(settings map[string]json.RawMessage, path string, raw json.RawMessage) {
	name, rest, deeper := strings.Cut(path, ".")
	if deeper {
		inner := map[string]json.RawMessage{}
		_ = json.Unmarshal(settings[name], &inner)
		if inner == nil { // it was null
			inner = map[string]json.RawMessage{}
		}
		putSetting(inner, rest, raw)
		raw = nil
		if len(inner) > 0 {
			raw, _ = json.Marshal(inner) // what was read can be written
		}
	}
	if raw == nil {
		delete(settings, name)
		return
	}
	settings[name] = raw
}

// yaml reads a field that holds a document; nil: nothing is in it, or a mistake.
func (f *agentForm) yaml(name string) json.RawMessage {
	text := f.Values.Get(name)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	read, _ := fromYAML(text, func(what string) { f.Fail(name, what) }).(json.RawMessage)
	return read
}
