package dashboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/api/manage"
)

// agentDocument is an agent as the API sends and takes it.
type agentDocument struct {
	ID           string                     `json:"id,omitempty"`
	Name         string                     `json:"name"`
	Voice        string                     `json:"voice"`
	Language     string                     `json:"language"`
	FirstMessage string                     `json:"first_message"`
	Prompt       string                     `json:"prompt"`
	Tools        json.RawMessage            `json:"tools"`
	Settings     map[string]json.RawMessage `json:"settings"`
	Version      int64                      `json:"version,omitzero"`
	CreatedAt    time.Time                  `json:"created_at,omitzero"`
	UpdatedAt    time.Time                  `json:"updated_at,omitzero"`
}

// bare is the document without what the server adds.
func (a agentDocument) bare() agentDocument {
	a.ID, a.Version, a.CreatedAt, a.UpdatedAt = "", 0, time.Time{}, time.Time{}
	return a
}

// yaml is the document as a file.
func (a agentDocument) yaml() (string, error) {
	text, err := json.Marshal(a.bare())
	if err != nil {
		return "", err
	}
	return yamlOf(text)
}

// kind is how a setting is entered.
type kind uint8

const (
	aText kind = iota
	aNumber
	aFlag     // a box: there or not
	aSwitch   // yes, no, or as otherwise
	aPairs    // lines of "word = how it is said"
	aValues   // lines of "name = value"
	aSnippets // titles with texts
)

// agentSettings are the settings that the form has fields for, by their names, which are
// the fields' too. All others keep what they are.
var agentSettings = map[string]kind{
	"speed": aNumber, "interruptible": aText, "idle_seconds": aNumber, "idle_reprompts": aNumber, "max_duration_seconds": aNumber,
	"goodbye": aText, "timezone": aText, "speculative_llm": aSwitch, "record": aFlag, "recording_notice": aText,
	"pronunciation": aPairs, "variables": aValues, "knowledge": aSnippets,
}

// Snippet is a piece of what an agent knows.
type Snippet struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	// The fields that it is entered in, and what is wrong with them.
	N                     int    `json:"-"`
	TitleError, TextError string `json:"-"`
}

// saying is how a word is pronounced.
type saying struct {
	Word string `json:"word"`
	Say  string `json:"say"`
}

// agentForm is an agent as it is edited.
type agentForm struct {
	*Form
	Snippets []Snippet
	rows     []int // of the snippets that are sent: which of those entered each is
	Others   []manage.Mistake
}

// formOf fills a form with a document.
func formOf(a *agentDocument) (*agentForm, error) {
	f := &agentForm{Form: NewForm("name", a.Name, "voice", a.Voice, "language", a.Language, "prompt", a.Prompt, "first_message", a.FirstMessage, "speaks", "agent",
		"version", strconv.FormatInt(a.Version, 10))}
	if a.FirstMessage == "" && a.ID != "" {
		f.Values.Set("speaks", "caller")
	}
	if tools := strings.TrimSpace(string(a.Tools)); tools != "" && tools != "[]" {
		text, err := yamlOf(a.Tools)
		if err != nil {
			return nil, err
		}
		f.Values.Set("tools", text)
	}
	for name, how := range agentSettings {
		if raw := a.Settings[name]; len(raw) > 0 {
			f.fill(name, how, raw)
		}
	}
	f.Snippets = append(f.Snippets, Snippet{})
	f.number()
	kept, err := json.Marshal(a.Settings)
	f.Values.Set("kept", string(kept))
	return f, err
}

// fill enters a setting. What cannot be read stays out of the form; nothing like that is
// stored.
func (f *agentForm) fill(name string, how kind, raw json.RawMessage) {
	text := string(raw)
	switch how {
	case aFlag, aSwitch:
		text = map[string]string{"true": "on", "false": "off"}[text]
		if how == aFlag && text == "off" {
			text = ""
		}
	case aText:
		_ = json.Unmarshal(raw, &text)
	case aPairs:
		var list []saying
		_ = json.Unmarshal(raw, &list)
		lines := make([]string, len(list))
		for i, s := range list {
			lines[i] = s.Word + " = " + s.Say
		}
		text = strings.Join(lines, "\n")
	case aValues:
		var values map[string]string
		_ = json.Unmarshal(raw, &values)
		var lines []string
		for _, name := range slices.Sorted(maps.Keys(values)) {
			lines = append(lines, name+" = "+values[name])
		}
		text = strings.Join(lines, "\n")
	case aSnippets:
		_ = json.Unmarshal(raw, &f.Snippets)
		return
	}
	f.Values.Set(name, text)
}

func (f *agentForm) number() {
	for i := range f.Snippets {
		f.Snippets[i].N = i
	}
}

// agentEntered reads the form of a request.
func agentEntered(q *Request) (*agentForm, error) {
	form, err := q.Form()
	if err != nil {
		return nil, err
	}
	f := &agentForm{Form: form}
	titles, texts := form.Values["knowledge_title"], form.Values["knowledge_text"]
	for i := range min(len(titles), len(texts), 64) {
		f.Snippets = append(f.Snippets, Snippet{Title: strings.TrimSpace(titles[i]), Text: unix(strings.TrimSpace(texts[i]))})
	}
	if n := len(f.Snippets); n == 0 || f.Snippets[n-1] != (Snippet{}) || form.Value("more") != "" {
		f.Snippets = append(f.Snippets, Snippet{})
	}
	f.number()
	return f, nil
}

// unix are line ends as documents have them; browsers send others.
func unix(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// document is what was entered, for the API to judge. What no document can hold is
// complained about in the form.
func (f *agentForm) document() *agentDocument {
	text := func(name string) string { return unix(f.Value(name)) }
	a := &agentDocument{Name: text("name"), Voice: text("voice"), Language: text("language"), Prompt: text("prompt"), Settings: map[string]json.RawMessage{}, Tools: json.RawMessage("[]")}
	if text("speaks") != "caller" {
		a.FirstMessage = text("first_message")
		if a.FirstMessage == "" && text("speaks") == "agent" {
			f.Fail("first_message", "Write what the agent says first, or let the caller begin.")
		}
	}
	if kept := f.Values.Get("kept"); kept != "" && json.Unmarshal([]byte(kept), &a.Settings) != nil {
		f.Fail("", "The form was damaged on its way. Open the page again.")
	}
	if a.Settings == nil {
		a.Settings = map[string]json.RawMessage{}
	}
	if tools := f.Values.Get("tools"); strings.TrimSpace(tools) != "" {
		read, err := jsonOf(tools)
		if err != nil {
			f.Fail("tools", sentence(err.Error()))
		} else if string(read) != "null" {
			a.Tools = read
		}
	}
	for name, how := range agentSettings {
		value := f.setting(name, how, text(name))
		if value == nil {
			delete(a.Settings, name)
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil { // a number that is none
			raw, _ = json.Marshal(text(name))
		}
		a.Settings[name] = raw
	}
	return a
}

// setting is what was entered as the document has it; nil: nothing.
func (f *agentForm) setting(name string, how kind, text string) any {
	switch how {
	case aFlag:
		if text != "" {
			return true
		}
		return nil
	case aSwitch:
		if text == "" {
			return nil
		}
		return text == "on"
	case aSnippets:
		var list []Snippet
		for i, s := range f.Snippets {
			if s.Title != "" || s.Text != "" {
				list = append(list, s)
				f.rows = append(f.rows, i)
			}
		}
		if list == nil {
			return nil
		}
		return list
	}
	switch {
	case text == "":
		return nil
	case how == aNumber && json.Valid([]byte(text)) && text[0] != '"':
		return json.RawMessage(text)
	case how == aPairs, how == aValues:
		return f.lines(name, how, text)
	}
	return text
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

// agentFields are the fields of what is no setting.
var agentFields = []string{"name", "voice", "language", "prompt", "first_message", "tools"}

// mistaken puts what the API says is wrong where it was entered.
func (f *agentForm) mistaken(wrong []manage.Mistake) {
	for _, m := range wrong {
		path := strings.TrimPrefix(m.Path, "settings.")
		field, rest := path, ""
		if i := strings.IndexAny(path, ".["); i >= 0 {
			field, rest = path[:i], path[i:]
		}
		_, setting := agentSettings[field]
		switch {
		case field == "knowledge" && f.snippet(rest, m.Problem):
		case slices.Contains(agentFields, field), setting && path != m.Path && field != "knowledge":
			f.Fail(field, where(rest)+sentence(m.Problem))
		default:
			f.Others = append(f.Others, m)
		}
	}
}

// snippet puts a problem beside the piece of knowledge that it is about.
func (f *agentForm) snippet(rest, problem string) bool {
	var at int
	var part string
	if n, err := fmt.Sscanf(strings.NewReplacer("[", "", "].", " ").Replace(rest), "%d %s", &at, &part); n != 2 || err != nil || at < 0 || at >= len(f.rows) {
		return false
	}
	s := &f.Snippets[f.rows[at]]
	what := &s.TextError
	if part == "title" {
		what = &s.TitleError
	}
	*what = sentence(problem)
	if f.Errors == nil {
		f.Errors = map[string]string{}
	}
	f.Errors[fmt.Sprintf("knowledge_%s_%d", part, f.rows[at])] = *what
	return true
}

// where names a place within a field for people: "2nd entry, url: ".
func where(rest string) string {
	if rest == "" {
		return ""
	}
	if at, deeper, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]"); ok && rest[0] == '[' {
		if n, err := strconv.Atoi(at); err == nil {
			return strings.TrimSuffix(fmt.Sprintf("Entry %d, %s", n+1, strings.TrimPrefix(deeper, ".")), ", ") + ": "
		}
	}
	return strings.TrimPrefix(rest, ".") + ": "
}

// OK says whether nothing is wrong.
func (f *agentForm) OK() bool { return f.Form.OK() && len(f.Others) == 0 }

// agentSections are the parts of the form that stay closed while nothing is in them.
var agentSections = map[string][]string{
	"manner":  {"interruptible", "idle_seconds", "idle_reprompts", "max_duration_seconds", "goodbye", "speculative_llm"},
	"knows":   {"variables", "timezone", "more"},
	"does":    {"tools"},
	"records": {"record", "recording_notice"},
}

// Filled says whether there is something in a part of the form, or something wrong.
func (f *agentForm) Filled(section string) bool {
	return section == "knows" && len(f.Snippets) > 1 || slices.ContainsFunc(agentSections[section], func(name string) bool {
		return f.Value(name) != "" || f.Errors[name] != ""
	})
}

// Complaint is one thing that is wrong, for the list above the form.
type Complaint struct{ Field, Label, What string }

// agentLabels are the fields' labels, in the order of the form.
var agentLabels = []Complaint{
	{"name", "Name", ""}, {"first_message", "First message", ""}, {"prompt", "Prompt", ""}, {"voice", "Voice", ""}, {"language", "Language", ""}, {"speed", "Pace", ""},
	{"interruptible", "Interruptions", ""}, {"idle_seconds", "Silence", ""}, {"idle_reprompts", "Reminders", ""}, {"max_duration_seconds", "Longest conversation", ""},
	{"goodbye", "Goodbye", ""}, {"knowledge", "Knowledge", ""}, {"pronunciation", "Pronunciation", ""}, {"variables", "Variables", ""}, {"timezone", "Time zone", ""},
	{"tools", "Functions", ""}, {"speculative_llm", "Begin answers early", ""}, {"record", "Recording", ""}, {"recording_notice", "Notice of recording", ""},
}

// labelOf is what people read for the field of a document's path; empty: there is no field.
func labelOf(path string) string {
	path = strings.TrimPrefix(path, "settings.")
	if i := strings.IndexAny(path, ".["); i >= 0 {
		path = path[:i]
	}
	for _, l := range agentLabels {
		if l.Field == path {
			return l.Label
		}
	}
	return ""
}

// Complaints are all that is wrong, in the order of the form.
func (f *agentForm) Complaints() []Complaint {
	var out []Complaint
	for _, l := range agentLabels {
		if what := f.Errors[l.Field]; what != "" {
			out = append(out, Complaint{l.Field, l.Label, what})
		}
		if l.Field != "knowledge" {
			continue
		}
		for _, s := range f.Snippets {
			for part, what := range map[string]string{"title": s.TitleError, "text": s.TextError} {
				if what != "" {
					out = append(out, Complaint{fmt.Sprintf("knowledge_%s_%d", part, s.N), fmt.Sprintf("Knowledge %d, %s", s.N+1, part), what})
				}
			}
		}
	}
	for _, m := range f.Others {
		out = append(out, Complaint{"", m.Path, sentence(m.Problem)})
	}
	return out
}
