package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"parley/api/wire"
	"parley/pipeline/agent"
	"parley/pipeline/schema"
)

// builder is an agent while it is made.
type builder struct {
	definition agent.Document
	voice      string
	tools      []named
	settings   map[string]any
	variables  map[string]string // with their values
	notes      []Note
	hints      map[string]string // by the beginning of a path: why it has no equivalent
	names      map[string]string // of the service's variables, with what they are here
	clocks     []string          // its variables that say what time it is; with _ at the end, all that begin so
}

// named is a function with the path of what it was made of.
type named struct {
	path string
	tool any
}

func (b *builder) note(path, format string, args ...any) {
	b.notes = append(b.notes, Note{path, fmt.Sprintf(format, args...)})
}

// reason says why something has no equivalent: by the longest hint whose path it begins with.
func (b *builder) reason(path string) string {
	best := ""
	for at := range b.hints {
		if rest, is := strings.CutPrefix(path, at); is && (rest == "" || rest[0] == '.' || rest[0] == '[') && len(at) > len(best) {
			best = at
		}
	}
	return cmp.Or(b.hints[best], "has no equivalent")
}

// whole sets a setting to a number, within its bounds, and notes when it is not the same then.
func (b *builder) whole(path, setting string, value, least, most float64) {
	is := min(max(math.Round(value), least), most)
	if is != math.Round(value) {
		b.note(path, "%s is %.0f: from %.0f to %.0f are allowed", setting, is, least, most)
	}
	b.settings[setting] = int(is)
}

// pace sets how fast the agent speaks.
func (b *builder) pace(path string, speed float64) {
	is := min(max(speed, 0.5), 2)
	if is != speed {
		b.note(path, "speed is %v: from 0.5 to 2 is allowed", is)
	}
	b.settings["speed"] = is
}

// phrases adds words that callers are expected to say.
func (b *builder) phrases(words []string) {
	before, _ := b.settings["phrases"].([]string)
	if all := append(before, words...); len(all) > 0 {
		b.settings["phrases"] = all
	}
}

// engine sets what an agent wants of a stage that is part of the server.
func (b *builder) engine(stage, name string) { b.settings["engines"] = map[string]string{stage: name} }

// analyze adds to what is made of a call when it is over.
func (b *builder) analyze(member string, value any) {
	a, is := b.settings["analysis"].(map[string]any)
	if !is {
		a = map[string]any{}
		b.settings["analysis"] = a
	}
	a[member] = value
}

// agent checks what was made as a server does, and leaves out what it would refuse.
func (b *builder) agent() (*Agent, error) {
	if len(b.variables) > 0 {
		b.settings["variables"] = b.variables
	}
	names := agent.Names{Voice: strings.ToUpper, Language: strings.ToLower}
	for {
		document, err := json.Marshal(map[string]any{"name": b.definition.Name, "voice": b.definition.Voice, "language": b.definition.Language,
			"prompt": b.definition.Prompt, "first_message": b.definition.FirstMessage, "tools": b.functions(), "settings": b.settings})
		if err != nil {
			return nil, err
		}
		var made agent.Document
		err = names.Apply(&made, document, true)
		wrong, is := errors.AsType[schema.Mistakes](err)
		switch {
		case err == nil:
			return b.finished(&made), nil
		case !is || !b.without(wrong):
			return nil, err
		}
	}
}

// maxTools is how many functions an agent may have.
const maxTools = 64

// add gives the agent a function that was made of what is at a path.
func (b *builder) add(path string, tool any) {
	if len(b.tools) == maxTools {
		b.note(path, "is left out: an agent has %d functions at most", maxTools)
		return
	}
	b.tools = append(b.tools, named{path, tool})
}

// call gives the agent its name, within the bounds of one.
func (b *builder) call(name, otherwise string) {
	const most = 200 // bytes
	name = cmp.Or(strings.TrimSpace(strings.ReplaceAll(name, "\x00", "")), otherwise)
	b.definition.Name = strings.ToValidUTF8(name[:min(len(name), most)], "")
}

func (b *builder) functions() []any {
	list := make([]any, len(b.tools))
	for i, t := range b.tools {
		list[i] = t.tool
	}
	return list
}

// without takes away what one of the mistakes is in, and says whether it could: a function, or a setting or a part of it.
func (b *builder) without(wrong schema.Mistakes) bool {
	for i := len(b.tools) - 1; i >= 0; i-- { // from the end: those before keep their places
		for _, m := range wrong {
			if at := fmt.Sprintf("tools[%d]", i); m.Path == at || strings.HasPrefix(m.Path, at+".") {
				b.note(b.tools[i].path, "is left out: %s", m.Problem)
				b.tools = slices.Delete(b.tools, i, i+1)
				return true
			}
		}
	}
	for _, m := range wrong {
		path, is := strings.CutPrefix(m.Path, "settings.")
		if list, there := b.settings["transfer_to"].([]destination); there {
			for i, d := range list {
				if at := fmt.Sprintf("transfer_to[%d]", i); path == at || strings.HasPrefix(path, at+".") {
					b.note("settings.transfer_to", "%s is left out: %s", d.Number, m.Problem)
					b.settings["transfer_to"] = slices.Delete(list, i, i+1)
					return true
				}
			}
		}
		if a, there := b.settings["analysis"].(map[string]any); there && strings.HasPrefix(path, "analysis.extract") && a["extract"] != nil {
			b.note("settings.analysis.extract", "is left out: %s: %s", m.Path, m.Problem)
			delete(a, "extract")
			return true
		}
		name, _, _ := strings.Cut(strings.NewReplacer(".", " ", "[", " ").Replace(path), " ")
		if _, there := b.settings[name]; is && there {
			b.note("settings."+name, "is left out: %s", m.Problem)
			delete(b.settings, name)
			return true
		}
	}
	return false
}

func (b *builder) finished(made *agent.Document) *Agent {
	slices.SortStableFunc(b.notes, func(x, y Note) int { return strings.Compare(x.Path, y.Path) })
	return &Agent{Notes: slices.Compact(b.notes), voice: b.voice, AgentDefinition: wire.AgentDefinition{Name: made.Name, Voice: made.Voice, Language: made.Language,
		Prompt: made.Prompt, FirstMessage: made.FirstMessage, Tools: wire.AgentTools{RawMessage: made.Tools}, Settings: wire.AgentSettings{RawMessage: made.Settings}}}
}

// oneLine is a text of another service in one line of at most 100 characters.
func oneLine(text string) string {
	fields := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	runes := []rune(strings.Join(fields, " "))
	if len(runes) > 100 {
		runes = append(runes[:99], '…')
	}
	return string(runes)
}
