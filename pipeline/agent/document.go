package agent

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"unicode/utf8"

	"parley/pipeline/schema"
	"parley/pipeline/tool"
)

// Names brings the names of voices and languages into the form in which they are kept;
// each returns "" for what there is not.
type Names struct {
	Voice, Language func(string) string
	// Engines are those that the server offers; nil: not known, and then agents may name any.
	Engines Offer
	// Guard says which addresses functions may name as numbers; nil: not known, and then
	// they may name any. Whatever it says, it judges each request again.
	Guard *tool.Guard
}

// Defaults of an agent that does not say.
const (
	DefaultVoice    = "F1"
	DefaultLanguage = "en"
)

// Document is an agent as its owner writes it. Tools and Settings are JSON as it was written;
// nil: there are none.
type Document struct {
	Name, Voice, Language, Prompt, FirstMessage string
	Tools, Settings                             json.RawMessage
}

// fields are the members of a document that its owner sets.
var fields = []string{"name", "voice", "language", "prompt", "first_message", "tools", "settings"}

// Apply changes a by the members of document, a JSON object; what is not mentioned, or
// null, stays. Tools and settings are replaced as a whole. Members that no document has
// are ignored unless strict. The error is schema.Mistakes, and then a is not to be used.
func (n Names) Apply(a *Document, document []byte, strict bool) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(document, &given); err != nil || given == nil {
		return Schema.Read("body", document).Err()
	}
	maps.DeleteFunc(given, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	whole := members(a)
	for name, value := range given {
		if field, known := Schema.Properties[name]; !known && strict || known && !field.ReadOnly {
			whole[name] = value
		}
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return schema.Mistakes{{Path: "body", Problem: err.Error()}}
	}
	wrong := append(schema.Repeated("", document), Schema.Read("", text)...)
	if len(wrong) == 0 {
		if err := read(whole, a); err != nil {
			return schema.Mistakes{{Path: "body", Problem: err.Error()}}
		}
	}
	n.further(whole, a, &wrong)
	return wrong.Err()
}

// members are what an agent consists of as a document.
func members(a *Document) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i, text := range []string{a.Name, a.Voice, a.Language, a.Prompt, a.FirstMessage} {
		if text != "" || fields[i] != "name" {
			out[fields[i]], _ = json.Marshal(text) // a string can be written
		}
	}
	if len(a.Tools) > 0 {
		out["tools"] = a.Tools
	}
	if len(a.Settings) > 0 {
		out["settings"] = a.Settings
	}
	return out
}

// Members are the members of the document, as JSON has them.
func (a *Document) Members() (map[string]any, error) {
	text, err := json.Marshal(members(a))
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(text, &out)
}

// read puts a document that fits its schema into an agent.
func read(whole map[string]json.RawMessage, a *Document) error {
	for i, to := range []*string{&a.Name, &a.Voice, &a.Language, &a.Prompt, &a.FirstMessage} {
		if text, there := whole[fields[i]]; there {
			if err := json.Unmarshal(text, to); err != nil {
				return err
			}
		}
	}
	a.Tools, a.Settings = whole["tools"], whole["settings"]
	return nil
}

// Bounds of texts in bytes, beside those in characters that the schema has.
var longest = map[string]int{"name": maxName, "prompt": maxPrompt, "first_message": maxPrompt}

// further finds what no schema can say. What the schema refused is not looked into again.
func (n Names) further(whole map[string]json.RawMessage, a *Document, wrong *schema.Mistakes) {
	texts := map[string]string{}
	for _, name := range fields[:5] {
		var text string
		if wrong.Within(name) || json.Unmarshal(whole[name], &text) != nil {
			continue
		}
		texts[name] = text
		switch most := longest[name]; {
		case strings.ContainsRune(text, 0):
			wrong.Add(name, "zero characters are not stored")
		case !utf8.Valid(whole[name]):
			wrong.Add(name, "not UTF-8")
		case most > 0 && len(text) > most:
			wrong.Add(name, "%d bytes, allowed are %d", len(text), most)
		case name == "name" && strings.TrimSpace(text) == "":
			wrong.Add(name, "is empty")
		case name == "voice" && n.Voice != nil:
			a.Voice = n.Voice(text)
		case name == "language" && n.Language != nil:
			a.Language = n.language(text)
		}
	}
	if !wrong.Within("tools") {
		*wrong = append(*wrong, tool.Mistakes(whole["tools"], n.Guard)...)
	}
	before, readable := len(*wrong), !wrong.Within("settings")
	settings, err := ParseSettings(whole["settings"])
	if more, ok := err.(schema.Mistakes); ok && !wrong.Within("settings") {
		*wrong = append(*wrong, more...)
	}
	if n.Engines != nil && readable {
		*wrong = append(*wrong, settings.Engines.wrongOn(n.Engines)...)
		n.checkTurns(&settings, wrong)
	}
	if bytes.Contains(whole["settings"], []byte(`\u0000`)) && len(*wrong) == before {
		wrong.Add("settings", "zero characters are not stored")
	}
	if len(whole["settings"]) > maxJSON {
		wrong.Add("settings", "%d bytes, allowed are %d", len(whole["settings"]), maxJSON)
	}
	if !(*wrong)[before:].Within("settings.variables") {
		unknownVariables(texts, &settings, wrong)
	}
}
