package cases_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"parley/api"
	"parley/api/apitest"
	routes "parley/api/cases"
	"parley/api/export"
	"parley/api/manage"
	"parley/api/ticket"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/cases"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// TestRoutes: cases and simulations of an account's own agents, checked and paged; those of
// another account are not there.
func TestRoutes(t *testing.T) {
	o := apitest.Open(t, apitest.Options{})
	signer, err := ticket.NewSigner("a master secret of a test, long enough")
	o.OK(err)
	a, kept := api.New(ticket.Keys{Signer: signer, Store: o.DB, People: o.People}), cases.New(o.DB)
	queued := 0
	manage.Mount(a, o.DB, export.New(o.DB), manage.Definition{New: func() store.Agent { return store.Agent{} }, Schema: json.RawMessage(`{"type":"object"}`)}) // describes agents
	routes.Mount(a, routes.Options{Store: kept, Runs: func(json.RawMessage) int { return 1 },
		Enqueue: func(context.Context, pgx.Tx, string, string) error { queued++; return nil },
		Check: func(script json.RawMessage) error {
			if strings.Contains(string(script), "shout") {
				return api.Bad("script.caller[0].shout: is not known")
			}
			return nil
		},
		Draft: func(document json.RawMessage) (any, error) {
			if strings.Contains(string(document), "F9") {
				return nil, api.ErrVoice
			}
			return document, nil
		},
		Stored: func(a *store.Agent) any { return a.Name }})
	o.Serve(a, api.Options{})

	agent := "/v1/agents/" + o.A.Agent
	const hours = `{"name":"Hours","script":{"caller":[{"say":"When?"}]}}`
	made := o.As(o.A, "POST", agent+"/cases", hours)
	o.Want("make", made, 201, "")
	var c wire.Case
	o.OK(json.Unmarshal(made.Body, &c))
	o.Want("the name again", o.As(o.A, "POST", agent+"/cases", hours), 400, "validation.invalid_request_format")
	wrong := o.As(o.A, "POST", agent+"/cases", `{"name":"x","script":{"caller":[{"shout":"a"}]}}`)
	if o.Want("a mistake", wrong, 400, "validation.invalid_request_format"); !strings.Contains(string(wrong.Body), "script.caller[0].shout") {
		t.Errorf("%s", wrong.Body)
	}
	one := agent + "/cases/" + c.ID
	o.Want("replace", o.As(o.A, "PUT", one, `{"name":"Times","script":{"caller":[{"say":"When then?"}]}}`), 200, "")
	var list api.List[wire.Case]
	if o.Read(o.A, agent+"/cases", &list); len(list.Data) != 1 || list.Data[0].Name != "Times" || !strings.Contains(string(list.Data[0].Script.RawMessage), "When then?") {
		t.Errorf("%+v", list)
	}

	asked := o.As(o.A, "POST", agent+"/simulations", `{"cases":["`+c.ID+`"],"definition":{"name":"draft"}}`)
	o.Want("simulate", asked, 202, "")
	var s wire.SimulationDetail
	o.OK(json.Unmarshal(asked.Body, &s))
	if queued != 1 || !s.Draft || s.State != "queued" || s.Total != 1 || s.OK {
		t.Errorf("%s, %d queued", asked.Body, queued)
	}
	for body, code := range map[string]string{`{"cases":["case_x"]}`: "validation.invalid_request_format", `{"runs":101}`: "validation.invalid_request_format",
		`{"definition":{"name":"a","voice":"F9"}}`: "validation.invalid_voice"} {
		o.Want(body, o.As(o.A, "POST", agent+"/simulations", body), 400, code)
	}
	claimed, err := kept.Claim(t.Context(), o.A.Account, s.ID)
	o.OK(err)
	o.OK(kept.Save(t.Context(), claimed, cases.Outcome{Runs: 1, Results: json.RawMessage(`[{"run":1,"ok":true,"ended":"user_hangup","checks":[{"expected":"a","ok":true}],"transcript":[{"at_ms":1,"role":"agent","text":"Nine."}],"functions":[],"turns":[]}]`)}))
	o.OK(kept.End(t.Context(), claimed, cases.Done, ""))
	o.Want("cancel what has ended", o.As(o.A, "POST", "/v1/simulations/"+s.ID+"/cancel", ""), 200, "")
	if o.Read(o.A, "/v1/simulations/"+s.ID, &s); !s.OK || s.State != "done" || len(s.Cases) != 1 || !*s.Cases[0].OK || s.Cases[0].Results[0].Transcript[0].Text != "Nine." {
		t.Errorf("%+v", s)
	}
	var simulations api.List[wire.Simulation]
	if o.Read(o.A, agent+"/simulations", &simulations); len(simulations.Data) != 1 {
		t.Errorf("%+v", simulations)
	}
	for _, r := range [][3]string{{"GET", agent + "/cases", ""}, {"POST", agent + "/cases", hours}, {"POST", agent + "/simulations", `{}`}, {"GET", agent + "/simulations", ""}} {
		o.Want("another's "+r[0]+" "+r[1], o.As(o.B, r[0], r[1], r[2]), 404, "agent.not_found")
	}
	for _, r := range [][3]string{{"GET", one, ""}, {"PUT", one, hours}, {"DELETE", one, ""}, {"GET", "/v1/simulations/" + s.ID, ""}, {"POST", "/v1/simulations/" + s.ID + "/cancel", ""}} {
		o.Want("another's "+r[0]+" "+r[1], o.As(o.B, r[0], r[1], r[2]), 404, "request.not_found")
	}
	o.Want("delete", o.As(o.A, "DELETE", one, ""), 204, "")
	o.Want("delete again", o.As(o.A, "DELETE", one, ""), 404, "request.not_found")
}

// fakeModels stand for models: they say what was recorded.
type fakeModels struct{}

func (fakeModels) Answer(record []byte, _ map[string]string) ([]wire.ComparedAnswer, int) {
	none := []wire.ComparedFunction{}
	return []wire.ComparedAnswer{{Turn: 1, Recorded: wire.AnswerSide{Functions: none}, Now: wire.AnswerSide{Text: string(record), Functions: none}, Differs: true}}, 1
}

func (fakeModels) Close() (in, out int64, stopped string) { return 70, 7, "turns" }

// TestComparisons: the latest recorded calls of an agent are compared, each with the agents that were meant; those of other
// accounts are not there.
func TestComparisons(t *testing.T) {
	o := apitest.Open(t, apitest.Options{})
	signer, err := ticket.NewSigner("a master secret of a test, long enough")
	o.OK(err)
	a := api.New(ticket.Keys{Signer: signer, Store: o.DB, People: o.People})
	manage.Mount(a, o.DB, export.New(o.DB), manage.Definition{New: func() store.Agent { return store.Agent{} }, Schema: json.RawMessage(`{"type":"object"}`)}) // describes agents
	var seen []string
	var opened []routes.Asking
	routes.MountComparisons(a, routes.Comparing{Agents: o.DB, Calls: history.New(o.DB),
		Draft: func(document json.RawMessage) (any, error) {
			if strings.Contains(string(document), "F9") {
				return nil, api.ErrVoice
			}
			return "draft", nil
		},
		Stored: func(a *store.Agent) any { return fmt.Sprint("version ", a.Version) },
		Compare: func(record []byte, of, other any) (wire.ComparedCall, error) {
			seen = append(seen, fmt.Sprintf("%s: %v, %v", record, of, other))
			return wire.ComparedCall{Outcome: "same", Turns: []wire.ComparedTurn{}}, nil
		},
		Ask: func(_ context.Context, order routes.Asking) (routes.Asked, error) {
			if order.Other == "version 2" {
				return nil, store.ErrInsufficientBalance
			}
			opened = append(opened, order)
			return fakeModels{}, nil
		}})
	o.Serve(a, api.Options{})
	l := ledger.New(o.DB)
	node, _, err := l.RegisterNode(t.Context(), "recording", "127.0.0.1:1")
	o.OK(err)
	var ids []string
	for _, record := range []string{"one", "two"} {
		c, err := l.StartSession(t.Context(), ledger.Start{Node: node, Account: o.A.Account, Agent: o.A.Agent, Terms: billing.Terms{Kind: billing.Web}, Card: billing.DefaultRateCard()})
		o.OK(err)
		o.OK(history.New(o.DB).SaveConversation(t.Context(), o.A.Account, c.ID, history.Conversation{Replay: []byte(record)}))
		ids = append(ids, c.ID)
	}
	at := "/v1/agents/" + o.A.Agent + "/compare"
	for body, want := range map[string]string{
		`{}`:          "two: version 1, <nil>; one: version 1, <nil>",
		`{"calls":1}`: "two: version 1, <nil>",
		`{"calls":1,"definition":{"name":"x"},"against":1}`: "two: draft, version 1",
		`{"calls":1,"version":1}`:                           "two: version 1, <nil>",
	} {
		seen = nil
		r := o.As(o.A, "POST", at, body)
		o.Want(body, r, 200, "")
		var got wire.Comparison
		o.OK(json.Unmarshal(r.Body, &got))
		if strings.Join(seen, "; ") != want || len(got.Calls) != len(seen) || got.Calls[0].CallID != ids[1] || got.Calls[0].StartedAt.IsZero() {
			t.Errorf("%s: %q, want %q: %s", body, seen, want, r.Body)
		}
	}
	if asked := opened[0]; len(opened) != 4 || asked.Account != o.A.Account || asked.Agent != o.A.Agent || asked.Turns != 100 || asked.Calls == 0 {
		t.Errorf("models are asked %d times, at first as %+v", len(opened), asked)
	}
	r := o.As(o.A, "POST", at, `{}`)
	var got wire.Comparison
	o.OK(json.Unmarshal(r.Body, &got))
	if got.InTokens != 70 || got.OutTokens != 7 || got.LeftOut != 2 || got.Stopped != "turns" || got.Calls[0].Outcome != "differs" || len(got.Calls[1].Answers) != 1 || got.Calls[1].Answers[0].Now.Text != "one" {
		t.Errorf("asked: %s", r.Body)
	}
	r = o.As(o.A, "POST", at, `{"models":"recorded"}`)
	if got = (wire.Comparison{}); json.Unmarshal(r.Body, &got) != nil || len(opened) != 5 || got.Calls[0].Outcome != "same" || got.Calls[0].Answers == nil || len(got.Calls[0].Answers) != 0 || got.OutTokens != 0 {
		t.Errorf("not asked: %s", r.Body)
	}
	agentNow, err := o.DB.Agent(t.Context(), o.A.Account, o.A.Agent)
	o.OK(err)
	agentNow.Prompt = "Another."
	_, err = o.DB.UpdateAgent(t.Context(), o.A.Account, *agentNow)
	o.OK(err)
	o.Want("without money", o.As(o.A, "POST", at, `{"against":2}`), 402, "billing.insufficient_balance")
	o.Want("a way to ask that there is not", o.As(o.A, "POST", at, `{"models":"all"}`), 400, "validation.invalid_request_format")
	for body, code := range map[string]string{`{"calls":21}`: "validation.invalid_request_format", `{"definition":{"name":"a","voice":"F9"}}`: "validation.invalid_voice",
		`{"definition":{"name":"a"},"version":1}`: "validation.invalid_request_format"} {
		o.Want(body, o.As(o.A, "POST", at, body), 400, code)
	}
	o.Want("a version that never was", o.As(o.A, "POST", at, `{"version":9}`), 404, "agent.not_found")
	o.Want("another's", o.As(o.B, "POST", at, `{}`), 404, "agent.not_found")
}
