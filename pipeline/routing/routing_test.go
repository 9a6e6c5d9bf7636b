package routing_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"parley/pipeline/routing"
)

// language knows two languages.
func language(text string) string {
	if l := strings.ToLower(text); l == "en" || l == "es" {
		return l
	}
	return ""
}

func parsed(t *testing.T, text string) *routing.Rules {
	t.Helper()
	r, err := routing.Parse([]byte(text), language)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

// TestHours: the edges of hours, of days, of holidays and of daylight saving.
func TestHours(t *testing.T) {
	const closed = `"closed":{"message":"We are closed."}`
	const office = `{"time_zone":"Europe/Madrid","schedule":{"monday":["09:00-14:00","16:00-20:00"],"friday":["09:00-14:00"],"sunday":["00:00-24:00"]},` +
		`"holidays":[{"date":"2026-12-25","name":"Christmas"},{"date":"2026-12-24","hours":["10:00-12:00"]},{"date":"2026-12-29","hours":["22:00-01:00"]}],` + closed + `}`
	const bar = `{"time_zone":"Europe/Madrid","schedule":{"friday":["22:00-03:00"],"saturday":["22:00-02:30"]},` + closed + `}`
	const ny = `{"time_zone":"America/New_York","schedule":{"sunday":["01:30-02:30"]},"holidays":[{"date":"2026-07-04"}],` + closed + `}`
	const only = `{"time_zone":"America/New_York","holidays":[{"date":"2026-07-04"}],` + closed + `}`
	for _, tt := range []struct {
		rules, at string
		open      bool
	}{
		{`{}`, "2026-12-25T10:00:00Z", true},
		{office, "2026-11-30T07:59:59Z", false}, // Monday, 08:59:59 in Madrid
		{office, "2026-11-30T08:00:00Z", true},
		{office, "2026-11-30T12:59:59Z", true},
		{office, "2026-11-30T13:00:00Z", false},
		{office, "2026-11-30T15:00:00Z", true},
		{office, "2026-11-30T19:00:00Z", false},
		{office, "2026-12-01T09:00:00Z", false}, // Tuesday has none
		{office, "2026-11-28T22:59:59Z", false}, // Saturday
		{office, "2026-11-28T23:00:00Z", true},  // Sunday, 00:00
		{office, "2026-11-29T22:59:59Z", true},  // Sunday, 23:59:59
		{office, "2026-11-29T23:00:00Z", false}, // Monday, 00:00
		{office, "2026-12-25T09:00:00Z", false}, // a Friday
		{office, "2026-12-18T09:00:00Z", true},
		{office, "2026-12-24T09:00:00Z", true}, // a Thursday that has hours
		{office, "2026-12-24T11:00:00Z", false},
		{office, "2026-12-29T23:59:00Z", true}, // 00:59 of the day after
		{office, "2026-12-30T00:00:00Z", false},
		{bar, "2026-11-27T20:59:00Z", false},
		{bar, "2026-11-27T21:00:00Z", true},
		{bar, "2026-11-28T01:59:00Z", true}, // Saturday, 02:59
		{bar, "2026-11-28T02:00:00Z", false},
		{bar, "2026-11-29T01:29:00Z", true}, // Sunday, 02:29
		{bar, "2026-11-29T01:30:00Z", false},
		// The clocks of Madrid go from 02:00 to 03:00 on Sunday 2026-03-29: what ends at 02:30 ends with 02:00.
		{bar, "2026-03-29T00:59:59Z", true},
		{bar, "2026-03-29T01:00:00Z", false},
		// They go from 03:00 back to 02:00 on Sunday 2026-10-25: 02:00 to 02:30 comes twice.
		{bar, "2026-10-25T00:29:00Z", true},
		{bar, "2026-10-25T00:30:00Z", false},
		{bar, "2026-10-25T01:29:00Z", true},
		{bar, "2026-10-25T01:30:00Z", false},
		// New York: on 2026-03-08 02:00 is 03:00, on 2026-11-01 01:00 to 02:00 comes twice.
		{ny, "2026-03-08T06:29:00Z", false},
		{ny, "2026-03-08T06:30:00Z", true},
		{ny, "2026-03-08T07:00:00Z", false},
		{ny, "2026-11-01T05:30:00Z", true},
		{ny, "2026-11-01T06:00:00Z", false},
		{ny, "2026-11-01T06:30:00Z", true},
		{ny, "2026-11-01T07:29:00Z", true},
		{ny, "2026-11-01T07:30:00Z", false},
		{only, "2026-07-04T03:59:00Z", true}, // still the 3rd there
		{only, "2026-07-04T04:00:00Z", false},
		{only, "2026-07-05T04:00:00Z", true},
	} {
		at, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		d := parsed(t, tt.rules).Decide(routing.Circumstances{At: at})
		want := routing.Say
		if tt.open {
			want = routing.ToAgent
		}
		if d.Open != tt.open || d.Action != want {
			t.Errorf("%s by %s: %s %v", tt.at, tt.rules, d.Action, d.Why)
		}
	}
}

// TestDecide: where calls go, and that the reasons say it.
func TestDecide(t *testing.T) {
	const rules = `{"time_zone":"Europe/Madrid","schedule":{"monday":["09:00-14:00"]},"closed":{"agent":"ag_night"},"open":{"number":"+34 911 234 567"},"overflow":{"number":"+34600111222"}`
	const menu = `,"menu":{"prompt":"One or two?","options":[{"key":"1","name":"Sales","agent":"ag_sales"},{"key":"2","message":"Bye."}]}`
	for _, tt := range []struct {
		rules, at string
		out       routing.Out
		keys      string
		want      string // the action and the target
		why       string
	}{
		{rules + "}", "2026-11-30T09:00:00Z", "", "", "forward {Agent: Number:+34911234567 Message:}", "Monday: open 09:00-14:00"},
		{rules + "}", "2026-11-30T19:00:00Z", "", "", "agent {Agent:ag_night Number: Message:}", "Monday: closed now, open 09:00-14:00"},
		{rules + "}", "2026-12-01T09:00:00Z", "", "", "agent {Agent:ag_night Number: Message:}", "Tuesday: closed"},
		{rules + "}", "2026-11-30T09:00:00Z", routing.Lines, "", "redirect {Agent: Number:+34600111222 Message:}", "lines"},
		{rules + "}", "2026-11-30T09:00:00Z", routing.Balance, "1", "redirect {Agent: Number:+34600111222 Message:}", "cannot pay"},
		{rules + "}", "2026-11-30T09:00:00Z", routing.NoAgent, "", "forward {Agent: Number:+34600111222 Message:}", "cannot be reached"},
		{rules + "}", "2026-11-30T19:00:00Z", routing.Lines, "", "refuse {Agent: Number: Message:}", "no overflow"},
		{`{}`, "2026-11-30T09:00:00Z", routing.Lines, "", "refuse {Agent: Number: Message:}", "no overflow"},
		{`{}`, "2026-11-30T09:00:00Z", "", "", "agent {Agent: Number: Message:}", "number's own agent"},
		{rules + menu + "}", "2026-11-30T09:00:00Z", "", "", "menu {Agent: Number: Message:}", "asked by the menu"},
		{rules + menu + "}", "2026-11-30T19:00:00Z", "", "1", "agent {Agent:ag_night Number: Message:}", "closed now"},
		{rules + menu + "}", "2026-11-30T09:00:00Z", "", "1", "agent {Agent:ag_sales Number: Message:}", "Key 1 of the menu: Sales"},
		{rules + menu + "}", "2026-11-30T09:00:00Z", "", "92", "message {Agent: Number: Message:Bye.}", "Key '9' is none"},
		{rules + menu + "}", "2026-11-30T09:00:00Z", "", "992", "forward {Agent: Number:+34911234567 Message:}", "No key of the menu"},
		{rules + strings.Replace(menu, `"prompt"`, `"repeats":0,"otherwise":{"message":"Later."},"prompt"`, 1) + "}", "2026-11-30T09:00:00Z", "", "92", "message {Agent: Number: Message:Later.}", "No key of the menu"},
	} {
		at, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		d := parsed(t, tt.rules).Decide(routing.Circumstances{At: at, Out: tt.out, Keys: tt.keys})
		if got := fmt.Sprintf("%s %+v", d.Action, d.Target); got != tt.want || !strings.Contains(strings.Join(d.Why, " "), tt.why) {
			t.Errorf("%s %s %q: %s, want %s; %q", tt.at, tt.out, tt.keys, got, tt.want, d.Why)
		}
	}
}

// TestMistakes: each is named by its place.
func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ rules, wrong string }{
		{`[]`, "rules: a list, must be an object"},
		{`{"time_zone":"Madrid"}`, `rules.time_zone: "Madrid" is no time zone, such as Europe/Madrid`},
		{`{"time_zone":"Local"}`, `rules.time_zone: "Local" is no time zone, such as Europe/Madrid`},
		{`{"schedule":{"monday":["9-14"]},"closed":{"agent":"ag_1"}}`, `rules.schedule.monday[0]: "9-14", must be written as 09:00-14:00`},
		{`{"schedule":{"monday":["09:00-25:00"]},"closed":{"agent":"ag_1"}}`, `rules.schedule.monday[0]: "09:00-25:00": hours are written as`},
		{`{"schedule":{"monday":["09:00-09:00"]},"closed":{"agent":"ag_1"}}`, `rules.schedule.monday[0]: "09:00-09:00": hours are written as`},
		{`{"schedule":{"mon":[]},"closed":{"agent":"ag_1"}}`, `rules.schedule.mon: is not known`},
		{`{"schedule":{}}`, "rules.closed: is missing"},
		{`{"holidays":[{"date":"2026-02-30"}],"closed":{"agent":"ag_1"}}`, `rules.holidays[0].date: "2026-02-30" is no date`},
		{`{"holidays":[{"date":"2026-02-03"},{"date":"2026-02-03"}],"closed":{"agent":"ag_1"}}`, "rules.holidays[1].date: there are two of 2026-02-03"},
		{`{"open":{}}`, "rules.open: must have one of agent, number and message"},
		{`{"open":{"agent":"ag_1","number":"+34911234567"}}`, "rules.open: must have one of agent, number and message"},
		{`{"open":{"agent":"lola"}}`, `rules.open.agent: "lola", must be the identifier of an agent`},
		{`{"open":{"number":"12"}}`, "rules.open.number: must be a telephone number in international format"},
		{`{"overflow":{"number":"112"}}`, "rules.overflow.number: is an emergency number"},
		{`{"overflow":{}}`, "rules.overflow.number: is missing"},
		{`{"menu":{"prompt":"?","options":[]}}`, "rules.menu.options: is empty"},
		{`{"menu":{"prompt":"?","options":[{"key":"1","message":"a"},{"key":"1","message":"b"}]}}`, `rules.menu.options[1].key: there are two of "1"`},
		{`{"menu":{"prompt":"?","options":[{"key":"10","message":"a"}]}}`, `rules.menu.options[0].key: "10", allowed are`},
		{`{"menu":{"prompt":"?","options":[{"key":"1"}]}}`, "rules.menu.options[0]: must have one of agent, number and message"},
		{`{"language":"xx"}`, "rules.language: is none of the languages"},
		{`{"language":"en","language":"es"}`, "rules.language: is there more than once"},
		{`{"time_zone":"Nowhere","open":{"number":"x"},"closed":{}}`, `rules.time_zone: "Nowhere" is no time zone, such as Europe/Madrid; rules.closed: must have one of agent, number and message; rules.open.number: must be`},
	} {
		r, err := routing.Parse([]byte(tt.rules), language)
		if r != nil || err == nil || !strings.HasPrefix(err.Error(), tt.wrong) {
			t.Errorf("%s: %v, want %s", tt.rules, err, tt.wrong)
		}
	}
}

// TestSchema: what is published is JSON Schema as others understand it, and the rules that are kept fit it.
func TestSchema(t *testing.T) {
	text, err := json.Marshal(routing.Schema)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := parsed(t, `{"language":"ES","time_zone":"UTC","schedule":{"monday":["09:00-14:00"]},"holidays":[{"date":"2026-12-25"}],"closed":{"number":"+34 911234567"},
		"menu":{"prompt":"?","repeats":0,"options":[{"key":"*","agent":"ag_1"}]}}`).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(kept, &value); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(value); err != nil || !strings.Contains(string(kept), `"number":"+34911234567"`) || !strings.Contains(string(kept), `"language":"es"`) || !strings.Contains(string(kept), `"repeats":0`) {
		t.Errorf("%s: %v", kept, err)
	}
	if text, err := parsed(t, `{"schedule":{},"closed":{"message":"x"}}`).JSON(); string(text) != `{"schedule":{},"closed":{"message":"x"}}` || err != nil {
		t.Errorf("a week without hours is kept as %s, %v", text, err)
	}
	if text, err := parsed(t, `{}`).JSON(); text != nil || err != nil {
		t.Errorf("no rules are kept as %s, %v", text, err)
	}
}

// FuzzDecide: rules that are taken give one decision at any time, which can be carried out and says why.
func FuzzDecide(f *testing.F) {
	f.Add(`{"schedule":{"monday":["22:00-02:00"]},"closed":{"message":"x"},"overflow":{"number":"+34600111222"}}`, int64(1), "lines", "1")
	f.Add(`{"time_zone":"Pacific/Apia","menu":{"prompt":"?","options":[{"key":"1","agent":"ag_1"}],"otherwise":{"number":"+34600111222"}}}`, int64(1325203200), "", "93")
	f.Add(`{"holidays":[{"date":"2026-12-25","hours":["23:00-01:00"]}],"closed":{"agent":"ag_1"}}`, int64(1798239600), "agent", "")
	f.Fuzz(func(t *testing.T, text string, at int64, out, keys string) {
		r, err := routing.Parse([]byte(text), language)
		if err != nil {
			return
		}
		c := routing.Circumstances{At: time.Unix(at%(1<<40), 0), Out: routing.Out(out), Keys: keys}
		d := r.Decide(c)
		if again := r.Decide(c); fmt.Sprint(again) != fmt.Sprint(d) {
			t.Errorf("%v, then %v", d, again)
		}
		n := 0
		for _, to := range []string{d.Target.Agent, d.Target.Number, d.Target.Message} {
			if to != "" {
				n++
			}
		}
		var fits bool
		switch d.Action {
		case routing.ToAgent:
			fits = d.Target.Number == "" && d.Target.Message == ""
		case routing.ToNumber:
			fits = n == 1 && d.Target.Number != ""
		case routing.Redirect:
			fits = n == 1 && d.Target.Number != "" && (out == "lines" || out == "balance")
		case routing.Say:
			fits = n == 1 && d.Target.Message != ""
		case routing.Ask:
			fits = n == 0 && r.Menu != nil && keys == ""
		case routing.Refuse:
			fits = n == 0 && out != ""
		}
		if !fits || len(d.Why) == 0 || out != "" && d.Action == routing.ToAgent {
			t.Errorf("%s at %v: %+v", text, c, d)
		}
	})
}
