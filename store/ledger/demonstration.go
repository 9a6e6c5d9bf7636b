package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Demonstration is a call that was recorded elsewhere, to be shown in the history of an
// account that has none yet.
type Demonstration struct {
	Name  string // an account has one of each
	Start        // without Ticket, Consent, Once, Row and Paced
	// RowID is the row of a batch that it is the call of; empty: of none. Summary is then
	// what it came to.
	RowID, Summary string
	// OpenedAt, RangAt (outbound, nil: never) and EndedAt are when it took place, with
	// Closing.StartedAt.
	OpenedAt time.Time
	RangAt   *time.Time
	EndedAt  time.Time
	Closing
	// Fill writes what was said in the call and how it went on the wire.
	Fill func(ctx context.Context, tx pgx.Tx, id string) error
}

// AddDemonstration enters such a call into the history, and charges it as the session that
// it was, all or nothing: a call that is refused (see StartSession) is not there. An
// account that has one of that name keeps it; its identifier is returned. ErrClaimLost: the
// row has a call, or is none of the account's. No event, no summary and no analysis
// is made.
func (l *Ledger) AddDemonstration(ctx context.Context, d Demonstration) (id string, err error) {
	out, err := d.session()
	if err != nil {
		return "", err
	}
	err = l.Locked(ctx, "add a call of the demonstration", d.Account, func(w *Tx) error { // which has others wait who add the same
		err = w.QueryRow(ctx, "select session_id from calls where account_id = $1 and demonstration = $2", d.Account, d.Name).Scan(&id)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		now := w.now
		w.now = d.OpenedAt
		if err := w.start(ctx, d.Start, out); err != nil {
			return err
		}
		id, w.now = out.ID, now
		if err := d.bindRow(ctx, w, id); err != nil {
			return err
		}
		if err := d.Fill(ctx, w, id); err != nil {
			return err
		}
		if _, err := w.Exec(ctx, "update calls set demonstration = $3, rang_at = $4 where session_id = $2 and account_id = $1",
			d.Account, id, d.Name, d.RangAt); err != nil {
			return err
		}
		return d.close(ctx, w, id)
	})
	return id, err
}

// bindRow makes it its row's call.
func (d *Demonstration) bindRow(ctx context.Context, tx pgx.Tx, id string) error {
	if d.RowID == "" {
		return nil
	}
	err := store.ErrClaimLost.IfUnchanged(tx.Exec(ctx, `update campaign_rows set status = 'dialing', session_id = $3, claimed_until = null
		where account_id = $1 and id = $2 and status = 'pending'`, d.Account, d.RowID, id))
	if err == nil {
		_, err = tx.Exec(ctx, "update sessions set row_id = $2 where id = $1", id, d.RowID)
	}
	return err
}

// close ends it, and its row.
func (d *Demonstration) close(ctx context.Context, w *Tx, id string) error {
	s, err := w.lockSession(ctx, id)
	if err != nil {
		return err
	}
	if err := w.closeAndPost(ctx, s, d.Closing, d.EndedAt); err != nil || d.RowID == "" {
		return err
	}
	if d.Summary != "" {
		if _, err := w.SummarizeRow(ctx, id, d.Summary); err != nil {
			return err
		}
	}
	const summarized = true // or never to be
	return w.endRow(ctx, s, d.Closing, summarized, d.EndedAt)
}

// Demonstrations are the identifiers of the calls of the demonstration that an account
// has, by their names.
func (l *Ledger) Demonstrations(ctx context.Context, account string) (map[string]string, error) {
	type named struct{ Name, ID string }
	found, err := store.List[named](ctx, l.db, "list calls of the demonstration",
		"select demonstration, session_id from calls where account_id = $1 and demonstration is not null", account)
	byName := make(map[string]string, len(found))
	for _, f := range found {
		byName[f.Name] = f.ID
	}
	return byName, err
}
