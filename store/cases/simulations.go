package cases

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
)

// State is how far a simulation is.
type State string

// The states of a simulation; the last three are its end.
const (
	Queued   State = "queued"
	Running  State = "running"
	Done     State = "done" // all cases have run, whatever they came to
	Failed   State = "failed"
	Canceled State = "canceled"
)

// Bounds of simulations.
const (
	MaxRuns       = 100     // of one, all cases together
	MaxUnfinished = 5       // of an account
	MaxResults    = 1 << 20 // bytes of the results of one
	kept          = 100     // of an agent; the oldest go
)

// ErrTooMany: MaxUnfinished of the account wait or run.
const ErrTooMany store.Error = "too many simulations at once"

// Simulation is one run of cases.
type Simulation struct {
	ID        string
	AgentID   string
	Version   int64 // of the agent when it was asked for
	Draft     bool  // what is tried is not what is stored
	Runs      int   // of each case; 0: as its script says
	State     State
	Reason    string // why it failed
	CreatedAt time.Time
	StartedAt *time.Time
	EndedAt   *time.Time
	Cases     int // that it has
	Ran       int // of these
	Unmet     int // of these, in which a run failed
	InTokens  int64
	OutTokens int64
	Cost      billing.Money // that is charged by now
}

const simulationColumns = `s.id, s.agent_id, s.agent_version, s.draft, s.runs, s.state, s.reason, s.created_at, s.started_at, s.ended_at,
	c.cases, c.ran, c.unmet, c.in_tokens, c.out_tokens, c.cost
	from simulations s, lateral (select count(*) as cases, count(c.results) as ran, count(*) filter (where c.failed > 0) as unmet,
		coalesce(sum(c.in_tokens), 0)::bigint as in_tokens, coalesce(sum(c.out_tokens), 0)::bigint as out_tokens,
		coalesce(sum((select sum(u.amount_nano) from usage_records u where u.session_id = c.session_id)), 0)::bigint as cost
		from simulation_cases c where c.simulation_id = s.id) c`

// Run is a case of a simulation.
type Run struct {
	Ordinal int
	CaseID  string
	Name    string
	Script  json.RawMessage // nil: it has run
	Runs    int             // that were made
	Failed  int
	Results json.RawMessage // a list; nil: it has not run
}

// Order asks for a simulation.
type Order struct {
	Account, Key string   // who asks; Key may be empty
	Agent        string   // of the account
	Draft        any      // the agent in place of the stored one, as JSON; nil: the stored one
	Cases        []string // none: all that the agent has
	Runs         int      // of each; 0: as its script says
	// Count says how often a script has itself run.
	Count func(script json.RawMessage) int
}

// Simulate makes a simulation, which enqueue puts in line. ErrNotFound: there is no such agent.
// ErrInvalid: it has no such case, or none at all, or there are too many runs. ErrTooMany.
func (s *Store) Simulate(ctx context.Context, o Order, stored func(*store.Agent) any, enqueue store.Enqueue) (*Simulation, error) {
	now := s.db.Time(ctx)
	id := store.NewID(store.TestID, now)
	a, err := s.db.Agent(ctx, o.Account, o.Agent)
	if err != nil {
		return nil, err
	}
	tried := o.Draft
	if tried == nil {
		tried = stored(a)
	}
	text, err := json.Marshal(tried)
	if err != nil {
		return nil, err
	}
	err = s.db.Tx(ctx, "create simulation", func(tx pgx.Tx) error {
		// The account's lock has others wait, so that all are counted.
		if err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "select from accounts where id = $1 for no key update", o.Account)); err != nil {
			return err
		}
		n, err := store.Scalar[int](ctx, tx, "select count(*) from simulations where account_id = $1 and ended_at is null", o.Account)
		if err != nil {
			return err
		}
		if n >= MaxUnfinished {
			return ErrTooMany
		}
		list, err := store.Rows[Case](ctx, tx, "select "+caseColumns+` from agent_cases where account_id = $1 and agent_id = $2
			and ($3::text[] is null or id = any($3)) order by id`, o.Account, o.Agent, o.Cases)
		if err != nil {
			return err
		}
		if err := o.check(list); err != nil {
			return err
		}
		b := &pgx.Batch{}
		b.Queue(`insert into simulations (id, account_id, agent_id, agent_version, agent, draft, key_id, runs, state, created_at)
			values ($1, $2, $3, $4, $5, $6, nullif($7, ''), $8, 'queued', $9)`, id, o.Account, o.Agent, a.Version, string(text), o.Draft != nil, o.Key, o.Runs, now)
		for i, c := range list {
			b.Queue(`insert into simulation_cases (simulation_id, ordinal, case_id, name, script) values ($1, $2, $3, $4, $5)`, id, i, c.ID, c.Name, string(c.Script))
		}
		b.Queue(`delete from simulations where account_id = $1 and agent_id = $2 and ended_at is not null and id <=
			(select id from simulations where account_id = $1 and agent_id = $2 order by id desc offset $3 limit 1)`, o.Account, o.Agent, kept)
		if err := store.Send(ctx, tx, b); err != nil {
			return err
		}
		return enqueue(ctx, tx, o.Account, id)
	})
	if err != nil {
		return nil, err
	}
	return s.Simulation(ctx, o.Account, id)
}

// check holds the order to the cases that were found.
func (o *Order) check(list []Case) error {
	for _, id := range o.Cases {
		if !slices.ContainsFunc(list, func(c Case) bool { return c.ID == id }) {
			return store.Invalid("cases: the agent has no case %q", id)
		}
	}
	if len(list) == 0 {
		return store.Invalid("cases: the agent has none")
	}
	total := 0
	for _, c := range list {
		if o.Runs > 0 {
			total += o.Runs
		} else {
			total += o.Count(c.Script)
		}
	}
	if total > MaxRuns {
		return store.Invalid("runs: %d in all, and %d are the most", total, MaxRuns)
	}
	return nil
}

// Simulations lists those of an agent of the account, newest first. ErrNotFound: there is no such agent.
func (s *Store) Simulations(ctx context.Context, account, agent string, p store.Page) ([]Simulation, error) {
	list, err := store.ListPage[Simulation](ctx, s.db, "list simulations", p, "s.id",
		"select "+simulationColumns+" where s.account_id = $1 and s.agent_id = $2", account, agent)
	if err == nil && len(list) == 0 {
		_, err = s.db.Agent(ctx, account, agent)
	}
	return list, err
}

// Simulation returns one of the account.
func (s *Store) Simulation(ctx context.Context, account, id string) (*Simulation, error) {
	return store.First[Simulation](ctx, s.db, "read simulation", "select "+simulationColumns+" where s.account_id = $1 and s.id = $2", account, id)
}

// Runs lists the cases of a simulation of the account, with their results.
func (s *Store) Runs(ctx context.Context, account, id string) ([]Run, error) {
	return store.List[Run](ctx, s.db, "list cases of a simulation", `select c.ordinal, c.case_id, c.name, c.script, c.runs, c.failed, c.results
		from simulation_cases c join simulations s on s.id = c.simulation_id where s.account_id = $1 and s.id = $2 order by c.ordinal`, account, id)
}

// Latest is how a case went in the newest simulation of the stored agent in which it was run.
type Latest struct {
	CaseID     string
	Simulation string
	Version    int64 // of the agent when it was asked for
	At         time.Time
	Runs       int // that were made, one at least
	Failed     int // of these
}

// Latest lists how the cases of an agent of the account went last, also those that are deleted by
// now. Drafts do not count.
func (s *Store) Latest(ctx context.Context, account, agent string) ([]Latest, error) {
	return store.List[Latest](ctx, s.db, "list latest results", `select distinct on (c.case_id) c.case_id, s.id, s.agent_version, s.created_at, c.runs, c.failed
		from simulations s join simulation_cases c on c.simulation_id = s.id
		where s.account_id = $1 and s.agent_id = $2 and not s.draft and c.runs > 0 order by c.case_id, s.id desc`, account, agent)
}

// Cancel ends a simulation of the account that has not ended: its claimant stops after the run
// that it makes now. One that has ended stays as it is.
func (s *Store) Cancel(ctx context.Context, account, id string) error {
	return s.db.Must(ctx, "cancel simulation", `update simulations set
			state = case when ended_at is null then 'canceled' else state end, ended_at = coalesce(ended_at, $3)
		where account_id = $1 and id = $2`, account, id, s.db.Time(ctx))
}
