package scripted

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"parley/inference"
)

// Functions of calls that the engine calls by what they do.
const (
	endCall      = "end_call"
	transferCall = "transfer_call"
	handOver     = "hand_over"
)

// own are the functions that calls themselves have. Callers who say a word of these names
// mean something else: "send me the menu" is not about keys.
var own = []string{endCall, transferCall, "send_dtmf", "collect_digits", "opt_out"}

// tool is a tool with its schema, and a rule that calls it.
type tool struct {
	inference.Tool
	schema schema
	rule   rule
}

func newTool(spec inference.Tool) tool {
	t := tool{Tool: spec, rule: rule{call: spec.Name}}
	_ = json.Unmarshal(spec.Parameters, &t.schema) // an unknown form has no arguments
	var args []string
	for _, name := range t.schema.Required {
		if slot := "{" + name + "}"; slotName.MatchString(slot) {
			key, _ := json.Marshal(name)
			args = append(args, string(key)+":"+slot)
		}
	}
	t.rule.args = "{" + strings.Join(args, ",") + "}"
	if !slices.Contains(own, spec.Name) {
		t.rule.phrases = []phrase{words(spec.Name)}
	}
	return t
}

// property is what the schema says of an argument, whatever the case of its name.
func (t *tool) property(name string) schema {
	for key, p := range t.schema.Properties {
		if strings.EqualFold(key, name) && p != nil {
			return *p
		}
	}
	return schema{}
}

// tool finds a tool by its name; nil: the call has none such.
func (d *dialogue) tool(name string) *tool {
	for i := range d.tools {
		if name != "" && d.tools[i].Name == name {
			return &d.tools[i]
		}
	}
	return nil
}

func (d *dialogue) newCall(name, arguments string) *inference.ToolCall {
	return &inference.ToolCall{ID: fmt.Sprintf("call_%d", d.calls+1), Name: name, Arguments: arguments}
}

// numeral is a number as JSON writes it.
var numeral = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?$`)

// typed gives the arguments of a rule the types of the tool's schema.
func (t *tool) typed(arguments string) string {
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &args) != nil {
		return "{}"
	}
	for name, raw := range args {
		var text string
		_ = json.Unmarshal(raw, &text) // else it has a type already
		kind := t.property(name).Type
		if (kind == "integer" || kind == "number") && numeral.MatchString(text) || kind == "boolean" && (text == "true" || text == "false") {
			args[name] = json.RawMessage(text)
		}
	}
	b, _ := json.Marshal(args)
	return string(b)
}

// expand fills the slots of a text. {result} and {result.field} are values too.
func expand(text string, values map[string]string) string {
	return slotForm.ReplaceAllStringFunc(text, func(m string) string { return values[strings.ToLower(m[1:len(m)-1])] })
}

// expandJSON fills the slots of a JSON template. A value is escaped inside quotes, and
// quoted outside them unless it is a number.
func expandJSON(template string, values map[string]string) string {
	if template == "" {
		return "{}"
	}
	var b strings.Builder
	last := 0
	for _, at := range slotName.FindAllStringIndex(template, -1) {
		b.WriteString(template[last:at[0]])
		last = at[1]
		value := expand(template[at[0]:at[1]], values)
		quoted, _ := json.Marshal(value)
		switch inside := strings.Count(template[:at[0]], `"`)%2 == 1; {
		case inside:
			b.Write(quoted[1 : len(quoted)-1])
		case numeral.MatchString(value):
			b.WriteString(value)
		default:
			b.Write(quoted)
		}
	}
	b.WriteString(template[last:])
	return b.String()
}

// pendingResult stands for a function that has not answered yet.
const pendingResult = `{"status":"pending"}`

// maxSpoken bounds what is read aloud of a value, in code points.
const maxSpoken = 400

// speakResult says what a tool found: with the words of the rule that called it, or
// as its message.
func (d *dialogue) speakResult(name, result string) string {
	var value any = result
	decoder := json.NewDecoder(strings.NewReader(result))
	decoder.UseNumber()
	if json.Valid([]byte(result)) {
		_ = decoder.Decode(&value)
	}
	object, _ := value.(map[string]any)
	if said := object["error"]; said != nil && said != false && said != "" || object["ok"] == false || object["success"] == false {
		return d.lines.failed
	}
	if name == handOver { // what answers is the agent that the caller was handed over to
		return d.lines.hello
	}
	fields := map[string]string{"result": spoken(value)}
	for key, v := range object {
		fields["result."+strings.ToLower(key)] = spoken(v)
	}
	for _, r := range d.script.rules {
		if r.call == name && r.then != "" {
			return d.speakThen(r, fields)
		}
	}
	for _, f := range []string{"result", "result.message", "result.text", "result.result"} {
		if fields[f] != "" {
			return fields[f]
		}
	}
	return d.lines.done
}

// speakThen fills what a rule says after its call. It is no success when the result has
// nothing of what the rule says.
func (d *dialogue) speakThen(r rule, fields map[string]string) string {
	asked, has := false, false
	for _, slot := range slotForm.FindAllString(strings.ToLower(r.then), -1) {
		if strings.HasPrefix(slot, "{result") {
			asked, has = true, has || fields[slot[1:len(slot)-1]] != ""
		}
	}
	if asked && !has {
		return d.lines.failed
	}
	maps.Copy(fields, d.called[r.call])
	return expand(r.then, fields)
}

// spoken is a value as it is said, bounded; nothing for null, lists and objects.
func spoken(value any) string {
	switch value.(type) {
	case nil, map[string]any, []any:
		return ""
	}
	r := []rune(strings.TrimSpace(fmt.Sprint(value)))
	return string(r[:min(len(r), maxSpoken)])
}
