package store

import (
	"context"
	"fmt"
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
	// WarnWebhookDisabled: a webhook is told nothing more, for it does not answer, or asked
	// for that. Ends when it is enabled again, or with it.
	WarnWebhookDisabled WarningKind = "webhook.disabled"
	// WarnSpending: a day's limit of spending is used by four fifths, or reached. Ends with
	// the day (UTC). One for each limit, day and of the two.
	WarnSpending WarningKind = "spending.limit"
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
	Reason    string         `json:"reason,omitempty"`     // recharge.failed: the provider's word for it, such as "card_declined"; webhook.disabled: failing or gone
	Disabled  bool           `json:"disabled,omitempty"`   // recharge.failed: there will be no further attempt
	Dispute   string         `json:"dispute,omitempty"`    // dispute.opened: the provider's or the operator's name of it
	Webhook   string         `json:"webhook,omitempty"`    // webhook.disabled: its identifier
	Subject   string         `json:"subject,omitempty"`    // spending.limit: the account, the key or the agent
	Limit     *billing.Money `json:"limit,omitempty"`      // spending.limit: of a day
	Spent     *billing.Money `json:"spent,omitempty"`      // spending.limit: of it, what is held included
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

// warn warns w's account: see DB.Warn.
func (w *wallet) warn(ctx context.Context, tx pgx.Tx, x Warning, now time.Time) error {
	return w.db.Warn(ctx, tx, w.account, x, now)
}

// Warn records a warning of an account within a transaction: rolled back,
// it never was. Of it only Kind, About, Data and ClearedAt count. A second one of the same kind
// about the same thing changes nothing. Warnings are never deleted: later ones about the same
// thing are known by them.
func (db *DB) Warn(ctx context.Context, tx pgx.Tx, account string, x Warning, now time.Time) error {
	x.ID = NewID(EventID, now)
	if x.About == "" {
		x.About = x.ID
	}
	cleared := x.ClearedAt
	if x.Kind == WarnNumberReleased {
		end := now.Add(releasedFor)
		cleared = &end
	}
	tag, err := tx.Exec(ctx, `insert into warnings (id, account_id, kind, about, data, created_at, cleared_at, mail_at)
		values ($1, $2, $3, $4, $5, $6, $7, $6) on conflict (account_id, kind, about) do nothing`,
		x.ID, account, x.Kind, x.About, x.Data, now, cleared)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	if err := db.EnqueueDeliveries(ctx, tx, now, Event{x.ID, account, string(x.Kind), x.ID}); err != nil {
		return err
	}
	return db.Enqueue(ctx, tx, SendWarnings, "", "")
}

// clear ends the warnings of a kind about something, or with an empty about all of
// the kind. Without one it changes nothing.
func (w *wallet) clear(ctx context.Context, tx pgx.Tx, kind WarningKind, about string, now time.Time) error {
	_, err := tx.Exec(ctx, `update warnings set cleared_at = $4
		where account_id = $1 and kind = $2 and ($3 = '' or about = $3) and cleared_at is null`, w.account, kind, about, now)
	return err
}

// warnDispute warns of a dispute by the number of its row, under which it is cleared.
func (w *wallet) warnDispute(ctx context.Context, tx pgx.Tx, id int64, d WarningData, now time.Time) error {
	return w.warn(ctx, tx, Warning{Kind: WarnDisputeOpened, About: fmt.Sprint(id), Data: d}, now)
}

// applyThresholds warns of a low balance and of limits of spending, and triggers automatic
// recharge. Everything that has changed the pots calls it once, when they are final and
// before it saves w; nothing else does this.
func (w *wallet) applyThresholds(ctx context.Context, tx pgx.Tx, now time.Time) error {
	if err := w.recharge(ctx, tx, now); err != nil {
		return err
	}
	if err := w.warnSpending(ctx, tx, now); err != nil {
		return err
	}
	mark, err := w.db.lowMark(ctx, tx, w.rechargeBelow)
	if err != nil {
		return err
	}
	balance := w.pots.Balance()
	switch low := balance < mark; {
	case low && w.lowSince == nil:
		w.lowSince = &now
		return w.warn(ctx, tx, Warning{Kind: WarnBalanceLow, Data: WarningData{Balance: &balance, Threshold: &mark}}, now)
	case !low && w.lowSince != nil:
		w.lowSince = nil
		return w.clear(ctx, tx, WarnBalanceLow, "", now)
	}
	return nil
}

// lowMark is the balance below which the owner is warned: the owner's own threshold,
// or the rate card's while there is none.
func (db *DB) lowMark(ctx context.Context, q queryer, own *billing.Money) (billing.Money, error) {
	if own != nil {
		return *own, nil
	}
	card, err := db.inForce(ctx, q)
	if err != nil {
		return 0, err
	}
	return card.Wallet().AutoRecharge.Threshold, nil
}

// applyThresholds locks an account's wallet, which ends expired credit, and applies its
// thresholds.
func (db *DB) applyThresholds(ctx context.Context, account string, now time.Time) error {
	return db.Tx(ctx, "apply thresholds", func(tx pgx.Tx) error {
		w, err := db.lockWallet(ctx, tx, account, now)
		if err != nil {
			return err
		}
		if err := w.applyThresholds(ctx, tx, now); err != nil {
			return err
		}
		b := &pgx.Batch{}
		w.save(b)
		return Send(ctx, tx, b)
	})
}
