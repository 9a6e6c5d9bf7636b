package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
)

// WarningKind says what an account is warned of.
type WarningKind string

// What accounts are warned of.
const (
	// WarnBalanceLow: the balance fell below the wallet's low mark. Ends when it is not
	// below it any more; comes again only after that.
	WarnBalanceLow WarningKind = "balance.low"
	// WarnNumberPastDue: a number's month could not be paid. Ends when it is, or with the
	// number. One for each number and period.
	WarnNumberPastDue WarningKind = "number.past_due"
	// WarnNumberReleased: a number is lost. One for each number and period.
	WarnNumberReleased WarningKind = "number.released"
	// WarnRechargeFailed: an automatic recharge failed. Ends with the next one that
	// succeeds, or when they are switched off. One for each attempt.
	WarnRechargeFailed WarningKind = "recharge.failed"
	// WarnDisputeOpened: a payment is disputed. Ends with the dispute. One for each.
	WarnDisputeOpened WarningKind = "dispute.opened"
	// WarnWebhookDisabled: a webhook gets no more events, for it does not answer, or asked
	// for that. Ends when it is enabled again, or with it.
	WarnWebhookDisabled WarningKind = "webhook.disabled"
	// WarnSpending: a day's limit of spending is used by four fifths, or reached. Ends with
	// the day (UTC). One for each limit, day and of the two.
	WarnSpending WarningKind = "spending.limit"
	// WarnEngineKey: the vendor of an engine refused the account's own key. Ends when another is
	// set, or it is taken again, or with it. One for each key.
	WarnEngineKey WarningKind = "engine_key.refused"
)

// WarningData are the figures of a warning; which are there depends on its kind.
type WarningData struct {
	Balance   *billing.Money `json:"balance,omitempty"`    // when it was noticed: balance.low, number.past_due
	Threshold *billing.Money `json:"threshold,omitempty"`  // balance.low: the low mark
	Amount    *billing.Money `json:"amount,omitempty"`     // of the month, the recharge or the dispute
	NumberID  string         `json:"number_id,omitempty"`  // number.*
	Number    string         `json:"number,omitempty"`     // number.*, as E.164
	DueAt     *time.Time     `json:"due_at,omitempty"`     // number.past_due: when the month was to be paid
	ReleaseAt *time.Time     `json:"release_at,omitempty"` // number.past_due: when the number goes; number.released: when it went
	Attempt   string         `json:"attempt,omitempty"`    // recharge.failed
	Reason    string         `json:"reason,omitempty"`     // recharge.failed: the provider's word for it, such as "card_declined"; webhook.disabled: failing or gone; engine_key.refused: what the vendor said
	Disabled  bool           `json:"disabled,omitempty"`   // recharge.failed: there will be no further attempt
	Dispute   string         `json:"dispute,omitempty"`    // dispute.opened: the provider's or the operator's name of it
	Webhook   string         `json:"webhook,omitempty"`    // webhook.disabled: its identifier
	Subject   string         `json:"subject,omitempty"`    // spending.limit: the account, the key or the agent
	Limit     *billing.Money `json:"limit,omitempty"`      // spending.limit: of a day
	Spent     *billing.Money `json:"spent,omitempty"`      // spending.limit: of it, what is held included
	Engine    string         `json:"engine,omitempty"`     // engine_key.refused: its name
}

// Warning is one thing that an account was warned of.
type Warning struct {
	ID      string
	Account string
	Kind    WarningKind
	// About is what of the kind: the attempt, the dispute, the number with its
	// period. The account is warned of each once.
	About     string
	Data      WarningData
	CreatedAt time.Time
	// ClearedAt is when it stopped being so; nil while it is. May lie ahead.
	ClearedAt   *time.Time
	PublishedAt *time.Time // on the bus
	MailedAt    *time.Time
}

// releasedFor is how long the loss of a number is worth a line in a banner.
const releasedFor = 7 * 24 * time.Hour

// Warn records a warning of an account within a transaction: rolled back,
// it never was. Of it only Kind, About, Data, CreatedAt and ClearedAt count. A second one of the same kind
// about the same thing changes nothing. Warnings are never deleted: later ones about the same
// thing are known by them.
func (db *DB) Warn(ctx context.Context, tx pgx.Tx, account string, x Warning) error {
	x.ID = NewID(EventID, x.CreatedAt)
	if x.About == "" {
		x.About = x.ID
	}
	cleared := x.ClearedAt
	if x.Kind == WarnNumberReleased {
		end := x.CreatedAt.Add(releasedFor)
		cleared = &end
	}
	tag, err := tx.Exec(ctx, `insert into warnings (id, account_id, kind, about, data, created_at, cleared_at, mail_at)
		values ($1, $2, $3, $4, $5, $6, $7, $6) on conflict (account_id, kind, about) do nothing`,
		x.ID, account, x.Kind, x.About, x.Data, x.CreatedAt, cleared)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	if err := db.EnqueueDeliveries(ctx, tx, x.CreatedAt, Event{x.ID, account, string(x.Kind), x.ID}); err != nil {
		return err
	}
	return db.Enqueue(ctx, tx, SendWarnings, "", "")
}
