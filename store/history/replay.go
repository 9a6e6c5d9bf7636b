package history

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// saveReplay adds to b that what a call can be conducted again from is stored, unless its
// recording was deleted meanwhile.
func saveReplay(b *pgx.Batch, id string, record []byte) {
	b.Queue(`insert into call_replays (session_id, record)
		select $1, $2 where not exists (select 1 from call_recordings where session_id = $1 and state = 'deleted')
		on conflict (session_id) do update set record = excluded.record`, id, record)
}

// CallReplay is what a call can be conducted again from.
type CallReplay struct {
	Record []byte
	// Settings are those that the call's agent has today; nil: it is gone.
	Settings json.RawMessage
}

// CallReplay returns what a call of any account can be conducted again from: it is for
// operators. ErrNotFound when there is no such call, it was not recorded, lasts, or its
// recording was deleted.
func (h *Store) CallReplay(ctx context.Context, id string) (*CallReplay, error) {
	return store.First[CallReplay](ctx, h.db, "read what a call is replayed from",
		`select r.record, a.settings from call_replays r join calls c using (session_id)
		left join agents a on a.id = c.agent_id where r.session_id = $1`, id)
}
