package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/media"
	"parley/pipeline/turn"
)

// Settings are what an agent may change of a conversation's behaviour. A nil
// field keeps the default.
type Settings struct {
	// Timings of turn-taking, in milliseconds.
	MinEndpointMS *int `json:"min_endpoint_ms,omitempty"` // 100 to 2000; 200
	MaxEndpointMS *int `json:"max_endpoint_ms,omitempty"` // 300 to 6000; 2400
	BargeInMS     *int `json:"barge_in_ms,omitempty"`     // 200 to 3000; 600
	// Interruptible is "always" or "never".
	Interruptible *string `json:"interruptible,omitempty"`

	IdleSeconds   *int `json:"idle_seconds,omitempty"`   // 0 (never) to 600; 10
	IdleReprompts *int `json:"idle_reprompts,omitempty"` // 0 to 10; 2

	MaxDurationSeconds *int `json:"max_duration_seconds,omitempty"` // 10 to 7200; 7200
	// RingMS is how long an incoming telephone call rings before it is answered.
	RingMS *int `json:"ring_ms,omitempty"` // 0 to 30000; 1000

	// Goodbye is what the agent says when a limit ends the call.
	Goodbye *string `json:"goodbye,omitempty"`
	// Phrases are texts that callers are expected to say.
	Phrases []string `json:"phrases,omitempty"`

	// SpeculativeLLM begins replies in the caller's pauses. It is stored; replies
	// are not begun before the turn is over yet.
	SpeculativeLLM *bool `json:"speculative_llm,omitempty"`
}

// Bounds of a conversation that no agent sets.
const (
	DefaultMaxDuration = 2 * time.Hour
	DefaultRing        = time.Second
	maxPhrases         = 2000
	verdictAfter       = 100 * media.Millisecond
)

// ParseSettings reads an agent's settings. The error is one sentence that names
// the key and what it allows.
func ParseSettings(data []byte) (Settings, error) {
	var s Settings
	if len(bytes.TrimSpace(data)) == 0 {
		return s, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("settings: %w", err)
	}
	if d.InputOffset() < int64(len(bytes.TrimRight(data, " \t\r\n"))) {
		return s, errors.New("settings: more than one JSON value")
	}
	for _, r := range []struct {
		name   string
		value  *int
		lo, hi int
	}{
		{"min_endpoint_ms", s.MinEndpointMS, 100, 2000}, {"max_endpoint_ms", s.MaxEndpointMS, 300, 6000},
		{"barge_in_ms", s.BargeInMS, 200, 3000}, {"idle_seconds", s.IdleSeconds, 0, 600}, {"idle_reprompts", s.IdleReprompts, 0, 10},
		{"max_duration_seconds", s.MaxDurationSeconds, 10, 7200}, {"ring_ms", s.RingMS, 0, 30000},
	} {
		if r.value != nil && (*r.value < r.lo || *r.value > r.hi) {
			return s, fmt.Errorf("settings: %s is %d, allowed are %d to %d", r.name, *r.value, r.lo, r.hi)
		}
	}
	if i := s.Interruptible; i != nil && *i != "always" && *i != "never" {
		return s, fmt.Errorf("settings: interruptible is %q, allowed are always and never", *i)
	}
	if len(s.Phrases) > maxPhrases {
		return s, fmt.Errorf("settings: phrases has %d entries, allowed are %d", len(s.Phrases), maxPhrases)
	}
	return s, nil
}

// Turn is the turn-taking that the settings ask for in a language.
func (s *Settings) Turn(language string) turn.Config {
	c := turn.DefaultConfig(language)
	set := func(to *media.Time, from *int, unit media.Time) {
		if from != nil {
			*to = media.Time(*from) * unit
		}
	}
	set(&c.MinDelay, s.MinEndpointMS, media.Millisecond)
	set(&c.MaxDelay, s.MaxEndpointMS, media.Millisecond)
	c.MaxDelay = max(c.MaxDelay, c.MinDelay)
	set(&c.OverlapMax, s.BargeInMS, media.Millisecond)
	c.Verdict = max(c.Verdict, c.OverlapMax+verdictAfter) // or nobody could speak for so long
	set(&c.Idle, s.IdleSeconds, media.Second)
	if s.IdleReprompts != nil {
		c.Reprompts = *s.IdleReprompts
	}
	if s.Interruptible != nil && *s.Interruptible == "never" {
		c.Barge = turn.Never
	}
	return c
}

// MaxDuration is the longest the agent's calls may be.
func (s *Settings) MaxDuration() time.Duration {
	if s.MaxDurationSeconds == nil {
		return DefaultMaxDuration
	}
	return time.Duration(*s.MaxDurationSeconds) * time.Second
}

// Ring is how long a call to the agent rings.
func (s *Settings) Ring() time.Duration {
	if s.RingMS == nil {
		return DefaultRing
	}
	return time.Duration(*s.RingMS) * time.Millisecond
}
