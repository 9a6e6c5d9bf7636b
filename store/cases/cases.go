// Package cases stores test cases of agents, each the script of a simulated caller, and the
// simulations that run them.
//
// A simulation is queued in the transaction that makes it, and claimed by the job that works
// on it. What a case came to is stored once, by the latest claimant, so that nothing is
// charged for twice: its claimant charges for it afterwards, and loses the charge when it
// dies in between.
package cases

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Bounds of cases.
const (
	MaxCases  = 100      // of an agent
	MaxScript = 64 << 10 // bytes
	maxName   = 100      // characters
)

// ErrName: another case of the agent has the name.
const ErrName store.Error = "the agent has a case of this name already"

// Case is a caller who tries an agent, and what is expected of it.
type Case struct {
	ID        string
	Agent     string
	Name      string
	Script    json.RawMessage // a document of package simulate
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Store keeps cases and simulations.
type Store struct{ db *store.DB }

// New returns a Store in a database.
func New(db *store.DB) *Store { return &Store{db} }

const caseColumns = "id, agent_id, name, script, created_at, updated_at"

// Cases lists those of an agent of the account, newest first. ErrNotFound: there is no such agent.
func (s *Store) Cases(ctx context.Context, account, agent string, p store.Page) ([]Case, error) {
	list, err := store.ListPage[Case](ctx, s.db, "list cases", p, "id",
		"select "+caseColumns+" from agent_cases where account_id = $1 and agent_id = $2", account, agent)
	if err == nil && len(list) == 0 {
		_, err = s.db.Agent(ctx, account, agent)
	}
	return list, err
}

// Case returns one of an agent of the account.
func (s *Store) Case(ctx context.Context, account, agent, id string) (*Case, error) {
	return store.First[Case](ctx, s.db, "read case", "select "+caseColumns+" from agent_cases where account_id = $1 and agent_id = $2 and id = $3", account, agent, id)
}

// Create adds a case to an agent of the account. ErrNotFound: there is no such agent. ErrName:
// it has a case of the name. ErrInvalid: it has MaxCases, or the case is not valid.
func (s *Store) Create(ctx context.Context, account string, c Case) (*Case, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	now := s.db.Time(ctx)
	c.ID, c.CreatedAt, c.UpdatedAt = store.NewID(store.CaseID, now), now, now
	err := s.db.Tx(ctx, "create case", func(tx pgx.Tx) error {
		if err := lockAgent(ctx, tx, account, c.Agent); err != nil {
			return err
		}
		n, err := store.Scalar[int](ctx, tx, "select count(*) from agent_cases where account_id = $1 and agent_id = $2", account, c.Agent)
		if err != nil {
			return err
		}
		if n >= MaxCases {
			return store.Invalid("the agent has %d cases already, which is the most; delete one first", MaxCases)
		}
		return store.Do(ctx, tx, `insert into agent_cases (id, account_id, agent_id, name, script, created_at, updated_at)
			values ($1, $2, $3, $4, $5, $6, $6)`, c.ID, account, c.Agent, c.Name, string(c.Script), now)
	})
	return &c, named(err)
}

// lockAgent has others wait who count what an agent has.
func lockAgent(ctx context.Context, tx pgx.Tx, account, agent string) error {
	return store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "select from agents where account_id = $1 and id = $2 for no key update", account, agent))
}

// Replace gives a case another name and script. Its errors are those of Create.
func (s *Store) Replace(ctx context.Context, account string, c Case) (*Case, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	out, err := store.First[Case](ctx, s.db, "replace case", `update agent_cases set name = $4, script = $5, updated_at = $6
		where account_id = $1 and agent_id = $2 and id = $3 returning `+caseColumns, account, c.Agent, c.ID, c.Name, string(c.Script), s.db.Time(ctx))
	return out, named(err)
}

// Delete removes a case.
func (s *Store) Delete(ctx context.Context, account, agent, id string) error {
	return s.db.Must(ctx, "delete case", "delete from agent_cases where account_id = $1 and agent_id = $2 and id = $3", account, agent, id)
}

func named(err error) error {
	if store.Violates(err, "agent_cases_account_id_agent_id_name_key") {
		return ErrName
	}
	return err
}

func (c *Case) check() error {
	c.Name = strings.TrimSpace(c.Name)
	n := utf8.RuneCountInString(c.Name)
	switch {
	case n == 0 || n > maxName || !utf8.ValidString(c.Name) || strings.ContainsFunc(c.Name, unicode.IsControl):
		return store.Invalid("name: 1 to %d characters, in one line", maxName)
	case len(c.Script) > MaxScript:
		return store.Invalid("script: %d bytes at most", MaxScript)
	case !json.Valid(c.Script):
		return store.Invalid("script: no JSON")
	}
	return nil
}
