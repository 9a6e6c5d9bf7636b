package campaign

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/billing/destination"

	"parley/store/ledger"

	"parley/store"
)

const (
	// MaxCampaignRows is how many calls a batch may have.
	MaxCampaignRows = 500
	// MaxCampaigns is how many batches of an account may be unfinished at once:
	// only a program that went wrong makes more.
	MaxCampaigns = 100
)

// CampaignState is the state of a batch.
type CampaignState string

// The states of a batch. Cancelled and done are for good.
const (
	CampaignRunning   CampaignState = "running"
	CampaignPaused    CampaignState = "paused"
	CampaignCancelled CampaignState = "cancelled"
	CampaignDone      CampaignState = "done" // no row is left to be dialled, or is being
)

// RowStatus is how far a row of a batch is. It never goes back.
type RowStatus string

// The states of a row. One is sent when its call was placed, answered or not.
const (
	RowPending RowStatus = "pending"
	RowDialing RowStatus = "dialing"
	RowSent    RowStatus = "sent"
	RowFailed  RowStatus = "failed"
)

// Manner is how the calls of a batch are made.
type Manner struct {
	Key, IP     string        // of the request that confirmed consent for all
	RingTimeout time.Duration // 0: the usual
	MaxDuration time.Duration // 0: as the agent says
	OnMachine   string        // continue, hangup or message; empty: continue
	Message     string
	// Hours are those in which people are called; nil: at any time. Zone says by whose
	// clocks: a zone's name, or "destination".
	Hours *destination.Hours
	Zone  string
}

// Retry repeats calls that end with one outcome. Each repetition is a new row, which refers to the row
// before it.
type Retry struct {
	On       string `json:"on"`            // how the call ended: one of the words of media.EndReason
	Attempts int    `json:"attempts"`      // calls of a callee in all, the first included
	After    int    `json:"after_seconds"` // since the end of the call
}

// Campaign is a batch of calls.
type Campaign struct {
	ID, Account, Name string
	State             CampaignState
	CreatedAt         time.Time // of a new one: zero is now
	Metadata          map[string]string
	Retries           []Retry // of each outcome one at most
	Manner
	Pending, Dialing, Sent, Failed int           // rows; together all of them
	Rows                           []CampaignRow `db:"-"` // of Campaign alone, in their order
}

// CampaignRow is a call of a batch.
type CampaignRow struct {
	ID          string
	To, From    string // E.164
	Agent       string
	Zones       []string   // by whose clocks the hours count
	ScheduledAt *time.Time // nil: at once
	// DueAt is when it may be tried first; of a new row at or after ScheduledAt.
	DueAt time.Time
	// Variables are values of the agent's, and Metadata is of the call.
	Variables, Metadata map[string]string
	Headers             map[string]string // of the call
	Status              RowStatus
	// ErrorCode and ErrorMessage say why it failed.
	ErrorCode, ErrorMessage string
	Call                    *RowCall `db:"-"` // nil: it was not dialled
	Summary                 *string  // nil: there is none, or not yet
	Attempt                 int      // which call of its callee it is, from 1
	RetryOf                 *string  // the row of the call before; nil: it is the first
}

// RowCall is the call of a row.
type RowCall struct {
	ID         string
	OpenedAt   time.Time
	StartedAt  *time.Time // answered
	EndedAt    *time.Time
	EndReason  string
	EndDetail  string
	AnsweredBy string
	Cost       billing.Money
}

// CreateCampaign takes a batch on: its Account, Name, CreatedAt, Manner, whether its State is
// paused, its Metadata and Retries, and of each row the fields before Status. It refuses as StartSession does an outbound call, but not for want of a
// line; ErrCampaigns: MaxCampaigns are unfinished. once is the request that asks; nil:
// it had no key.
func (s *Store) CreateCampaign(ctx context.Context, c Campaign, card *billing.RateCard, once *store.IdempotencyKey) (id string, err error) {
	if len(c.Rows) == 0 || len(c.Rows) > MaxCampaignRows {
		return "", store.Invalid("a batch has 1 to %d rows", MaxCampaignRows)
	}
	c.CreatedAt = cmp.Or(c.CreatedAt, s.db.Time(ctx))
	id = store.NewID(store.CampaignID, c.CreatedAt)
	err = ledger.New(s.db).Locked(ctx, "create batch", c.Account, func(tx *ledger.Tx) error {
		if err := tx.MayCallOut(ctx, c.Key, card); err != nil {
			return err
		}
		unfinished, err := store.Scalar[int](ctx, tx,
			"select count(*) from campaigns c where c.account_id = $1 and c.state <> 'cancelled' and "+unfinishedCampaign, c.Account)
		if err != nil {
			return err
		}
		if unfinished >= MaxCampaigns {
			return store.ErrCampaigns
		}
		b := &pgx.Batch{}
		c.queue(b, id)
		once.Begin(b, id)
		s.db.HintAfter(tx, store.HintRows)
		return tx.Save(ctx, b)
	})
	return id, err
}

func (c *Campaign) queue(b *pgx.Batch, id string) {
	var from, to *int
	var zone *string
	if c.Hours != nil {
		from, to, zone = &c.Hours.From, &c.Hours.To, &c.Zone
	}
	var retries any
	if len(c.Retries) > 0 {
		retries = c.Retries
	}
	b.Queue(`insert into campaigns (id, account_id, name, state, key_id, ip, ring_ms, longest_ms, on_machine, message,
			hours_from, hours_to, hours_zone, created_at, metadata, retries) values ($1, $2, $3, $14, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $15, $16)`,
		id, c.Account, c.Name, c.Key, c.IP, c.RingTimeout.Milliseconds(), c.MaxDuration.Milliseconds(), c.OnMachine, c.Message, from, to, zone, c.CreatedAt, cmp.Or(c.State, CampaignRunning), store.Pairs(c.Metadata), retries)
	for i, r := range c.Rows {
		b.Queue(`insert into campaign_rows (id, account_id, campaign_id, no, to_number, from_number, agent_id, zones, scheduled_at, status, since, due_at, variables, metadata, headers)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', $10, $10, $11, $12, $13)`,
			store.NewID(store.RowID, c.CreatedAt), c.Account, id, i, r.To, r.From, r.Agent, append([]string{}, r.Zones...), r.ScheduledAt, r.DueAt, store.Pairs(r.Variables), store.Pairs(r.Metadata), store.Pairs(r.Headers))
	}
}

// unfinishedCampaign is a batch c of which rows are left or are being dialled.
const unfinishedCampaign = `exists (select from campaign_rows u where u.campaign_id = c.id and u.status in ('pending', 'dialing'))`

// rowStatus is a row's: it counts as placed as soon as it is known to be answered.
const rowStatus = `case when r.status = 'dialing' and u.started_at is not null then 'sent' else r.status end`

const selectCampaign = `select c.id, c.account_id, c.name,
	case when c.state <> 'cancelled' and not ` + unfinishedCampaign + ` then 'done' else c.state end, c.created_at, c.metadata, c.retries,
	` + mannerColumns + `, n.pending, n.dialing, n.sent, n.failed
	from campaigns c cross join lateral (select count(*) filter (where x.status = 'pending') as pending, count(*) filter (where x.status = 'dialing') as dialing,
			count(*) filter (where x.status = 'sent') as sent, count(*) filter (where x.status = 'failed') as failed
		from (select ` + rowStatus + ` as status from campaign_rows r left join session_usage u on u.session_id = r.session_id where r.campaign_id = c.id) x) n
	where c.account_id = $1`

// mannerColumns are those of the Manner of a batch c.
const mannerColumns = `c.key_id, c.ip, c.ring_ms * interval '1 ms', c.longest_ms * interval '1 ms', c.on_machine, c.message,
	case when c.hours_zone is not null then jsonb_build_object('From', c.hours_from, 'To', c.hours_to) end, coalesce(c.hours_zone, '')`

// Campaign returns a batch of the account with its rows.
func (s *Store) Campaign(ctx context.Context, account, id string) (*Campaign, error) {
	c, err := store.First[Campaign](ctx, s.db, "read batch", selectCampaign+" and c.id = $2", account, id)
	if err != nil {
		return nil, err
	}
	rows, err := store.List[struct {
		CampaignRow
		RowCall // without an ID: there is none
	}](ctx, s.db, "read rows of a batch", `select r.id, r.to_number, r.from_number, r.agent_id, r.zones, r.scheduled_at, r.due_at, r.variables, r.metadata, r.headers, `+rowStatus+`,
			case r.status when 'failed' then r.error_code else '' end, case r.status when 'failed' then r.error_message else '' end, r.summary, r.attempt, r.retry_of,
			coalesce(r.session_id, ''), coalesce(s.opened_at, r.due_at), u.started_at, `+store.EndedAt+`, coalesce(s.end_reason, ''), coalesce(s.end_detail, ''),
			coalesce(k.answered_by, ''), coalesce(u.amount_nano, 0)
		from campaign_rows r left join sessions s on s.id = r.session_id left join session_usage u on u.session_id = r.session_id
			left join calls k on k.session_id = r.session_id
		where r.account_id = $1 and r.campaign_id = $2 order by r.no`, account, id)
	if err != nil {
		return nil, err
	}
	c.Pending, c.Dialing, c.Sent, c.Failed = 0, 0, 0, 0 // as the rows have it, which were read later
	talking := false
	for _, r := range rows {
		if r.RowCall.ID != "" {
			r.Call = &r.RowCall
			talking = talking || r.EndedAt == nil
		}
		c.Rows = append(c.Rows, r.CampaignRow)
		*map[RowStatus]*int{RowPending: &c.Pending, RowDialing: &c.Dialing, RowSent: &c.Sent, RowFailed: &c.Failed}[r.Status]++
	}
	if c.State != CampaignCancelled && c.Pending == 0 && c.Dialing == 0 && !talking {
		c.State = CampaignDone
	}
	return c, nil
}

// Campaigns lists the account's batches, newest first, without their rows.
func (s *Store) Campaigns(ctx context.Context, account string, p store.Page) ([]Campaign, error) {
	return store.ListPage[Campaign](ctx, s.db, "list batches", p, "c.id", selectCampaign, account)
}

// PauseCampaign has no further row of a batch dialled: when it returns, none begins any
// more. What is in progress goes on. It changes nothing unless the batch runs.
func (s *Store) PauseCampaign(ctx context.Context, account, id string) error {
	return s.turnCampaign(ctx, account, id, func(tx pgx.Tx, was CampaignState) error {
		if was != CampaignRunning {
			return nil
		}
		return store.Do(ctx, tx, "update campaigns set state = 'paused' where id = $1", id)
	})
}

// ResumeCampaign goes on with a batch that is paused. The day for which its rows are
// tried begins anew.
func (s *Store) ResumeCampaign(ctx context.Context, account, id string) error {
	return s.turnCampaign(ctx, account, id, func(tx pgx.Tx, was CampaignState) error {
		if was != CampaignPaused {
			return nil
		}
		s.db.HintAfter(tx, store.HintRows)
		b := &pgx.Batch{}
		b.Queue("update campaigns set state = 'running' where id = $1", id)
		b.Queue(pendingRows+"update campaign_rows r set since = greatest(since, $2) from pending where r.id = pending.id", id, s.db.Time(ctx))
		return store.Send(ctx, tx, b)
	})
}

// pendingRows locks the rows of the batch $1 that are pending, by ascending identifier.
const pendingRows = `with pending as materialized (
	select id from campaign_rows where campaign_id = $1 and status = 'pending' order by id for no key update) `

// CancelCampaign ends a batch: its pending rows fail with code and message. What is in
// progress goes on. A batch that is done stays so.
func (s *Store) CancelCampaign(ctx context.Context, account, id, code, message string) error {
	return s.turnCampaign(ctx, account, id, func(tx pgx.Tx, _ CampaignState) error {
		tag, err := tx.Exec(ctx, "update campaigns c set state = 'cancelled' where c.id = $1 and "+unfinishedCampaign, id)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return store.Do(ctx, tx,
			pendingRows+`update campaign_rows r set status = 'failed', ended_at = $2, error_code = $3, error_message = $4, claimed_until = null
			from pending where r.id = pending.id`, id, s.db.Time(ctx), code, message)
	})
}

// turnCampaign changes a batch under its lock, which those hold a share of that are
// about to dial a row.
func (s *Store) turnCampaign(ctx context.Context, account, id string, turn func(pgx.Tx, CampaignState) error) error {
	return s.db.Tx(ctx, "change batch", func(tx pgx.Tx) error {
		was, err := store.Scalar[CampaignState](ctx, tx, "select state from campaigns where account_id = $1 and id = $2 for no key update", account, id)
		if err != nil {
			return err
		}
		return turn(tx, was)
	})
}
