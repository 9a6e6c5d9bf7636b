package ledger_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/statement"
	"parley/store/numbers"
	"parley/store/people"
)

// attempts are what account mine, which has an agent and a number of its own, may
// try on identifiers that it was not given.
func (f *fixture) attempts(mine string, own *store.Agent, ownNumber *numbers.Number, s *ledger.Session) map[string]func(agent, number, key, session string) error {
	ctx := f.Context()
	return map[string]func(agent, number, key, session string) error{
		"read agent": func(a, _, _, _ string) error { _, err := f.Agent(ctx, mine, a); return err },
		"update agent": func(a, _, _, _ string) error {
			c := *own
			c.ID = a
			_, err := f.UpdateAgent(ctx, mine, c)
			return err
		},
		"update agent at a version": func(a, _, _, _ string) error {
			c := *own
			c.ID, c.Version = a, 7
			_, err := f.UpdateAgent(ctx, mine, c)
			return err
		},
		"read version": func(a, _, _, _ string) error { _, err := f.AgentVersion(ctx, mine, a, 1); return err },
		"delete agent": func(a, _, _, _ string) error { return f.DeleteAgent(ctx, mine, a, 0) },
		"start with agent": func(a, _, _, _ string) error {
			r := f.Request(mine, web)
			r.Agent = a
			_, err := f.StartSession(ctx, r)
			return err
		},
		"import to agent": func(a, _, _, _ string) error { _, err := f.Numbers.Import(ctx, mine, "+34911234569", a); return err },
		"assign to agent": func(a, _, _, _ string) error {
			return f.Numbers.Assign(ctx, mine, ownNumber.ID, numbers.Assignment{Agent: &a})
		},
		"read number": func(_, n, _, _ string) error { _, err := f.Numbers.Number(ctx, mine, n); return err },
		"assign number": func(_, n, _, _ string) error {
			return f.Numbers.Assign(ctx, mine, n, numbers.Assignment{Agent: &own.ID})
		},
		"release number":   func(_, n, _, _ string) error { return f.Numbers.Release(ctx, mine, n) },
		"revoke key":       func(_, _, k, _ string) error { return people.New(f.DB).RevokeKey(ctx, mine, k) },
		"read call":        func(_, _, _, s string) error { _, err := history.New(f.DB).Call(ctx, mine, s); return err },
		"read recording":   func(_, _, _, s string) error { _, err := history.New(f.DB).Recording(ctx, mine, s); return err },
		"delete recording": func(_, _, _, s string) error { return history.New(f.DB).DeleteRecording(ctx, mine, s) },
		"forget call":      func(_, _, _, s string) error { return history.New(f.DB).ForgetCall(ctx, mine, s) },
		"read receipt":     func(_, _, _, s string) error { _, err := statement.ReadReceipt(ctx, f.DB, mine, s); return err },
		"save conversation": func(_, _, _, s string) error {
			return history.New(f.DB).SaveConversation(ctx, mine, s, history.Conversation{})
		},
		"save summary": func(_, _, _, s string) error {
			_, err := f.SaveSummary(ctx, mine, s, "x", aftercall.Completion{})
			return err
		},
		"read analysis": func(_, _, _, s string) error { _, err := f.AnalysisOf(ctx, mine, s); return err },
		"save analysis": func(_, _, _, s string) error {
			_, err := f.SaveAnalysis(ctx, &aftercall.DueAnalysis{Account: mine, Session: s}, aftercall.Analysis{State: aftercall.AnalysisSkipped}, nil)
			return err
		},
		"postpone analysis": func(_, _, _, s string) error {
			return f.AnalysisLater(ctx, &aftercall.DueAnalysis{Account: mine, Session: s, Try: 1}, nil, nil)
		},
		"save wire": func(_, _, _, s string) error { return history.New(f.DB).SaveWire(ctx, mine, s, history.Wire{}) },
		"read wire": func(_, _, _, s string) error { _, err := history.New(f.DB).Wire(ctx, mine, s); return err },
		"close session": func(_, _, _, id string) error {
			x := *s
			x.Account, x.ID = mine, id
			_, err := f.CloseSession(ctx, &x, ledger.Closing{Reason: "failed"})
			return err
		},
		"checkpoint of session": func(_, _, _, id string) error {
			x := *s
			x.Account, x.ID = mine, id
			_, err := f.Checkpoint(ctx, ledger.Checkpoint{Session: &x, Seq: 1})
			return err
		},
	}
}

// What is another account's answers exactly like what does not exist.
func TestForeignIsUnknown(t *testing.T) {
	f := setup(t)
	mine, theirs := f.NewAccount(0), f.NewAccount(0)
	agent, own := f.NewAgent(theirs), f.NewAgent(mine)
	number, err := f.Numbers.Import(f.Context(), theirs, "+34911234567", agent.ID)
	f.OK(err)
	ownNumber, err := f.Numbers.Import(f.Context(), mine, "+34911234568", "")
	f.OK(err)
	key, _, err := people.New(f.DB).MakeKey(f.Context(), people.NewKey{Account: theirs, Name: "k", Role: people.RoleMember})
	f.OK(err)
	s := f.Start(theirs, web)
	ctx := f.Context()
	f.OK(history.New(f.DB).BeginRecording(ctx, s.ID, "node"))
	for name, try := range f.attempts(mine, own, ownNumber, s) {
		foreign, unknown := try(agent.ID, number.ID, key.ID, s.ID), try("ag_x", "num_x", "key_x", "ses_x")
		if !errors.Is(foreign, store.ErrNotFound) || unknown == nil || foreign.Error() != unknown.Error() {
			t.Errorf("%s: foreign %v, unknown %v", name, foreign, unknown)
		}
	}
	if _, err := f.Numbers.ByE164(ctx, mine, number.E164); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a foreign number by its digits: %v", err)
	}
	if err := people.New(f.DB).CheckKey(ctx, people.Principal{Account: mine, Key: key.ID}); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("a foreign key: %v", err)
	}
	if rs, err := f.UsageRecords(ctx, mine, s.ID); err != nil || len(rs) != 0 {
		t.Errorf("a foreign receipt: %v, %v", rs, err)
	}
	agents, err1 := f.Agents(ctx, mine, store.Page{})
	numbers, err2 := f.Numbers.Numbers(ctx, mine, store.Page{})
	calls, err3 := history.New(f.DB).Calls(ctx, mine, history.CallPage{})
	keys, err4 := people.New(f.DB).Keys(ctx, mine, store.Page{})
	f.OK(errors.Join(err1, err2, err3, err4))
	if len(agents) != 1 || len(numbers) != 1 || len(calls) != 0 || len(keys) != 0 {
		t.Errorf("lists show %d agents, %d numbers, %d calls, %d keys", len(agents), len(numbers), len(calls), len(keys))
	}
	if a, err := f.Agent(ctx, theirs, agent.ID); err != nil || a.Version != 1 {
		t.Errorf("their agent was touched: %+v, %v", a, err)
	}
	for _, id := range []string{mine, agent.ID, number.ID, key.ID, s.ID} {
		if !regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(id) {
			t.Errorf("%q needs escaping in a URL", id)
		}
	}
}

func TestAgents(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	tools := json.RawMessage(`[{"type":"function","function":{"name":"book","description":"d","parameters":{"z":1,"a":2}}}]`)
	a, err := f.CreateAgent(f.Context(), acc, store.Agent{Name: "Ana", Voice: "F1", Language: "es", Prompt: "Be kind.",
		FirstMessage: "Hola", Tools: tools, Settings: json.RawMessage(`{"speculative_llm":false}`)})
	f.OK(err)
	got, err := f.Agent(f.Context(), acc, a.ID)
	f.OK(err)
	if string(got.Tools) != string(tools) || string(got.Settings) != `{"speculative_llm":false}` || got.Version != 1 || got.Prompt != "Be kind." {
		t.Errorf("%+v", got)
	}
	got.Name = "Eva"
	later := t0.Add(time.Minute)
	two, err := f.UpdateAgent(f.At(later), acc, *got)
	f.OK(err)
	if two.Version != 2 || !two.UpdatedAt.Equal(later) || !two.CreatedAt.Equal(t0) {
		t.Errorf("%+v", two)
	}
	if _, err := f.UpdateAgent(f.At(later), acc, *got); !errors.Is(err, store.ErrVersion) {
		t.Errorf("a change to version 1: %v", err)
	}
	if err := f.DeleteAgent(f.Context(), acc, a.ID, 1); !errors.Is(err, store.ErrVersion) {
		t.Errorf("deleting version 1: %v", err)
	}
	n, err := f.Numbers.Import(f.Context(), acc, "+34911234567", a.ID)
	f.OK(err)
	request := f.Request(acc, web)
	request.Agent = a.ID
	s, err := f.StartSession(f.Context(), request)
	f.OK(err)
	f.OK(f.DeleteAgent(f.Context(), acc, a.ID, 2))
	if n, err = f.Numbers.Number(f.Context(), acc, n.ID); err != nil || n.AgentID != nil {
		t.Errorf("the number of a deleted agent: %+v, %v", n, err)
	}
	if c, err := history.New(f.DB).Call(f.Context(), acc, s.ID); err != nil || *c.Agent != a.ID {
		t.Errorf("the call of a deleted agent: %+v, %v", c, err)
	}
	for name, bad := range map[string]store.Agent{
		"no name":         {},
		"settings a list": {Name: "x", Settings: json.RawMessage(`[]`)},
		"tools an object": {Name: "x", Tools: json.RawMessage(`{}`)},
		"tools null":      {Name: "x", Tools: json.RawMessage(`null`)},
		"broken JSON":     {Name: "x", Tools: json.RawMessage(`[`)},
		"tool type":       {Name: "x", Tools: json.RawMessage(`[{"type":"code","function":{"name":"a"}}]`)},
		"tool name":       {Name: "x", Tools: json.RawMessage(`[{"type":"function","function":{"name":"a b"}}]`)},
		"name twice":      {Name: "x", Tools: json.RawMessage(`[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"a"}}]`)},
		"parameters":      {Name: "x", Tools: json.RawMessage(`[{"type":"function","function":{"name":"a","parameters":[]}}]`)},
		"a zero":          {Name: "x\x00"},
		"a long prompt":   {Name: "x", Prompt: strings.Repeat("a", 100_001)},
		"bad UTF-8":       {Name: "x", Prompt: "\xff"},
	} {
		if _, err := f.CreateAgent(f.Context(), acc, bad); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	f := setup(t)
	a, b := f.NewAccount(0), f.NewAccount(0)
	agent := f.NewAgent(a)
	n, err := f.Numbers.Import(f.Context(), a, "+44 20 7946 0018", "")
	f.OK(err)
	if n.E164 != "+442079460018" || n.Country != "GB" {
		t.Errorf("%+v", n)
	}
	if _, err := f.Numbers.Import(f.Context(), b, "+442079460018", ""); !errors.Is(err, store.ErrNumberTaken) {
		t.Errorf("a number twice: %v", err)
	}
	f.OK(f.Numbers.Assign(f.Context(), a, n.ID, numbers.Assignment{Agent: &agent.ID}))
	r, err := f.Numbers.Route(f.Context(), n.E164)
	f.OK(err)
	if r.Account != a || r.Number != n.ID || *r.Agent != agent.ID || r.Country != "GB" || r.State != numbers.Owned {
		t.Errorf("%+v", r)
	}
	f.OK(f.Numbers.Assign(f.Context(), a, n.ID, numbers.Assignment{Agent: new("")}))
	if r, err = f.Numbers.Route(f.Context(), n.E164); err != nil || r.Agent != nil {
		t.Errorf("unbound: %+v, %v", r, err)
	}
	f.OK(f.Numbers.Release(f.Context(), a, n.ID))
	for name, err := range map[string]error{
		"release again":  f.Numbers.Release(f.Context(), a, n.ID),
		"assign":         f.Numbers.Assign(f.Context(), a, n.ID, numbers.Assignment{Agent: &agent.ID}),
		"route":          func() error { _, err := f.Numbers.Route(f.Context(), n.E164); return err }(),
		"for an unknown": func() error { _, err := f.Numbers.Import(f.Context(), "acc_x", "+34911234567", ""); return err }(),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("released, %s: %v", name, err)
		}
	}
	if _, err := f.Numbers.Import(f.Context(), b, "+442079460018", ""); err != nil {
		t.Errorf("a released number: %v", err)
	}
	for _, bad := range []string{"", "911234567", "+34", "+0034911234567", "+999123456789", "tel", "+34911234567\x00"} {
		if _, err := f.Numbers.Import(f.Context(), a, bad, ""); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestConversationHistory(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	s := f.Start(acc, inboundES)
	c := history.Conversation{
		Transcript: []history.TranscriptLine{{Role: "agent", Text: "Hola", AtMS: 200}, {Role: "user", Text: "¿Sí?\x00", AtMS: 900}},
		Turns:      json.RawMessage(`[{"ms": 430}]`),
		Generations: []store.Generation{
			{Gen: 1, Turn: 1, Kind: "speculative", Outcome: "discarded", InTokens: 10, OutTokens: 2, Source: "counted"},
			{Gen: 1, Turn: 1, Kind: "reply", Outcome: "committed", InTokens: 12, OutTokens: 9, Source: "provider"}},
		AnsweredBy: "machine",
	}
	for range 2 { // replaces, never adds
		f.OK(history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, c))
	}
	got, err := history.New(f.DB).Call(f.Context(), acc, s.ID)
	f.OK(err)
	if len(got.Transcript) != 2 || got.Transcript[1].Text != "¿Sí?" || string(got.Turns) != `[{"ms": 430}]` ||
		len(got.Generations) != 2 || got.Generations[0] != c.Generations[0] || got.From != "+34911234567" || got.EndedAt != nil || got.AnsweredBy != "machine" {
		t.Errorf("%+v", got)
	}
	if err := history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, history.Conversation{Turns: json.RawMessage(`{`)}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("broken turns: %v", err)
	}
}

func TestPages(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	var want []string
	for i := range 3 {
		s, err := f.StartSession(f.At(t0.Add(time.Duration(i)*time.Second)), f.Request(acc, web))
		f.OK(err)
		want = append([]string{s.ID}, want...)
	}
	var got []string
	page := store.Page{Limit: 2}
	for range 2 {
		calls, err := history.New(f.DB).Calls(f.Context(), acc, history.CallPage{Page: page})
		f.OK(err)
		for _, c := range calls {
			got = append(got, c.ID)
			page.After = c.ID
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages hold %v; want %v", got, want)
	}
}

// Numbers on trunks of their own are told apart by the account: several may have the same, each once, and none of
// them is reached, or taken, by the operator's lines.
func TestNumbersOnOwnTrunks(t *testing.T) {
	f := setup(t)
	a, b := f.NewAccount(10*billing.USD), f.NewAccount(0)
	is := func(err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%v; want %v", err, want)
		}
	}
	trunk := func(account, id string) string {
		t.Helper()
		_, err := f.DB.Pool().Exec(f.Context(), `insert into trunks (id, account_id, name, settings, sources, digest, revision, created_at, updated_at)
			values ($1, $2, $1, '{}', '{}', '', 1, $3, $3)`, id, account, t0)
		f.OK(err)
		return id
	}
	const number = "+442079460018"
	trunkA, trunkB := trunk(a, "trk_a"), trunk(b, "trk_b")
	own, err := f.Numbers.ImportOwn(f.Context(), a, trunkA, "+44 20 7946 0018", f.NewAgent(a).ID)
	f.OK(err)
	if own.E164 != number || own.Trunk == nil || *own.Trunk != trunkA || own.Bought() || own.State != numbers.Owned {
		t.Errorf("%+v", own)
	}
	_, err = f.Numbers.Route(f.Context(), number)
	is(err, store.ErrNotFound)
	for account, want := range map[string]error{a: nil, b: store.ErrNotFound} {
		r, err := f.Numbers.RouteOwn(f.Context(), account, number)
		is(err, want)
		if err == nil && (r.Account != a || r.Number != own.ID || r.Trunk == nil || *r.Trunk != trunkA) {
			t.Errorf("%+v", r)
		}
	}
	_, err = f.Numbers.ImportOwn(f.Context(), a, trunkA, number, "")
	is(err, store.ErrNumberTaken)
	_, err = f.Numbers.Import(f.Context(), a, number, "")
	is(err, store.ErrNumberTaken)
	_, err = f.Numbers.ImportOwn(f.Context(), b, trunkA, "+442079460019", "")
	is(err, store.ErrNotFound) // another's trunk
	_, err = f.Numbers.ImportOwn(f.Context(), b, trunkB, "+442079460019", f.NewAgent(a).ID)
	is(err, store.ErrNotFound) // another's agent
	_, err = f.Numbers.ImportOwn(f.Context(), b, trunkB, number, "")
	f.OK(err)
	// The operator's lines bring it to whom the operator gave it.
	c := f.NewAccount(0)
	_, err = f.Numbers.Import(f.Context(), c, number, "")
	f.OK(err)
	if r, err := f.Numbers.Route(f.Context(), number); err != nil || r.Account != c || r.Trunk != nil {
		t.Errorf("%+v, %v", r, err)
	}
	f.Verified()
}

// Calls on an account's own trunk have the price of that, and no country.
func TestCallOnOwnTrunk(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * billing.USD)
	s := f.Start(acc, billing.Terms{Kind: billing.Inbound, OwnTrunk: true})
	u := billing.Usage{billing.AgentTime: 61_000, billing.LineTime: 61_000}
	f.MustCheckpoint(s, 1, u)
	minute, err := billing.DefaultRateCard().Tariff(billing.Terms{Kind: billing.Web})
	f.OK(err)
	want, err := minute.Price(billing.Usage{billing.AgentTime: 61_000})
	f.OK(err)
	if cost := f.CloseWith(s, u); cost != want.Total() {
		t.Errorf("it costs %s, as a conversation without a line does %s", cost, want.Total())
	}
	f.Verified()
}

// An extension of the operator's trunk reaches the account of the agent that it names.
func TestRouteExtension(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	agent := f.NewAgent(acc)
	if r, err := f.Numbers.RouteExtension(f.Context(), agent.ID); err != nil || r.Account != acc || *r.Agent != agent.ID || r.Number != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := f.Numbers.RouteExtension(f.Context(), "ag_x"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}
