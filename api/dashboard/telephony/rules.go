package telephony

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"parley/api/dashboard/page"
	"parley/api/wire"
)

// daysOfWeek are the days as rules name them.
var daysOfWeek = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// Where calls go outside the hours, beside agents.
const (
	closedNumber  = "number"
	closedMessage = "message"
)

// rulesFields are the members of rules that the form has; it leaves the others as they are.
type rulesFields struct {
	TimeZone string              `json:"time_zone,omitempty"`
	Schedule map[string][]string `json:"schedule,omitzero"`
	Holidays []holidayFields     `json:"holidays,omitempty"`
	Closed   map[string]string   `json:"closed,omitempty"`
	Overflow map[string]string   `json:"overflow,omitempty"`
}

type holidayFields struct {
	Date  string   `json:"date"`
	Name  string   `json:"name,omitempty"`
	Hours []string `json:"hours,omitempty"`
}

// rulesView is the page of where calls to a number go.
type rulesView struct {
	wire.Number
	Form   *page.Form // of the hours
	Whole  *page.Form // the document
	Pace   *page.Form
	Trial  *page.Form
	Routed *wire.Routed // what came out of a trial; nil: none was made

	agents []page.Option
	rules  json.RawMessage
}

// Days are the fields of the week.
func (v *rulesView) Days() (fields []page.Field) {
	for _, day := range daysOfWeek {
		fields = append(fields, v.Form.Field(day, strings.ToUpper(day[:1])+day[1:], "width=short", "placeholder=closed"))
	}
	return fields
}

// Closed is the choice of who takes calls outside the hours.
func (v *rulesView) Closed() page.Field {
	choices := append([]page.Option{{Value: closedMessage, Label: "Nobody: say the message below"}, {Value: closedNumber, Label: "Forward to the number below"}}, v.agents...)
	return v.Form.Select("closed", "Who takes calls outside the hours", "", choices, "width=medium")
}

// Out is the choice of what a trial finds exhausted.
func (v *rulesView) Out() page.Field {
	return v.Trial.Select("out", "What is exhausted", "", []page.Option{{Value: "", Label: "Nothing"}, {Value: "lines", Label: "All lines are busy"},
		{Value: "balance", Label: "The balance is too low"}, {Value: "agent", Label: "The agent cannot be reached"}}, "width=short")
}

// rulesAt is the address of the page of a number's rules.
func rulesAt(id string) string { return page.Path(numbersAt+"/", id, "/rules") }

func newRulesView(q *page.Request) (*rulesView, error) {
	n, err := newReleaseView(q, nil)
	if err != nil {
		return nil, err
	}
	v := &rulesView{Number: n.Number, Trial: &page.Form{}}
	rules, err := page.Read[wire.NumberRules](q, page.Path("/callcenter/numbers/", v.ID, "/rules"))
	if err != nil {
		return nil, err
	}
	v.rules = rules.RawMessage
	document, err := wire.YAML(v.rules)
	if err != nil {
		return nil, err
	}
	var fields rulesFields
	if err := json.Unmarshal(v.rules, &fields); err != nil {
		return nil, err
	}
	v.Whole, v.Form, v.Pace = page.NewForm("document", document), filledRules(&fields), &page.Form{}
	if v.CallsPerHour != nil {
		v.Pace = page.NewForm("calls_per_hour", strconv.Itoa(*v.CallsPerHour))
	}
	v.agents, err = agentOptions(q)
	return v, err
}

// filledRules is the form as rules have it.
func filledRules(r *rulesFields) *page.Form {
	f := page.NewForm("time_zone", r.TimeZone, "overflow", r.Overflow["number"], "number", r.Closed["number"], "message", r.Closed["message"], "closed", r.Closed["agent"])
	switch {
	case r.Closed["number"] != "":
		f.Values.Set("closed", closedNumber)
	case r.Closed["agent"] == "":
		f.Values.Set("closed", closedMessage)
	}
	for _, day := range daysOfWeek {
		f.Values.Set(day, strings.Join(r.Schedule[day], ", "))
	}
	if r.Schedule != nil {
		f.Values.Set("scheduled", "on")
	}
	var lines []string
	for _, h := range r.Holidays {
		lines = append(lines, strings.Join(strings.Fields(h.Date+" "+strings.Join(h.Hours, ", ")+" "+h.Name), " "))
	}
	f.Values.Set("holidays", strings.Join(lines, "\n"))
	return f
}

// enteredRules are the members that the form has. What is no hour is noted in the form.
func enteredRules(f *page.Form) (r rulesFields) {
	r.TimeZone = f.Value("time_zone")
	if f.Value("scheduled") != "" {
		r.Schedule = map[string][]string{}
		for _, day := range daysOfWeek {
			spans, rest := spansOf(f.Value(day))
			if rest != "" && rest != "closed" {
				f.Fail(day, "Write hours as 09:00-14:00, 16:00-20:00.")
			}
			if len(spans) > 0 {
				r.Schedule[day] = spans
			}
		}
	}
	for line := range strings.Lines(f.Value("holidays")) {
		date, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if date != "" {
			hours, name := spansOf(rest)
			name = strings.TrimSpace(strings.TrimPrefix(name, "closed"))
			r.Holidays = append(r.Holidays, holidayFields{Date: date, Name: name, Hours: hours})
		}
	}
	if r.Schedule != nil || r.Holidays != nil {
		switch to := f.Value("closed"); to {
		case closedNumber, closedMessage:
			r.Closed = map[string]string{to: f.Value(to)}
		default:
			r.Closed = map[string]string{"agent": to}
		}
	}
	if n := f.Value("overflow"); n != "" {
		r.Overflow = map[string]string{"number": n}
	}
	return r
}

// spansOf reads hours as people write them, 09:00-14:00, 16:00-20:00, up to what is none.
func spansOf(text string) (spans []string, rest string) {
	words := strings.Fields(strings.NewReplacer(",", " ", "–", "-").Replace(text))
	for len(words) > 0 && words[0][0] >= '0' && words[0][0] <= '9' && strings.Contains(words[0], ":") {
		spans, words = append(spans, words[0]), words[1:]
	}
	return spans, strings.Join(words, " ")
}

func rulesPage(q *page.Request) error {
	v, err := newRulesView(q)
	if err != nil {
		return err
	}
	if asked := q.R.URL.Query(); asked.Has("at") {
		v.Trial.Values = asked
		routed := new(wire.Routed)
		trial := wire.RoutingTrial{At: v.Trial.Value("at"), Out: v.Trial.Value("out"), Keys: v.Trial.Value("keys")}
		again := func() error { return q.Invalid("number-rules", "rules-trial", "Opening hours", v) }
		if done, err := q.Submit(v.Trial, http.MethodPost, page.Path("/callcenter/numbers/", v.ID, "/try"), trial, routed, again); !done {
			return err
		}
		v.Routed = routed
	}
	return q.Page("number-rules", "Opening hours of "+v.PhoneNumber, v)
}

// saveRules sets the members that the form has, or with a document all of them.
func saveRules(q *page.Request, f *page.Form) error {
	v, err := newRulesView(q)
	if err != nil {
		return err
	}
	var rules any
	part := "rules-form"
	if f.Values.Has("document") {
		v.Whole, part = f, "rules-document"
		if rules, err = wire.FromYAML(f.Values.Get("document")); err != nil {
			f.Fail("document", page.Sentence(err.Error()))
		}
	} else {
		v.Form = f
		if rules, err = mergedRules(v.rules, enteredRules(f)); err != nil {
			return err
		}
	}
	again := func() error { return q.Invalid("number-rules", part, "Opening hours of "+v.PhoneNumber, v) }
	if done, err := q.Submit(f, http.MethodPut, page.Path("/callcenter/numbers/", v.ID, "/rules"), rules, nil, again); !done {
		return err
	}
	return q.Done(rulesAt(v.ID), "Calls to "+v.PhoneNumber+" go by these rules from now on.")
}

// paceNumber sets how many calls go out from a number in an hour.
func paceNumber(q *page.Request, f *page.Form) error {
	v, err := newRulesView(q)
	if err != nil {
		return err
	}
	v.Pace = f
	calls, err := strconv.Atoi(cmp.Or(f.Value("calls_per_hour"), "0"))
	if err != nil {
		f.Fail("calls_per_hour", "Write a number of calls, or nothing.")
	}
	again := func() error { return q.Invalid("number-rules", "number-pace", "Opening hours of "+v.PhoneNumber, v) }
	if done, err := q.Submit(f, http.MethodPost, page.Path("/callcenter/numbers/", v.ID, "/assign"), map[string]int{"calls_per_hour": calls}, nil, again); !done {
		return err
	}
	if calls == 0 {
		return q.Done(rulesAt(v.ID), "As many calls as you like go out from "+v.PhoneNumber+".")
	}
	return q.Done(rulesAt(v.ID), fmt.Sprintf("At most %d calls an hour go out from %s from now on.", calls, v.PhoneNumber))
}

// mergedRules are rules with the members of a form in place of theirs.
func mergedRules(rules json.RawMessage, r rulesFields) (map[string]json.RawMessage, error) {
	var whole, fields map[string]json.RawMessage
	text, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err == nil {
		err = json.Unmarshal(rules, &whole)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"time_zone", "schedule", "holidays", "closed", "overflow"} {
		if delete(whole, name); fields[name] != nil {
			whole[name] = fields[name]
		}
	}
	return whole, nil
}
