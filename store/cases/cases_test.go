package cases_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/cases"
	"parley/store/ledger"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

type fixture struct {
	*testing.T
	*cases.Store
	db     *store.DB
	queued []string
}

func setup(t *testing.T) *fixture {
	t.Parallel()
	f := &fixture{T: t, db: storetest.New(t)}
	f.Store = cases.New(f.db)
	f.ok(f.db.PutRateCard(t.Context(), billing.DefaultRateCard()))
	return f
}

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) is(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Errorf("%v, want %v", err, want)
	}
}

// agent makes an account with an agent.
func (f *fixture) agent() (account, agent string) {
	f.Helper()
	owner, err := ledger.New(f.db).CreateAccount(f.Context(), "a", billing.DefaultRateCard())
	f.ok(err)
	account = owner.ID
	a, err := f.db.CreateAgent(f.Context(), account, store.Agent{Name: "Ana", Voice: "F1", Language: "en", Tools: json.RawMessage("[]"), Settings: json.RawMessage("{}")})
	f.ok(err)
	return account, a.ID
}

func (f *fixture) add(account, agent, name string) *cases.Case {
	f.Helper()
	c, err := f.Create(f.Context(), account, cases.Case{Agent: agent, Name: name, Script: json.RawMessage(`{"runs":2}`)})
	f.ok(err)
	return c
}

func (f *fixture) simulate(o cases.Order) (*cases.Simulation, error) {
	o.Count = func(json.RawMessage) int { return 2 }
	return f.Simulate(f.Context(), o, func(a *store.Agent) any { return map[string]string{"name": a.Name} }, func(_ context.Context, _ pgx.Tx, _, id string) error {
		f.queued = append(f.queued, id)
		return nil
	})
}

// TestCases: an agent's own, by name only once, of nobody else, bounded, and gone with it.
func TestCases(t *testing.T) {
	f := setup(t)
	ctx := t.Context()
	account, agent := f.agent()
	other, _ := f.agent()
	c := f.add(account, agent, " Booking ")
	f.add(account, agent, "Hours")
	_, err := f.Create(ctx, account, cases.Case{Agent: agent, Name: "Booking", Script: json.RawMessage(`{}`)})
	f.is(err, cases.ErrName)
	_, err = f.Create(ctx, other, cases.Case{Agent: agent, Name: "x", Script: json.RawMessage(`{}`)})
	f.is(err, store.ErrNotFound)
	for _, wrong := range []cases.Case{{Name: "", Script: json.RawMessage(`{}`)}, {Name: "a\nb", Script: json.RawMessage(`{}`)}, {Name: "x", Script: json.RawMessage(`{`)},
		{Name: "x", Script: append(json.RawMessage(`""`), make([]byte, cases.MaxScript)...)}} {
		wrong.Agent = agent
		_, err = f.Create(ctx, account, wrong)
		f.is(err, store.ErrInvalid)
	}
	c.Name = "Hours"
	_, err = f.Replace(ctx, account, *c)
	f.is(err, cases.ErrName)
	c.Name = "Table"
	_, err = f.Replace(ctx, other, *c)
	f.is(err, store.ErrNotFound)
	changed, err := f.Replace(ctx, account, *c)
	f.ok(err)
	if changed.Name != "Table" || string(changed.Script) != `{"runs":2}` {
		t.Errorf("%+v", changed)
	}
	list, err := f.Cases(ctx, account, agent, store.Page{})
	f.ok(err)
	if len(list) != 2 || list[0].Name != "Hours" {
		t.Errorf("%+v", list)
	}
	_, err = f.Cases(ctx, other, agent, store.Page{})
	f.is(err, store.ErrNotFound)
	_, err = f.Case(ctx, other, agent, c.ID)
	f.is(err, store.ErrNotFound)
	f.is(f.Delete(ctx, other, agent, c.ID), store.ErrNotFound)
	f.ok(f.Delete(ctx, account, agent, c.ID))
	for i := range cases.MaxCases - 1 {
		f.add(account, agent, fmt.Sprint(i))
	}
	_, err = f.Create(ctx, account, cases.Case{Agent: agent, Name: "one more", Script: json.RawMessage(`{}`)})
	f.is(err, store.ErrInvalid)
	f.ok(f.db.DeleteAgent(ctx, account, agent, 0))
	left, err := store.Value[int](ctx, f.db, "count", "select count(*) from agent_cases")
	f.ok(err)
	if left != 0 {
		t.Errorf("%d are left", left)
	}
}

// TestSimulations: cases are kept as they were, each outcome is stored once and by the latest
// claimant, and one that is canceled keeps what was done.
func TestSimulations(t *testing.T) {
	f := setup(t)
	ctx := t.Context()
	account, agent := f.agent()
	other, _ := f.agent()
	_, err := f.simulate(cases.Order{Account: account, Agent: agent})
	f.is(err, store.ErrInvalid) // no cases
	a, b := f.add(account, agent, "A"), f.add(account, agent, "B")
	for _, o := range []cases.Order{{Account: account, Agent: agent, Cases: []string{a.ID, "case_x"}}, {Account: account, Agent: agent, Runs: 51}} {
		_, err := f.simulate(o)
		f.is(err, store.ErrInvalid)
	}
	_, err = f.simulate(cases.Order{Account: other, Agent: agent})
	f.is(err, store.ErrNotFound)
	s, err := f.simulate(cases.Order{Account: account, Agent: agent})
	f.ok(err)
	if len(f.queued) != 1 || s.State != cases.Queued || s.Cases != 2 || s.Draft || s.Version != 1 {
		t.Fatalf("%+v, queued %v", s, f.queued)
	}
	f.ok(f.Delete(ctx, account, agent, b.ID)) // it is run as it was
	old, err := f.Claim(ctx, account, s.ID)
	f.ok(err)
	_, err = f.Claim(ctx, other, s.ID)
	f.is(err, store.ErrNotFound)
	c, err := f.Claim(ctx, account, s.ID)
	f.ok(err)
	if string(c.Agent) != `{"name":"Ana"}` {
		t.Errorf("tries %s", c.Agent)
	}
	out := cases.Outcome{Ordinal: 0, Runs: 2, Failed: 1, Results: json.RawMessage(`[{},{}]`), InTokens: 30, OutTokens: 4}
	f.is(f.Save(ctx, old, out), store.ErrFenced)
	f.ok(f.Save(ctx, c, out))
	f.is(f.Save(ctx, c, out), store.ErrFenced)
	if goes, err := f.Goes(ctx, old); err != nil || goes {
		t.Errorf("the old claimant goes on: %v", err)
	}
	f.is(f.Cancel(ctx, other, s.ID), store.ErrNotFound)
	f.ok(f.Cancel(ctx, account, s.ID))
	if goes, err := f.Goes(ctx, c); err != nil || goes {
		t.Errorf("a canceled one goes on: %v", err)
	}
	out.Ordinal = 1
	f.ok(f.Save(ctx, c, out)) // what was done is kept, and will be charged
	f.ok(f.End(ctx, c, cases.Done, ""))
	s, err = f.Simulation(ctx, account, s.ID)
	f.ok(err)
	if s.State != cases.Canceled || s.EndedAt == nil || s.Ran != 2 || s.Unmet != 2 || s.InTokens != 60 || s.OutTokens != 8 {
		t.Errorf("%+v", s)
	}
	runs, err := f.Runs(ctx, account, s.ID)
	f.ok(err)
	if len(runs) != 2 || runs[0].Name != "A" || runs[0].Script != nil || runs[1].CaseID != b.ID || string(runs[0].Results) != `[{},{}]` {
		t.Errorf("%+v", runs)
	}
	if runs, err := f.Runs(ctx, other, s.ID); err != nil || len(runs) != 0 {
		t.Errorf("another account reads %v %v", runs, err)
	}
}

// TestFewAtOnce: an account has a number of unfinished ones, and an agent keeps a number of ended ones.
func TestFewAtOnce(t *testing.T) {
	f := setup(t)
	account, agent := f.agent()
	f.add(account, agent, "A")
	for i := range 104 {
		s, err := f.simulate(cases.Order{Account: account, Agent: agent, Draft: map[string]int{"n": i}})
		f.ok(err)
		if i < 99 {
			f.ok(f.Cancel(t.Context(), account, s.ID))
		}
	}
	_, err := f.simulate(cases.Order{Account: account, Agent: agent})
	f.is(err, cases.ErrTooMany)
	list, err := f.Simulations(t.Context(), account, agent, store.Page{})
	f.ok(err)
	if len(list) != 100 || list[0].State != cases.Queued || !list[0].Draft {
		t.Errorf("%d are kept", len(list))
	}
}

// TestLatest: the newest run of each case of the stored agent counts, and drafts and runs that were not made do not.
func TestLatest(t *testing.T) {
	f := setup(t)
	ctx := t.Context()
	account, agent := f.agent()
	other, _ := f.agent()
	a, b, unrun := f.add(account, agent, "A"), f.add(account, agent, "B"), f.add(account, agent, "C")
	now := time.Now()
	run := func(o cases.Order, runs, failed int) string {
		t.Helper()
		now = now.Add(time.Second) // identifiers begin with the time
		o.Account, o.Agent, o.Count = account, agent, func(json.RawMessage) int { return 1 }
		s, err := f.Simulate(storetest.At(ctx, now), o, func(a *store.Agent) any { return a.Name }, func(context.Context, pgx.Tx, string, string) error { return nil })
		f.ok(err)
		c, err := f.Claim(ctx, account, s.ID)
		f.ok(err)
		for i := range o.Cases {
			f.ok(f.Save(ctx, c, cases.Outcome{Ordinal: i, Runs: runs, Failed: failed, Results: json.RawMessage(`[]`)}))
		}
		f.ok(f.End(ctx, c, cases.Done, ""))
		return s.ID
	}
	run(cases.Order{Cases: []string{a.ID}}, 2, 2)
	first := run(cases.Order{Cases: []string{b.ID}}, 2, 1)
	second := run(cases.Order{Cases: []string{a.ID}}, 3, 0)
	run(cases.Order{Cases: []string{a.ID, b.ID}, Draft: map[string]int{}}, 1, 1)
	run(cases.Order{Cases: []string{b.ID, unrun.ID}}, 0, 0)
	latest, err := f.Latest(ctx, account, agent)
	f.ok(err)
	got := map[string]cases.Latest{}
	for _, l := range latest {
		l.At = time.Time{}
		got[l.CaseID] = l
	}
	if want := (map[string]cases.Latest{a.ID: {CaseID: a.ID, Simulation: second, Version: 1, Runs: 3}, b.ID: {CaseID: b.ID, Simulation: first, Version: 1, Runs: 2, Failed: 1}}); !maps.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if latest, err := f.Latest(ctx, other, agent); err != nil || len(latest) != 0 {
		t.Errorf("another account reads %v %v", latest, err)
	}
}
