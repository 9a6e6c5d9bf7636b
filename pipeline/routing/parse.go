package routing

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/billing/destination"
	"parley/pipeline/schema"
)

// Parse reads rules. language brings the name of a language into the form in which it is kept, "" for what there is not; nil: as
// it stands. The error is schema.Mistakes, and then there are no rules.
func Parse(text []byte, language func(string) string) (*Rules, error) {
	wrong := append(schema.Repeated("rules", text), Schema.Read("rules", text)...)
	if len(wrong) > 0 {
		return nil, wrong
	}
	r := &Rules{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, schema.Mistakes{{Path: "rules", Problem: err.Error()}}
	}
	r.further(text, language, &wrong)
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return r, nil
}

// JSON is the document, as it is stored; nil where there is no rule.
func (r *Rules) JSON() (json.RawMessage, error) {
	text, err := json.Marshal(r)
	if err != nil || string(text) == "{}" {
		return nil, err
	}
	return text, nil
}

// days are the days of the week as the schedule names them.
var days = func() map[string]time.Weekday {
	named := map[string]time.Weekday{}
	for d := time.Sunday; d <= time.Saturday; d++ {
		named[strings.ToLower(d.String())] = d
	}
	return named
}()

// further finds what no schema can say, and brings the rules into the form in which they are kept.
func (r *Rules) further(text []byte, language func(string) string, wrong *schema.Mistakes) {
	if strings.Contains(string(text), `\u0000`) {
		wrong.Add("rules", "zero characters are not stored")
	}
	r.checkHours(wrong)
	var targets schema.Mistakes
	r.targets(func(path string, t *Target) { t.check(path, &targets) })
	slices.SortFunc(targets, func(a, b schema.Mistake) int { return strings.Compare(a.Path, b.Path) })
	*wrong = append(*wrong, targets...)
	if r.Overflow != nil {
		number(&r.Overflow.Number, "rules.overflow.number", wrong)
	}
	if r.Menu != nil {
		r.Menu.check(wrong)
	}
	if r.Closed == nil && (r.Schedule != nil || len(r.Holidays) > 0) {
		wrong.Add("rules.closed", "is missing: who takes calls outside the opening hours")
	}
	if r.Language != "" && language != nil {
		if r.Language = language(r.Language); r.Language == "" {
			wrong.Add("rules.language", "is none of the languages of agents")
		}
	}
}

func (r *Rules) checkHours(wrong *schema.Mistakes) {
	zone, err := time.LoadLocation(r.TimeZone)
	if err != nil || r.TimeZone == "Local" {
		wrong.Add("rules.time_zone", "%s is no time zone, such as Europe/Madrid", schema.Quote(r.TimeZone))
	}
	r.zone, r.hours = zone, map[time.Weekday][]destination.Hours{}
	for _, day := range slices.Sorted(maps.Keys(r.Schedule)) {
		r.hours[days[day]] = spans(r.Schedule[day], "rules.schedule."+day, wrong)
	}
	seen := map[string]bool{}
	for i := range r.Holidays {
		h, path := &r.Holidays[i], fmt.Sprintf("rules.holidays[%d]", i)
		if _, err := time.Parse(time.DateOnly, h.Date); err != nil {
			wrong.Add(path+".date", "%s is no date, such as 2026-12-25", schema.Quote(h.Date))
		} else if seen[h.Date] {
			wrong.Add(path+".date", "there are two of %s", h.Date)
		}
		seen[h.Date] = true
		h.hours = spans(h.Hours, path+".hours", wrong)
	}
}

// spans reads the spans of a day.
func spans(written []string, path string, wrong *schema.Mistakes) (hours []destination.Hours) {
	for i, text := range written {
		from, to, _ := strings.Cut(text, "-")
		h, err := destination.ParseHours(from, to)
		if err != nil {
			wrong.Add(fmt.Sprintf("%s[%d]", path, i), "%s: %s", schema.Quote(text), err)
		}
		hours = append(hours, h)
	}
	return hours
}

// check wants exactly one of a target's three.
func (t *Target) check(path string, wrong *schema.Mistakes) {
	n := 0
	for _, text := range []string{t.Agent, t.Number, t.Message} {
		if text != "" {
			n++
		}
	}
	if n != 1 {
		wrong.Add(path, "must have one of agent, number and message")
	}
	if t.Number != "" {
		number(&t.Number, path+".number", wrong)
	}
}

// number brings a telephone number into the form in which it is kept.
func number(n *string, path string, wrong *schema.Mistakes) {
	e164, err := destination.International(*n)
	switch {
	case destination.Emergency(*n):
		wrong.Add(path, "is an emergency number. %s", destination.EmergencyRefused)
	case err != nil:
		wrong.Add(path, "must be a telephone number in international format, such as +34911234567")
	default:
		*n = e164
	}
}

// check wants keys that differ.
func (m *Menu) check(wrong *schema.Mistakes) {
	if len(m.Options) == 0 {
		wrong.Add("rules.menu.options", "is empty")
	}
	seen := map[string]bool{}
	for i := range m.Options {
		key := m.Options[i].Key
		if seen[key] {
			wrong.Add(optionPath(i)+".key", "there are two of %s", schema.Quote(key))
		}
		seen[key] = true
	}
}

func optionPath(i int) string { return fmt.Sprintf("rules.menu.options[%d]", i) }
