package history

import (
	"context"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// FunctionCall is a function that the model of a call called.
type FunctionCall struct {
	ID        string `json:"id"` // unique in its call
	Name      string `json:"name"`
	Arguments string `json:"arguments"`           // as the model wrote them
	ByClient  bool   `json:"by_client,omitempty"` // the client runs it; else this server
	Turn      int    `json:"turn"`
	BeganMS   int64  `json:"began_ms"`           // since the start of the session's clock
	EndedMS   *int64 `json:"ended_ms,omitempty"` // nil: it has no result yet, or its node died before it had
	Outcome   string `json:"outcome,omitempty"`  // ok, error, timeout, cancelled or unknown_tool; empty likewise
	Result    string `json:"result,omitempty"`   // as the model got it
}

// queueFunction stores a function call of a call of the account as it stands. One that has its result
// stays as it is, and of a call that was deleted none is stored.
func queueFunction(b *pgx.Batch, account, id string, f *FunctionCall) {
	b.Queue(`insert into call_functions (session_id, call_id, name, arguments, by_client, turn, began_ms, ended_ms, outcome, result)
		select session_id, $3, $4, $5, $6, $7, $8, $9, nullif($10, ''), $11 from calls where account_id = $1 and session_id = $2
		on conflict (session_id, call_id) do update set ended_ms = excluded.ended_ms, outcome = excluded.outcome, result = excluded.result
		where call_functions.outcome is null`,
		account, id, f.ID, clean(f.Name), clean(f.Arguments), f.ByClient, f.Turn, f.BeganMS, f.EndedMS, f.Outcome, clean(f.Result))
}

// functions are those of a call, in the order in which they began.
func (h *Store) functions(ctx context.Context, id string) ([]FunctionCall, error) {
	return store.List[FunctionCall](ctx, h.db, "read function calls", `select call_id, name, arguments, by_client, turn, began_ms, ended_ms, coalesce(outcome, ''), result
		from call_functions where session_id = $1 order by began_ms, call_id`, id)
}

// Results are the results of the functions of a call of the account, as the model got them, by the identifier of their call. Those
// that have none are not there; of no such call there are none.
func (h *Store) Results(ctx context.Context, account, id string) (map[string]string, error) {
	type one struct{ ID, Result string }
	list, err := store.List[one](ctx, h.db, "read results of functions",
		`select f.call_id as id, f.result from call_functions f join calls c using (session_id)
		where c.account_id = $1 and f.session_id = $2 and f.outcome is not null`, account, id)
	if err != nil {
		return nil, err
	}
	results := make(map[string]string, len(list))
	for _, f := range list {
		results[f.ID] = f.Result
	}
	return results, nil
}
