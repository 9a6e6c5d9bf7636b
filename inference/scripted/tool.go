package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parley/inference"
)

// endCall is the built-in tool that hangs up once everything has been said.
const endCall = "end_call"

// own are the functions that calls themselves have, with the words that mean them.
// Those without any would be found by words that callers mean otherwise: nobody who
// wants something sent means keys.
var own = map[string][]string{
	endCall: nil, "transfer_call": {"transfer", "connect"}, "send_dtmf": nil, "collect_digits": nil, "opt_out": nil,
}

// tool is a tool with what its schema says about the arguments.
type tool struct {
	inference.Tool
	words      []string // of its name
	described  []string // of its description, without those
	properties map[string]property
	required   []string
}

// property is the part of JSON Schema that is looked at.
type property struct {
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
}

func newTool(t inference.Tool) tool {
	n := tool{Tool: t, words: words(t.Name)}
	if w, ours := own[t.Name]; ours {
		n.words = w
	}
	for _, w := range tokens(t.Description) {
		if !slices.Contains(n.words, w) && !english.stopped(w) {
			n.described = append(n.described, w)
		}
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(t.Parameters, &schema) == nil {
		n.properties = map[string]property{}
		for name, raw := range schema.Properties {
			var p property
			_ = json.Unmarshal(raw, &p) // a property of a form we do not know is any text
			n.properties[name] = p
		}
		n.required = schema.Required
	}
	return n
}

func (d data) stopped(word string) bool { return languages[d.code].stop[word] }

// tool finds a tool by its name, or by a word in its name.
func (d *dialogue) tool(names ...string) *tool {
	for i := range d.tools {
		if slices.Contains(names, d.tools[i].Name) {
			return &d.tools[i]
		}
	}
	for i := range d.tools {
		if slices.ContainsFunc(d.tools[i].words, func(w string) bool { return slices.Contains(names, w) }) {
			return &d.tools[i]
		}
	}
	return nil
}

// bestTool is the tool whose name and description fit best, and how well: 1 when
// they cover all that is asked.
func (d *dialogue) bestTool(heard []string) (best *tool, fit float64) {
	question := d.about(heard)
	total := 0.0
	for _, a := range question {
		if a.idea != "day" {
			total += a.weight
		}
	}
	for i := range d.tools {
		t := &d.tools[i]
		if len(t.words) == 0 || total == 0 {
			continue
		}
		sum, named := 0.0, 0.0
		for _, a := range question {
			if a.idea == "day" {
				continue
			}
			n, s := d.knows(t.words, a), d.knows(t.described, a)
			named = max(named, n*a.weight)
			sum += max(n, 0.7*s) * a.weight
		}
		if named >= 0.8 && sum/total >= 0.4 && sum/total > fit {
			best, fit = t, sum/total
		}
	}
	return best, fit
}

// knows says how well words of a tool cover a thing that is asked about.
func (d *dialogue) knows(list []string, a asked) float64 {
	best := 0.0
	for _, w := range list {
		for _, q := range a.words {
			best = max(best, alike(w, q))
		}
		if a.idea != "" && d.ideaOf(w) == a.idea {
			best = 1
		}
	}
	return best
}

// wants lists the required arguments in the schema's order.
func (t *tool) wants() []want {
	var list []want
	for _, name := range t.required {
		p := t.properties[name]
		w := want{slot: strings.ToLower(name), kind: kindOf(name), label: strings.Join(words(name), " "), options: p.Enum}
		if w.kind == kindText && (p.Type == "integer" || p.Type == "number") {
			w.kind = kindNumber
		}
		list = append(list, w)
	}
	return list
}

// takeFrom reads arguments that have no kind from the sentence that asked for
// the tool: an option by its name, and a single free text from the words that
// nothing else accounts for ("the weather in Paris").
func (t *tool) takeFrom(l *language, heard []string, found map[string]string, used []bool) map[string]string {
	taken := map[string]string{}
	var free []string
	for _, w := range t.wants() {
		switch {
		case w.options != nil:
			if v := option(w.options, heard); v != "" {
				taken[w.slot] = v
			}
		case w.kind == kindText:
			free = append(free, w.slot)
		}
	}
	var rest []string
	for i, w := range heard {
		known := slices.ContainsFunc(append(slices.Clone(t.words), t.described...), func(k string) bool { return alike(k, w) >= 0.8 })
		if !used[i] && !l.stop[w] && !known && l.ideaOf(w) == "" && len(w) > 1 {
			rest = append(rest, w)
		}
	}
	if len(free) == 1 && len(rest) > 0 && len(rest) <= 3 {
		taken[free[0]] = titled(rest)
	}
	return taken
}

// option is the allowed value that was heard.
func option(options []string, heard []string) string {
	for _, o := range options {
		for _, w := range words(o) {
			if slices.ContainsFunc(heard, func(h string) bool { return alike(w, h) >= 0.8 }) {
				return o
			}
		}
	}
	return ""
}

// arguments makes the JSON of all arguments that are known.
func (t *tool) arguments(d *dialogue, values map[string]string) string {
	args := map[string]any{}
	for name, p := range t.properties {
		v := values[strings.ToLower(name)]
		if v == "" && !slices.Contains(t.required, name) {
			v = d.remembered(want{kind: kindOf(name), options: p.Enum})
		}
		if v != "" {
			args[name] = typed(v, p.Type)
		}
	}
	b, _ := json.Marshal(args) // strings, numbers and booleans; sorted by name
	return string(b)
}

// typed gives the arguments of a rule's template the types of the schema.
func (t *tool) typed(arguments string) string {
	var args map[string]any
	decoder := json.NewDecoder(strings.NewReader(arguments))
	decoder.UseNumber()
	if decoder.Decode(&args) != nil {
		return "{}"
	}
	for name, v := range args {
		if s, isText := v.(string); isText {
			args[name] = typed(s, t.properties[name].Type)
		}
	}
	b, _ := json.Marshal(args)
	return string(b)
}

func typed(v, kind string) any {
	switch kind {
	case "integer":
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n
		}
	case "number":
		if n, err := strconv.ParseFloat(v, 64); err == nil && json.Valid([]byte(v)) {
			return json.Number(strconv.FormatFloat(n, 'f', -1, 64))
		}
	case "boolean":
		if b, err := strconv.ParseBool(v); err == nil {
			return b
		}
	}
	return v
}

// pendingResult stands for a function that has not answered yet.
const pendingResult = `{"status":"pending"}`

// resultSlot is a slot of a rule that a result fills.
var resultSlot = regexp.MustCompile(`\{result(\.[\pL\pN_.]+)?\}`)

// failed says whether a result is an object that says so: an error of any form, or no success.
func failed(result string) bool {
	var said struct {
		Error   any
		OK      *bool
		Success *bool
	}
	_ = json.Unmarshal([]byte(result), &said) // what is of another form leaves its field alone
	switch said.Error {
	case nil, false, "":
		return said.OK != nil && !*said.OK || said.Success != nil && !*said.Success
	}
	return true
}

// speakResult says what a tool found: with the words of the rule that called it,
// a field meant for saying, or all fields there are.
func (d *dialogue) speakResult(name, result string) string {
	fields, order := readResult(result)
	if failed(result) {
		return d.texts.failed
	}
	for _, r := range d.script.rules {
		if r.call == name && r.then != "" {
			for slot, v := range d.called[name] {
				fields[slot] = v
			}
			if says := resultSlot.FindAllString(strings.ToLower(r.then), -1); len(says) > 0 &&
				!slices.ContainsFunc(says, func(slot string) bool { return fields[slot[1:len(slot)-1]] != "" }) {
				return d.texts.failed // the result has nothing of what the rule says
			}
			return expand(r.then, fields)
		}
	}
	for _, f := range []string{"message", "say", "speech", "text", "answer", "result", "summary"} {
		if v := fields["result."+f]; v != "" {
			return v
		}
	}
	if len(order) == 0 {
		if text := strings.TrimSpace(fields["result"]); text != "" {
			return text
		}
		return d.texts.done
	}
	var all []string
	for _, f := range order {
		all = append(all, strings.Join(words(f), " ")+": "+fields["result."+f])
	}
	return capital(strings.Join(all, ", ")) + "."
}

// Bounds of what is read aloud of a result.
const (
	maxFields = 8
	maxSpoken = 400 // code points
)

// readResult cuts a JSON object into "result.field" values; any other text is
// "result" alone. order holds the fields as they came.
func readResult(result string) (fields map[string]string, order []string) {
	fields = map[string]string{}
	decoder := json.NewDecoder(strings.NewReader(result))
	decoder.UseNumber()
	var whole map[string]json.RawMessage
	if json.Unmarshal([]byte(result), &whole) != nil {
		var text string
		if json.Unmarshal([]byte(result), &text) != nil {
			text = result
		}
		if text = short(text); text == "null" {
			text = ""
		}
		fields["result"] = text
		return fields, nil
	}
	_, _ = decoder.Token() // the brace
	for decoder.More() {
		key, err := decoder.Token()
		var raw json.RawMessage
		if err != nil || decoder.Decode(&raw) != nil {
			break
		}
		v := scalar(raw)
		if name, ok := key.(string); ok && v != "" {
			fields["result."+name] = v
			if name != "ok" && name != "success" && len(order) < maxFields {
				order = append(order, name)
			}
		}
	}
	return fields, order
}

// scalar is a value as it is said; nothing for null and objects.
func scalar(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] == '{' || string(raw) == "null" {
		return ""
	}
	if raw[0] == '[' {
		var list []any
		_ = json.Unmarshal(raw, &list)
		var all []string
		for _, v := range list[:min(len(list), maxFields)] {
			if _, object := v.(map[string]any); !object {
				all = append(all, fmt.Sprint(v))
			}
		}
		return short(strings.Join(all, ", "))
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return short(text)
	}
	return short(string(raw))
}

func short(text string) string {
	if r := []rune(text); len(r) > maxSpoken {
		return string(r[:maxSpoken])
	}
	return text
}
