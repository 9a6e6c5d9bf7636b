package ledger

import (
	"context"

	"parley/store"
)

// AnsweredBy says which agent of the account goes on with a call that has begun without one. From now on it is charged to the agent:
// ErrSpending when its limit of spending is reached. ErrNotFound: there is no such call, or no such agent of the account.
func (l *Ledger) AnsweredBy(ctx context.Context, account, session, agent string, version int64) error {
	return l.Locked(ctx, "agent of call", account, func(w *Tx) error {
		if err := w.maySpend(ctx, "", agent, 0); err != nil {
			return err
		}
		tag, err := w.Exec(ctx, `with a as (select id from agents where account_id = $1 and id = $3),
			u as (update session_usage set agent_id = a.id from a where account_id = $1 and session_id = $2 and open)
			update calls set agent_id = a.id, agent_version = nullif($4::bigint, 0) from a where account_id = $1 and session_id = $2 and calls.agent_id is null`,
			account, session, agent, version)
		if err == nil && tag.RowsAffected() == 0 {
			err = store.ErrNotFound
		}
		return err
	})
}
