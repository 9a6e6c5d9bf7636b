package routing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/billing/destination"
)

// Action is what is done with a call.
type Action string

// Actions.
const (
	ToAgent  Action = "agent"    // an agent answers: Target.Agent, empty for the number's own
	ToNumber Action = "forward"  // Target.Number is called, and connected when it answers
	Say      Action = "message"  // Target.Message is said, and the call ends
	Ask      Action = "menu"     // the menu is asked, whose keys were not given
	Redirect Action = "redirect" // the caller's side is asked to call Target.Number; it is not taken here
	Refuse   Action = "refuse"
)

// Out is what a call finds exhausted.
type Out string

// What may be out. The zero Out is nothing.
const (
	Lines   Out = "lines"   // the account has as many calls as it may have at once
	Balance Out = "balance" // the account cannot pay for the call
	NoAgent Out = "agent"   // the agent that would answer cannot be reached
)

// Circumstances are what a decision depends on besides the rules.
type Circumstances struct {
	At   time.Time
	Out  Out
	Keys string // that the caller presses in the menu, one each time it is asked; empty: not known
}

// Decision is where a call goes. It has one Action, and Why has at least one sentence.
type Decision struct {
	Action Action
	Target Target
	Open   bool
	Why    []string // in the order in which it was found
}

// Decide decides about a call.
func (r *Rules) Decide(c Circumstances) Decision {
	var d Decision
	d.Open = r.open(c.At, &d)
	switch {
	case c.Out != "":
		r.overflows(c.Out, &d)
	case !d.Open:
		d.goes(r.Closed, "Outside the opening hours")
	case r.Menu != nil && c.Keys == "":
		d.Action = Ask
		d.say("The caller is asked by the menu.")
	case r.Menu != nil:
		d.pressed(r, c.Keys)
	default:
		d.goes(r.Open, "The call")
	}
	return d
}

// Pressed is where a call goes whose caller has pressed keys in the menu, one each time it was asked; any other sign is no key.
func (r *Rules) Pressed(keys string) Decision {
	d := Decision{Open: true}
	d.pressed(r, keys)
	return d
}

func (d *Decision) pressed(r *Rules, keys string) {
	for i, key := range keys {
		if i >= r.Menu.Tries() {
			break
		}
		if o := r.Menu.Option(string(key)); o != nil {
			d.say("Key %s of the menu: %s.", o.Key, cmp.Or(o.Name, "no name"))
			d.goes(&o.Target, "The call")
			return
		}
		d.say("Key %q is none of the menu's.", key)
	}
	d.say("No key of the menu was pressed.")
	d.goes(cmp.Or(r.Menu.Otherwise, r.Open), "The call")
}

// goes settles where a call goes.
func (d *Decision) goes(t *Target, what string) {
	if t != nil {
		d.Target = *t
	}
	switch {
	case d.Target.Number != "":
		d.Action = ToNumber
		d.say("%s is forwarded to %s.", what, d.Target.Number)
	case d.Target.Message != "":
		d.Action = Say
		d.say("%s gets a message, and ends.", what)
	case d.Target.Agent != "":
		d.Action = ToAgent
		d.say("%s goes to the agent %s.", what, d.Target.Agent)
	default:
		d.Action = ToAgent
		d.say("%s goes to the number's own agent.", what)
	}
}

// overflows settles what is done with a call that cannot be taken. Only calls in the opening hours overflow: nobody expects
// others.
func (r *Rules) overflows(out Out, d *Decision) {
	switch out {
	case Lines:
		d.say("All lines of the account are busy.")
	case Balance:
		d.say("The account cannot pay for the call.")
	default:
		d.say("The agent cannot be reached.")
	}
	switch {
	case r.Overflow == nil:
		d.Action = Refuse
		d.say("There is no overflow: the call is refused.")
	case !d.Open:
		d.Action = Refuse
		d.say("Outside the opening hours there is no overflow: the call is refused.")
	case out != Lines && out != Balance:
		d.goes(&Target{Number: r.Overflow.Number}, "The call")
	default:
		d.Action, d.Target = Redirect, Target{Number: r.Overflow.Number}
		d.say("The caller's side is asked to call %s instead, where the trunk does that and the account can pay for it.", r.Overflow.Number)
	}
}

func (d *Decision) say(format string, args ...any) {
	if d != nil {
		d.Why = append(d.Why, fmt.Sprintf(format, args...))
	}
}

// open says whether a time is in the opening hours, and why. The clock of the zone decides: an hour that daylight saving
// repeats counts twice, one that it leaves out not at all. Hours past midnight belong to the day on which they begin.
func (r *Rules) open(at time.Time, d *Decision) bool {
	at = at.In(r.Zone())
	d.say("It is %s in %s.", at.Format("Monday 2006-01-02, 15:04"), r.Zone())
	if r.Schedule == nil && len(r.Holidays) == 0 {
		d.say("There are no opening hours: it is always open.")
		return true
	}
	minute := at.Hour()*60 + at.Minute()
	today := time.Date(at.Year(), at.Month(), at.Day(), 12, 0, 0, 0, time.UTC) // noon: no zone moves it to another day
	before, _ := r.day(today.AddDate(0, 0, -1))
	if i := slices.IndexFunc(before, func(h destination.Hours) bool { return h.To < h.From && minute < h.To }); i >= 0 {
		d.say("Open since the day before: %s.", span(before[i]))
		return true
	}
	hours, why := r.day(today)
	if i := slices.IndexFunc(hours, func(h destination.Hours) bool { return minute >= h.From && (minute < h.To || h.To < h.From) }); i >= 0 {
		d.say("%s: open %s.", why, span(hours[i]))
		return true
	}
	if len(hours) == 0 {
		d.say("%s: closed.", why)
		return false
	}
	spans := make([]string, len(hours))
	for i, h := range hours {
		spans[i] = span(h)
	}
	d.say("%s: closed now, open %s.", why, strings.Join(spans, ", "))
	return false
}

// allDay are the hours of a day without others.
var allDay = []destination.Hours{{From: 0, To: 24 * 60}}

// day are the hours of a date, and where they come from.
func (r *Rules) day(date time.Time) (hours []destination.Hours, why string) {
	written := date.Format(time.DateOnly)
	for i := range r.Holidays {
		if h := &r.Holidays[i]; h.Date == written {
			return h.hours, strings.TrimSuffix("Holiday "+written+" "+h.Name, " ")
		}
	}
	if r.Schedule == nil {
		return allDay, date.Weekday().String()
	}
	return r.hours[date.Weekday()], date.Weekday().String()
}

// span is a span as people write it.
func span(h destination.Hours) string {
	from, to := h.Strings()
	return from + "-" + to
}
