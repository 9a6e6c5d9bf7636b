package foreign

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/pipeline/agent"
)

var (
	// expression is what the other services put in two braces.
	expression = regexp.MustCompile(`\{\{([^{}\n]*)\}\}`)
	// reference is a variable as texts here name it.
	reference    = regexp.MustCompile(`\{\{[A-Za-z][A-Za-z0-9_.]*\}\}`)
	variableName = regexp.MustCompile(agent.VariableName)
	notInName    = regexp.MustCompile(`[^A-Za-z0-9_]+`)
	zone         = regexp.MustCompile(`[A-Z][A-Za-z]+(?:/[A-Z][A-Za-z_]+)+`) // as IANA names it
)

const (
	maxVariables = 50
	maxText      = 100_000 // bytes of a prompt
)

// text makes a text of another service one of an agent: its variables become those of the agent.
func (b *builder) text(path, text string) string {
	text = expression.ReplaceAllStringFunc(text, func(found string) string { return b.variable(path, found) })
	if strings.Contains(text, "{%") {
		b.note(path, "has Liquid tags, which stay as they are")
	}
	text = b.unbraced(path, text)
	if len(text) > maxText {
		b.note(path, "is cut: %d bytes, allowed are %d", len(text), maxText)
		text = strings.ToValidUTF8(text[:maxText], "")
		if at := strings.LastIndex(text, "{{"); at >= 0 && !strings.Contains(text[at:], "}}") {
			text = text[:at]
		}
	}
	return strings.ReplaceAll(text, "\x00", "")
}

// unbraced parts the braces of what begins like a variable and is none.
func (b *builder) unbraced(path, text string) string {
	var out strings.Builder
	for {
		at := reference.FindStringIndex(text)
		before := text
		if at != nil {
			before = text[:at[0]]
		}
		if strings.Contains(before, "{{") {
			b.note(path, "has {{ that begins no variable; the braces are parted")
			before = strings.ReplaceAll(before, "{{", "{ {")
		}
		out.WriteString(before)
		if at == nil {
			return out.String()
		}
		out.WriteString(text[at[0]:at[1]])
		text = text[at[1]:]
	}
}

// variable is what stands here for an expression of another service.
func (b *builder) variable(path, found string) string {
	inside := strings.TrimSpace(found[2 : len(found)-2])
	name, filters, _ := strings.Cut(inside, "|")
	name = strings.Trim(strings.TrimSpace(name), `"'`)
	if b.isTime(name) {
		if place := zone.FindString(inside); place != "" {
			if before, is := b.settings["timezone"]; is && before != place {
				b.note(path, "%s: all of an agent's times are in one time zone, %s", found, before)
			} else {
				b.settings["timezone"] = place
			}
		}
		return "{{now}}"
	}
	if filters != "" {
		b.note(path, "%s: filters are not applied", oneLine(found))
	}
	if here, is := b.names[name]; is {
		return "{{" + here + "}}"
	}
	return b.own(path, found, name)
}

// isTime says whether a variable of the service says what time it is.
func (b *builder) isTime(name string) bool {
	for _, clock := range b.clocks {
		if name == clock || strings.HasSuffix(clock, "_") && strings.HasPrefix(name, clock) {
			return true
		}
	}
	return false
}

// own declares a variable of the agent, and is how texts name it.
func (b *builder) own(path, found, name string) string {
	here := strings.Trim(notInName.ReplaceAllString(name, "_"), "_")
	here = here[:min(len(here), 40)]
	switch _, declared := b.variables[here]; {
	case !variableName.MatchString(here) || here == "now":
		b.note(path, "%s names no variable, and stays without its braces", oneLine(found))
		return strings.TrimSpace(found[2 : len(found)-2])
	case !declared && len(b.variables) == maxVariables:
		b.note(path, "%s stays without its braces: an agent has %d variables at most", oneLine(found), maxVariables)
		return name
	case !declared:
		b.variables[here] = ""
	}
	if here != name {
		b.note(path, "%s is {{%s}} here", oneLine(found), here)
	}
	return "{{" + here + "}}"
}

// given keeps the values of variables that the other service has.
func (b *builder) given(path string, values map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		here := strings.Trim(b.own(path, "{{"+name+"}}", name), "{}")
		if _, declared := b.variables[here]; !declared {
			continue
		}
		if utf8.RuneCountInString(value) > agent.MaxVariable {
			b.note(path+"."+name, "is cut: %d characters are allowed", agent.MaxVariable)
			value = string([]rune(value)[:agent.MaxVariable])
		}
		b.variables[here] = value
	}
}

// languages are what agents speak, by the names that other services have for them.
var languages = map[string]string{"english": "en", "spanish": "es", "catalan": "ca", "galician": "gl", "basque": "eu", "portuguese": "pt", "french": "fr", "italian": "it", "german": "de",
	"en": "en", "es": "es", "ca": "ca", "gl": "gl", "eu": "eu", "pt": "pt", "fr": "fr", "it": "it", "de": "de"}

// speak sets the language of the agent. Several, or one called multi, are the caller's.
func (b *builder) speak(path string, named ...string) {
	b.definition.Language = agent.DefaultLanguage
	var known []string
	for _, name := range named {
		short, _, _ := strings.Cut(strings.ToLower(name), "-")
		switch here := languages[short]; {
		case here != "":
			known = append(known, here)
		case short == "multi" || short == "multilingual":
			known = append(known, "", "")
		default:
			b.note(path, "%s is not spoken here", oneLine(name))
		}
	}
	switch {
	case len(known) == 0:
	case len(known) == 1:
		b.definition.Language = known[0]
	case known[0] == "":
		b.definition.Language = agent.Auto
	default:
		b.definition.Language = agent.Auto + "-" + known[0]
	}
	if len(known) > 1 {
		b.note(path, "the agent speaks its caller's language, one of the nine that there are")
	}
}

// Voices of other services by what they sound like.
var (
	male = strings.Fields(`adam adrian alex andrew anthony arnold ash ballad ben brad brandon brian burt callum charlie clyde cole dan daniel dave drew echo elliot eric
		ethan fable fin george godfrey guy harry jack jason jeremy joe john jorge joseph josh kai kyle leo liam marcus mark max mike michael mrb nico onyx patrick paul peter phillip
		rohan roger ryan sagar sam simon steve steven thomas tony verse will zac zach`)
	female = strings.Fields(`abby alice alloy amy andrea anna aria ava bella cimo clara coral dorothy elena ella elli emily emma freya gigi grace hana jane jenny jess jessica joanna
		kate kylie lauren leah lily lisa lola maria marin marissa matilda mia michelle mimi monica myra naina natasha neha nicole nova olivia paige paula rachel sage salli sara sarah
		savannah serena sofia sonia susan tara victoria zoe`)
)

// sound sets the voice: one that sounds like a man or a woman as the other does, where its name says so.
func (b *builder) sound(path, service, name string) {
	b.definition.Voice = agent.DefaultVoice
	label := oneLine(strings.TrimSpace(service + " " + name))
	if label == "" {
		return
	}
	b.voice = label
	for part := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' }) {
		part = strings.TrimSuffix(strings.TrimSuffix(part, "neural"), "multilingual")
		for voice, these := range map[string][]string{"M1": male, "F1": female} {
			for _, one := range these {
				if part == one {
					b.definition.Voice = voice
					b.note(path, "%s is not here; %s is nearest", label, voice)
					return
				}
			}
		}
	}
	b.note(path, "%s is not known here; the agent has the voice %s", label, b.definition.Voice)
}
