package docs_test

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"strings"
	"time"
)

type batch struct {
	ID, Name, State string
	Counts          map[string]int
	Rows            []struct {
		To, Status string
		EndReason  *string `json:"end_reason"`
		Cost       float64
		Summary    *string
	}
}

func Example_bulk() {
	var own struct {
		Numbers []struct {
			PhoneNumber string `json:"phone_number"`
		}
	}
	ask("GET", "/callcenter/numbers", "", &own)
	request, err := json.Marshal(map[string]any{
		"name": "Reminders", "from": own.Numbers[0].PhoneNumber, "agent_id": os.Getenv("AGENT_ID"),
		"consent_confirmed": true, // only when all of them have agreed to be called
		"on_machine":        "hangup",
		"call_window":       map[string]string{"start": "09:00", "end": "20:00", "timezone": "destination"},
		"retries":           []map[string]any{{"on": "busy", "attempts": 3, "after_seconds": 900}},
		"metadata":          map[string]string{"season": "spring"}, // kept with the calls
		"rows": []map[string]any{
			{"to": "+12025550101"},
			{"to": "+12025550102", "scheduled_at": time.Now().AddDate(0, 0, 1)},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	var check struct {
		Good, Wrong int
		PerMinute   float64 `json:"per_minute"`
	}
	ask("POST", "/callcenter/bulk-dial/check", string(request), &check) // calls nobody
	fmt.Println(check.Good, "good,", check.Wrong, "wrong, USD", check.PerMinute, "a minute")
	var queued batch
	// The key makes it safe to send it again after a lost answer.
	read(send("POST", "/callcenter/bulk-dial", string(request), "Idempotency-Key", rand.Text()), &queued)
	at := "/callcenter/bulk-dial/" + queued.ID
	for _, turn := range []string{"/pause", "/resume"} {
		var turned batch
		ask("POST", at+turn, "", &turned)
		fmt.Println(turned.State)
	}
	var all struct{ Batches []batch }
	ask("GET", "/callcenter/bulk-dial", "", &all)
	for _, b := range all.Batches {
		fmt.Println(b.Name, b.Counts)
	}
	var now batch
	ask("GET", at, "", &now)
	for _, r := range now.Rows {
		fmt.Println(r.To, r.Status, r.Cost)
	}
	ask("POST", at+"/cancel", "", &now)
	fmt.Println(now.State)
	fmt.Printf("%s", bytesOf(send("GET", at+"/results.csv", "")))
}

func Example_dial() {
	var own struct {
		Numbers []struct {
			PhoneNumber string `json:"phone_number"`
		}
	}
	ask("GET", "/callcenter/numbers", "", &own)
	order, err := json.Marshal(map[string]any{
		"from": own.Numbers[0].PhoneNumber, "to": "+12025550100", "agent_id": os.Getenv("AGENT_ID"),
		"consent_confirmed": true, // only when the callee has agreed to be called
	})
	if err != nil {
		log.Fatal(err)
	}
	var call struct {
		ID     string `json:"call_id"`
		Status string
	}
	ask("POST", "/callcenter/dial", string(order), &call)

	events := send("GET", "/callcenter/sse/call-monitor?call_id="+call.ID, "")
	for lines := bufio.NewScanner(events.Body); lines.Scan(); {
		if event, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			fmt.Println(event)
			if strings.Contains(event, `"type":"transcript"`) {
				break // the first words are enough
			}
		}
	}
	events.Body.Close()
	ask("GET", "/callcenter/call-monitor?call_id="+call.ID, "", &call)
	fmt.Println(call.Status)
	ask("POST", "/callcenter/hangup/"+call.ID, "", &call)
	fmt.Println(call.Status)

	// Of a call that has ended the stream tells everything at once.
	fmt.Printf("%s", bytesOf(send("GET", "/v1/calls/"+call.ID+"/events", "")))
}

func Example_donotcall() {
	const list = "/v1/do-not-call"
	var entry struct{ Number, Reason string }
	send("POST", list, `{"number": "+34 612 345 677", "reason": "wrote to us"}`).Body.Close()
	ask("GET", list+"/+34612345677", "", &entry)
	fmt.Printf("%s is not called: %s\n", entry.Number, entry.Reason)
	var page struct{ Data []struct{ Number string } }
	ask("GET", list+"?limit=10", "", &page)
	fmt.Printf("%d numbers on this page\n", len(page.Data))

	// A list from elsewhere, and ours as a file.
	var imported struct{ Added, Known int }
	read(send("POST", list+".csv", "number,reason\n+34612345678,asked by mail\n", "Content-Type", "text/csv"), &imported)
	fmt.Printf("%d added, %d known\n", imported.Added, imported.Known)
	fmt.Printf("%s\n", bytesOf(send("GET", list+".csv", "")))

	for _, number := range []string{"+34612345677", "+34612345678"} {
		send("DELETE", list+"/"+number, "").Body.Close()
	}
	fmt.Println("removed")
}

type number struct {
	ID, Status  string
	PhoneNumber string  `json:"phone_number"`
	Monthly     float64 `json:"monthly_cost"` // of those for sale
	Upfront     float64 `json:"upfront_cost"`
}

func Example_numbers() {
	var status struct{ Carrier string }
	ask("GET", "/callcenter/status", "", &status)
	var team struct{ Agents []struct{ ID, Name string } }
	ask("GET", "/callcenter/agents", "", &team)
	fmt.Println(status.Carrier, team.Agents)

	var found struct{ Numbers []number }
	ask("GET", "/callcenter/numbers/search?country_code=IT&page=1", "", &found)
	var bought number
	for _, one := range found.Numbers {
		if one.Monthly <= 5 && one.Upfront <= 5 {
			// It is charged at once.
			order := fmt.Sprintf(`{"phone_number": %q, "agent_id": %q}`, one.PhoneNumber, os.Getenv("AGENT_ID"))
			read(send("POST", "/callcenter/numbers", order, "Idempotency-Key", rand.Text()), &bought) // safe to send again
			break
		}
	}

	// Now another agent, or with an empty agent_id nobody, answers it.
	ask("POST", "/callcenter/numbers/"+bought.ID+"/assign", `{"agent_id": ""}`, &bought)
	var mine struct{ Numbers []number }
	ask("GET", "/callcenter/numbers", "", &mine)
	for _, one := range mine.Numbers {
		fmt.Println(one.PhoneNumber, one.Status) // pending for a while, with some carriers
	}

	var gone struct{ Released bool }
	ask("DELETE", "/callcenter/numbers/"+bought.ID, "", &gone) // for good: it cannot be recovered
	fmt.Println("released", gone.Released)
}

func Example_hours() {
	const at = "/callcenter/call-window"
	var hours struct{ Start, End, Timezone string }
	// Nobody is called before nine and after eight, by the clocks where they are.
	ask("PUT", at, `{"start": "09:00", "end": "20:00", "timezone": "destination"}`, &hours)
	ask("GET", at, "", &hours)
	fmt.Println(hours.Start, hours.End, hours.Timezone)
	send("DELETE", at, "").Body.Close() // people are called at any time again
}

func Example_rules() {
	var own struct{ Numbers []struct{ ID string } }
	ask("GET", "/callcenter/numbers", "", &own)
	at := "/callcenter/numbers/" + own.Numbers[0].ID
	var schema struct{ Title string }
	ask("GET", "/callcenter/rules/schema", "", &schema)
	fmt.Println(schema.Title)

	var rules json.RawMessage
	ask("PUT", at+"/rules", `{"time_zone": "Europe/Madrid",
		"schedule": {"monday": ["09:00-14:00", "16:00-20:00"], "friday": ["22:00-02:00"]},
		"holidays": [{"date": "2026-12-25", "name": "Christmas"}],
		"closed": {"message": "We are closed. Please call on Monday."}}`, &rules)
	ask("GET", at+"/rules", "", &rules)
	fmt.Println(string(rules))

	// Where would a call go on Christmas morning, by the clocks of Madrid?
	var call struct {
		Action  string
		Reasons []string
	}
	ask("POST", at+"/try", `{"at": "2026-12-25T10:00"}`, &call)
	fmt.Println(call.Action, strings.Join(call.Reasons, "\n"))

	ask("PUT", at+"/rules", `{}`, &rules) // its agent answers all calls again
}

func Example_trunks() {
	type settings map[string]any
	document := func(s settings, more settings) string {
		all := maps.Clone(s)
		maps.Copy(all, more)
		text, err := json.Marshal(all)
		if err != nil {
			log.Fatal(err)
		}
		return string(text)
	}
	agent := os.Getenv("AGENT_ID")
	// An exchange in Germany sends its calls from 192.0.2.20; extensions 100 to 199 are answered by an agent.
	s := settings{"name": "office-4", "allow": []string{"192.0.2.20"}, "country": "DE"}
	var trunk struct {
		ID, Name string
		Status   struct{ Calls int }
	}
	ask("POST", "/v1/trunks", document(s, settings{"extensions": []settings{{"match": "1xx", "agent_id": agent}}}), &trunk)
	at := "/v1/trunks/" + trunk.ID
	ask("GET", at, "", &trunk)
	var list struct{ Data []struct{ ID string } }
	ask("GET", "/v1/trunks?limit=10", "", &list)
	fmt.Println(trunk.Name, len(list.Data))

	// One of its numbers, which the agent answers, too.
	var number struct {
		ID          string
		PhoneNumber string `json:"phone_number"`
	}
	ask("POST", at+"/numbers", document(settings{"phone_number": "+4934112345674"}, settings{"agent_id": agent}), &number)
	fmt.Println(number.PhoneNumber)

	// All settings are replaced: this one identifies itself by a password.
	ask("PUT", at, document(s, settings{"inbound_username": "office-4", "inbound_password": rand.Text()}), &trunk)
	ask("POST", at+"/check", "", &trunk)
	fmt.Println(trunk.Status.Calls, "calls on it")

	send("DELETE", "/callcenter/numbers/"+number.ID, "").Body.Close()
	send("DELETE", at, "").Body.Close()
	fmt.Println("removed")
}

func Example_presets() {
	// What is known of exchanges and carriers.
	var presets struct {
		Data []struct {
			Name  string
			Needs []string
		}
	}
	ask("GET", "/v1/trunk-presets", "", &presets)
	for _, p := range presets.Data {
		fmt.Println(p.Name, p.Needs)
	}

	// An Asterisk at 192.0.2.34 sends its calls here. What is sent counts before the preset.
	var trunk struct {
		ID, Name, DTMF string
		FarEnd         []string `json:"far_end"`
	}
	ask("POST", "/v1/trunks", `{"name": "pbx-4", "preset": "asterisk", "allow": ["192.0.2.34"],
		"inbound_username": "pbx-4", "inbound_password": "`+rand.Text()+`", "codecs": ["PCMA"]}`, &trunk)
	fmt.Println(trunk.Name, trunk.DTMF, "enter there:", strings.Join(trunk.FarEnd, "\n"))

	send("DELETE", "/v1/trunks/"+trunk.ID, "").Body.Close()
	fmt.Println("removed")
}
