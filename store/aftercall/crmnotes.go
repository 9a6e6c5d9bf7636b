package aftercall

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// CRMNote is a telephone call that is over and is to be noted in a customer database.
type CRMNote struct {
	Account string
	Session string
	Source  json.RawMessage // as it was given to WantCRMNote, and so Trace
	Trace   string
	Try     int // from 1; above 1, an earlier one may have arrived
}

// Rhythm of notes: a claim moves the time of the next try, which is back-off and lease
// in one.
const (
	crmNoteRetry    = 30 * time.Second
	maxCRMNoteRetry = time.Hour
	maxCRMNoteTries = 30 // about a day
	// crmLease is the time in which the claimant of a note must report its result.
	crmLease = 30 * time.Second
	// maxCRMRest is the longest pause before a database that does not answer is asked again.
	maxCRMRest = 5 * time.Minute
)

// WantCRMNote remembers that a call of the account is to be noted when it is over, in
// the database that source, a JSON object, names. trace is the traceparent header of the
// call's requests; empty: none. Saying it again changes nothing.
func (w *Work) WantCRMNote(ctx context.Context, account, session string, source json.RawMessage, trace string) error {
	if !store.IsObject(source) {
		return store.Invalid("source: not a JSON object")
	}
	return w.db.Must(ctx, "want CRM note", `with c as (select session_id from calls where session_id = $2 and account_id = $1)
		insert into crm_notes (session_id, account_id, source, trace, next_at) select session_id, $1, $3, $4, $5 from c
		on conflict (session_id) do update set state = crm_notes.state`, account, session, string(source), trace, w.db.Time(ctx))
}

// CRMNoteDue is the condition, of SQL, in which $1 is the time, under which ClaimCRMNote finds one, or some to give up.
const CRMNoteDue = "exists (select" + noteDue + ")"

const noteDue = ` from crm_notes n join session_usage u using (session_id) left join crm_accounts a on a.account_id = n.account_id
	where n.state = 'waiting' and n.next_at <= $1 and not u.open and (a.busy_until is null or a.busy_until <= $1)`

// ClaimCRMNote returns the next call to be noted, for one claimant; ErrNotFound: none
// is due. Of an account one is claimed at a time, until CRMNoted, CRMNoteFailed or
// CRMNoteDelayed, or half a minute later; of several accounts that which has waited for its
// turn the longest comes first, however many calls each has. Calls that were not answered are
// never noted.
func (w *Work) ClaimCRMNote(ctx context.Context) (*CRMNote, error) {
	now := w.db.Time(ctx)
	_, err := w.db.Exec(ctx, "give up CRM notes", `update crm_notes n set state = case when u.started_at is null then 'never' else 'failed' end
		from session_usage u where n.state = 'waiting' and n.next_at <= $1 and u.session_id = n.session_id and not u.open
			and (u.started_at is null or n.tries >= $2)`, now, maxCRMNoteTries)
	var n *CRMNote
	for taken := true; taken && err == nil; {
		taken = false
		err = w.db.Tx(ctx, "claim CRM note", func(tx pgx.Tx) (err error) {
			if n, err = store.Row[CRMNote](ctx, tx, "select n.account_id, n.session_id, n.source, n.trace, n.tries + 1"+noteDue+`
				order by a.busy_until nulls first, n.next_at limit 1 for update of n skip locked`, now); err != nil {
				return err
			}
			tag, err := tx.Exec(ctx, `insert into crm_accounts as a (account_id, busy_until) values ($1, $2)
				on conflict (account_id) do update set busy_until = excluded.busy_until where a.busy_until <= $3`, n.Account, now.Add(crmLease), now)
			if err != nil || tag.RowsAffected() == 0 {
				taken = err == nil // another claimant was faster with another of the account's
				return err
			}
			wait := min(maxCRMNoteRetry, crmNoteRetry<<min(n.Try-1, 10))
			return store.Do(ctx, tx, "update crm_notes set tries = $2, next_at = $3 where session_id = $1", n.Session, n.Try, now.Add(wait))
		})
	}
	return n, err
}

// answeredCRM says that an account's database answers: the next of its notes may be claimed.
const answeredCRM = "update crm_accounts set busy_until = least(busy_until, $2), failures = 0 where account_id = $1"

// CRMNoted notes that a customer database has a call, and charges for it: the call
// has reached the database, once, whether it was looked up in it before or not. Saying
// it again changes nothing.
func (w *Work) CRMNoted(ctx context.Context, n *CRMNote) error {
	if err := w.db.Do(ctx, "note CRM note", answeredCRM, n.Account, w.db.Time(ctx)); err != nil {
		return err
	}
	_, err := w.ledger.Afterwards(ctx, "note CRM note", n.Account, n.Session, func(e *ledger.Ended) (bool, []store.Event, error) {
		tag, err := e.Exec(ctx, "update crm_notes set state = 'done' where session_id = $1 and state = 'waiting'", n.Session)
		if err != nil || tag.RowsAffected() == 0 {
			return false, nil, err
		}
		e.Usage[billing.CRMCalls] = max(e.Usage[billing.CRMCalls], 1)
		return true, nil, nil
	})
	return err
}

// CRMNoteFailed gives a note up that the database has refused: trying again would not help.
func (w *Work) CRMNoteFailed(ctx context.Context, n *CRMNote) error {
	return w.db.Tx(ctx, "give up CRM note", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, answeredCRM, n.Account, w.db.Time(ctx)); err != nil {
			return err
		}
		return store.ErrNotFound.IfUnchanged(tx.Exec(ctx,
			"update crm_notes set state = 'failed' where session_id = $1 and account_id = $2", n.Session, n.Account))
	})
}

// CRMNoteDelayed leaves the account's database alone, which did not take a note: for 30 s,
// and twice as long each time, five minutes at last.
func (w *Work) CRMNoteDelayed(ctx context.Context, n *CRMNote) error {
	return w.db.Must(ctx, "delay CRM note", `update crm_accounts set failures = failures + 1,
		busy_until = $2::timestamptz + least($4::interval, $3::interval * power(2, least(failures, 10))) where account_id = $1`,
		n.Account, w.db.Time(ctx), crmNoteRetry, maxCRMRest)
}
