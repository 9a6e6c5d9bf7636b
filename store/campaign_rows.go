package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
)

const (
	// rowLife is how long a row is tried after its time.
	rowLife = 24 * time.Hour
	// rowLease is how long a row is left to whoever is about to dial it. It may be taken
	// over before: only one can dial it.
	rowLease = time.Minute
)

// ClaimedRow is a row that somebody is about to dial.
type ClaimedRow struct {
	ID, Account, Campaign string
	To, From, Agent       string
	Zones                 []string
	DueAt                 time.Time
	Manner                Manner

	no    int
	claim int64
}

// unclaimed is a row r that nobody is about to dial at $1, or somebody who is dead.
const unclaimed = `(r.claimed_until is null or r.claimed_until <= $1
	or not exists (select from nodes n where n.node_id = r.node_id and n.epoch = r.node_epoch))`

// ClaimRows makes n the one who may dial up to most of the rows that are due, those that
// have waited longest first, and of each account no more than it has lines for: one
// less than its sessions at once, but one, and those that are taken do not count. Of
// several callers nobody gets what another has. ErrFenced: a younger process has n's name.
// It reads an index of pending rows alone, those of paused batches too; rows that have
// ended stay for the account's history and are not read.
func (db *DB) ClaimRows(ctx context.Context, n Node, rules billing.Wallet, most int, now time.Time) ([]ClaimedRow, error) {
	var alive bool
	if err := db.One(ctx, "claim rows", "select exists (select from nodes where node_id = $1 and epoch = $2)", []any{n.ID, n.Epoch}, &alive); err != nil {
		return nil, err
	}
	if !alive {
		return nil, Fail("claim rows", ErrFenced)
	}
	claimed, err := List(ctx, db, "claim rows", scanClaimed, `with
		lines as (select w.account_id, greatest(1, coalesce(w.concurrency_override, case when w.first_topup_at is null then $4::int else $5::int end) - 1)
				- w.live_sessions - (select count(*) from campaign_rows r where r.account_id = w.account_id and r.status = 'pending' and not `+unclaimed+`) as free
			from wallets w where w.account_id in (select account_id from campaign_rows where status = 'pending' and due_at <= $1)),
		picked as materialized (select p.id from lines l cross join lateral (select r.id, r.due_at, r.no from campaign_rows r join campaigns c on c.id = r.campaign_id
				where r.account_id = l.account_id and r.status = 'pending' and r.due_at <= $1 and c.state = 'running' and `+unclaimed+`
				order by r.due_at, r.campaign_id, r.no limit greatest(0, l.free) for no key update of r skip locked) p
			order by p.due_at, p.no limit $6)
		update campaign_rows r set claim = claim + 1, node_id = $2, node_epoch = $3, claimed_until = $7
		from picked p, campaigns c where r.id = p.id and c.id = r.campaign_id
		returning r.id, r.account_id, r.campaign_id, r.to_number, r.from_number, r.agent_id, r.zones, r.due_at, r.no, r.claim,
			c.key_id, c.ip, c.ring_ms, c.longest_ms, c.on_machine, c.message, c.hours_from, c.hours_to, c.hours_zone`,
		now, n.ID, n.Epoch, rules.ConcurrencyBeforeTopup, rules.ConcurrencyDefault, most, now.Add(rowLease))
	slices.SortFunc(claimed, func(a, b ClaimedRow) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.Campaign, b.Campaign), a.no-b.no)
	})
	return claimed, err
}

func scanClaimed(row pgx.CollectableRow) (r ClaimedRow, err error) {
	var m scannedManner
	err = row.Scan(append([]any{&r.ID, &r.Account, &r.Campaign, &r.To, &r.From, &r.Agent, &r.Zones, &r.DueAt, &r.no, &r.claim}, m.into(&r.Manner)...)...)
	m.done(&r.Manner)
	return r, err
}

// ReturnRow gives a claimed row back undialled: it is due again at a time. code and
// message say why, for the case that it stays so. A row that is not the caller's any
// more is left alone.
func (db *DB) ReturnRow(ctx context.Context, r *ClaimedRow, due time.Time, code, message string) error {
	_, err := db.pool.Exec(ctx, `update campaign_rows set claimed_until = null, due_at = $4,
			error_code = coalesce(nullif($5, ''), error_code), error_message = case $5 when '' then error_message else $6 end
		where account_id = $1 and id = $2 and claim = $3 and status = 'pending'`, r.Account, r.ID, r.claim, due, code, message)
	return Fail("return row", err)
}

// FailRow ends a claimed row that may not be dialled. One that is not the caller's any
// more is left alone.
func (db *DB) FailRow(ctx context.Context, r *ClaimedRow, code, message string, now time.Time) error {
	_, err := db.pool.Exec(ctx, `update campaign_rows set status = 'failed', ended_at = $4, error_code = $5, error_message = $6, claimed_until = null
		where account_id = $1 and id = $2 and claim = $3 and status = 'pending'`, r.Account, r.ID, r.claim, now, code, message)
	return Fail("fail row", err)
}

// ExpireRows fails the rows of batches that run which could not be dialled for a day
// after their time, with what stood in the way last, or else code and message. It
// returns how many. Like all who wait for locks of several rows, it takes them by
// ascending identifier.
func (db *DB) ExpireRows(ctx context.Context, code, message string, now time.Time) (int64, error) {
	tag, err := db.pool.Exec(ctx, `with old as materialized (select r.id from campaign_rows r join campaigns c on c.id = r.campaign_id
			where c.state = 'running' and r.status = 'pending' and r.since <= $2 and `+unclaimed+` order by r.id for no key update of r)
		update campaign_rows r set status = 'failed', ended_at = $1, claimed_until = null,
			error_code = coalesce(nullif(r.error_code, ''), $3), error_message = case r.error_code when '' then $4 else r.error_message end
		from old where r.id = old.id`,
		now, now.Add(-rowLife), code, message)
	return tag.RowsAffected(), Fail("expire rows", err)
}

// bindSession makes the session the row's call, in the transaction that starts it: from here
// on the row is dialled, and never again. The share of the batch's lock has whoever
// pauses it wait for us, and us see that it is paused.
func (r *ClaimedRow) bindSession(ctx context.Context, tx pgx.Tx, session string) error {
	var state CampaignState
	err := tx.QueryRow(ctx, "select state from campaigns where account_id = $1 and id = $2 for share", r.Account, r.Campaign).Scan(&state)
	if err != nil {
		return err
	}
	if state != CampaignRunning {
		return ErrClaimLost
	}
	tag, err := tx.Exec(ctx, `update campaign_rows set status = 'dialing', session_id = $4, claimed_until = null, error_code = '', error_message = ''
		where account_id = $1 and id = $2 and claim = $3 and status = 'pending'`, r.Account, r.ID, r.claim, session)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrClaimLost
	}
	if err == nil {
		_, err = tx.Exec(ctx, "update sessions set row_id = $2 where id = $1", session, r.ID)
	}
	return err
}

// unplaced are the details of an end by which nobody can have been reached.
var unplaced = []string{detailNodeLost, detailEngine, "carrier_unavailable", "carrier_auth"}

// NotPlaced is the code of a row whose call never reached the carrier, or is not known to have.
const NotPlaced = "callcenter.not_placed"

// endRow ends the row of a session that ends, if it has one. summarized says that a summary
// is on its way already.
func (db *DB) endRow(ctx context.Context, tx pgx.Tx, account string, s *session, c Closing, summarized bool, now time.Time) error {
	status, code, message := RowSent, "", ""
	if s.startedAt == nil && c.Reason == reasonFailed && slices.Contains(unplaced, c.Detail) {
		status, code, message = RowFailed, NotPlaced, "The call was not placed: "+c.Detail+"."
	}
	tag, err := tx.Exec(ctx, `update campaign_rows set status = $3, ended_at = $4, error_code = $5, error_message = $6
		where session_id = $2 and account_id = $1 and status = 'dialing'`, account, s.id, status, now, code, message)
	if err != nil || tag.RowsAffected() == 0 || s.startedAt == nil || summarized {
		return err
	}
	return db.Enqueue(ctx, tx, SummarizeCall, account, s.id)
}

// Summary is what a model made of a call.
type Summary struct {
	Text      string
	In, Out   int64  // tokens
	CountedBy string // provider or counted
	Engine    string // that wrote it
}

// SaveSummary keeps the summary of a row's call, which has ended, and charges it to the
// call, by its rate card. A call that has one, was not answered or is no row's is left
// as it is: then false.
func (db *DB) SaveSummary(ctx context.Context, account, id string, m Summary, now time.Time) (saved bool, err error) {
	return db.afterwards(ctx, "save summary", account, id, now, func(tx pgx.Tx, s *session) (bool, []Event, error) {
		if s.startedAt == nil {
			return false, nil, nil
		}
		saved, err := summarizeRow(ctx, tx, account, id, m.Text)
		if err != nil || !saved {
			return false, nil, err
		}
		err = s.summarizeAll(ctx, tx, Generation{Outcome: "committed", InTokens: m.In, OutTokens: m.Out, Source: m.CountedBy, Engine: m.Engine})
		return true, []Event{event(account, CallSummarized, id, now)}, err
	})
}

// summarizeRow gives the row of a call its summary, unless it has one; a call of no row
// has none, nor one that was deleted.
func summarizeRow(ctx context.Context, tx pgx.Tx, account, session, text string) (saved bool, err error) {
	tag, err := tx.Exec(ctx, `update campaign_rows set summary = $3 where account_id = $1 and session_id = $2 and summary is null
		and not exists (select 1 from calls where session_id = $2 and deleted_at is not null)`, account, session, strings.ReplaceAll(text, "\x00", "")) // which no text of PostgreSQL holds
	return tag.RowsAffected() > 0, err
}

// SummaryOf returns the summary of a call of the account; empty: it has none.
func (db *DB) SummaryOf(ctx context.Context, account, session string) (text string, err error) {
	err = db.One(ctx, "read summary", "select coalesce(summary, '') from campaign_rows where account_id = $1 and session_id = $2", []any{account, session}, &text)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return text, err
}
