package node

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/cmd/parley/config"
	"parley/cmd/parley/conversation"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/session"
	"parley/pipeline/tool/crm/crmtest"
	"parley/sip/simulated"
	"parley/store/ledger"
	"parley/store/ledger/statement"
	"parley/store/numbers"
	"parley/store/storetest"
)

const functionSecret = "pat-hunter2-hunter2"

// functions gives the agent of a number the functions that this server runs, all
// against fakes on loopback.
func (d *desk) functions(number string, h *crmtest.HubSpot, service, search string) {
	d.Helper()
	now := time.Now()
	n := d.node
	n.cfg.ToolAllow, n.cfg.SearchURL, n.cfg.SearchAPIKey = []string{"127.0.0.0/8"}, search, "search-hunter2"
	d.ok(n.openFunctions("a master secret of a test, long enough"))
	n.after.Databases, n.maker.Tools = n.tools, n.tools
	_, err := n.secrets.Put(storetest.At(d.Context(), now), d.who.Account, "HUBSPOT", functionSecret, nil)
	d.ok(err)
	route, err := numbers.New(n.db).Route(d.Context(), number)
	d.ok(err)
	agent, err := n.db.Agent(d.Context(), d.who.Account, *route.Agent)
	d.ok(err)
	agent.Tools = json.RawMessage(fmt.Sprintf(`[{"type":"crm","crm":{"provider":"hubspot","url":%q,"api_key":"{{secret.HUBSPOT}}"}},{"type":"web_search"},
		{"type":"http","name":"order","parameters":{"type":"object","properties":{"id":{"type":"string"}}},
			"http":{"method":"GET","url":"%s/{id}","headers":{"Authorization":"Bearer {{secret.HUBSPOT}}"}}}]`, h.URL, service))
	_, err = n.db.UpdateAgent(d.Context(), d.who.Account, *agent)
	d.ok(err)
}

// TestFunctionsOnTheTelephone: a caller is looked up twice, the web searched twice, of
// which one search finds nothing, an order asked for; then the call is noted, by somebody
// who dies, and by somebody else. What is charged is one search and one call in the
// customer database.
func TestFunctionsOnTheTelephone(t *testing.T) {
	t.Parallel()
	logs := new(logged)
	d := deskLogged(t, storetest.URL(t), slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})), func(*config.Config) {})
	h := crmtest.New(t, functionSecret)
	ana := h.AddContact(map[string]string{"firstname": "Ana", "phone": "+34600123456"})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/search") && r.FormValue("q") == "nothing":
			_, _ = io.WriteString(w, `{"results":[]}`)
		case strings.HasPrefix(r.URL.Path, "/search"):
			_, _ = io.WriteString(w, `{"results":[{"title":"One","url":"https://one.example","snippet":"The first."}]}`)
		default:
			_, _ = io.WriteString(w, "order "+r.URL.Path+" of "+r.Header.Get("Authorization"))
		}
	}))
	defer service.Close()
	number, model := d.keyed(`{"speculative_llm":false}`, "crm_lookup", `{}`)
	d.functions(number, h, service.URL, service.URL+"/search")
	call := func(name, arguments string) enginetest.Step {
		return enginetest.Step{Tool: &inference.ToolCall{Name: name, Arguments: arguments}}
	}
	model.Replies = [][]enginetest.Step{
		{call("crm_lookup", `{}`), call("web_search", `{"query":"one"}`), call("order", `{"id":"7"}`)},
		{call("crm_lookup", `{"phone":"+34911111111"}`), call("web_search", `{"query":"nothing"}`)},
		{{Text: "Goodbye."}, call("end_call", "")},
	}
	if r := d.phones(number, simulated.PhoneConfig{Wait: time.Minute}); !r.FarEnd {
		t.Error("the agent did not hang up")
	}
	c := d.history(1)[0]
	results := map[string]bool{}
	calls := model.Calls()
	for _, m := range calls[len(calls)-1].Request.Messages {
		results[m.Text] = true
	}
	for _, want := range []string{`{"found":true,"contact":{"id":"` + ana + `","name":"Ana","phone":"+34600123456"}}`, "1. One: The first. (https://one.example)",
		`{"status":200,"body":"order /7 of Bearer (secret)"}`, `{"found":false}`, `{"error":"the search found nothing"}`} {
		if !results[want] {
			t.Errorf("the model was not told %s but %v", want, results)
		}
	}

	h.LoseAnswers(1)
	d.ok(d.node.after.NoteCalls(d.Context()))
	if n := len(h.Calls()); n != 1 {
		t.Fatalf("%d calls are noted", n)
	}
	d.ok(d.node.after.NoteCalls(storetest.At(d.Context(), d.node.db.Now().Add(time.Hour))))
	d.ok(d.node.after.NoteCalls(d.Context()))
	noted := h.Calls()
	if len(noted) != 1 || fmt.Sprint(noted[0].Contacts) != fmt.Sprint([]string{ana}) || noted[0].Properties["hs_call_direction"] != "INBOUND" ||
		!strings.Contains(noted[0].Properties["hs_call_body"], "agent: Hello.") {
		t.Errorf("%+v", noted)
	}
	r, err := statement.ReadReceipt(d.Context(), d.node.db, d.who.Account, c.ID)
	d.ok(err)
	for _, line := range r.Lines {
		if (line.Component == billing.CRMCalls.String() || line.Component == billing.WebSearches.String()) && line.Quantity != 1 {
			t.Errorf("%d of %s are charged", line.Quantity, line.Component)
		}
	}
	if got := d.charged(c.ID); !strings.Contains(got, "crm") || !strings.Contains(got, "web_search") {
		t.Errorf("charged are %s", got)
	}
	d.verified()
	if strings.Contains(logs.String(), "hunter2") {
		t.Errorf("the log holds a secret:\n%s", logs.String())
	}
}

// TestNotedOnly: a call that was not looked up is charged when it is noted, by a request
// in the call's trace; one that the database refuses is not.
func TestNotedOnly(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := crmtest.New(t, functionSecret)
	d.functions(deskNumber, h, "http://127.0.0.1:1", "http://127.0.0.1:1")
	agent, err := d.node.db.Agent(t.Context(), d.who.Account, d.agent)
	d.ok(err)
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for range 2 {
		session, err := d.node.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.who.Account, Agent: d.agent, From: "+34600123456", To: deskNumber,
			Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
		d.ok(err)
		plan := conversation.PlanOf(agent, d.node.log)
		_, functions, err := d.node.maker.Make(t.Context(), session, &plan, conversation.Options{Rate: media.Rate8k, Other: "+34600123456", Parent: trace, Change: func(*pipeline.Config, bool) {}})
		d.ok(err)
		functions.Close()
		session.Begin()
		session.End(media.Ended{Reason: media.UserHangup})
	}
	list := d.history(2)
	h.Fail(400) // the look-up of the one that is noted first
	d.ok(d.node.after.NoteCalls(d.Context()))
	d.ok(d.node.after.NoteCalls(d.Context()))
	if noted := h.Calls(); len(noted) != 1 || noted[0].Trace != trace {
		t.Errorf("%+v are noted, want one in the trace of its call", noted)
	}
	charged := 0
	for _, c := range list {
		if strings.Contains(d.charged(c.ID), billing.CRMCalls.String()) {
			charged++
		}
	}
	if charged != 1 {
		t.Errorf("%d calls are charged", charged)
	}
	d.verified()
}
