package history

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// RecordingState is how far a recording is.
type RecordingState string

// The states of a recording. Encoding has the whole call, failed has nothing.
const (
	RecordingRuns    RecordingState = "recording"
	RecordingEncodes RecordingState = "encoding"
	RecordingReady   RecordingState = "ready"
	RecordingFailed  RecordingState = "failed"
	RecordingDeleted RecordingState = "deleted"
)

// sweep is how many recordings are expired or listed at a time.
const sweep = 1000

// Recording is what is known of the recording of a call.
type Recording struct {
	Account   string
	Call      string
	Node      string // that had the call, or has taken its recording up
	State     RecordingState
	Format    string // ogg or wav, once it is ready
	Rate      int    // samples a second
	Length    time.Duration
	Bytes     int64
	Dropped   int64 // frames of 20 ms of either side that are silence instead
	CreatedAt time.Time
	EndedAt   *time.Time
	ExpiresAt time.Time
	DeletedAt *time.Time
	DeletedBy string // request or expiry; empty: it was not deleted
	// Peaks are its waveform, as package record makes them. They are written with the
	// rest, and read by RecordingPeaks alone.
	Peaks []byte `db:"-"`
}

// keptUntil is when a recording expires, as its account keeps them now.
const keptUntil = `coalesce(r.ended_at, r.created_at) + make_interval(days => a.recording_days)`

const selectRecording = `select r.account_id, r.session_id, r.node, r.state, r.format, r.rate, r.length_ms * interval '1 ms', r.bytes, r.dropped,
	r.created_at, r.ended_at, ` + keptUntil + `, r.deleted_at, coalesce(r.deleted_by, '') from call_recordings r join accounts a on a.id = r.account_id where `

// Recording is that of a call of the account; ErrNotFound: there is none.
func (h *Store) Recording(ctx context.Context, account, call string) (*Recording, error) {
	return store.First[Recording](ctx, h.db, "read recording", selectRecording+"r.session_id = $2 and r.account_id = $1", account, call)
}

// BeginRecording notes that a node records a call. Saying it again, or late, changes
// nothing.
func (h *Store) BeginRecording(ctx context.Context, call, node string) error {
	return h.db.Must(ctx, "begin recording", `insert into call_recordings (session_id, account_id, node, created_at)
		select session_id, account_id, $2, $3 from calls where session_id = $1
		on conflict (session_id) do update set state = call_recordings.state`, call, node, h.db.Time(ctx))
}

// ContinueRecording notes that a node records a call which another one has begun to record. Saying it again, or late, changes nothing.
func (h *Store) ContinueRecording(ctx context.Context, call, node string) error {
	return h.db.Do(ctx, "continue recording", "update call_recordings set node = $2 where session_id = $1 and state = 'recording'", call, node)
}

// EndRecording notes that a node has recorded a call, r.Call, and puts its encoding in
// line; with failed that there is nothing to encode. Rate, Length and Dropped are r's. It
// returns how far the recording is: it may have been deleted.
func (h *Store) EndRecording(ctx context.Context, r Recording, failed bool, encode store.Enqueue) (state RecordingState, err error) {
	now := h.db.Time(ctx)
	next := RecordingEncodes
	if failed {
		next = RecordingFailed
	}
	err = h.db.Tx(ctx, "end recording", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `insert into call_recordings (session_id, account_id, node, created_at)
			select session_id, account_id, $2, $3 from calls where session_id = $1 on conflict (session_id) do nothing`, r.Call, r.Node, now); err != nil {
			return err
		}
		var account string
		// What was lost is found when its machine comes back.
		err := tx.QueryRow(ctx, `update call_recordings set state = case when state = 'recording' or state = 'failed' then $3 else state end,
			rate = $4, length_ms = $5, dropped = $6, ended_at = coalesce(ended_at, $7)
			where session_id = $1 and node = $2 returning account_id, state`,
			r.Call, r.Node, next, r.Rate, r.Length.Milliseconds(), r.Dropped, now).Scan(&account, &state)
		if err != nil || state != RecordingEncodes {
			return err
		}
		return encode(ctx, tx, account, r.Call)
	})
	return state, err
}

// LostAfter is how long a recording whose node is silent counts as to come.
const LostAfter = 24 * time.Hour

// LoseRecordings gives up recordings that lie with nodes which have been silent for
// LostAfter, a thousand at most, and returns how many. EndRecording takes up one again
// whose node has come back with its audio.
func (h *Store) LoseRecordings(ctx context.Context) (int, error) {
	n, err := h.db.Exec(ctx, "lose recordings", `update call_recordings set state = 'failed'
		where session_id in (select r.session_id from call_recordings r where r.state in ('recording', 'encoding')
			and coalesce(r.ended_at, r.created_at) <= $1::timestamptz - $2::interval
			and not exists (select from nodes n where n.node_id = r.node and n.heartbeat_at > $1::timestamptz - $2::interval)
			limit $3 for update of r skip locked)`, h.db.Time(ctx), LostAfter, sweep)
	return int(n), err
}

// RecordingEncoded notes that the file of r.Format is there, with r.Bytes, or with failed
// that there will be none. ErrNotFound says that it is not expected any more.
func (h *Store) RecordingEncoded(ctx context.Context, r Recording, failed bool) error {
	state := RecordingReady
	if failed {
		state, r.Format, r.Bytes, r.Peaks = RecordingFailed, "", 0, nil
	}
	return h.db.Must(ctx, "note encoded recording", `update call_recordings set state = $3, format = $4, bytes = $5, peaks = $6
		where session_id = $2 and account_id = $1 and state = 'encoding'`, r.Account, r.Call, state, r.Format, r.Bytes, r.Peaks)
}

// RecordingPeaks is the waveform of a recording of the account; nil: none was made yet.
func (h *Store) RecordingPeaks(ctx context.Context, account, call string) ([]byte, error) {
	return store.Value[[]byte](ctx, h.db, "read waveform", "select peaks from call_recordings where session_id = $2 and account_id = $1", account, call)
}

// SavePeaks keeps the waveform of a recording that was made without. ErrNotFound: it was
// deleted meanwhile.
func (h *Store) SavePeaks(ctx context.Context, account, call string, peaks []byte) error {
	return h.db.Must(ctx, "keep waveform", "update call_recordings set peaks = $3 where session_id = $2 and account_id = $1 and state = 'ready'", account, call, peaks)
}

// DeleteRecording deletes the recording of a call of the account, whatever its state; of
// a call that lasts nothing is kept either. ErrNotFound: there is none. Deleting it again
// changes nothing.
func (h *Store) DeleteRecording(ctx context.Context, account, call string) error {
	return h.db.Must(ctx, "delete recording", deleteRecording, account, call, h.db.Time(ctx), byRequest)
}

const deleteRecording = `update call_recordings set state = 'deleted', peaks = null, deleted_at = coalesce(deleted_at, $3),
	deleted_by = coalesce(deleted_by, $4) where session_id = $2 and account_id = $1`

// ExpireRecordings deletes recordings that their accounts have kept long enough, a
// thousand at most, and returns how many. It reads all that are kept, for an account may
// change its days at any time; what is deleted is not among them.
func (h *Store) ExpireRecordings(ctx context.Context) (int, error) {
	n, err := h.db.Exec(ctx, "expire recordings", `update call_recordings set state = 'deleted', peaks = null, deleted_at = $1, deleted_by = 'expiry'
		where session_id in (select r.session_id from call_recordings r join accounts a on a.id = r.account_id
			where r.state not in ('deleted', 'recording') and `+keptUntil+` <= $1 limit $2 for update of r skip locked)`, h.db.Time(ctx), sweep)
	return int(n), err
}

// UnsweptRecordings are deleted recordings of calls that a node had and whose files may
// be there still, a thousand at most.
func (h *Store) UnsweptRecordings(ctx context.Context, node string) ([]Recording, error) {
	return store.List[Recording](ctx, h.db, "list deleted recordings",
		selectRecording+"r.node = $1 and r.state = 'deleted' and not r.swept limit $2", node, sweep)
}

// SweptRecording notes that no file of a deleted recording is left.
func (h *Store) SweptRecording(ctx context.Context, call string) error {
	return h.db.Must(ctx, "note swept recording", "update call_recordings set swept = true where session_id = $1 and state = 'deleted'", call)
}

// OpenRecordings are recordings of a node whose end is not stored, of calls that last and of
// those that an earlier life of it had, and those that have waited since before to be encoded.
func (h *Store) OpenRecordings(ctx context.Context, node string, before time.Time) ([]Recording, error) {
	return store.List[Recording](ctx, h.db, "list open recordings", selectRecording+
		"r.node = $1 and (r.state = 'recording' or r.state = 'encoding' and r.ended_at <= $2)", node, before)
}

const (
	// orphanAfter is how long a node must have been silent before others make recordings of what it has stored. If it is
	// started again within that time it can add what is on its disk.
	orphanAfter = 90 * time.Second
	// sweptElsewhere is how long others look for the files of a silent node's deleted recordings. If they can be found at
	// all, they are found within a minute.
	sweptElsewhere = 24 * time.Hour
)

// orphaned says that a recording r is of a call that has ended, on a node that is silent.
const orphaned = `not exists (select from nodes n where n.node_id = r.node and n.heartbeat_at > $1::timestamptz - $2::interval)
	and exists (select from sessions s where s.id = r.session_id and s.ended_at is not null)`

// OrphanedRecordings are recordings of calls that have ended, on nodes that have been silent for 90 s:
// those whose end is not stored, that have waited since before to be encoded, or that were deleted within a day and may
// have files; two thousand at most.
func (h *Store) OrphanedRecordings(ctx context.Context, before time.Time) ([]Recording, error) {
	now := h.db.Time(ctx)
	return store.List[Recording](ctx, h.db, "list orphaned recordings",
		"("+selectRecording+"(r.state = 'recording' or r.state = 'encoding' and r.ended_at <= $3) and "+orphaned+" limit $4) union all ("+
			selectRecording+"r.state = 'deleted' and not r.swept and r.deleted_at > $5 and "+orphaned+" limit $4)",
		now, orphanAfter, before, sweep, now.Add(-sweptElsewhere))
}

// AdoptRecording makes a recording of a silent node another's. ErrNotFound: it is not that node's any
// more, or needs nothing.
func (h *Store) AdoptRecording(ctx context.Context, call, from, to string) error {
	return h.db.Must(ctx, "adopt recording", `update call_recordings r set node = $3 where r.session_id = $4 and r.node = $5
		and r.state in ('recording', 'encoding') and `+orphaned, h.db.Time(ctx), orphanAfter, to, call, from)
}

// RecordingHolder is the node that a recording is of, and how far it is. ErrNotFound: nobody has noted one
// of the call.
func (h *Store) RecordingHolder(ctx context.Context, call string) (node string, state RecordingState, err error) {
	err = h.db.One(ctx, "find the node of a recording", "select node, state from call_recordings where session_id = $1", []any{call}, &node, &state)
	return node, state, err
}
