package callcenter_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/wire"
	"parley/store/numbers"
)

// plainRouting takes rules that are an object with an agent, and refuses others.
func plainRouting() callcenter.Routing {
	read := func(rules json.RawMessage) (kept json.RawMessage, agents []string, err error) {
		var r struct{ Agent string }
		if err := json.Unmarshal(rules, &r); err != nil {
			return nil, nil, api.Bad("rules: no object")
		}
		if r.Agent == "" {
			return nil, nil, nil
		}
		return rules, []string{r.Agent}, nil
	}
	return callcenter.Routing{Schema: json.RawMessage(`{"type":"object","title":"Rules"}`), Read: read,
		Try: func(rules json.RawMessage, own *string, t wire.RoutingTrial, now time.Time) (wire.Routed, error) {
			_, _, err := read(rules)
			return wire.Routed{At: now, Action: "agent", AgentID: own, Reasons: []string{string(rules), t.At, t.Out, t.Keys}}, err
		}}
}

// TestNumberRules: they are kept as they were read, name agents of the account only, and are nobody else's.
func TestNumberRules(t *testing.T) {
	s := open(t)
	_, err := numbers.New(s.DB).Import(t.Context(), s.A.Account, "+34911234567", s.A.Agent)
	s.OK(err)
	at := "/callcenter/numbers/" + s.list(s.A)[0].ID
	shows := func(what, want string) {
		t.Helper()
		r := s.As(s.A, "GET", at+"/rules", "")
		s.Want(what, r, 200, "")
		if got := strings.TrimSpace(string(r.Body)); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	shows("at first", "{}")
	rules := `{"z":1,"agent":"` + s.A.Agent + `"}`
	s.Want("set", s.As(s.A, "PUT", at+"/rules", rules), 200, "")
	shows("set", rules)
	for what, body := range map[string]string{"no object": `[]`, "no JSON": `{`} {
		s.Want(what, s.As(s.A, "PUT", at+"/rules", body), 400, "validation.invalid_request_format")
	}
	for _, agent := range []string{s.B.Agent, "ag_nobody"} {
		s.Want("the agent "+agent, s.As(s.A, "PUT", at+"/rules", `{"agent":"`+agent+`"}`), 404, "agent.not_found")
	}
	shows("after refusals", rules)

	r := s.As(s.A, "POST", at+"/try", `{"at":"2026-12-25T10:00","out":"lines","keys":"2"}`)
	s.Want("try", r, 200, "")
	var routed wire.Routed
	s.OK(json.Unmarshal(r.Body, &routed))
	if routed.PhoneNumber != "+34911234567" || routed.AgentID == nil || *routed.AgentID != s.A.Agent || strings.Join(routed.Reasons, " ") != rules+" 2026-12-25T10:00 lines 2" {
		t.Errorf("%+v", routed)
	}
	r = s.As(s.A, "POST", at+"/try", `{"rules":{"agent":"ag_x"}}`)
	s.Want("try others", r, 200, "")
	s.OK(json.Unmarshal(r.Body, &routed))
	if routed.Reasons[0] != `{"agent":"ag_x"}` {
		t.Errorf("%+v", routed)
	}
	s.Want("try what is none", s.As(s.A, "POST", at+"/try", `{"rules":{"agent":7}}`), 400, "validation.invalid_request_format")
	s.Want("try with a wrong word", s.As(s.A, "POST", at+"/try", `{"out":"luck"}`), 400, "validation.invalid_request_format")
	s.Want("schema", s.As(s.A, "GET", "/callcenter/rules/schema", ""), 200, "")
	for _, ask := range [][2]string{{"GET", "/rules"}, {"PUT", "/rules"}, {"POST", "/try"}} {
		s.Want("another account "+ask[0], s.As(s.B, ask[0], at+ask[1], "{}"), 404, "callcenter.not_found")
	}
	s.Want("remove", s.As(s.A, "PUT", at+"/rules", "{}"), 200, "")
	shows("removed", "{}")
}
