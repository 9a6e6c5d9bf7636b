package history

import (
	"context"

	"parley/store"
)

// EngineSum is what an engine has used of one unit in sessions, calls and others, and afterwards for them.
type EngineSum struct {
	store.EngineUse
	Sessions int64 // in so many
}

// EngineSums are the sums of an account's sessions that began in a range and have ended, by stage, engine, model, key, unit and
// who counted, in that order. With an empty account they are of all. A sum of costs or prices is of those that are known.
func (h *Store) EngineSums(ctx context.Context, account string, r store.Range) ([]EngineSum, error) {
	from, to := r.Bounds()
	args := []any{store.FloorID(store.SessionID, from), store.FloorID(store.SessionID, to)}
	of := "call_engine_usage u where u.session_id >= $1 and u.session_id < $2"
	if account != "" {
		of = "sessions s join call_engine_usage u on u.session_id = s.id where s.id >= $1 and s.id < $2 and s.account_id = $3"
		args = append(args, account)
	}
	return store.List[EngineSum](ctx, h.db, "sum up what engines used", `select u.stage, u.engine, u.model, u.own, u.unit, sum(u.quantity)::bigint, u.source,
		sum(u.cost_nano)::bigint, sum(u.price_nano)::bigint, count(distinct u.session_id) from `+of+`
		group by u.stage, u.engine, u.model, u.own, u.unit, u.source order by u.stage, u.engine, u.model, u.own, u.unit, u.source`, args...)
}
