package scripted

import (
	"slices"
	"strings"

	"parley/inference"
)

// dialogue is the state of a conversation. The engine derives it from the messages of
// each request, so an interrupted, repeated or discarded request does no harm.
type dialogue struct {
	*language
	script script
	tools  []tool
	free   bool // tools may be called

	form    *form                        // the rule that waits for values; nil: none
	said    string                       // the agent's latest words
	pending map[string]bool              // tool calls without a result, by name and arguments
	called  map[string]map[string]string // by tool: the values of its latest call
	calls   int                          // tool calls so far
}

// form is a rule that waits for the values of its slots.
type form struct {
	rule   rule
	slots  []slot
	values map[string]string
	tries  int // questions for the first missing value without an answer
}

// reply is what the engine does in a turn: say something, call a tool, or both.
type reply struct {
	say    string
	call   *inference.ToolCall
	missed bool // nothing matched
}

const (
	// maxAsks is how often the engine asks for one value before it gives the rule up.
	maxAsks = 2
	// maxSaid bounds what is read of one turn, in bytes: a minute of fast speech.
	maxSaid = 2000
)

func newDialogue(r inference.Request) *dialogue {
	l := languageOf(r.Language)
	d := &dialogue{language: l, script: l.parse(r.System), free: !r.NoTools,
		pending: map[string]bool{}, called: map[string]map[string]string{}}
	for _, t := range r.Tools {
		d.tools = append(d.tools, newTool(t))
	}
	for _, m := range r.Messages {
		d.calls += len(m.ToolCalls)
	}
	return d
}

// turn answers what the caller said.
func (d *dialogue) turn(text string) reply {
	heard := tokens(text[:min(len(text), maxSaid)])
	found := d.values(heard)
	r, understood := d.continueForm(heard, found)
	if !understood {
		r, understood = d.answer(heard, found)
		if understood && d.form != nil && r.call == nil && d.form.tries > 0 {
			r.say += " " + d.question(d.form.slots[0]) // come back to what was asked
		}
	}
	switch {
	case understood:
		return r
	case d.script.fallback != "":
		return reply{say: d.script.fallback, missed: true}
	}
	return reply{say: d.lines.fallback, missed: true}
}

// answer finds what fits best: a rule, a goodbye, a tool, a sentence of the prompt, small talk.
func (d *dialogue) answer(heard []string, found map[string]string) (reply, bool) {
	if r, _ := d.bestRule(d.script.rules, heard); r != nil {
		return d.start(*r, found), true
	}
	small, covered, share := d.bestTalk(heard)
	exact := covered >= 0.9 && share >= 0.9
	switch {
	case small.name == bye && share >= 0.4:
		return d.goodbye(), true
	case small.name == human:
		if t := d.tool(transferCall); t != nil && d.free {
			return d.start(t.rule, found), true
		}
		return reply{say: small.answer}, true
	case exact:
		return d.chat(small), true
	}
	var rules []rule
	for _, t := range d.tools {
		rules = append(rules, t.rule)
	}
	sentence, known := d.lookUp(heard)
	if r, rank := d.bestRule(rules, heard); r != nil && rank > known {
		return d.start(*r, found), true
	}
	if known > 0 {
		return reply{say: sentence}, true
	}
	if small.name != "" && share >= 0.6 {
		return d.chat(small), true
	}
	return reply{}, false
}

// bestRule is the rule that fits best, and how well.
func (d *dialogue) bestRule(rules []rule, heard []string) (best *rule, most float64) {
	for i := range rules {
		for _, p := range rules[i].phrases {
			covered, used := d.overlap(p, heard)
			content := slices.ContainsFunc(p, func(w string) bool { return d.weight(w) == 1 })
			if covered < 0.7 || used < 0.2 || !content && used < 0.5 {
				continue
			}
			if rank := covered + 0.3*used + 0.01*float64(len(p)); rank > most {
				best, most = &rules[i], rank
			}
		}
	}
	return best, most
}

// bestTalk is the small talk that fits best: how much of its phrase was heard, and how
// much of what was heard it is.
func (d *dialogue) bestTalk(heard []string) (best talk, covered, share float64) {
	for _, t := range d.talk {
		for _, p := range t.phrases {
			if c, u := d.overlap(p, heard); c >= 0.75 && u >= 0.3 && c+u > covered+share {
				best, covered, share = t, c, u
			}
		}
	}
	return best, covered, share
}

// chat answers small talk.
func (d *dialogue) chat(t talk) reply {
	switch {
	case t.name == bye:
		return d.goodbye()
	case t.name == again && d.said != "":
		return reply{say: d.said}
	}
	return reply{say: t.answer}
}

// goodbye speaks the last words and ends the call where that is allowed.
func (d *dialogue) goodbye() reply {
	d.form = nil
	r := reply{say: d.lines.goodbye}
	if d.tool(endCall) != nil && d.free {
		r.call = d.newCall(endCall, "{}")
	}
	return r
}

// start begins a rule with what was said in the same sentence, and finishes it when
// nothing is missing.
func (d *dialogue) start(r rule, found map[string]string) reply {
	f := &form{rule: r, slots: d.slots(r), values: map[string]string{}}
	for _, s := range f.slots {
		if len(s.options) == 1 { // nothing to ask
			f.values[s.name] = s.options[0]
		}
	}
	return d.proceed(f, found)
}

// continueForm takes an answer to the question that was asked. It reports false when what
// was heard is none.
func (d *dialogue) continueForm(heard []string, found map[string]string) (reply, bool) {
	f := d.form
	if f == nil {
		return reply{}, false
	}
	if t, covered, share := d.bestTalk(heard); covered >= 0.75 && share >= 0.6 && slices.Contains([]string{no, bye, again}, t.name) {
		if t.name == no {
			d.form = nil
		}
		return d.chat(t), true
	}
	s := f.slots[0]
	value := d.fill(s, heard)
	if s.kind == kindText || s.kind == kindName && found[kindName] == "" {
		// Free text fits anything, also a question about something else.
		_, known := d.lookUp(heard)
		if r, _ := d.bestRule(d.script.rules, heard); r != nil || known > 0 && len(heard) > 3 {
			value = ""
		}
	}
	if value == "" {
		if f.tries++; f.tries >= maxAsks {
			d.form = nil
		}
		return reply{}, false
	}
	f.tries = 0
	f.values[s.name] = value
	if s.kind != kindNumber {
		delete(found, kindNumber) // the number in another answer counts nothing
	}
	return d.proceed(f, found), true
}

// proceed takes what was found, and asks for the next missing value, or acts when there is none.
func (d *dialogue) proceed(f *form, found map[string]string) reply {
	f.slots = slices.DeleteFunc(f.slots, func(s slot) bool {
		if f.values[s.name] == "" && s.kind != kindText && s.options == nil {
			f.values[s.name] = found[s.kind]
		}
		return f.values[s.name] != ""
	})
	if d.form == f {
		d.form = nil
	}
	t := d.tool(f.rule.call)
	switch {
	case f.rule.call != "" && (t == nil || !d.free):
		return reply{say: d.lines.cannot}
	case len(f.slots) > 0:
		d.form = f
		return reply{say: d.question(f.slots[0])}
	case f.rule.call == "":
		return reply{say: expand(f.rule.say, f.values)}
	}
	d.called[t.Name] = f.values
	arguments := t.typed(expandJSON(f.rule.args, f.values))
	if d.pending[t.Name+arguments] {
		return reply{say: d.lines.moment}
	}
	return reply{call: d.newCall(t.Name, arguments)}
}

func (d *dialogue) question(s slot) string {
	if own := d.script.asks[s.name]; own != "" {
		return own
	}
	text, label := d.lines.ask[s.kind], strings.Join(words(s.name), " ")
	if text == "" || s.options != nil {
		text = d.lines.ask[kindText]
	}
	if s.options != nil {
		label += " (" + strings.Join(s.options, ", ") + ")"
	}
	return strings.ReplaceAll(text, "{slot}", label)
}
