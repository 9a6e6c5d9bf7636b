package realtimetest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// manner is how a session, or one response, answers.
type manner struct {
	instructions string
	modalities   []string
	format       format
	voice        string
	speed        float64
	tools        []tool
	choice       json.RawMessage
	most         int // tokens of output; 0: any number
	truncation   json.RawMessage
	tracing      json.RawMessage
}

// tool is a function that the model may call.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

var (
	voices = strings.Fields("alloy ash ballad coral echo sage shimmer verse marin cedar")
	named  = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// maxOutput is the largest number of tokens that a response can be given as its limit.
const maxOutput = 4096

func newManner() manner {
	return manner{instructions: "You are a helpful AI.", modalities: []string{"audio"}, format: format{"audio/pcm", 24000}, voice: "marin", speed: 1,
		tools: []tool{}, choice: json.RawMessage(`"auto"`), truncation: json.RawMessage(`"auto"`)}
}

// mannerUpdate is what sessions and responses can change. A part that is missing stays as it is.
type mannerUpdate struct {
	Instructions *string         `json:"instructions"`
	Modalities   []string        `json:"output_modalities"`
	Tools        []tool          `json:"tools"`
	Choice       json.RawMessage `json:"tool_choice"`
	Most         json.RawMessage `json:"max_output_tokens"`
}

// outputUpdate is how audio.output can change.
type outputUpdate struct {
	Format *format  `json:"format"`
	Voice  string   `json:"voice"`
	Speed  *float64 `json:"speed"`
}

// apply is the manner after an update. spoke says that the voice was heard.
func (m manner) apply(u mannerUpdate, o outputUpdate, spoke bool) (manner, error) {
	if u.Instructions != nil {
		m.instructions = *u.Instructions
	}
	if u.Modalities != nil {
		m.modalities = u.Modalities
	}
	if u.Tools != nil {
		m.tools = u.Tools
	}
	if len(u.Choice) > 0 {
		m.choice = u.Choice
	}
	if o.Speed != nil {
		m.speed = *o.Speed
	}
	if o.Format != nil {
		if err := o.Format.check("audio.output.format"); err != nil {
			return m, err
		}
		m.format = o.Format.full()
	}
	if o.Voice != "" && o.Voice != m.voice {
		if err := oneOf("audio.output.voice", o.Voice, voices); err != nil {
			return m, err
		}
		if spoke {
			return m, trouble{Code: "cannot_update_voice", Message: "Cannot update a conversation's voice if assistant audio is present."}
		}
		m.voice = o.Voice
	}
	if text := string(u.Most); text == `"inf"` {
		m.most = 0
	} else if text != "" {
		if err := json.Unmarshal(u.Most, &m.most); err != nil || m.most < 1 || m.most > maxOutput {
			return m, invalid("max_output_tokens", "Invalid value: %s is neither 1-%d nor 'inf'.", text, maxOutput)
		}
	}
	return m, m.check()
}

func (m *manner) check() error {
	if m.speed < .25 || m.speed > 1.5 {
		return invalid("audio.output.speed", "Invalid value: %v is not in 0.25-1.5.", m.speed)
	}
	if len(m.modalities) != 1 || m.modalities[0] != "audio" && m.modalities[0] != "text" {
		return invalid("output_modalities", "Invalid modalities: %q. Supported combinations are: ['text'] and ['audio'].", m.modalities)
	}
	var names []string
	for i, t := range m.tools {
		var schema struct{ Type string }
		switch {
		case t.Type != "function":
			return invalid(fmt.Sprintf("tools[%d].type", i), "Invalid value: '%s'. The fake has functions alone.", t.Type)
		case !named.MatchString(t.Name) || slices.Contains(names, t.Name):
			return invalid(fmt.Sprintf("tools[%d].name", i), "Invalid value: '%s' is no name of its own.", t.Name)
		case len(t.Parameters) > 0 && (json.Unmarshal(t.Parameters, &schema) != nil || schema.Type != "object"):
			return trouble{Code: "invalid_function_parameters", Message: fmt.Sprintf("Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"'.", t.Name),
				Param: fmt.Sprintf("session.tools[%d].parameters", i)}
		}
		names = append(names, t.Name)
	}
	var function struct{ Type, Name string }
	simple := []string{`"auto"`, `"none"`, `"required"`}
	if !slices.Contains(simple, string(m.choice)) && (json.Unmarshal(m.choice, &function) != nil || function.Type != "function" || !slices.Contains(names, function.Name)) {
		return invalid("tool_choice", "Invalid value: %s.", m.choice)
	}
	return nil
}

// keep keeps what has no effect here, after a check.
func (m *manner) keep(truncation, tracing json.RawMessage) error {
	var ratio struct {
		Type  string
		Ratio float64 `json:"retention_ratio"`
	}
	if text := string(truncation); text != "" && text != `"auto"` && text != `"disabled"` &&
		(json.Unmarshal(truncation, &ratio) != nil || ratio.Type != "retention_ratio" || ratio.Ratio < 0 || ratio.Ratio > 1) {
		return invalid("truncation", "Invalid value: %s.", text)
	}
	if len(truncation) > 0 {
		m.truncation = truncation
	}
	if len(tracing) > 0 {
		m.tracing = tracing
	}
	return nil
}

// limit is the largest number of tokens as the server writes it.
func (m *manner) limit() any {
	if m.most == 0 {
		return "inf"
	}
	return m.most
}

// toolNames are those of the functions.
func (m *manner) toolNames() (names []string) {
	for _, t := range m.tools {
		names = append(names, t.Name)
	}
	return names
}

// speaks says whether answers are audio.
func (m *manner) speaks() bool { return m.modalities[0] == "audio" }
