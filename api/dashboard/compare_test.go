package dashboard_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	routes "parley/api/cases"
	"parley/api/dashboard/dashboardtest"
	"parley/api/wire"
	"parley/billing"
	"parley/store/history"
	"parley/store/ledger"
)

// fakeComparison stands for a replay: it says what it was asked to compare.
func fakeComparison(record []byte, of, other any) (wire.ComparedCall, error) {
	if string(record) == "broken" {
		return wire.ComparedCall{Outcome: "unreadable", Turns: []wire.ComparedTurn{}}, nil
	}
	then, now := int64(430), int64(890)
	return wire.ComparedCall{Outcome: "differs", TurnsTotal: 4, EndedThen: "user_hangup", EndedNow: "max_duration", Unheard: 1, Turns: []wire.ComparedTurn{
		{Then: &wire.TurnSide{Turn: 1, Heard: "when do you open", Said: fmt.Sprint(other), LatencyMS: &then, Interrupted: true}, Now: &wire.TurnSide{Turn: 1, Heard: "when do you open", Said: fmt.Sprint(of), LatencyMS: &now, Functions: []string{"hours"}}},
		{Then: &wire.TurnSide{Turn: 2, Heard: hostile}}}}, nil
}

// fakeModels stand for models: they say who is asked.
type fakeModels struct{ of routes.Asking }

func askFakes(_ context.Context, o routes.Asking) (routes.Asked, error) { return fakeModels{o}, nil }

func (f fakeModels) Answer(record []byte, _ map[string]string) ([]wire.ComparedAnswer, int) {
	if string(record) == "broken" {
		return []wire.ComparedAnswer{}, 0
	}
	none := []wire.ComparedFunction{}
	a := wire.ComparedAnswer{Turn: 1, Heard: "when do you open", Recorded: wire.AnswerSide{Text: "At ten.", Functions: []wire.ComparedFunction{{Name: "hours", Recorded: true}}},
		Now: wire.AnswerSide{Text: fmt.Sprint("I am ", f.of.Of), Functions: []wire.ComparedFunction{{Name: "lookup", Arguments: hostile}}}, Differs: true}
	b := wire.ComparedAnswer{Turn: 2, Heard: hostile, Recorded: wire.AnswerSide{Text: "Bye.", Functions: none}, Now: wire.AnswerSide{Functions: none, Failed: true}}
	if f.of.Other != nil {
		a.Then, b.Then = &wire.AnswerSide{Text: fmt.Sprint("I was ", f.of.Other), Functions: none}, &b.Recorded
	}
	return []wire.ComparedAnswer{a, b}, 3
}

func (fakeModels) Close() (in, out int64, stopped string) { return 8120, 460, "time" }

// recordCall stores a call of an agent that can be conducted again from record.
func recordCall(s *dashboardtest.Site, agent, record string) string {
	s.T.Helper()
	l := ledger.New(s.DB)
	node, _, err := l.RegisterNode(s.T.Context(), "recording", "127.0.0.1:1")
	s.OK(err)
	c, err := l.StartSession(s.T.Context(), ledger.Start{Node: node, Account: s.Account, Agent: agent, Terms: billing.Terms{Kind: billing.Web}, Card: billing.DefaultRateCard()})
	s.OK(err)
	_, err = l.CloseSession(s.T.Context(), c, ledger.Closing{Reason: "user_hangup"})
	s.OK(err)
	s.OK(history.New(s.DB).SaveConversation(s.T.Context(), s.Account, c.ID, history.Conversation{Replay: []byte(record)}))
	return c.ID
}

// TestComparingOnCalls: versions, and a draft, are compared on recorded calls, and each turn that differs is shown beside what it was.
func TestComparingOnCalls(t *testing.T) {
	s := agentSite(t).SignIn()
	a := makeAgent(s, s.Account, lola)
	at := "/app/agents/" + a.ID + "/compare"
	if page := s.Get(at); page.Status != http.StatusOK || strings.Contains(page.Body, "No recorded calls") {
		t.Errorf("before anything is asked: %d", page.Status)
	}
	if page := s.Get(at + "?calls=5").Body; !strings.Contains(page, "No recorded calls") {
		t.Errorf("without recorded calls: %s", page)
	}
	first, second := recordCall(s, a.ID, "broken"), recordCall(s, a.ID, "record")
	changed := *a
	changed.Prompt = "Another."
	_, err := s.DB.UpdateAgent(t.Context(), s.Account, changed)
	s.OK(err)
	page := html.UnescapeString(s.Get(at + "?version=1&against=2&calls=5").Body)
	for _, want := range []string{"/app/calls/" + first, "/app/calls/" + second, "Cannot be replayed", "2 of 4 turns differ", "The caller hung up → It took too long", "version 1</p>", "version 2</p>", "430 ms", "890 ms",
		"Interrupted", "<code>hours</code>", "no such turn", "1 reply was not in the record", `<option value="1" selected>Version 1</option>`, "Version 2 (current)"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	if page := s.Get(at + "?version=&against=&calls=1").Body; !strings.Contains(page, "&lt;nil&gt;</p>") || !strings.Contains(page, "version 2</p>") || strings.Contains(page, first) {
		t.Errorf("with the calls as they were: %s", page)
	}
	if strings.Contains(page, "I am") {
		t.Error("opening a page asks models")
	}
	page = html.UnescapeString(s.Post(at, "version", "1", "against", "2", "calls", "5", "models", "asked").Body)
	for _, want := range []string{"I am version 1</p>", "I was version 2</p>", "At ten.</p>", `<th scope="col">Version 2</th><th scope="col">Version 1</th>`, "<code>hours</code>", "Would call</span> <code>lookup", "No answer",
		"1 of 2 answers differ", "The models read 8120 tokens and wrote 460. 3 turns are left out: there was no time for them.", "Turn-taking"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	if page := s.Post(at, "version", "", "against", "", "calls", "5", "models", "recorded").Body; strings.Contains(page, "I am") || !strings.Contains(page, "2 of 4 turns differ") || !strings.Contains(page, `<option value="recorded" selected>`) {
		t.Errorf("without asking models: %s", page)
	}
	if w := s.Post(at, "version", "x", "against", "", "calls", "5"); w.Status != http.StatusUnprocessableEntity {
		t.Errorf("a version that is none: %d", w.Status)
	}
	draft := s.Post(at, with(entries(s.Get("/app/agents/"+a.ID).Body), "name", "Not saved")...)
	if draft.Status != http.StatusOK || !strings.Contains(draft.Body, "the draft</p>") || !strings.Contains(draft.Body, "Draft, not saved") || !strings.Contains(draft.Body, "I am the draft") || !strings.Contains(draft.Body, `<th scope="col">Draft</th>`) {
		t.Errorf("a draft: %d %s", draft.Status, draft.Body)
	}
	if wrong := s.Post(at, with(entries(s.Get("/app/agents/"+a.ID).Body), "name", " ")...); wrong.Status != http.StatusUnprocessableEntity || !strings.Contains(wrong.Body, `id="name-error"`) {
		t.Errorf("a draft with a mistake: %d", wrong.Status)
	}
	for _, query := range []string{"?calls=99", "?calls=x", "?calls=5&version=x"} {
		if w := s.Get(at + query); w.Status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", query, w.Status)
		}
	}
	if w := s.Get(at + "?calls=5&version=9"); w.Status == http.StatusOK {
		t.Errorf("a version that never was: %d", w.Status)
	}
	if w := s.Get("/app/agents/ag_0/compare?calls=5"); w.Status != http.StatusNotFound {
		t.Errorf("a foreign agent: %d", w.Status)
	}
}

func comparesAgent(_ *world, b *dashboardtest.Tab) {
	b.Skip()
	b.Says("2 of 4 turns differ")
	b.TabTo("#against")
	b.Press("V") // Version
	b.TabTo("main form .primary")
	b.Press(kb.Enter)
	b.Wait(`!location.search && document.readyState === "complete"`)
	b.Says("I am version")
	b.Says("Would call")
	b.Says("no such turn")
	b.Accessible()
}
