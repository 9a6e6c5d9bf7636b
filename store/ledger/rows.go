package ledger

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// RowClaim is the right to dial a row of a batch, until another process claims it.
type RowClaim struct {
	ID, Account, Campaign string
	Claim                 int64 // number of the claim: an older one has no right any more
}

// States of a batch and of its rows that the ledger sets or asks for.
const (
	campaignRunning = "running"
	rowSent         = "sent"
	rowFailed       = "failed"
)

// bindSession makes the session the row's call, in the transaction that starts it: from here
// on the row is dialled, and never again. A pause of the batch waits for its shared lock,
// or is seen here.
func (r *RowClaim) bindSession(ctx context.Context, tx pgx.Tx, session string) error {
	state, err := store.Scalar[string](ctx, tx, "select state from campaigns where account_id = $1 and id = $2 for share", r.Account, r.Campaign)
	if err != nil {
		return err
	}
	if state != campaignRunning {
		return store.ErrClaimLost
	}
	err = store.ErrClaimLost.IfUnchanged(tx.Exec(ctx,
		`update campaign_rows set status = 'dialing', session_id = $4, claimed_until = null, error_code = '', error_message = ''
		where account_id = $1 and id = $2 and claim = $3 and status = 'pending'`, r.Account, r.ID, r.Claim, session))
	if err == nil {
		_, err = tx.Exec(ctx, "update sessions set row_id = $2 where id = $1", session, r.ID)
	}
	return err
}

// detailEngine is the detail of an end for want of an engine.
const detailEngine = "engine"

// unplaced are the details of an end before the callee can have been reached.
var unplaced = []string{store.DetailNodeLost, detailEngine, "carrier_unavailable", "carrier_auth"}

// NotPlaced is the code of a row whose call never reached the carrier, or is not known to have.
const NotPlaced = "callcenter.not_placed"

// endRow ends the row of a session that ends, if it has one. summarized says that a summary
// is on its way already.
func (w *Tx) endRow(ctx context.Context, s *session, c Closing, summarized bool, at time.Time) error {
	status, code, message := rowSent, "", ""
	if s.startedAt == nil && c.Reason == store.ReasonFailed && slices.Contains(unplaced, c.Detail) {
		status, code, message = rowFailed, NotPlaced, "The call was not placed: "+c.Detail+"."
	}
	tag, err := w.Exec(ctx, `update campaign_rows set status = $3, ended_at = $4, error_code = $5, error_message = $6
		where session_id = $2 and account_id = $1 and status = 'dialing'`, w.account, s.id, status, at, code, message)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	if (s.startedAt == nil || c.Reason == reasonVoicemail) && c.Detail != detailInvalidNumber {
		if err := w.callAgain(ctx, s, c, at); err != nil {
			return err
		}
	}
	if s.startedAt == nil || summarized {
		return nil
	}
	return w.ledger.db.Enqueue(ctx, w, store.SummarizeCall, w.account, s.id)
}

// Ends after which it depends whether a callee is called again.
const (
	reasonVoicemail     = "voicemail"
	detailInvalidNumber = "invalid_number" // nobody will ever answer there
)

// callAgain queues a row after the row of a session that has ended, where its batch has a rule for such an end and the
// callee was not called often enough yet. Of a batch that was cancelled none is: cancelling waits for this shared lock, or is
// seen here.
func (w *Tx) callAgain(ctx context.Context, s *session, c Closing, at time.Time) error {
	tag, err := w.Exec(ctx, `insert into campaign_rows (id, account_id, campaign_id, no, to_number, from_number, agent_id, zones, scheduled_at, status, since, due_at,
			variables, metadata, headers, attempt, retry_of)
		select $3, r.account_id, r.campaign_id, (select max(x.no) + 1 from campaign_rows x where x.campaign_id = r.campaign_id), r.to_number, r.from_number, r.agent_id, r.zones,
			t.due, 'pending', t.due, t.due, r.variables, r.metadata, r.headers, r.attempt + 1, r.id
		from campaign_rows r join campaigns c on c.id = r.campaign_id
			cross join lateral (select $5::timestamptz + t.after_seconds * interval '1 s' as due, t.attempts
				from json_to_recordset(c.retries) as t("on" text, attempts int, after_seconds int) where t."on" = $4) t
		where r.account_id = $1 and r.session_id = $2 and c.state <> 'cancelled' and r.attempt < t.attempts
		for share of c`, w.account, s.id, store.NewID(store.RowID, at), c.Reason, at)
	if err == nil && tag.RowsAffected() > 0 {
		w.ledger.db.HintAfter(w, store.HintRows)
	}
	return err
}

// SummarizeRow gives the row of a call its summary, unless it has one; a call of no row
// has none, nor one that was deleted.
func (w *Tx) SummarizeRow(ctx context.Context, session, text string) (saved bool, err error) {
	tag, err := w.Exec(ctx, `update campaign_rows set summary = $3 where account_id = $1 and session_id = $2 and summary is null
		and not exists (select 1 from calls where session_id = $2 and deleted_at is not null)`, w.account, session, strings.ReplaceAll(text, "\x00", "")) // which no text of PostgreSQL holds
	return tag.RowsAffected() > 0, err
}
