// Package simulate has a scripted caller talk to an agent, without telephone, recogniser
// or voice and faster than time passes, and checks its outcome. The conductor is the
// server's own, and so is the model; what the caller says is recognised as it is written,
// with the delays of good engines, and functions give what the script says. The same
// script, seed and model give the same conversation.
package simulate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"parley/media"
	"parley/pipeline/schema"
)

// Script is what a caller does, and what is expected of the agent. Schema describes it.
type Script struct {
	Name         string                     `json:"name"`
	Runs         int                        `json:"runs"`
	Seed         uint64                     `json:"seed"`
	LimitSeconds int                        `json:"limit_seconds"`
	Telephone    *bool                      `json:"telephone"`
	Variables    map[string]string          `json:"variables"`
	Caller       []Step                     `json:"caller"`
	Persona      string                     `json:"persona"`
	PersonaTurns int                        `json:"persona_turns"`
	Functions    map[string]json.RawMessage `json:"functions"`
	Expect       []Check                    `json:"expect"`
	Criteria     []Criterion                `json:"criteria"`
}

// Step is one thing that the caller does.
type Step struct {
	Say     string   `json:"say"`
	Press   string   `json:"press"`
	NoiseMS int      `json:"noise_ms"`
	WaitMS  int      `json:"wait_ms"`
	HangUp  bool     `json:"hang_up"`
	AfterMS *int     `json:"after_ms"`
	OverMS  int      `json:"over_ms"`
	Expect  []string `json:"expect"`
}

// Check is an expectation of a whole conversation. One of its fields is set.
type Check struct {
	Says          string `json:"says"`
	NeverSays     string `json:"never_says"`
	Hears         string `json:"hears"`
	Calls         string `json:"calls"`
	NeverCalls    string `json:"never_calls"`
	Ended         string `json:"ended"`
	Interruptions *int   `json:"interruptions"`
	TurnMS        *int   `json:"turn_ms"`
	Seconds       *int   `json:"seconds"`
}

const (
	defaultLimit = 300 // seconds
	maxRuns      = 10_000
	maxSteps     = 500
	maxTurns     = 50 // of a persona
	phraseHelp   = "Upper and lower case do not matter; between slashes it is a regular expression."
)

// Schema is the JSON Schema of a Script.
var Schema = scriptSchema()

func scriptSchema() *schema.Schema {
	step := schema.Object("One thing that the caller does, once the agent has answered the one before it and listens.", map[string]*schema.Schema{
		"say":      schema.Text("What they say; <800> in it is a pause of so many milliseconds.", 2000),
		"press":    schema.Text("Keys they press: 0 to 9, * and #.", 64),
		"noise_ms": schema.Whole("How long there is a noise like speech without words.", 20, 60_000),
		"wait_ms":  schema.Whole("How long they do nothing.", 20, 600_000),
		"hang_up":  schema.Flag("They hang up."),
		"after_ms": schema.Whole("How long after the agent is silent; 600.", 0, 60_000),
		"over_ms":  schema.Whole("They do it while the agent speaks, so long after it has begun.", 20, 60_000),
		"expect":   schema.List("What the agent says before the next step, in any order. "+phraseHelp, 20, schema.Text("", 1000)),
	})
	step.Properties["press"].Pattern, step.Properties["press"].Form = `^[0-9*#]*$`, "must be keys of a telephone"
	check := schema.Object("One expectation of the whole conversation.", map[string]*schema.Schema{
		"says":          schema.Text("The agent says this. "+phraseHelp, 1000),
		"never_says":    schema.Text("The agent never says this.", 1000),
		"hears":         schema.Text("The caller is understood to have said this.", 1000),
		"calls":         schema.Text("The agent calls this function.", 100),
		"never_calls":   schema.Text("The agent never does.", 100),
		"ended":         schema.Text("Why the call ends, such as agent_hangup.", 40),
		"interruptions": schema.Whole("How often the caller cuts the agent off.", 0, 1000),
		"turn_ms":       schema.Whole("The longest wait for an answer, from the end of the caller's speech.", 0, 60_000),
		"seconds":       schema.Whole("The longest that the conversation takes.", 1, 7200),
	})
	criterion := schema.Object("Something that the model of the agent judges the conversation by, when it is over.", map[string]*schema.Schema{
		"name":   schema.Text("What it is called.", 100),
		"rubric": schema.Text("When it is met, in plain sentences.", maxRubric),
	}, "name", "rubric")
	s := schema.Object("A caller, and what is expected of the agent.", map[string]*schema.Schema{
		"name":          schema.Text("What it is called.", 200),
		"runs":          schema.Whole("How often, with times that vary by chance; 1, without chance.", 1, maxRuns),
		"seed":          schema.Whole("Of chance; 1. The same seed gives the same conversations.", 0, 1<<53),
		"limit_seconds": schema.Whole("When the caller hangs up at the latest; 300.", 1, 7200),
		"telephone":     schema.Flag("The call is one of the telephone, with its functions; true."),
		"variables":     {Type: "object", Description: "Values of the agent's variables.", MaxProperties: 50, Others: schema.Text("", 1000)},
		"caller":        schema.List("What the caller does.", maxSteps, step),
		"persona":       schema.Text("Who the caller is and what they want: the model plays them after the steps.", 10_000),
		"persona_turns": schema.Whole("How many lines the model has at most; 10.", 1, maxTurns),
		"functions":     {Type: "object", Description: "What functions give, by name; others give {\"ok\":true}. None is really called.", MaxProperties: 100},
		"expect":        schema.List("What is expected.", 100, check),
		"criteria":      schema.List("What a model judges by a rubric; each is a check of its own.", maxCriteria, criterion),
	})
	s.Dialect, s.Title = schema.Dialect, "Simulated caller"
	return s
}

// Parse reads a script, YAML or JSON. The error is schema.Mistakes for what can be read,
// and names each by its path.
func Parse(text []byte) (*Script, error) {
	var any any
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&any); err != nil && !errors.Is(err, io.EOF) { // what is empty lacks what it must have
		return nil, err
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document")
	}
	data, err := json.Marshal(any)
	if err != nil {
		return nil, fmt.Errorf("no JSON can be made of it: %w", err)
	}
	wrong := Schema.Read("", data)
	s := &Script{}
	if len(wrong) == 0 {
		if err := json.Unmarshal(data, s); err != nil {
			return nil, err
		}
		s.check(&wrong)
		s.checkCriteria(&wrong)
	}
	s.Runs, s.Seed = cmp.Or(s.Runs, 1), cmp.Or(s.Seed, 1)
	s.LimitSeconds, s.PersonaTurns = cmp.Or(s.LimitSeconds, defaultLimit), cmp.Or(s.PersonaTurns, 10)
	return s, wrong.Err()
}

// check says what no schema can.
func (s *Script) check(wrong *schema.Mistakes) {
	if len(s.Caller) == 0 && s.Persona == "" {
		wrong.Add("caller", "is missing: a caller does something, or has a persona")
	}
	phrase := func(path, text string) {
		if _, err := match(text); err != nil {
			wrong.Add(path, "is no regular expression: %v", err)
		}
	}
	for i, step := range s.Caller {
		path := fmt.Sprintf("caller[%d]", i)
		n := 0
		for _, set := range []bool{step.Say != "", step.Press != "", step.NoiseMS > 0, step.WaitMS > 0, step.HangUp} {
			if set {
				n++
			}
		}
		if n != 1 {
			wrong.Add(path, "must have one of say, press, noise_ms, wait_ms and hang_up")
		}
		if _, err := cut(step.Say); err != nil {
			wrong.Add(path+".say", "%v", err)
		}
		for k, text := range step.Expect {
			phrase(fmt.Sprintf("%s.expect[%d]", path, k), text)
		}
	}
	for i, c := range s.Expect {
		path := fmt.Sprintf("expect[%d]", i)
		if c.kind() == "" {
			wrong.Add(path, "must have one of says, never_says, hears, calls, never_calls, ended, interruptions, turn_ms and seconds")
		}
		phrase(path+".says", c.Says)
		phrase(path+".never_says", c.NeverSays)
		phrase(path+".hears", c.Hears)
	}
}

// checkCriteria wants criteria that have different names and something in them.
func (s *Script) checkCriteria(wrong *schema.Mistakes) {
	names := map[string]bool{}
	for i, c := range s.Criteria {
		path := fmt.Sprintf("criteria[%d]", i)
		switch {
		case strings.TrimSpace(c.Name) == "":
			wrong.Add(path+".name", "is empty")
		case names[c.Name]:
			wrong.Add(path+".name", "is that of another criterion")
		}
		names[c.Name] = true
		if strings.TrimSpace(c.Rubric) == "" {
			wrong.Add(path+".rubric", "is empty")
		}
	}
}

// match finds a phrase in a text.
func match(phrase string) (func(text string) bool, error) {
	if n := len(phrase); n > 2 && phrase[0] == '/' && phrase[n-1] == '/' {
		re, err := regexp.Compile("(?i)" + phrase[1:n-1])
		if err != nil {
			return nil, err
		}
		return re.MatchString, nil
	}
	phrase = strings.ToLower(phrase)
	return func(text string) bool { return strings.Contains(strings.ToLower(text), phrase) }, nil
}

// part is words and the pause before them.
type part struct {
	pause media.Time
	text  string
}

var pauseMark = regexp.MustCompile(`<(\d{1,5})>`)

// cut takes what is said apart at its pauses.
func cut(say string) ([]part, error) {
	var parts []part
	pause := media.Time(0)
	for say != "" {
		at := pauseMark.FindStringSubmatchIndex(say)
		text := say
		if at != nil {
			text = say[:at[0]]
		}
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, part{pause, text})
			pause = 0
		}
		if at == nil {
			break
		}
		var ms int
		if _, err := fmt.Sscan(say[at[2]:at[3]], &ms); err != nil {
			return nil, err
		}
		pause += media.Time(ms) * media.Millisecond
		say = say[at[1]:]
	}
	for _, p := range parts {
		if strings.ContainsAny(p.text, "<>") {
			return nil, fmt.Errorf("%q: a pause is a number of milliseconds between < and >", p.text)
		}
	}
	return parts, nil
}
