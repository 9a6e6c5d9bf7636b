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

	memory  map[string]string            // what the caller has said, by kind
	form    *form                        // the rule that waits for values; nil: none
	misses  int                          // turns in a row that were not understood
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
	say  string
	call *inference.ToolCall
}

const (
	// maxAsks is how often the engine asks for one value before it gives the rule up.
	maxAsks = 2
	// maxSaid bounds what is read of one turn, in bytes: a minute of fast speech.
	maxSaid = 2000
)

func newDialogue(r inference.Request) *dialogue {
	l := languageOf(r.Language)
	d := &dialogue{language: l, script: l.parse(r.System), free: !r.NoTools, memory: map[string]string{},
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
	for kind, v := range found {
		if d.form == nil || kind != kindNumber || d.form.slots[0].kind == kindNumber {
			d.memory[kind] = v // the number in another answer counts nothing
		}
	}
	r, understood := d.continueForm(heard, found)
	if !understood {
		r, understood = d.answer(heard, found)
		if understood && d.form != nil && r.call == nil && d.form.tries > 0 {
			r.say += " " + d.question(d.form.slots[0]) // come back to what was asked
		}
	}
	if understood {
		d.misses = 0
		return r
	}
	if d.script.fallback != "" {
		return reply{say: expand(d.script.fallback, d.memory)}
	}
	say := d.lines.fallback[min(d.misses, len(d.lines.fallback)-1)]
	d.misses++
	return reply{say: say}
}

// answer finds what fits best: a rule, a goodbye, a tool, a sentence of the prompt, small talk.
func (d *dialogue) answer(heard []string, found map[string]string) (reply, bool) {
	if r, taken, _ := d.bestRule(d.script.rules, heard, found); r != nil {
		return d.start(*r, taken), true
	}
	small, covered, share := d.bestTalk(heard)
	exact := covered >= 0.9 && share >= 0.9
	switch {
	case small.name == bye && share >= 0.4:
		return d.goodbye(), true
	case small.name == human:
		if t := d.tool(transferCall); t != nil && d.free {
			return d.start(t.rule, nil), true
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
	if r, taken, rank := d.bestRule(rules, heard, found); r != nil && rank > known {
		return d.start(*r, taken), true
	}
	if known > 0 {
		return reply{say: sentence}, true
	}
	if name := found[kindName]; name != "" && (small.name == "" || small.name == who) {
		return reply{say: strings.ReplaceAll(d.lines.meet, "{name}", name)}, true
	}
	least := 0.5
	if small.name == yes || small.name == no { // short words that stand in many sentences
		least = 0.6
	}
	if small.name != "" && share >= least {
		return d.chat(small), true
	}
	return reply{}, false
}

// bestRule is the rule that fits best, with the slots it took from what was heard.
func (d *dialogue) bestRule(rules []rule, heard []string, found map[string]string) (best *rule, taken map[string]string, most float64) {
	for i := range rules {
		for _, p := range rules[i].phrases {
			covered, used, slots := d.match(p, heard, found)
			content := slices.ContainsFunc(p, func(w string) bool { return d.weight(w) == 1 })
			if covered < 0.7 || used < 0.2 || !content && used < 0.5 {
				continue
			}
			if rank := covered + 0.3*used + 0.01*float64(len(p)); rank > most {
				best, taken, most = &rules[i], slots, rank
			}
		}
	}
	return best, taken, most
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

// start begins a rule with the values of the same sentence, and finishes it when nothing
// is missing.
func (d *dialogue) start(r rule, taken map[string]string) reply {
	f := &form{rule: r, slots: d.slots(r), values: map[string]string{}}
	for _, s := range f.slots {
		f.values[s.name] = taken[s.name]
		if len(s.options) == 1 { // nothing to ask
			f.values[s.name] = s.options[0]
		}
	}
	return d.proceed(f)
}

// continueForm takes an answer to the question that was asked. It reports false when what
// was heard is none.
func (d *dialogue) continueForm(heard []string, found map[string]string) (reply, bool) {
	f := d.form
	if f == nil {
		return reply{}, false
	}
	if t, covered, share := d.bestTalk(heard); covered >= 0.75 && share >= 0.6 && slices.Contains([]string{no, bye, again, hold}, t.name) {
		if t.name == no {
			d.form = nil
		}
		return d.chat(t), true
	}
	s := f.slots[0]
	value := d.fill(s, heard)
	if s.kind == kindText || s.kind == kindName && found[kindName] == "" {
		// Free text fits anything, also a question about something else.
		if _, known := d.lookUp(heard); known > 0 && len(heard) > 3 {
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
	f.values[s.name], d.memory[s.kind] = value, value
	return d.proceed(f), true
}

// proceed asks for the next missing value, or acts when there is none. Values from earlier
// turns count: who has said "Friday" need not say it again.
func (d *dialogue) proceed(f *form) reply {
	f.slots = slices.DeleteFunc(f.slots, func(s slot) bool {
		if f.values[s.name] == "" && s.kind != kindText && s.options == nil {
			f.values[s.name] = d.memory[s.kind]
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
