package dashboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"parley/api/wire"
)

// agentFile is an agent as a file, its members in the order in which people write them.
func agentFile(a *wire.AgentDefinition) (string, error) {
	settings, err := settingsOf(a)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(object{{"name", a.Name}, {"voice", a.Voice}, {"language", a.Language}, {"first_message", a.FirstMessage}, {"prompt", a.Prompt},
		{"tools", a.Tools}, {"settings", settings}})
	if err != nil {
		return "", err
	}
	return yamlOf(text)
}

// settingsOf are an agent's settings by their names.
func settingsOf(a *wire.AgentDefinition) (out map[string]json.RawMessage, err error) {
	if len(a.Settings.RawMessage) > 0 {
		err = json.Unmarshal(a.Settings.RawMessage, &out)
	}
	return out, err
}

// saying is how a word is pronounced.
type saying struct {
	Word string `json:"word"`
	Say  string `json:"say"`
}

// agentForm is an agent as it is edited.
type agentForm struct {
	*Form
	lists  map[string][]Row
	Others []wire.Mistake
}

// formOf fills a form with a document.
func formOf(a *wire.AgentDefinition) (*agentForm, error) {
	settings, err := settingsOf(a)
	if err != nil {
		return nil, err
	}
	f := &agentForm{Form: NewForm("name", a.Name, "voice", a.Voice, "language", a.Language, "prompt", a.Prompt, "first_message", a.FirstMessage, "speaks", "agent",
		"version", strconv.FormatInt(a.Version, 10))}
	if a.FirstMessage == "" && a.ID != "" {
		f.Values.Set("speaks", "caller")
	}
	if tools := strings.TrimSpace(string(a.Tools.RawMessage)); tools != "" && tools != "[]" {
		text, err := yamlOf(a.Tools.RawMessage)
		if err != nil {
			return nil, err
		}
		f.Values.Set("tools", text)
	}
	for _, x := range agentFields {
		f.fill(x, settingAt(settings, x.setting()))
	}
	kept, err := json.Marshal(settings)
	f.Values.Set("kept", string(kept))
	return f, err
}

// fill enters a setting; nil and null: it is not there. What cannot be read stays out of
// the form; nothing like that is stored.
func (f *agentForm) fill(x agentField, raw json.RawMessage) {
	text := string(raw)
	if text == "null" {
		text = ""
	}
	switch {
	case x.how == aMember:
		return
	case x.how == aRows:
		var rows []Row
		if text != "" {
			var ok bool
			if rows, ok = rowsOf(x.Name, raw); !ok {
				text, _ = yamlOf(raw) // what is nested without end is not stored
				f.Values.Set(x.Name, text)
				return
			}
		}
		f.setRows(x.Name, rows)
		return
	case x.how == aOn:
		text = map[bool]string{true: "on"}[text != "false"]
	case text == "":
	case x.how == aFlag:
		text = map[string]string{"true": "on"}[text]
	case x.how == aSwitch:
		text = map[string]string{"true": "on", "false": "off"}[text]
	case x.how == aText:
		_ = json.Unmarshal(raw, &text)
		if text == x.usual {
			text = ""
		}
	case x.how != aNumber:
		text = linesOf(x.how, raw)
	}
	f.Values.Set(x.Name, text)
}

// linesOf are the entries of a setting, a line each.
func linesOf(how kind, raw json.RawMessage) string {
	var lines []string
	switch how {
	case aLines:
		_ = json.Unmarshal(raw, &lines)
	case aPairs:
		var list []saying
		_ = json.Unmarshal(raw, &list)
		for _, s := range list {
			lines = append(lines, s.Word+" = "+s.Say)
		}
	case aValues:
		var values map[string]string
		_ = json.Unmarshal(raw, &values)
		for _, name := range slices.Sorted(maps.Keys(values)) {
			lines = append(lines, name+" = "+values[name])
		}
	}
	return strings.Join(lines, "\n")
}

// agentEntered reads the form of a request.
func agentEntered(q *Request) (*agentForm, error) {
	form, err := q.Form()
	if err != nil {
		return nil, err
	}
	f := &agentForm{Form: form}
	for list := range agentColumns {
		if !f.Values.Has(list) { // else it is written as a document
			f.readRows(list)
		}
	}
	return f, nil
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
	var settings map[string]json.RawMessage
	if kept := f.Values.Get("kept"); kept != "" && json.Unmarshal([]byte(kept), &settings) != nil {
		f.Fail("", "The form was damaged on its way. Open the page again.")
	}
	if settings == nil {
		settings = map[string]json.RawMessage{}
	}
	if read := f.yaml("tools"); read != nil {
		a.Tools.RawMessage = read
	}
	for _, x := range agentFields {
		if x.how != aMember && !f.untouched(x, settingAt(settings, x.setting())) {
			f.put(settings, x)
		}
	}
	var err error
	a.Settings.RawMessage, err = json.Marshal(settings)
	return a, err
}

// untouched says whether a field shows a setting as it was, which then stays to the
// letter: also what the field cannot say.
func (f *agentForm) untouched(x agentField, was json.RawMessage) bool {
	old := &agentForm{Form: &Form{Values: url.Values{}}}
	old.fill(x, was)
	if x.how == aRows && !f.Values.Has(x.Name) {
		return !old.Values.Has(x.Name) && sameRows(f.written(x.Name), old.written(x.Name))
	}
	return unix(f.Value(x.Name)) == unix(old.Value(x.Name))
}

// put takes a field's value into the settings.
func (f *agentForm) put(settings map[string]json.RawMessage, x agentField) {
	text := unix(f.Value(x.Name))
	value := f.entered(x, text)
	if value == nil {
		putSetting(settings, x.setting(), nil)
		return
	}
	raw, err := json.Marshal(value)
	if err != nil { // a number that is none
		raw, _ = json.Marshal(text)
	}
	putSetting(settings, x.setting(), raw)
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

// entered is what is in a field as the document has it; nil: nothing.
func (f *agentForm) entered(x agentField, text string) any {
	switch {
	case x.how == aRows && f.Values.Has(x.Name):
		if read := f.yaml(x.Name); read != nil {
			return read
		}
		return nil
	case x.how == aRows:
		return f.entries(x.Name)
	case x.how == aOn:
		return map[bool]any{true: false}[text == ""] // nil when it is ticked
	case text == "":
		return nil
	case x.how == aFlag:
		return true
	case x.how == aSwitch:
		return text == "on"
	case x.how == aNumber && json.Valid([]byte(text)) && text[0] != '"':
		return json.RawMessage(text)
	case x.how == aLines:
		return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	case x.how == aPairs, x.how == aValues:
		return f.lines(x.Name, x.how, text)
	}
	return text
}

// yaml reads a field that holds a document; nil: nothing is in it, or a mistake.
func (f *agentForm) yaml(name string) json.RawMessage {
	text := f.Values.Get(name)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	read, err := jsonOf(text)
	if err != nil {
		f.Fail(name, sentence(err.Error()))
	}
	if err != nil || string(read) == "null" {
		return nil
	}
	return read
}

// lines reads "this = that", a line each.
func (f *agentForm) lines(name string, how kind, text string) any {
	var list []saying
	values := map[string]string{}
	for n, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		left, right, ok := strings.Cut(line, "=")
		left, right = strings.TrimSpace(left), strings.TrimSpace(right)
		_, twice := values[left]
		switch {
		case !ok && how == aPairs:
			f.Fail(name, fmt.Sprintf("Line %d: write it as “SQL = sequel”.", n+1))
		case !ok || left == "":
			f.Fail(name, fmt.Sprintf("Line %d: write it as “city = Rome”.", n+1))
		case twice && how == aValues:
			f.Fail(name, fmt.Sprintf("Line %d: %s is there twice.", n+1, left))
		}
		values[left] = right
		list = append(list, saying{left, right})
	}
	if how == aPairs {
		return list
	}
	return values
}
