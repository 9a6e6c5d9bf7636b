package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parley/pipeline"
	"parley/pipeline/agent"
)

// settable are the settings of an agent that a replay may change. Others are about what
// was not kept, such as the model's words.
var settable = []string{"min_endpoint_ms", "max_endpoint_ms", "barge_in_ms", "interruptible", "first_message_interruptible",
	"key_interrupts", "idle_seconds", "idle_reprompts", "speculative_llm", "speculative_voice", "max_duration_seconds", "goodbye"}

// Settable lists the settings that a replay may change. The slice is the caller's.
func Settable() []string { return slices.Clone(settable) }

// ParseSettings reads settings given as name=value, as agents name them. The error says
// which one is wrong and what is allowed.
func ParseSettings(given []string) (agent.Settings, error) {
	members := map[string]json.RawMessage{}
	for _, g := range given {
		name, value, ok := strings.Cut(g, "=")
		if !ok || !slices.Contains(settable, name) {
			return agent.Settings{}, fmt.Errorf("%q: must be one of %s, then = and its value", g, strings.Join(settable, ", "))
		}
		if members[name] = json.RawMessage(value); !json.Valid(members[name]) {
			members[name], _ = json.Marshal(value) // a string always can
		}
	}
	data, err := json.Marshal(members)
	if err != nil {
		return agent.Settings{}, err
	}
	return agent.ParseSettings(data)
}

// With has a call replayed with other settings; those that are nil stay as they were.
func With(s agent.Settings) func(*pipeline.Config) {
	return func(c *pipeline.Config) {
		s.Retune(&c.Turn)
		c.Speculation = c.Speculation.With(&s)
		if s.MaxDurationSeconds != nil {
			c.MaxDuration = s.MaxDuration()
		}
		if s.Goodbye != nil {
			c.Agent.Goodbye = *s.Goodbye
		}
		if s.HoldAnnouncement != nil {
			c.Agent.Announcement = *s.HoldAnnouncement
		}
	}
}

// Today has a call replayed with all that an agent's settings say, and their defaults.
func Today(s agent.Settings) func(*pipeline.Config) {
	return func(c *pipeline.Config) {
		was := c.Turn
		c.Turn = s.Turn(c.Agent.Language)
		c.Turn.Recogniser, c.Turn.Batch, c.Turn.EngineTurns, c.Turn.EagerEnds = was.Recogniser, was.Batch, was.EngineTurns, was.EagerEnds // the engine's, as they were
		c.MaxDuration = s.MaxDuration()
		With(s)(c)
	}
}
