package dashboard_test

import (
	"encoding/json"
	"html"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/wire"
	"parley/store/numbers"
)

// anyRouting takes all rules but those in the zone of the moon.
func anyRouting() callcenter.Routing {
	return callcenter.Routing{
		Schema: json.RawMessage(`{"type":"object"}`),
		Read: func(rules json.RawMessage) (json.RawMessage, []string, error) {
			if strings.Contains(string(rules), "Moon") {
				return nil, nil, api.Bad("rules.time_zone: %q is no time zone", "Moon")
			}
			return rules, nil, nil
		},
		Try: func(rules json.RawMessage, own *string, t wire.RoutingTrial, now time.Time) (wire.Routed, error) {
			if t.At == "tomorrow" {
				return wire.Routed{}, api.Bad("body.at: write it as 2026-12-25T10:00")
			}
			return wire.Routed{Action: "forward", Number: "+34911234599", Reasons: []string{"At " + t.At + ", keys " + t.Keys + ", out of " + t.Out + "."}}, nil
		},
	}
}

// TestRulesPage sets hours by the form, which leaves alone what it does not have, and all rules by the document, and tries them.
func TestRulesPage(t *testing.T) {
	s := newShop(t)
	n, err := numbers.New(s.DB).Import(t.Context(), s.Account, "+34911234567", s.agent)
	s.OK(err)
	at := "/app/numbers/" + n.ID + "/rules"
	kept := func() string {
		t.Helper()
		n, err := numbers.New(s.DB).Number(t.Context(), s.Account, n.ID)
		s.OK(err)
		return string(n.Rules)
	}
	if page := s.Get("/app/numbers"); !strings.Contains(page.Body, at) {
		t.Error("the list does not lead to the hours")
	}
	if page := s.Get(at); page.Status != 200 || !strings.Contains(page.Body, "Opening hours of &#43;34911234567") || strings.Contains(page.Body, "<script>alert") {
		t.Fatalf("%d %s", page.Status, page.Body)
	}
	if page := s.Post(at, "document", "language: es\nclosed:\n  message: |\n    Closed "+hostile+"\n"); page.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", page.Status, page.Body)
	}
	form := []string{"time_zone", "Europe/Madrid", "scheduled", "on", "monday", "09:00-14:00, 16:00-20:00", "friday", "22:00–02:00", "saturday", "closed",
		"holidays", "2026-12-25 Christmas Day\r\n2026-12-24 10:00-12:00 Christmas Eve\r\n2027-01-01\r\n", "closed", "number", "number", "+34911234568", "message", "", "overflow", "+34911234569"}
	if page := s.Post(at, form...); page.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", page.Status, page.Body)
	}
	const want = `{"closed":{"number":"+34911234568"},"holidays":[{"date":"2026-12-25","name":"Christmas Day"},{"date":"2026-12-24","name":"Christmas Eve","hours":["10:00-12:00"]},{"date":"2027-01-01"}],` +
		`"language":"es","overflow":{"number":"+34911234569"},"schedule":{"friday":["22:00-02:00"],"monday":["09:00-14:00","16:00-20:00"]},"time_zone":"Europe/Madrid"}`
	if got := kept(); got != want {
		t.Errorf("kept is %s", got)
	}
	page := s.Get(at)
	for _, part := range []string{`value="09:00-14:00, 16:00-20:00"`, "2026-12-24 10:00-12:00 Christmas Eve", `<option value="number" selected>`, `value="+34911234569"`, "language: es", "checked"} {
		if !strings.Contains(html.UnescapeString(page.Body), part) {
			t.Errorf("%q is not on the page", part)
		}
	}
	for what, form := range map[string][]string{"no zone": {"time_zone", "Moon"}, "no hours": {"scheduled", "on", "monday", "nine"}, "no document": {"document", "a: [", "x", ""}} {
		if page := s.Post(at, form...); page.Status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", what, page.Status)
		}
	}
	if got := kept(); got != want {
		t.Errorf("after refusals kept is %s", got)
	}
	if page := s.Get(at + "?at=2026-12-25T10:00&keys=2&out=lines"); !strings.Contains(page.Body, "Forwarded to &#43;34911234599") || !strings.Contains(page.Body, "At 2026-12-25T10:00, keys 2, out of lines.") {
		t.Errorf("tried: %s", page.Body)
	}
	if page := s.Get(at + "?at=tomorrow"); page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Body, "2026-12-25T10:00") {
		t.Errorf("a time that is none: %d", page.Status)
	}
	if page := s.Get("/app/numbers/num_other/rules"); page.Status != http.StatusNotFound {
		t.Errorf("a foreign number: %d", page.Status)
	}
	pace := func(calls string, status int, want *int) {
		t.Helper()
		if page := s.Post("/app/numbers/"+n.ID+"/pace", "calls_per_hour", calls); page.Status != status {
			t.Errorf("%q calls an hour: %d %s", calls, page.Status, page.Body)
		}
		now, err := numbers.New(s.DB).Number(t.Context(), s.Account, n.ID)
		s.OK(err)
		if !reflect.DeepEqual(now.CallsPerHour, want) || *now.AgentID != s.agent {
			t.Errorf("after %q calls an hour: %+v", calls, now)
		}
	}
	thirty := 30
	pace("30", http.StatusSeeOther, &thirty)
	if page := s.Get(at); !strings.Contains(page.Body, `value="30"`) {
		t.Error("the page does not show how many calls an hour")
	}
	pace("-1", http.StatusUnprocessableEntity, &thirty)
	pace("some", http.StatusUnprocessableEntity, &thirty)
	pace("", http.StatusSeeOther, nil)
	// With nothing in the form its members are gone, and the others stay.
	if page := s.Post(at, "closed", "message"); page.Status != http.StatusSeeOther || kept() != `{"language":"es"}` {
		t.Errorf("%d, kept is %s", page.Status, kept())
	}
}
