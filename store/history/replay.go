package history

import (
	"context"
	"encoding/json"
	"time"

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

// Replayable is a call that can be conducted again.
type Replayable struct {
	ID           string
	StartedAt    time.Time
	AgentVersion *int64 // that it ran with; nil: not known
}

// looked bounds the calls of an agent among which those that can be conducted again are looked for: one that
// records none has as many calls as any.
const looked = 1000

// Replayable lists the latest calls of an agent of the account that can be conducted again, most at most, the newest
// first; of an agent of another account, or of none, there are none.
func (h *Store) Replayable(ctx context.Context, account, agent string, most int) ([]Replayable, error) {
	return store.List[Replayable](ctx, h.db, "list calls that can be replayed",
		`select c.session_id as id, s.opened_at as started_at, c.agent_version
		from (select session_id, agent_version from calls where account_id = $1 and agent_id = $2 order by session_id desc limit $3) c
		join call_replays r using (session_id) join sessions s on s.id = c.session_id
		order by c.session_id desc limit $4`, account, agent, looked, most)
}

// Record returns what a call of the account can be conducted again from. ErrNotFound as CallReplay.
func (h *Store) Record(ctx context.Context, account, id string) ([]byte, error) {
	return store.Value[[]byte](ctx, h.db, "read what a call is replayed from",
		"select r.record from call_replays r join calls c using (session_id) where r.session_id = $1 and c.account_id = $2", id, account)
}
