package routing

import (
	"strings"

	"parley/pipeline/schema"
)

// Bounds of rules.
const (
	maxSpans    = 8 // of a day
	maxHolidays = 200
	maxSaid     = 1000 // characters of a message or a prompt
	maxName     = 60   // characters
	maxOptions  = 12   // there are no more keys
)

// Schema describes rules.
var Schema = func() *schema.Schema {
	s := schema.Object("How calls to a number are routed. Without any rule its agent answers all of them.", map[string]*schema.Schema{
		"time_zone": schema.Text("The time zone of hours and dates, such as Europe/Madrid; UTC.", 64),
		"schedule":  week(),
		"holidays": schema.List("Days whose hours differ from those of the week.", maxHolidays, schema.Object("", map[string]*schema.Schema{
			"date":  {Type: "string", MaxLength: 10, Description: "The day, as 2026-12-25."},
			"name":  line("What day it is.", maxName),
			"hours": schema.List("The hours of the day; none: closed.", maxSpans, hours()),
		}, "date")),
		"open":          target("Where calls go in the opening hours; to the number's own agent."),
		"closed":        target("Where calls go outside the opening hours. It is needed with a schedule or holidays."),
		"menu":          menu(),
		"overflow":      schema.Object("Where calls go in the opening hours when they cannot be taken: all lines of the account are busy, its balance is too low, or the agent cannot be reached.", map[string]*schema.Schema{"number": telephone()}, "number"),
		"language":      schema.Text("The language that agents speak in calls of this number, first when they follow their caller, such as en; their own.", 20),
		"first_message": schema.Text("What agents say first in calls of this number; their own first message, where they speak its language.", maxSaid),
	})
	s.Dialect, s.Title = schema.Dialect, "Rules of a number"
	return s
}()

// week describes the hours of each day.
func week() *schema.Schema {
	byDay := map[string]*schema.Schema{}
	for day := range days {
		byDay[day] = schema.List("The hours of each "+strings.ToUpper(day[:1])+day[1:]+".", maxSpans, hours())
	}
	return schema.Object("The opening hours of each day of the week, closed where there are none. Without a schedule it is always open.", byDay)
}

func hours() *schema.Schema {
	return &schema.Schema{Type: "string", Description: "Hours as 09:00-14:00, the end excluded. Those that end before they begin go on past midnight, and belong to the day on which they begin.",
		Pattern: `^\d\d:\d\d-\d\d:\d\d$`, Form: "must be written as 09:00-14:00"}
}

// targetFields are the members of a target.
func targetFields() map[string]*schema.Schema {
	return map[string]*schema.Schema{
		"agent":   {Type: "string", MaxLength: 40, Pattern: `^ag_[a-z0-9]+$`, Form: "must be the identifier of an agent, ag_…", Description: "An agent of the account, ag_…, that answers."},
		"number":  telephone(),
		"message": {Type: "string", MinLength: 1, MaxLength: maxSaid, Description: "What is said before the call ends."},
	}
}

func target(description string) *schema.Schema {
	return schema.Object(description+" One of agent, number and message.", targetFields())
}

func telephone() *schema.Schema {
	return &schema.Schema{Type: "string", MinLength: 1, MaxLength: 64, Description: "A telephone number that the call is forwarded to, in international format. It must be one that may be called."}
}

func menu() *schema.Schema {
	option := targetFields()
	option["key"] = schema.OneOf("The key.", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "#")
	option["name"] = line("What the option is for.", maxName)
	return schema.Object("What callers are asked in the opening hours, before anybody answers.", map[string]*schema.Schema{
		"prompt":          {Type: "string", MinLength: 1, MaxLength: maxSaid, Description: "What is said to the caller: which key does what."},
		"options":         schema.List("What each key leads to.", maxOptions, schema.Object("", option, "key")),
		"timeout_seconds": schema.Whole("How long a key may take after the prompt; 5.", 1, 30).Otherwise(defaultTimeout),
		"repeats":         schema.Whole("How often the prompt is said again when no key of the menu was pressed; 1.", 0, 5).Otherwise(defaultRepeats),
		"otherwise":       target("Where the call goes without such a key; as in the opening hours without a menu."),
	}, "prompt", "options")
}

func line(description string, most int) *schema.Schema {
	return &schema.Schema{Type: "string", Description: description, MaxLength: most, Pattern: `^[^\x00-\x1f\x7f]*$`, Form: "must be one line"}
}
