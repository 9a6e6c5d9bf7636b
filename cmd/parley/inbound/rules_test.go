package inbound

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/wire"
)

// TestRoutingOfTheAPI: rules are read and tried as the API shows them, and mistakes are the client's.
func TestRoutingOfTheAPI(t *testing.T) {
	t.Parallel()
	r, own, now := Routing(), "ag_own", time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	kept, agents, err := r.Read(json.RawMessage(`{"language":"ES","menu":{"prompt":"Press 2.","options":[{"key":"2","agent":"ag_two"}]}}`))
	if err != nil || string(kept) != `{"menu":{"prompt":"Press 2.","options":[{"key":"2","agent":"ag_two"}]},"language":"es"}` || strings.Join(agents, " ") != "ag_two" {
		t.Errorf("%s %v %v", kept, agents, err)
	}
	if _, _, err := r.Read(json.RawMessage(`{"langauge":"es"}`)); api.ProblemOf(err).Status != 400 || api.ProblemOf(err).Detail != "rules.langauge: is not known" {
		t.Errorf("%+v", api.ProblemOf(err))
	}
	hours := `{"time_zone":"Europe/Madrid","schedule":{"friday":["09:00-14:00"]},"holidays":[{"date":"2026-12-25"}],"closed":{"message":"Closed."}}`
	for _, tt := range []struct {
		rules, want string
		own         *string
		trial       wire.RoutingTrial
	}{
		{hours, "message Closed.", &own, wire.RoutingTrial{At: "2026-12-25T10:00"}},
		{hours, "agent ag_own", &own, wire.RoutingTrial{At: "2026-12-18T13:59"}},
		{hours, "agent ag_own", &own, wire.RoutingTrial{At: "2026-12-18T12:59:00Z"}},
		{hours, "message Closed.", &own, wire.RoutingTrial{At: "2026-12-18T13:59:00Z"}},
		{hours, "refuse ", nil, wire.RoutingTrial{At: "2026-12-18T10:00"}},
		{string(kept), "menu Press 2.", nil, wire.RoutingTrial{}},
		{string(kept), "agent ag_two", nil, wire.RoutingTrial{Keys: "2"}},
	} {
		got, err := r.Try(json.RawMessage(tt.rules), tt.own, tt.trial, now)
		text := got.Action + " " + got.Message
		if got.AgentID != nil {
			text += *got.AgentID
		}
		if err != nil || text != tt.want || len(got.Reasons) < 2 {
			t.Errorf("%s %+v: %+v, %v; want %s", tt.rules, tt.trial, got, err, tt.want)
		}
	}
	for _, trial := range []wire.RoutingTrial{{At: "tomorrow"}, {At: "2026-13-01T10:00"}} {
		if _, err := r.Try(json.RawMessage(hours), &own, trial, now); api.ProblemOf(err).Status != 400 {
			t.Errorf("%+v: %v", trial, err)
		}
	}
}
