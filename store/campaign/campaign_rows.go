package campaign

import (
	"cmp"
	"context"
	"slices"
	"time"

	"parley/billing"

	"parley/store/ledger"

	"parley/store"
)

const (
	// rowLife is how long a row is tried after its time.
	rowLife = 24 * time.Hour
	// rowLease is how long a row is left to the node that is about to dial it. It may be taken
	// over before: only one can dial it.
	rowLease = time.Minute
)

// ClaimedRow is a row with what its claimant needs to dial it.
type ClaimedRow struct {
	ledger.RowClaim
	To, From, Agent string
	Zones           []string
	DueAt           time.Time
	// Variables are values of the agent's, and Metadata is of the call.
	Variables, Metadata map[string]string
	Headers             map[string]string // of the call
	Manner

	No int // its place in the batch, from 0
}

// unclaimed is a row r that no node is about to dial at $1, or a node that is dead.
const unclaimed = `(r.claimed_until is null or r.claimed_until <= $1
	or not exists (select from nodes n where n.node_id = r.node_id and n.epoch = r.node_epoch))`

// Hints tell of rows that were not there: store.HintRows.
func (s *Store) Hints() *store.Hints { return s.db.Hints() }

// RowsWithin says whether batches that run have rows that nobody has dialled yet and that are due, or will be within a time.
func (s *Store) RowsWithin(ctx context.Context, soon time.Duration) (bool, error) {
	return store.Value[bool](ctx, s.db, "look for rows", "select "+rowsDue, s.db.Time(ctx).Add(soon))
}

// rowsDue says the same of those that are due at $1.
const rowsDue = `exists (select from campaign_rows r join campaigns c on c.id = r.campaign_id
	where r.status = 'pending' and r.due_at <= $1 and c.state = 'running')`

// LookForRows has looks hint at rows that are due.
func (s *Store) LookForRows() {
	hints := s.db.Hints()
	hints.Look(store.When(rowsDue, func() { hints.Hear(store.HintRows) }))
}

// ClaimRows makes n the one who may dial up to most of the rows that are due, those that
// have waited longest first, and of each account no more than it has lines for: one
// less than its sessions at once, but one, and those that are taken do not count. Of
// several callers each gets other rows. ErrFenced: a younger process has n's name.
// It reads an index of pending rows alone, those of paused batches too; rows that have
// ended stay for the account's history and are not read.
func (s *Store) ClaimRows(ctx context.Context, n store.Node, rules billing.Wallet, most int) ([]ClaimedRow, error) {
	now := s.db.Time(ctx)
	if err := s.db.NodeLives(ctx, n); err != nil {
		return nil, err
	}
	claimed, err := store.List[ClaimedRow](ctx, s.db, "claim rows", `with
		lines as (select w.account_id, greatest(1, coalesce(w.concurrency_override, case when w.first_topup_at is null then $4::int else $5::int end) - 1)
				- w.live_sessions - (select count(*) from campaign_rows r where r.account_id = w.account_id and r.status = 'pending' and not `+unclaimed+`) as free
			from wallets w where w.account_id in (select account_id from campaign_rows where status = 'pending' and due_at <= $1)),
		picked as materialized (select p.id from lines l cross join lateral (select r.id, r.due_at, r.no from campaign_rows r join campaigns c on c.id = r.campaign_id
				where r.account_id = l.account_id and r.status = 'pending' and r.due_at <= $1 and c.state = 'running' and `+unclaimed+`
				order by r.due_at, r.campaign_id, r.no limit greatest(0, l.free) for no key update of r skip locked) p
			order by p.due_at, p.no limit $6)
		update campaign_rows r set claim = claim + 1, node_id = $2, node_epoch = $3, claimed_until = $7
		from picked p, campaigns c where r.id = p.id and c.id = r.campaign_id
		returning r.id, r.account_id, r.campaign_id, r.claim, r.to_number, r.from_number, r.agent_id, r.zones, r.due_at, r.variables, r.metadata, r.headers, `+mannerColumns+`, r.no`,
		now, n.ID, n.Epoch, rules.ConcurrencyBeforeTopup, rules.ConcurrencyDefault, most, now.Add(rowLease))
	slices.SortFunc(claimed, func(a, b ClaimedRow) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.Campaign, b.Campaign), a.No-b.No)
	})
	return claimed, err
}

// ReturnRow gives a claimed row back undialled: it is due again at a time. code and
// message say why, for the case that it stays so. A row that is not the caller's any
// more is left alone.
func (s *Store) ReturnRow(ctx context.Context, r *ClaimedRow, due time.Time, code, message string) error {
	_, err := s.db.Pool().Exec(ctx, `update campaign_rows set claimed_until = null, due_at = $4,
			error_code = coalesce(nullif($5, ''), error_code), error_message = case $5 when '' then error_message else $6 end
		where account_id = $1 and id = $2 and claim = $3 and status = 'pending'`, r.Account, r.ID, r.Claim, due, code, message)
	return store.Fail("return row", err)
}

// FailRow ends a claimed row that may not be dialled. One that is not the caller's any
// more is left alone.
func (s *Store) FailRow(ctx context.Context, r *ClaimedRow, code, message string) error {
	return s.db.Do(ctx, "fail row", `update campaign_rows set status = 'failed', ended_at = $4, error_code = $5, error_message = $6, claimed_until = null
		where account_id = $1 and id = $2 and claim = $3 and status = 'pending'`, r.Account, r.ID, r.Claim, s.db.Time(ctx), code, message)
}

// ExpireRows fails the rows of batches that run which could not be dialled for a day
// after their time, with what stood in the way last, or else code and message. It
// returns how many. Like all who wait for locks of several rows, it takes them by
// ascending identifier.
func (s *Store) ExpireRows(ctx context.Context, code, message string) (int64, error) {
	now := s.db.Time(ctx)
	tag, err := s.db.Pool().Exec(ctx, `with old as materialized (select r.id from campaign_rows r join campaigns c on c.id = r.campaign_id
			where c.state = 'running' and r.status = 'pending' and r.since <= $2 and `+unclaimed+` order by r.id for no key update of r)
		update campaign_rows r set status = 'failed', ended_at = $1, claimed_until = null,
			error_code = coalesce(nullif(r.error_code, ''), $3), error_message = case r.error_code when '' then $4 else r.error_message end
		from old where r.id = old.id`,
		now, now.Add(-rowLife), code, message)
	return tag.RowsAffected(), store.Fail("expire rows", err)
}
