package dashboard_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
)

var successorChoices = regexp.MustCompile(`(?s)<select id="hand_over_to_agent_0" name="hand_over_to_agent".*?</select>`)

// TestAgentsThatTakeOver are chosen among the account's other agents, and one that is gone stays until another is chosen.
func TestAgentsThatTakeOver(t *testing.T) {
	s := agentSite(t).SignIn()
	a := makeAgent(s, s.Account, lola)
	at := "/app/agents/" + a.ID
	if alone := s.Get(at).Body; !strings.Contains(alone, "The account has no other agent yet.") {
		t.Error("nothing says that there is no other agent")
	}
	max := makeAgent(s, s.Account, store.Agent{Name: "Max <b>", Voice: "M1", Language: "en"})
	other, err := ledger.New(s.DB).OwnAccount(t.Context(), s.NewUser("b@example.com", people.RoleMember), "Other", billing.DefaultRateCard())
	s.OK(err)
	theirs := makeAgent(s, other.ID, lola)
	page := s.Get(at).Body
	choices := successorChoices.FindString(page)
	if !strings.Contains(choices, `<option value="`+max.ID+`">Max &lt;b&gt;</option>`) || strings.Contains(choices, a.ID) || strings.Contains(choices, theirs.ID) {
		t.Errorf("offered are %s", choices)
	}
	fields := with(with(entries(page), "hand_over_to_agent", max.ID), "hand_over_to_name", "Billing")
	if w := s.Post(at, fields...); w.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Status, w.Body)
	}
	saved, err := s.DB.Agent(t.Context(), s.Account, a.ID)
	s.OK(err)
	var settings struct {
		To json.RawMessage `json:"hand_over_to"`
	}
	if err := json.Unmarshal(saved.Settings, &settings); err != nil || !sameJSON(t, settings.To, json.RawMessage(`[{"agent":"`+max.ID+`","name":"Billing"}]`)) {
		t.Errorf("%s, %v", saved.Settings, err)
	}
	page = s.Get(at).Body
	if choices := successorChoices.FindString(page); !strings.Contains(choices, `<option value="`+max.ID+`" selected>Max`) {
		t.Errorf("chosen is not %s: %s", max.ID, choices)
	}
	if w := s.Post("/app/agents/" + max.ID + "/delete"); w.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Status, w.Body)
	}
	page = s.Get(at).Body
	if choices := successorChoices.FindString(page); !strings.Contains(choices, `<option value="`+max.ID+`" selected>`+max.ID+` (deleted)</option>`) {
		t.Errorf("what was deleted is not shown: %s", choices)
	}
	if w := s.Post(at, entries(page)...); w.Status != http.StatusSeeOther || !strings.Contains(s.Get(at).Body, "Nothing was changed.") {
		t.Errorf("what was deleted does not stay: %d", w.Status)
	}
}
