package scripted

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"parley/inference"
)

// start begins a rule or a tool, or finishes it when nothing is missing. Values
// from the same sentence count; those from earlier ones too, since a caller who
// has said "Friday" need not say it again.
func (d *dialogue) start(g *goal, taken map[string]string) reply {
	g.values = map[string]string{}
	for slot, v := range taken {
		g.values[slot] = v
	}
	if g.tool != nil {
		g.wants = g.tool.wants()
		for _, w := range g.wants {
			if len(w.options) == 1 { // nothing to ask
				g.values[w.slot] = w.options[0]
			}
		}
	} else {
		for _, slot := range slots(g.rule.say, g.rule.args, g.rule.then) {
			g.wants = append(g.wants, want{slot: slot, kind: kindOf(slot), label: strings.Join(words(slot), " ")})
		}
	}
	return d.proceed(g)
}

// pursue takes an answer to the question that was asked. settled is false when it
// was none, and then the caller may have said something else altogether.
func (d *dialogue) pursue(heard []string, found map[string]string) (r reply, settled bool) {
	g := d.goal
	if small, covered, share := d.smallTalk(heard); covered >= 0.75 && share >= 0.6 && (small == no || small == bye || small == again || small == hold) {
		if small == no {
			d.goal = nil
		}
		return d.chat(small), true
	}
	w := g.wants[0]
	value := d.language.fill(w.kind, heard)
	if w.options != nil {
		value = option(w.options, heard)
	}
	if w.kind == kindText || w.kind == kindName && found[kindName] == "" {
		// Free text fits anything, also a question about something else.
		if _, known := d.lookUp(d.script, heard); known > 0 && len(heard) > 3 {
			value = ""
		}
	}
	if value == "" {
		if g.tries++; g.tries >= maxAsks {
			d.goal = nil
		}
		return reply{}, false
	}
	g.tries = 0
	g.values[w.slot], d.memory[w.kind] = value, value
	return d.proceed(g), true
}

// proceed asks for the next missing value, or acts when there is none.
func (d *dialogue) proceed(g *goal) reply {
	g.wants = slices.DeleteFunc(g.wants, func(w want) bool {
		if g.values[w.slot] == "" {
			g.values[w.slot] = d.remembered(w)
		}
		return g.values[w.slot] != ""
	})
	if len(g.wants) > 0 {
		if g.tool != nil && !d.free {
			return reply{say: d.texts.cannot}
		}
		d.goal = g
		return reply{say: d.question(g.wants[0])}
	}
	if d.goal == g {
		d.goal = nil
	}
	switch {
	case g.tool != nil:
		return d.callTool(g.tool.Name, g.tool.arguments(d, g.values))
	case g.rule.call != "":
		args := expandJSON(g.rule.args, g.values)
		if t := d.tool(g.rule.call); t != nil {
			d.called[t.Name] = g.values
			return d.callTool(t.Name, t.typed(args))
		}
		return reply{say: d.texts.cannot} // the rule names a tool this call does not have
	}
	return reply{say: expand(g.rule.say, g.values)}
}

// remembered is what the caller said earlier that fits a want. Free text and
// options fit one question only.
func (d *dialogue) remembered(w want) string {
	if w.kind == kindText || w.options != nil {
		return ""
	}
	return d.memory[w.kind]
}

func (d *dialogue) question(w want) string {
	if own := d.script.asks[w.slot]; own != "" {
		return own
	}
	text := d.texts.ask[w.kind]
	if text == "" || w.options != nil {
		text = d.texts.ask[kindText]
	}
	label := w.label
	if w.options != nil {
		label += " (" + strings.Join(w.options, ", ") + ")"
	}
	return strings.ReplaceAll(text, "{slot}", label)
}

// callTool calls, unless the same call is still at work.
func (d *dialogue) callTool(name, arguments string) reply {
	switch {
	case d.pending[name+arguments]:
		return reply{say: d.texts.moment}
	case !d.free:
		return reply{say: d.texts.cannot}
	}
	return reply{call: d.newCall(name, arguments)}
}

func (d *dialogue) newCall(name, arguments string) *inference.ToolCall {
	return &inference.ToolCall{ID: fmt.Sprintf("call_%d", d.calls+1), Name: name, Arguments: arguments}
}

// expand fills the slots of a text. {result} and {result.field} are values too.
func expand(text string, values map[string]string) string {
	return slotForm.ReplaceAllStringFunc(text, func(m string) string { return values[strings.ToLower(m[1:len(m)-1])] })
}

// expandJSON fills the slots of a JSON template. Inside quotes the value is
// escaped, outside it must be a number.
func expandJSON(template string, values map[string]string) string {
	if template == "" {
		return "{}"
	}
	var b strings.Builder
	inside, last := false, 0
	for _, at := range slotName.FindAllStringIndex(template, -1) {
		for _, c := range template[last:at[0]] {
			if c == '"' {
				inside = !inside // names and values of a rule hold no escaped quotes worth the trouble
			}
		}
		b.WriteString(template[last:at[0]])
		last = at[1]
		value := expand(template[at[0]:at[1]], values)
		quoted, _ := json.Marshal(value)
		if inside {
			b.Write(quoted[1 : len(quoted)-1])
		} else if _, err := strconv.ParseFloat(value, 64); err == nil {
			b.WriteString(value)
		} else {
			b.Write(quoted)
		}
	}
	b.WriteString(template[last:])
	return b.String()
}
