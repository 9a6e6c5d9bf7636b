package trial

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"parley/api/dashboard/editor"
	"parley/api/wire"
	"parley/billing"
	"parley/cmd/parley/conversation"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/scripted"
	"parley/pipeline/agent"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/cases"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/verify"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// desk is the work of one node, and an account with an agent.
type desk struct {
	*testing.T
	db             *store.DB
	work           *Work
	model          inference.LLM
	own            bool // the model works with a key of the account's
	account, agent string
	first          billing.Money // its balance at first
}

type books struct {
	*ledger.Ledger
	*history.Store
	session.Lease
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	t.Parallel()
	return alone(t)
}

// alone is newDesk for a test that runs beside no other.
func alone(t *testing.T) *desk {
	t.Helper()
	d := &desk{T: t, db: storetest.New(t), model: scripted.New()}
	card := billing.DefaultRateCard()
	d.ok(d.db.PutRateCard(t.Context(), card))
	l := ledger.New(d.db)
	life, _, err := l.RegisterNode(t.Context(), "desk", "127.0.0.1:1")
	d.ok(err)
	a, err := l.CreateAccount(t.Context(), "A", card)
	d.ok(err)
	d.account = a.ID
	d.first = a.Pots.Balance()
	made, err := d.db.CreateAgent(t.Context(), a.ID, store.Agent{Name: "Lola", Voice: "F1", Language: "en", FirstMessage: "Casa Lola, hello.", Tools: json.RawMessage("[]"),
		Settings: json.RawMessage("{}"), Prompt: "You answer for Casa Lola.\nWhen the caller says \"when are you open\": We are open from nine to six."})
	d.ok(err)
	d.agent = made.ID
	log := slog.New(slog.DiscardHandler)
	manager := session.NewManager(books{l, history.New(d.db), d.db}, life, func() *billing.RateCard { return card }, 0, log)
	d.work = &Work{Cases: cases.New(d.db), Sessions: func() *session.Manager { return manager }, Log: log,
		Model: func(context.Context, string, *agent.Engines) (inference.LLM, func(string) session.Engine) {
			return d.model, func(engine string) session.Engine {
				return session.Engine{Stage: agent.StageLLM, Name: engine, Own: d.own}
			}
		}}
	return d
}

func (d *desk) ok(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *desk) add(name, script string) {
	d.Helper()
	_, err := d.work.Cases.Create(d.Context(), d.account, cases.Case{Agent: d.agent, Name: name, Script: json.RawMessage(script)})
	d.ok(err)
}

func (d *desk) simulate(o cases.Order) string {
	d.Helper()
	o.Account, o.Agent, o.Count = d.account, d.agent, func(json.RawMessage) int { return 1 }
	s, err := d.work.Cases.Simulate(d.Context(), o, func(a *store.Agent) any { return conversation.DocumentOf(a) }, func(context.Context, pgx.Tx, string, string) error { return nil })
	d.ok(err)
	return s.ID
}

func (d *desk) read(id string) *cases.Simulation {
	d.Helper()
	s, err := d.work.Cases.Simulation(d.Context(), d.account, id)
	d.ok(err)
	return s
}

// spent is what the account has paid, with the ledger in order.
func (d *desk) spent() billing.Money {
	d.Helper()
	r, err := verify.Whole(d.Context(), d.db)
	d.ok(err)
	for _, v := range r.Violations {
		d.Error(v)
	}
	a, err := ledger.New(d.db).Account(d.Context(), d.account)
	d.ok(err)
	return d.first - a.Pots.Balance()
}

const (
	hours  = `{"caller":[{"say":"when are you open","expect":["nine"]}],"criteria":[{"name":"hours","rubric":"It says \"nine to six\"."}]}`
	nobody = `{"caller":[{"say":"when are you open"}],"expect":[{"says":"midnight"}]}`
)

// TestSimulation: each case is run and stored, and its tokens are charged by the card; another
// attempt finds nothing to do.
func TestSimulation(t *testing.T) {
	d := newDesk(t)
	d.add("hours", hours)
	d.add("midnight", nobody)
	id := d.simulate(cases.Order{Runs: 2})
	d.ok(d.work.Run(t.Context(), d.account, id))
	s := d.read(id)
	if s.State != cases.Done || s.Ran != 2 || s.Unmet != 1 || s.InTokens == 0 || s.OutTokens == 0 || s.StartedAt == nil || s.EndedAt == nil {
		t.Fatalf("%+v", s)
	}
	u := billing.Usage{billing.ReplyIn: s.InTokens, billing.ReplyOut: s.OutTokens}
	tariff, err := billing.DefaultRateCard().Tariff(billing.Terms{Kind: billing.Test})
	d.ok(err)
	bill, err := tariff.Price(u)
	d.ok(err)
	paid := d.spent()
	if paid <= 0 || paid != s.Cost || paid < bill.Total()-4 || paid > bill.Total()+4 { // each case is rounded
		t.Errorf("paid %v, shown %v, %d and %d tokens cost %v", paid, s.Cost, s.InTokens, s.OutTokens, bill.Total())
	}
	runs, err := d.work.Cases.Runs(t.Context(), d.account, id)
	d.ok(err)
	var results []Result
	d.ok(json.Unmarshal(runs[0].Results, &results))
	if len(results) != 2 || !results[0].OK || len(results[0].Checks) != 2 || len(results[0].Lines) != 3 || runs[1].Failed != 2 {
		t.Errorf("%s", runs[0].Results)
	}
	d.ok(d.work.Run(t.Context(), d.account, id))
	if again := d.spent(); again != paid {
		t.Errorf("paid %v, after another attempt %v", paid, again)
	}
}

// TestOwnKey: what a key of the account's own is used for is charged as such.
func TestOwnKey(t *testing.T) {
	d := newDesk(t)
	d.own = true
	d.add("hours", hours)
	id := d.simulate(cases.Order{})
	d.ok(d.work.Run(t.Context(), d.account, id))
	components, err := store.List[string](t.Context(), d.db, "read usage", "select distinct component from usage_records order by 1")
	d.ok(err)
	if got := strings.Join(components, " "); got != "llm_own_key_input llm_own_key_output" {
		t.Errorf("charged are %s", got)
	}
	d.spent()
}

// TestNoBalance: it fails with a reason, and nothing is asked of the model.
func TestNoBalance(t *testing.T) {
	d := newDesk(t)
	model := enginetest.NewFakeLLM()
	model.Answer = func(int, inference.Request) []enginetest.Step {
		t.Error("the model is asked")
		return nil
	}
	d.model = model
	d.add("long", `{"persona":"Somebody who has time.","persona_turns":50,"caller":[`+strings.Repeat(`{"say":"and?"},`, 300)+`{"say":"bye"}]}`)
	id := d.simulate(cases.Order{Runs: cases.MaxRuns})
	d.ok(d.work.Run(t.Context(), d.account, id))
	if s := d.read(id); d.spent() != 0 || s.State != cases.Failed || s.Reason != noBalance {
		t.Errorf("%+v", s)
	}
}

// TestNodeStops: a case that a stopping node was in the middle of costs nothing and is run
// by the next attempt; those before it are not run again.
func TestNodeStops(t *testing.T) {
	d := newDesk(t)
	d.add("first", nobody)
	d.add("second", hours)
	id := d.simulate(cases.Order{})
	ctx, stop := context.WithCancel(t.Context())
	asked := 0
	model := enginetest.NewFakeLLM()
	model.Answer = func(n int, r inference.Request) []enginetest.Step {
		if asked++; len(r.Schema) > 0 {
			stop()
			return []enginetest.Step{{Err: context.Canceled}}
		}
		return []enginetest.Step{{Text: "From nine to six."}}
	}
	d.model = model
	if err := d.work.Run(ctx, d.account, id); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s, before := d.read(id), d.spent()
	if s.State != cases.Running || s.Ran != 1 || before != s.Cost || before == 0 {
		t.Fatalf("%+v, paid %v", s, before)
	}
	asked, d.model = 0, scripted.New()
	d.ok(d.work.Run(t.Context(), d.account, id))
	if s := d.read(id); s.State != cases.Done || s.Ran != 2 || s.Cost <= before || s.Cost != d.spent() {
		t.Errorf("%+v", s)
	}
}

// TestCanceled: it stops after the run that is made, whose tokens are charged.
func TestCanceled(t *testing.T) {
	d := newDesk(t)
	d.add("first", nobody)
	d.add("second", nobody)
	id := d.simulate(cases.Order{Runs: 3})
	model := enginetest.NewFakeLLM()
	model.Answer = func(int, inference.Request) []enginetest.Step {
		d.ok(d.work.Cases.Cancel(t.Context(), d.account, id))
		return []enginetest.Step{{Text: "From nine to six."}}
	}
	d.model = model
	d.ok(d.work.Run(t.Context(), d.account, id))
	s := d.read(id)
	runs, err := d.work.Cases.Runs(t.Context(), d.account, id)
	d.ok(err)
	if s.State != cases.Canceled || s.Ran != 1 || runs[0].Runs != 1 || s.Cost == 0 || s.Cost != d.spent() {
		t.Errorf("%+v", s)
	}
}

// TestFit: results that are too long lose what was said, those of runs that went well first.
func TestFit(t *testing.T) {
	t.Parallel()
	var list []Result
	for i := range 10 {
		var r Result
		r.OK = i%2 == 0
		if err := json.Unmarshal([]byte(`{"transcript":[{"role":"agent","text":"`+strings.Repeat("a", 1000)+`"}]}`), &r.Result); err != nil {
			t.Fatal(err)
		}
		r.OK = i%2 == 0
		list = append(list, r)
	}
	for most, want := range map[int]string{20_000: "0 10", 9000: "5 10", 4000: "10 10", 1000: "6 6"} {
		text, err := fit(list, most)
		var out []Result
		if err == nil {
			err = json.Unmarshal(text, &out)
		}
		if err != nil || len(text) > most {
			t.Fatal(err, len(text))
		}
		cut := 0
		for _, r := range out {
			if r.Cut {
				cut++
			}
		}
		if got := strings.TrimSpace(strings.Join([]string{itoa(cut), itoa(len(out))}, " ")); got != want {
			t.Errorf("at most %d bytes: %s are cut and there, want %s", most, got, want)
		}
	}
}

func itoa(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

// TestFirstScript: what the dashboard has people begin a test case with is a script that runs.
func TestFirstScript(t *testing.T) {
	d := newDesk(t)
	script, err := wire.FromYAML(editor.NewCase)
	d.ok(err)
	d.ok(check(script))
	d.add("first", string(script))
	id := d.simulate(cases.Order{})
	d.ok(d.work.Run(t.Context(), d.account, id))
	if s := d.read(id); s.State != cases.Done || s.Ran != 1 || s.Unmet != 0 {
		runs, err := d.work.Cases.Runs(t.Context(), d.account, id)
		d.ok(err)
		t.Errorf("%+v %s", s, runs[0].Results)
	}
}
