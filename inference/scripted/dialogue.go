package scripted

import (
	"slices"
	"strings"

	"parley/inference"
)

// dialogue is the state of a conversation. The engine keeps none of it between
// requests: it is worked out again from the messages every time, so that an
// interrupted, repeated or discarded request cannot spoil it.
type dialogue struct {
	*language
	script *script
	tools  []tool
	free   bool // tools may be called

	memory  map[string]string            // what the caller has said, by kind and by slot
	goal    *goal                        // what is being asked for
	misses  int                          // in a row
	said    string                       // the agent's latest words
	pending map[string]bool              // tool calls without a result, by name and arguments
	called  map[string]map[string]string // by tool: the values of its latest call
	calls   int                          // tool calls so far
}

// goal is a rule or tool that waits for values.
type goal struct {
	rule   rule
	tool   *tool
	values map[string]string // by slot
	wants  []want            // what is missing; the first one was asked for
	tries  int
}

// want is a value that is needed, and how to ask for it.
type want struct {
	slot, kind string
	label      string
	options    []string // the only values allowed; nil: any
}

// takesNumber: a bare number that answers another question is no number of
// anything, but a time, digits and so on.
func (w want) takesNumber() bool { return w.kind == kindNumber }

// reply is what the engine does in a turn: say something, call a tool, or both.
type reply struct {
	say  string
	call *inference.ToolCall
}

// maxAsks is how often one value is asked for before the matter is dropped.
const maxAsks = 2

// maxSaid bounds what is read of one turn, in bytes: a minute of fast speech.
const maxSaid = 2000

// turn answers what the caller said.
func (d *dialogue) turn(text string) reply {
	heard := tokens(text[:min(len(text), maxSaid)])
	found, used := d.values(heard)
	for kind, v := range found {
		if d.goal == nil || kind != kindNumber || d.goal.wants[0].takesNumber() {
			d.memory[kind] = v
		}
	}
	if d.goal != nil {
		if r, settled := d.pursue(heard, found); settled {
			d.misses = 0
			return r
		}
	}
	r, understood := d.answer(heard, found, used)
	if understood {
		d.misses = 0
	} else {
		r.say = d.miss()
	}
	if d.goal != nil && r.call == nil && understood && d.goal.tries > 0 {
		r.say += " " + d.question(d.goal.wants[0]) // come back to what was asked
	}
	return r
}

// answer finds what fits best: the prompt's own rules, a goodbye, a tool, the
// prompt's sentences, small talk.
func (d *dialogue) answer(heard []string, found map[string]string, used []bool) (reply, bool) {
	if r, taken := d.ownRule(heard, found); r != nil {
		return d.start(&goal{rule: *r}, taken), true
	}
	small, covered, share := d.smallTalk(heard)
	exact := covered >= 0.9 && share >= 0.9
	switch {
	case small == bye && share >= 0.4:
		return d.goodbye(), true
	case small == human:
		if t := d.tool("transfer", "human", "operator", "handoff"); t != nil && d.free {
			return d.start(&goal{tool: t}, nil), true
		}
		return reply{say: d.talk[human].answer}, true
	case exact && small != booking:
		return d.chat(small), true
	}
	fact, known := d.lookUp(d.script, heard)
	if t, fit := d.bestTool(heard); t != nil && fit > known {
		taken := t.takeFrom(d.language, heard, found, used)
		return d.start(&goal{tool: t}, taken), true
	}
	if small == booking && d.script.about("book") {
		return d.start(&goal{rule: rule{say: d.talk[booking].answer}}, nil), true
	}
	if known > 0 {
		return reply{say: fact}, true
	}
	if name := found[kindName]; name != "" && (small == "" || small == who) {
		return reply{say: strings.ReplaceAll(d.texts.meet, "{name}", name)}, true
	}
	least := 0.5
	if small == yes || small == no { // short words that stand in many sentences
		least = 0.6
	}
	if small != "" && small != booking && share >= least {
		return d.chat(small), true
	}
	return reply{}, false
}

// ownRule is the prompt's rule that fits best, with the slots it took.
func (d *dialogue) ownRule(heard []string, found map[string]string) (best *rule, taken map[string]string) {
	most := 0.0
	for i := range d.script.rules {
		for _, p := range d.script.rules[i].phrases {
			covered, used, slots := d.match(p, heard, found)
			content := slices.ContainsFunc(p, func(w string) bool { return d.weight(w) == 1 })
			if covered < 0.7 || used < 0.2 || !content && used < 0.5 {
				continue
			}
			if rank := covered + 0.3*used + 0.01*float64(len(p)); rank > most {
				best, taken, most = &d.script.rules[i], slots, rank
			}
		}
	}
	return best, taken
}

// smallTalk is the small talk that fits best: how much of its phrase was heard,
// and how much of what was heard it is.
func (d *dialogue) smallTalk(heard []string) (name string, covered, share float64) {
	most := 0.0
	for _, n := range []string{bye, human, booking, again, presence, hold, help, who, wellbeing, thanks, greet, yes, no} {
		for _, p := range d.phrase[n] {
			c, u := d.overlap(p, heard)
			if c >= 0.75 && u >= 0.3 && c+u > most {
				name, covered, share, most = n, c, u, c+u
			}
		}
	}
	return name, covered, share
}

// chat answers small talk.
func (d *dialogue) chat(name string) reply {
	switch name {
	case bye:
		return d.goodbye()
	case help:
		return reply{say: d.topics()}
	case again:
		if d.said == "" {
			return reply{say: d.texts.nothing}
		}
		return reply{say: d.said}
	case who:
		if len(d.script.self) > 0 {
			return reply{say: d.script.self[0] + " " + d.talk[who].answer}
		}
	}
	return reply{say: d.talk[name].answer}
}

// goodbye speaks the last words and ends the call where that is allowed.
func (d *dialogue) goodbye() reply {
	d.goal = nil
	r := reply{say: d.talk[bye].answer}
	if d.tool(endCall) != nil && d.free {
		r.call = d.newCall(endCall, "{}")
	}
	return r
}

// miss is what to say to something that was not understood; it changes with the
// number of misses, so that a caller is not told the same thing for ever.
func (d *dialogue) miss() string {
	if d.script.fallback != "" {
		return expand(d.script.fallback, d.memory)
	}
	text := d.texts.fallback[min(d.misses, len(d.texts.fallback)-1)]
	d.misses++
	if strings.Contains(text, "{topics}") {
		text = strings.TrimSpace(strings.ReplaceAll(text, "{topics}", d.topics()))
	}
	return text
}

// topics names what the prompt can answer, or offers help when that is nothing.
func (d *dialogue) topics() string {
	var names []string
	for _, idea := range ideas {
		if d.labels[idea] != "" && d.script.about(idea) {
			names = append(names, d.labels[idea])
		}
	}
	if len(names) == 0 {
		return d.talk[greet].answer
	}
	list := names[len(names)-1]
	if n := len(names); n > 1 {
		list = strings.Join(names[:n-1], ", ") + " " + d.texts.and + " " + list
	}
	return strings.ReplaceAll(d.texts.topics, "{topics}", list)
}

// about says whether the prompt speaks of an idea.
func (s *script) about(idea string) bool {
	return slices.ContainsFunc(s.facts, func(f fact) bool { return f.ideas[idea] })
}
