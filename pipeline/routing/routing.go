// Package routing decides where a call to a number goes, by the rules that the number's owner has written: opening hours and
// holidays, a menu of keys, and what happens when a call cannot be taken.
//
// Rules is the document, Schema describes it, and Parse reads it. Decide is a pure function: the same rules, time and circumstances
// give the same decision, which says why, step by step. Who carries a decision out is another package's business.
package routing

import (
	"cmp"
	"time"

	"parley/billing/destination"
)

// Rules are the rules of a number. Parse makes them; they do not change.
type Rules struct {
	TimeZone string              `json:"time_zone,omitempty"` // of hours and dates; empty: UTC
	Schedule map[string][]string `json:"schedule,omitzero"`   // hours by day of the week, as 09:00-14:00; nil: always open
	Holidays []Holiday           `json:"holidays,omitempty"`
	Open     *Target             `json:"open,omitempty"`   // nil: the number's own agent
	Closed   *Target             `json:"closed,omitempty"` // set where there is a schedule or a holiday
	Menu     *Menu               `json:"menu,omitempty"`   // asked before Open, and in its place
	Overflow *Overflow           `json:"overflow,omitempty"`
	Language string              `json:"language,omitempty"` // of the agents in calls of this number; empty: their own
	// FirstMessage is what agents say first in calls of this number; empty: their own.
	FirstMessage string `json:"first_message,omitempty"`

	zone  *time.Location
	hours map[time.Weekday][]destination.Hours
}

// Holiday is a day with hours of its own.
type Holiday struct {
	Date  string   `json:"date"` // as 2026-12-25
	Name  string   `json:"name,omitempty"`
	Hours []string `json:"hours,omitempty"` // in place of the week's; none: closed

	hours []destination.Hours
}

// Target is where a call goes: one of the three. The zero Target is the number's own agent.
type Target struct {
	Agent   string `json:"agent,omitempty"`   // an agent of the account
	Number  string `json:"number,omitempty"`  // a telephone number that the call is forwarded to, in E.164
	Message string `json:"message,omitempty"` // said to the caller before the call ends
}

// Overflow is where calls go that cannot be taken.
type Overflow struct {
	Number string `json:"number"` // in E.164
}

// Menu is what the caller is asked before anybody answers.
type Menu struct {
	Prompt    string   `json:"prompt"`
	Options   []Option `json:"options"`
	Timeout   int      `json:"timeout_seconds,omitempty"` // after the prompt, for a key; 0: 5
	Repeats   *int     `json:"repeats,omitempty"`         // how often it is asked again; nil: once
	Otherwise *Target  `json:"otherwise,omitempty"`       // without a key that counts; nil: as Open
}

// Option is what a key leads to.
type Option struct {
	Key  string `json:"key"` // 0 to 9, * or #
	Name string `json:"name,omitempty"`
	Target
}

// Zone is where the hours are those of the clock.
func (r *Rules) Zone() *time.Location {
	if r.zone == nil {
		return time.UTC
	}
	return r.zone
}

// Moment reads a time as people write it: as RFC 3339 has it, or without an offset in the zone of the rules.
func (r *Rules) Moment(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if err != nil {
			at, err = time.ParseInLocation(layout, text, r.Zone())
		}
	}
	return at, err
}

// Defaults of a menu.
const (
	defaultTimeout = 5 // seconds
	defaultRepeats = 1
)

// Patience is how long a key may take after the prompt.
func (m *Menu) Patience() time.Duration {
	return time.Duration(cmp.Or(m.Timeout, defaultTimeout)) * time.Second
}

// Tries is how often the prompt is said, at least once.
func (m *Menu) Tries() int {
	if m.Repeats != nil {
		return 1 + *m.Repeats
	}
	return 1 + defaultRepeats
}

// Option is the one of a key; nil: there is none.
func (m *Menu) Option(key string) *Option {
	for i := range m.Options {
		if m.Options[i].Key == key {
			return &m.Options[i]
		}
	}
	return nil
}

// targets are all of the rules, with their paths.
func (r *Rules) targets(each func(path string, t *Target)) {
	for path, t := range map[string]*Target{"rules.open": r.Open, "rules.closed": r.Closed} {
		if t != nil {
			each(path, t)
		}
	}
	if r.Menu == nil {
		return
	}
	if t := r.Menu.Otherwise; t != nil {
		each("rules.menu.otherwise", t)
	}
	for i := range r.Menu.Options {
		each(optionPath(i), &r.Menu.Options[i].Target)
	}
}

// Agents are the agents that the rules name, by the path of each.
func (r *Rules) Agents() map[string]string {
	named := map[string]string{}
	r.targets(func(path string, t *Target) {
		if t.Agent != "" {
			named[path+".agent"] = t.Agent
		}
	})
	return named
}
