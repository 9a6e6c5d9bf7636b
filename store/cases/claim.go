package cases

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Claimed is a simulation as its claimant has it.
type Claimed struct {
	ID      string
	Account string
	AgentID string
	Agent   json.RawMessage // what is tried
	Key     string          // that asked; empty: none
	Runs    int             // of each case; 0: as its script says
	Claim   int64           // how often it was claimed
}

// Claim makes the caller the one that works on a simulation, in place of an earlier one.
// ErrNotFound: it has ended.
func (s *Store) Claim(ctx context.Context, account, id string) (*Claimed, error) {
	return store.First[Claimed](ctx, s.db, "claim simulation", `update simulations set state = 'running', claim = claim + 1, started_at = coalesce(started_at, $3)
		where account_id = $1 and id = $2 and ended_at is null
		returning id, account_id, agent_id, agent, coalesce(key_id, ''), runs, claim`, account, id, s.db.Time(ctx))
}

// mine is a claim that counts: nobody has claimed the simulation again. It counts also for one
// that was canceled meanwhile, so that what was done is kept and charged.
const mine = "id = $1 and account_id = $2 and claim = $3 and state in ('running', 'canceled')"

// Goes says whether the claimant is to go on: nobody has canceled the simulation or claimed it again.
func (s *Store) Goes(ctx context.Context, c *Claimed) (bool, error) {
	return store.Value[bool](ctx, s.db, "watch simulation", "select exists (select from simulations where "+mine+" and ended_at is null)", c.ID, c.Account, c.Claim)
}

// Outcome is what a case came to.
type Outcome struct {
	Ordinal             int
	Runs, Failed        int
	Results             json.RawMessage
	InTokens, OutTokens int64
	Session             string // that will be charged; empty: none
}

// Save keeps what a case came to, once. ErrFenced: another has claimed the simulation, or the
// case has its outcome; nothing may be charged then.
func (s *Store) Save(ctx context.Context, c *Claimed, o Outcome) error {
	return s.db.Tx(ctx, "save case of a simulation", func(tx pgx.Tx) error {
		if err := store.ErrFenced.IfUnchanged(tx.Exec(ctx, "select from simulations where "+mine+" for no key update", c.ID, c.Account, c.Claim)); err != nil {
			return err
		}
		return store.ErrFenced.IfUnchanged(tx.Exec(ctx, `update simulation_cases set script = null, runs = $3, failed = $4, results = $5,
				in_tokens = $6, out_tokens = $7, session_id = nullif($8, '')
			where simulation_id = $1 and ordinal = $2 and results is null`, c.ID, o.Ordinal, o.Runs, o.Failed, string(o.Results), o.InTokens, o.OutTokens, o.Session))
	})
}

// End ends a simulation as done, or as failed for a reason. One that has ended, or that another
// has claimed, stays as it is.
func (s *Store) End(ctx context.Context, c *Claimed, state State, reason string) error {
	return s.db.Do(ctx, "end simulation", "update simulations set state = $4, reason = $5, ended_at = $6 where "+mine+" and ended_at is null",
		c.ID, c.Account, c.Claim, state, reason, s.db.Time(ctx))
}
